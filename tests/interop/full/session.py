"""One session of the official Python client with the server that is named.

    session.py <auto | legacy> <stepstone-mcp>

Says what tests/interop/mcp-session.mjs says.
"""

import json
import os
import sys
import warnings

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference, ResourceUpdatedNotification

LIST = "stepstone://worklist/list"
MODE, COMMAND = sys.argv[1:3]

# The older revisions subscribe in the older way, and that is meant.
warnings.filterwarnings("ignore", message="resources/subscribe is removed")


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main():
    updated, problems = anyio.Event(), []
    told = []

    async def handle(message):
        if isinstance(message, Exception):
            problems.append(str(message))
        elif isinstance(message, ResourceUpdatedNotification):
            told.append(str(message.params.uri))
            updated.set()

    server = stdio_client(StdioServerParameters(command=COMMAND, env=dict(os.environ)))
    async with Client(server, mode=MODE, message_handler=handle) as client:
        say("connected", server=plain(client.server_info), revision=client.protocol_version)
        say(
            "listed",
            tools=[tool.name for tool in (await client.list_tools()).tools],
            resources=[str(resource.uri) for resource in (await client.list_resources()).resources],
            templates=[t.uri_template for t in (await client.list_resource_templates()).resource_templates],
            prompts=[prompt.name for prompt in (await client.list_prompts()).prompts],
        )
        read = await client.read_resource(LIST)
        say("read", envelope=json.loads(read.contents[0].text))
        called = await client.call_tool("add", {"title": "From a real client"})
        say("called", isError=bool(called.is_error), envelope=called.structured_content)
        refused = await client.call_tool("delete", {"id": "from-a-real-client"})
        say("refused", isError=bool(refused.is_error), envelope=refused.structured_content)
        try:
            await client.call_tool("nothing", {})
            say("unknown", code=None)
        except MCPError as error:
            say("unknown", code=error.error.code)
        reference = ResourceTemplateReference(type="ref/resource", uri="stepstone://worklist/show/{id}")
        completed = await client.complete(reference, {"name": "id", "value": "from"})
        say("completed", **plain(completed.completion))
        prompt = await client.get_prompt("next_goal")
        say("prompted", text=prompt.messages[0].content.text)
        if MODE == "auto":
            async with client.listen(resource_subscriptions=[LIST]) as changes:
                say("subscribed")
                async for change in changes:
                    say("updated", uri=str(change.uri))
                    break
        else:
            await client.subscribe_resource(LIST)
            say("subscribed")
            await updated.wait()
            say("updated", uri=told[0])
        say("closing")
        await anyio.to_thread.run_sync(sys.stdin.readline)
    say("closed", problems=problems)


anyio.run(main)
