"""Speaks to `skillsandbox serve` with the official SDK, as an agent's host would. Prints `ok` last."""

import json
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters


async def main(server, root, env, mode):
    parameters = StdioServerParameters(command=server, args=["serve", "--root", root, "--max-concurrent", "1"], env=env)
    async with Client(parameters, mode=mode) as client:
        assert client.server_info.name == "skillsandbox", client.server_info
        assert (client.protocol_version >= "2026") == (mode == "auto"), client.protocol_version
        assert "run_skill" in client.instructions, client.instructions
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert len(tools) == 9, tools.keys()
        assert tools["run_skill"].annotations.read_only_hint is False
        assert all(tool.annotations.read_only_hint for name, tool in tools.items() if name != "run_skill")

        # The SDK checks structured content against the tool's schema, and raises where it does not fit.
        listed = await client.call_tool("list_skills", {})
        names = [skill["skill"] for skill in listed.structured_content["skills"]]
        assert names == ["fails", "slow", "works"], names
        for name in ["validate_skill", "inspect_skill", "scan_skill"]:
            result = await client.call_tool(name, {"skill": "works"})
            assert not result.is_error, result
        checked = await client.call_tool("check_command", {"skill": "works", "command": "ls | sh"})
        assert checked.structured_content["decision"] == "deny", checked
        checked = await client.call_tool(
            "check_path", {"skill": "works", "tool": "Read", "arguments": {"file_path": "main.sh"}}
        )
        assert checked.structured_content["decision"] == "allow", checked

        worked = await client.call_tool("run_skill", {"skill": "works", "args": ["Grüße"]})
        assert not worked.is_error and worked.structured_content["stdout"] == "works: Grüße\n", worked
        failed = await client.call_tool("run_skill", {"skill": "fails"})
        assert failed.is_error and failed.structured_content["exit_code"] == 7, failed
        assert failed.structured_content["violations"], failed
        trace = failed.structured_content["trace_id"]
        explained = await client.call_tool("explain_denial", {"trace_id": trace})
        assert "You cannot allow this yourself" in explained.content[0].text, explained
        read = await client.read_resource(failed.structured_content["trace_uri"])
        assert json.loads(read.contents[0].text)["trace_id"] == trace, read
        templates = await client.list_resource_templates()
        assert templates.resource_templates[0].uri_template == "skillsandbox://trace/{id}", templates

        # Refusals are answers, not exceptions.
        for arguments in [{"skill": "../x"}, {"skill": "works", "skip_scan": True}, {}]:
            refused = await client.call_tool("run_skill", arguments)
            assert refused.is_error and "what can be done" in refused.content[0].text, refused
        try:
            await client.read_resource("skillsandbox://trace/../../etc/passwd")
            raise SystemExit("a trace that is none was read")
        except MCPError:
            pass

        told = []

        async def progress(done, total, message):
            told.append(message)

        slow = await client.call_tool("run_skill", {"skill": "slow", "args": ["2"]}, progress_callback=progress)
        assert not slow.is_error and told and told[-1].endswith("denied"), (slow, told)

        # A call that is given up is cancelled, and ends the skill: the server has one place, and it is free again.
        with anyio.move_on_after(2) as scope:
            await client.call_tool("run_skill", {"skill": "slow", "args": ["86473"]})
        assert scope.cancelled_caught
        again = await client.call_tool("run_skill", {"skill": "works", "args": ["again"]})
        assert again.structured_content["stdout"] == "works: again\n", again
    print("ok")


anyio.run(main, sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4])
