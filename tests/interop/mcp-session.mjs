// One session of the official TypeScript client (protocol revisions with a handshake) with the server that is named.
//
//   mcp-session.mjs <stepstone-mcp>
//
// Says on standard output, one JSON object per line, what it saw. After "subscribed" it waits for a change that somebody
// else makes, and for a line on standard input before it closes.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const say = (event, facts = {}) => process.stdout.write(`${JSON.stringify({ event, ...facts })}\n`);
const line = () => new Promise((resolve) => process.stdin.once("data", resolve));

const transport = new StdioClientTransport({ command: process.argv[2], env: process.env, stderr: "inherit" });
const client = new Client({ name: "typescript-v1", version: "1.0.0" }, { capabilities: {} });
const problems = [];
client.onerror = (error) => problems.push(String(error));
const updated = new Promise((resolve) =>
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri)),
);

await client.connect(transport);
say("connected", { server: client.getServerVersion(), capabilities: client.getServerCapabilities() });
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
const { prompts } = await client.listPrompts();
say("listed", {
  tools: tools.map((tool) => tool.name),
  resources: resources.map((resource) => resource.uri),
  templates: resourceTemplates.map((template) => template.uriTemplate),
  prompts: prompts.map((prompt) => prompt.name),
});
const read = await client.readResource({ uri: "stepstone://worklist/list" });
say("read", { envelope: JSON.parse(read.contents[0].text) });
const called = await client.callTool({ name: "add", arguments: { title: "From a real client" } });
say("called", { isError: called.isError ?? false, envelope: called.structuredContent });
const refused = await client.callTool({ name: "delete", arguments: { id: "from-a-real-client" } });
say("refused", { isError: refused.isError ?? false, envelope: refused.structuredContent });
const unknown = await client.callTool({ name: "nothing", arguments: {} }).catch((error) => ({ code: error.code }));
say("unknown", { code: unknown.code });
const completed = await client.complete({
  ref: { type: "ref/resource", uri: "stepstone://worklist/show/{id}" },
  argument: { name: "id", value: "from" },
});
say("completed", completed.completion);
const prompt = await client.getPrompt({ name: "next_goal" });
say("prompted", { text: prompt.messages[0].content.text });
await client.subscribeResource({ uri: "stepstone://worklist/list" });
say("subscribed");
say("updated", { uri: await updated });
const { pid } = transport;
say("closing", { pid });
await line();
await client.close();
say("closed", { problems });
process.stdin.unref?.();
process.exit(0);
