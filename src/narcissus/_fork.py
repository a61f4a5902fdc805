"""The process from which the guards of programs are forked that all import the same modules.

`_forked.py` starts it as a script (``python -I _fork.py CONFIG``); standard library only. It
imports the modules that it is told, once, and never runs a program. For each run it forks a process
that is the run's guard from then on (`_guard.py`), as if that had been started by itself: with its
own streams, session and environment, and no other descriptor. Whatever walls a program has are put
up in its own process, after the fork. It ends when Narcissus does.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import os
import runpy
import select
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

TICK = 1.0  # seconds between two looks at Narcissus and at guards that have ended
_GUARD: dict[str, Any] = runpy.run_path(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "_guard.py"), run_name="guard"
)


def main() -> Callable[[], None] | None:
    """Import, then fork guards; returns only in the processes that are forked."""
    told: dict[str, Any] = json.loads(sys.argv[1])
    for name in told["modules"]:
        with contextlib.suppress(BaseException):  # it fails in the program as well
            importlib.import_module(name)
    tempfile.tempdir = None  # each program has its own
    gc.collect()
    gc.freeze()  # looking for garbage in a fork would write on every object, and so copy it
    channel = socket.socket(fileno=told["channel"])
    while True:
        _take_leave()
        if not select.select([channel], [], [], TICK)[0]:
            if os.getppid() != told["parent"]:
                os._exit(0)
            continue
        message, handles, _, _ = socket.recv_fds(channel, 16, 8)
        if not message:
            os._exit(0)
        me, child = os.getpid(), os.fork()
        if child == 0:
            channel.detach()
            _become_guard(handles, me)
            return _GUARD["main"]()
        guard = os.pidfd_open(child)
        socket.send_fds(channel, [b"%d" % child], [guard])
        for handle in (*handles, guard):
            os.close(handle)


def _take_leave() -> None:
    """Let the guards that have ended go."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become_guard(handles: list[int], parent: int) -> None:
    """Have the streams, the session, the environment and the settings of a guard."""
    os.setsid()
    told, output, error, *kept = handles
    with os.fdopen(told, "rb") as file:
        file.seek(0)
        asked: dict[str, Any] = json.loads(file.read())
    language = {name: os.environ[name] for name in ("LC_CTYPE",) if name in os.environ}
    os.environ.clear()
    os.environ.update(language | asked["environment"])  # Python chooses its encoding at its start
    os.dup2(output, 1)
    os.dup2(error, 2)
    edges = [2, *sorted(kept), os.sysconf("SC_OPEN_MAX")]
    for begin, end in itertools.pairwise(edges):
        os.closerange(begin + 1, end)
    named = dict.fromkeys(("report", "lifeline", "requests"))
    config = {**asked["config"], **named, **dict(zip(named, kept, strict=False)), "parent": parent}
    sys.argv = ["_guard.py", json.dumps(config)]


if __name__ == "__main__":
    program = main()
    if program is None:  # this is a guard, whose run is over
        os._exit(0)
    program()
