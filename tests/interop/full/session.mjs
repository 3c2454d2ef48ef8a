// One session of the second line of the official TypeScript client with the server that is named.
//
//   session.mjs <auto | legacy> <stepstone-mcp>
//
// Says what tests/interop/mcp-session.mjs says.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command] = process.argv.slice(2);
const say = (event, facts = {}) => process.stdout.write(`${JSON.stringify({ event, ...facts })}\n`);
const line = () => new Promise((resolve) => process.stdin.once("data", resolve));
const LIST = "stepstone://worklist/list";

const transport = new StdioClientTransport({ command, env: process.env, stderr: "inherit" });
const client = new Client({ name: "typescript-v2", version: "2.0.0" }, { versionNegotiation: { mode } });
const problems = [];
client.onerror = (error) => problems.push(String(error));
const updated = new Promise((resolve) =>
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri)),
);

await client.connect(transport);
say("connected", { server: client.getServerVersion(), revision: client.getNegotiatedProtocolVersion() });
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
const read = await client.readResource({ uri: LIST });
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
const subscription = mode === "auto" ? await client.listen({ resourceSubscriptions: [LIST] }) : undefined;
if (!subscription) await client.subscribeResource({ uri: LIST });
say("subscribed");
say("updated", { uri: await updated });
say("closing", { pid: transport.pid });
await line();
await subscription?.close();
await client.close();
say("closed", { problems });
process.exit(0);
