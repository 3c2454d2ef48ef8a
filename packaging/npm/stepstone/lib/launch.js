"use strict";

// Runs a native program of the package for this platform in place of this script.
//
// Where Node can replace its own process (process.execve: 22.15, 23.11 and later), it does: nothing of Node stays, and
// signals, streams and the exit code are the native program's own. Older versions keep a small parent that passes
// signals on and ends as its child ends.

const { accessSync, constants } = require("node:fs");
const { constants: { signals } } = require("node:os");

const { optionalDependencies, version } = require("../package.json");

const SCOPE = "@stepstone-dev/";
const INSTALLING = "https://github.com/stepstone-dev/stepstone/blob/main/docs/install.md";

// Signals that ask a program to end or to look up; the others cannot be caught or belong to the terminal's own group.
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"];

function packageName() {
  return `${SCOPE}${process.platform}-${process.arch}`;
}

// The native program's path, or undefined when the package for this platform is not installed.
function find(program) {
  try {
    return require.resolve(`${packageName()}/bin/${program}`);
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

function missing(program) {
  const name = packageName();
  if (!Object.hasOwn(optionalDependencies, name)) {
    const known = Object.keys(optionalDependencies).map((each) => each.replace(SCOPE, ""));
    return [
      `${program}: there is no native program for ${process.platform}-${process.arch} on npm.`,
      `There is one for: ${known.join(", ")}.`,
      `Build it from source instead: ${INSTALLING}`,
    ];
  }
  return [
    `${program}: the package ${name}, which holds the native program, is not installed.`,
    "It is an optional dependency of the package stepstone. It is left out when npm runs with --omit=optional, when a",
    "lock file or node_modules was made on another platform, or on Linux when the C library is not glibc.",
    "What to do, one of:",
    `  npm install --include=optional stepstone@${version}`,
    `  install the native programs without npm: ${INSTALLING}`,
  ];
}

function unusable(program, path, error) {
  const reason = error.code ?? error.message;
  const advice =
    reason === "ENOENT"
      ? "The file is there, so its loader is missing: the program needs Linux with glibc (not musl)."
      : reason === "EACCES"
        ? `It is not allowed to run. If it lost its mode: chmod +x ${JSON.stringify(path)}`
        : `Install the package again, or the native programs without npm: ${INSTALLING}`;
  return [`${program}: ${path} cannot be run (${reason}).`, advice];
}

// Says why on standard error; standard output belongs to the native program's protocol.
function fail(lines) {
  process.stderr.write(`${lines.join("\n")}\n`);
  process.exitCode = 1;
}

function become(path, words) {
  process.execve(path, [path, ...words], process.env);
}

function accompany(program, path, words) {
  // The native program ends when this process is gone, however it went.
  const env = { ...process.env, STEPSTONE_LAUNCHER_PID: String(process.pid) };
  let child;
  const pass = (signal) => child.kill(signal);
  // Before there is a child: none of them may end this process and leave that one.
  for (const signal of FORWARDED) process.on(signal, pass);
  const release = () => FORWARDED.forEach((signal) => process.removeListener(signal, pass));
  child = require("node:child_process").spawn(path, words, { stdio: "inherit", env });
  child.on("error", (error) => {
    if (child.pid !== undefined) return;
    release();
    fail(unusable(program, path, error));
  });
  child.on("exit", (code, signal) => {
    release();
    process.exitCode = code ?? 128 + (signals[signal] ?? 0);
    // End by the same signal, so that whoever waits sees what really happened.
    if (signal !== null) process.kill(process.pid, signal);
  });
}

module.exports = function launch(program) {
  const path = find(program);
  if (path === undefined) return fail(missing(program));
  const words = process.argv.slice(2);
  try {
    accessSync(path, constants.X_OK);
    if (typeof process.execve === "function") return become(path, words);
  } catch (error) {
    return fail(unusable(program, path, error));
  }
  return accompany(program, path, words);
};
