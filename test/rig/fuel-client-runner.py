# Runs commands of the published fuel2 client, one JSON list of arguments a line, and answers each with
# one line of JSON: exit code, standard output, standard error. One process, since the client takes a
# second to load.
import contextlib
import io
import json
import sys

from fuelclient import main

answers = sys.stdout
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main.main(json.loads(line))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
    answers.write(json.dumps({"code": code, "out": out.getvalue(), "err": err.getvalue()}) + "\n")
    answers.flush()
