"""A client of the Language Server Protocol that others have written (pygls), driven by lines of JSON.

argv: the command of the server. A line is ["open"|"change", PATH, TEXT]; every set of diagnostics that the server publishes is a line
of the output.
"""
import asyncio
import json
import sys

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls import uris


async def main():
    client = LanguageClient("editor", "1")

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params):
        found = [
            {
                "code": one.code,
                "message": one.message,
                "severity": int(one.severity),
                "from": [one.range.start.line, one.range.start.character],
                "to": [one.range.end.line, one.range.end.character],
            }
            for one in params.diagnostics
        ]
        print(json.dumps({"path": uris.to_fs_path(params.uri), "diagnostics": found}), flush=True)

    folder = sys.argv[1]
    await client.start_io(sys.argv[2], *sys.argv[3:])
    hello = await client.initialize_async(
        types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=uris.from_fs_path(folder))
    )
    client.initialized(types.InitializedParams())
    print(json.dumps({"name": hello.server_info.name}), flush=True)
    loop = asyncio.get_running_loop()
    version = 1
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        verb, path, text = json.loads(line)
        uri = uris.from_fs_path(path)
        version += 1
        if verb == "open":
            item = types.TextDocumentItem(uri=uri, language_id="yaml", version=version, text=text)
            client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        else:
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=version),
                    content_changes=[types.TextDocumentContentChangeWholeDocument(text=text)],
                )
            )
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


asyncio.run(main())
