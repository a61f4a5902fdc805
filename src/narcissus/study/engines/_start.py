"""The start of a worker process that imports what this one does, and nothing from its folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys

# The path is the parent's without the current directory, and is set before anything is imported.
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from narcissus._isolation import import_from_elsewhere; import_from_elsewhere(); "
    "from narcissus.study.engines.{0} import main; main(int(sys.argv[2]))"
)


def start(module: str, *, prints: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Run ``main(parent)`` of a sibling module in a process with a pipe to its standard input.

    ``prints`` is the destination of its standard output, as in `subprocess.Popen`.
    """
    paths = [p for p in sys.path if isinstance(p, str) and p]  # pyright: ignore[reportUnnecessaryIsInstance] (anything may be there)
    flags: list[str] = subprocess._args_from_interpreter_flags()  # pyright: ignore
    told = [json.dumps(paths), str(os.getpid())]
    return subprocess.Popen(
        [sys.executable, *flags, "-P", "-c", _CODE.format(module), *told],
        stdin=subprocess.PIPE,
        stdout=prints,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        # Ctrl-C at a terminal goes to a whole group: these hear of it from us.
        process_group=0 if os.name == "posix" else None,
    )
