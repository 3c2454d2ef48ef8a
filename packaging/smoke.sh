#!/bin/sh
# Unpacks the archive for this platform from a folder that `cargo xtask dist` filled, and uses it as a person would, in
# a home and a repository of its own:  packaging/smoke.sh <folder>
set -eu

dist=$(cd "$1" && pwd)
scratch=$(mktemp -d)
HOME=$scratch/home
export HOME
unset STEPSTONE_STATE_DIR STEPSTONE_WORKLIST STEPSTONE_NO_DAEMON

leave() {
  "$HOME/.local/bin/stepstone" daemon stop >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap leave EXIT

fail() { echo "smoke: $*" >&2; exit 1; }

cd "$dist"
if command -v sha256sum >/dev/null; then sha256sum --check --strict SHA256SUMS; else shasum -a 256 --check SHA256SUMS; fi

mkdir -p "$HOME/.local" "$scratch/repo"
set -- "$dist"/stepstone-[0-9]*-*-*.tar.gz
[ $# -eq 1 ] && [ -f "$1" ] || fail "one archive was expected in $dist, not: $*"
tar -xzf "$1" -C "$HOME/.local" --strip-components=1
PATH=$HOME/.local/bin:$PATH

cd "$scratch/repo"
git init -q .
stepstone --version
stepstone add "From the archive"
stepstone ready | grep -q from-the-archive || fail "the goal is not ready"
stepstone daemon status | grep -q "runs as process" || fail "no daemon runs"

hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"smoke","version":"1"}}}'
read='{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"stepstone://worklist/next"}}'
printf '%s\n%s\n%s\n' "$hello" '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$read" |
  stepstone-mcp | grep -q from-the-archive || fail "the MCP server does not answer"

stepstone daemon stop
echo "smoke: everything was as expected"
