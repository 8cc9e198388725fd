"""The published client of the Model Context Protocol, driven by lines of JSON: one request a line, one answer a line.

argv: the command of the server. A line is ["list"], or ["call", NAME, ARGUMENTS].
"""
import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def written(answer):
    return json.dumps(answer.model_dump(mode="json", by_alias=True))


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        print(written(hello), flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            verb, *rest = json.loads(line)
            if verb == "list":
                answer = await session.list_tools()
            else:
                answer = await session.call_tool(rest[0], rest[1])
            print(written(answer), flush=True)


asyncio.run(main())
