# Runs commands of the published client, one JSON list of words a line: `fuel2 …`, or the older `fuel …`. It answers each
# with one line of JSON: exit code, standard output, standard error. `["commands"]` answers with the names of all
# commands of both. One process, since the client takes a second to load.
import contextlib
import importlib.metadata
import io
import json
import os
import sys
import traceback

# Being loaded, it speaks of the settings it writes for itself.
with contextlib.redirect_stdout(io.StringIO()):
    from fuelclient import main
    from fuelclient.cli import actions, parser


def names():
    fuel2 = importlib.metadata.entry_points(group="fuelclient")
    return {"fuel2": sorted(one.name.replace("_", " ") for one in fuel2), "fuel": sorted(actions.actions)}


def run(words):
    if words == ["commands"]:
        print(json.dumps(names()))
        return 0
    if words[0] == "fuel":
        return parser.main(words) or 0
    return main.main(words[1:])


answers = sys.stdout
# The older client closes sys.stdin when it exits, and looks at it when it runs.
for line in os.fdopen(os.dup(0)):
    out, err = io.StringIO(), io.StringIO()
    sys.stdin = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(json.loads(line))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except Exception:
            code = 1
            traceback.print_exc()
    answers.write(json.dumps({"code": code, "out": out.getvalue(), "err": err.getvalue()}) + "\n")
    answers.flush()
