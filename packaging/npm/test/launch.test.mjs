// The launcher with a stand-in for the native program. Run by `node --test packaging/npm/test/`.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, test } from "node:test";

const PLATFORM = `@stepstone-dev/${process.platform}-${process.arch}`;
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "stepstone-npm-")));
after(() => rmSync(scratch, { recursive: true, force: true }));

let folders = 0;

// A folder with the launcher installed and, unless `native` is undefined, a package for this platform.
function install(native, mode = 0o755) {
  const root = join(scratch, String((folders += 1)));
  const own = join(root, "node_modules/stepstone");
  cpSync(new URL("../stepstone", import.meta.url), own, { recursive: true });
  if (native !== undefined) {
    const bin = join(root, "node_modules", PLATFORM, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "../package.json"), JSON.stringify({ name: PLATFORM, version: "0.0.0" }));
    for (const program of ["stepstone", "stepstone-mcp"]) {
      writeFileSync(join(bin, program), native);
      chmodSync(join(bin, program), mode);
    }
  }
  return own;
}

const REPORT = `#!/bin/sh
printf '%s|' "$(basename "$0")" "$@"
cat
echo said on standard error >&2
exit "\${CODE:-0}"
`;

// Node before 22.15 cannot replace itself; newer ones are also tested as if they could not.
const WITHOUT_EXECVE = join(scratch, "without-execve.cjs");
writeFileSync(WITHOUT_EXECVE, "delete process.execve;\n");
const MODES = [
  { name: "as parent and child", options: ["--require", WITHOUT_EXECVE] },
  ...(typeof process.execve === "function" ? [{ name: "in its own place", options: [] }] : []),
];

for (const { name, options } of MODES) {
  const run = (own, program, words, rest = {}) =>
    spawnSync(process.execPath, [...options, join(own, `bin/${program}.js`), ...words], { encoding: "utf8", ...rest });
  const start = (own) =>
    spawn(process.execPath, [...options, join(own, "bin/stepstone-mcp.js")], { stdio: ["pipe", "pipe", "inherit"] });

  describe(`the native program, run ${name}`, () => {
    test("gets the words and the streams, and gives its exit code", () => {
      const own = install(REPORT);
      for (const program of ["stepstone", "stepstone-mcp"]) {
        const words = ["list", "--json", "", "two words", "*", "$HOME", "-e", "--", "--require"];
        const input = "no newline\u0000at the end \u{1F680}";
        const { status, stdout, stderr } = run(own, program, words, { input });
        assert.equal(stdout, `${[program, ...words].join("|")}|${input}`);
        assert.equal(stderr, "said on standard error\n");
        assert.equal(status, 0);
      }
      for (const code of [1, 2, 3, 4, 255]) {
        const { status } = run(own, "stepstone", [], { env: { ...process.env, CODE: String(code) } });
        assert.equal(status, code);
      }
    });

    test("ends by a signal: so does the launcher", () => {
      for (const signal of ["SIGTERM", "SIGKILL", "SIGABRT"]) {
        const own = install(`#!/bin/sh\nkill -${signal.slice(3)} $$\n`);
        assert.equal(run(own, "stepstone", []).signal, signal);
      }
    });

    test("is asked to end by each signal that asks the launcher", async () => {
      const own = install(`#!/bin/sh
for signal in INT TERM HUP QUIT USR2; do trap "echo got $signal; exit 5" $signal; done
echo ready
while :; do read -r line || exit 6; done
`);
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"]) {
        const launcher = start(own);
        const lines = createInterface({ input: launcher.stdout })[Symbol.asyncIterator]();
        assert.equal((await lines.next()).value, "ready");
        launcher.kill(signal);
        assert.equal((await lines.next()).value, `got ${signal.slice(3)}`);
        assert.deepEqual(await once(launcher, "close"), [5, null]);
      }
    });

    test("sees the end of its input and the closing of its output", async () => {
      const own = install("#!/bin/sh\necho ready\ncat\nexit 7\n");
      const launcher = start(own);
      launcher.stdin.end("the last words\n");
      let said = "";
      launcher.stdout.on("data", (chunk) => (said += chunk));
      assert.deepEqual(await once(launcher, "close"), [7, null]);
      assert.equal(said, "ready\nthe last words\n");
    });

    test("is told whom to outlive not, only when there is a launcher", () => {
      const own = install('#!/bin/sh\necho "${STEPSTONE_LAUNCHER_PID-none} $PPID $$"\n');
      const launcher = run(own, "stepstone", []);
      const [told, parent, self] = launcher.stdout.trim().split(" ");
      if (options.length > 0) {
        assert.equal(told, parent);
        assert.equal(told, String(launcher.pid));
      } else {
        assert.equal(told, "none");
        assert.equal(self, String(launcher.pid));
      }
    });

    test("that may not run, or has no loader: the reason and what to do", () => {
      const unexecutable = run(install(REPORT, 0o644), "stepstone-mcp", []);
      assert.equal(unexecutable.status, 1);
      assert.equal(unexecutable.stdout, "");
      assert.match(unexecutable.stderr, /^stepstone-mcp: .*cannot be run \(EACCES\)/m);
      assert.match(unexecutable.stderr, /chmod \+x/);
      const orphan = run(install("#!/no/such/loader\n"), "stepstone", []);
      assert.equal(orphan.status, 1);
      assert.equal(orphan.stdout, "");
      assert.match(orphan.stderr, /^stepstone: .*cannot be run \(ENOENT\)/m);
      assert.match(orphan.stderr, /glibc/);
    });

    test("is not installed: a plain message on standard error that says what to do", () => {
      const own = install(undefined);
      for (const program of ["stepstone", "stepstone-mcp"]) {
        const { status, stdout, stderr } = run(own, program, ["list"]);
        assert.equal(status, 1);
        assert.equal(stdout, "");
        assert.match(stderr, new RegExp(`^${program}: the package ${PLATFORM}`));
        assert.match(stderr, /npm install --include=optional stepstone@\d/);
        assert.doesNotMatch(stderr, /\n {4}at /, "a stack trace is no plain message");
      }
    });

    test("is not made for this platform: a message that names those there are", () => {
      const elsewhere = join(scratch, "elsewhere.cjs");
      writeFileSync(elsewhere, 'Object.defineProperty(process, "arch", { value: "mips" });\n');
      const own = install(undefined);
      const words = [...options, "--require", elsewhere, join(own, "bin/stepstone.js")];
      const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
      assert.equal(status, 1);
      assert.equal(stdout, "");
      assert.match(stderr, /no native program for \w+-mips/);
      assert.match(stderr, /linux-x64, linux-arm64, darwin-x64, darwin-arm64/);
    });
  });
}

describe("the package", () => {
  const manifest = JSON.parse(readFileSync(new URL("../stepstone/package.json", import.meta.url), "utf8"));

  test("has the two commands, and the programs for four platforms at exactly its own version", () => {
    assert.deepEqual(manifest.bin, { stepstone: "bin/stepstone.js", "stepstone-mcp": "bin/stepstone-mcp.js" });
    const names = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"].map((each) => `@stepstone-dev/${each}`);
    assert.deepEqual(Object.keys(manifest.optionalDependencies), names);
    for (const version of Object.values(manifest.optionalDependencies)) assert.equal(version, manifest.version);
  });

  test("runs nothing when it is installed and depends on nothing else", () => {
    for (const field of ["scripts", "dependencies", "peerDependencies", "bundleDependencies", "gypfile"])
      assert.equal(manifest[field], undefined, field);
  });
});
