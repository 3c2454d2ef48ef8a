"use strict";
// Runs the native program of this platform: same arguments, same standard streams, same exit code. There is no
// download and no install script; npm brings the platform's package as an optional dependency.

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { dirname, join } = require("node:path");

/** The signals that a host or a terminal sends to a program to end it. */
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

function find(program) {
  const name = `@stepstone-dev/${process.platform}-${process.arch}`;
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), "bin", program);
  } catch {
    process.stderr.write(
      `${program}: the package ${name} is not installed, so there is no program to run.\n` +
        "If this platform is supported, install again without --omit=optional and without --no-optional.\n" +
        "If it is not, build from source: https://github.com/stepstone-dev/stepstone\n",
    );
    process.exit(1);
  }
}

module.exports = function launch(program) {
  const file = find(program);
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`${program}: ${file} cannot be run: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // End as the program did, so that whoever waits sees the same; a forwarded signal must not be caught again.
    for (const forwarded of FORWARDED) process.removeAllListeners(forwarded);
    process.kill(process.pid, signal);
    // Reached only where the signal does not end this process.
    process.exitCode = 128 + constants.signals[signal];
  });
};
