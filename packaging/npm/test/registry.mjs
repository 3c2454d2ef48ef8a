// A package registry on this machine with the packages of one folder, for tests:
//   node registry.mjs <folder with tarballs>
// prints its address and serves until its input ends. Packages for other platforms are known to it, as they would be,
// but it has no tarballs of them.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
const packages = new Map();
const tarballs = new Map();

for (const file of readdirSync(folder).filter((name) => name.endsWith(".tgz"))) {
  const bytes = readFileSync(join(folder, file));
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(folder, file), "package/package.json"]));
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  tarballs.set(`/-/${file}`, bytes);
  packages.set(manifest.name, { ...manifest, dist: { file: `/-/${file}`, integrity } });
}
for (const [name, version] of Object.entries(packages.get("stepstone").optionalDependencies)) {
  const [os, cpu] = name.replace("@stepstone-dev/", "").split("-");
  if (!packages.has(name)) packages.set(name, { name, version, os: [os], cpu: [cpu], dist: { file: "/-/none" } });
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url);
  const known = packages.get(path.slice(1));
  const bytes = tarballs.get(path);
  if (bytes) return response.end(bytes);
  if (!known) return response.writeHead(404).end("{}");
  const { file, integrity } = known.dist;
  const dist = { tarball: `${address()}${file}`, integrity };
  const versions = { [known.version]: { ...known, dist } };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ name: known.name, "dist-tags": { latest: known.version }, versions }));
});
const address = () => `http://127.0.0.1:${server.address().port}`;

server.listen(0, "127.0.0.1", () => console.log(address()));
process.stdin.on("end", () => process.exit(0)).resume();
