// Another program on the same goal file: takes the lock as npm's proper-lockfile does, adds goals, replaces the file.
//
//   node counterpart.mjs add <worklist> <name> <count>   adds goals <name>-0 …; prints "<id> <revision>" for each one
//                                                         that is in the file, and "refused" for each that is not
//   node counterpart.mjs hold <worklist>                 takes the lock, prints "held", lets go when its input ends
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import lockfile from "proper-lockfile";

const [mode, file, name, count] = process.argv.slice(2);
const directory = dirname(file);

const lock = () =>
  lockfile.lock(directory, {
    lockfilePath: join(directory, ".worklist.lock"),
    realpath: false,
    stale: 10_000,
    update: 2_000,
    retries: { retries: 400, factor: 1, minTimeout: 20, maxTimeout: 40, randomize: true },
  });

async function add(id) {
  const release = await lock();
  try {
    const worklist = JSON.parse(readFileSync(file, "utf8"));
    const now = new Date().toISOString();
    worklist.revision += 1;
    worklist.goals.push({ id, title: id, status: "open", createdAt: now, updatedAt: now });
    const beside = join(directory, `.counterpart-${process.pid}.tmp`);
    writeFileSync(beside, `${JSON.stringify(worklist, null, 2)}\n`);
    renameSync(beside, file);
    console.log(`${id} ${worklist.revision}`);
  } finally {
    await release();
  }
}

if (mode === "add") {
  for (let index = 0; index < Number(count); index += 1) {
    try {
      await add(`${name}-${index}`);
    } catch (error) {
      if (error.code !== "ELOCKED") throw error;
      console.log("refused");
    }
  }
} else {
  const release = await lock();
  console.log("held");
  process.stdin.resume();
  process.stdin.on("end", async () => {
    await release();
    process.exit(0);
  });
}
