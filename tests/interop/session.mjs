// One MCP session by the official client against the server that a command line starts:
//   node session.mjs <program> [arguments…]
// in the working directory and environment of this process. Prints what was seen as one JSON object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args, env: process.env, cwd: process.cwd(), stderr: "inherit" });
const client = new Client({ name: "official-client", version: "1" });
await client.connect(transport);

const envelope = ({ structuredContent }) => structuredContent;
const read = async (uri) => JSON.parse((await client.readResource({ uri })).contents[0].text);

const { tools } = await client.listTools();
const { resources } = await client.listResources();
const added = envelope(await client.callTool({ name: "add", arguments: { title: "By the official client" } }));
const { id } = added.result.goal;
const next = await read("stepstone://worklist/next");
const refused = await client.callTool({ name: "complete", arguments: { id } });
await client.close();

console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    tools: tools.map(({ name }) => name),
    resources: resources.map(({ uri }) => uri),
    id,
    next: next.result.goal.id,
    refused: { isError: refused.isError, code: envelope(refused).error.code },
  }),
);
