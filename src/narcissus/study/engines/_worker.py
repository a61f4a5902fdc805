"""The inside of a worker process: play the requested trials, job after job, until the pipe ends.

Started by `_attendant.py` with a safe path: nothing is ever imported from the current directory.
Standard input and output of the process are the pipes; whatever a trial itself prints goes to
standard error.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from threadpoolctl import threadpool_limits

from narcissus._visible import show_visibly
from narcissus.study.engines.answers import answer

LENGTH = struct.Struct("!Q")  # before each message: its number of bytes
JOB, KEY = b"j", b"k"  # what a message to a worker begins with
_PR_SET_PDEATHSIG = 1


def send(stream: IO[bytes], *parts: bytes) -> None:
    """Write one message, given in parts so that a large one is not copied."""
    stream.write(LENGTH.pack(sum(map(len, parts))))
    for part in parts:
        stream.write(part)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message; None if the other side is gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


def die_with(parent: int) -> None:
    """End this process when its parent ends, for whatever reason.

    On Linux the kernel does so at once; elsewhere a thread checks twice a second.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    else:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it ended before we asked to be told
        os._exit(1)


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Move the pipes out of the way of whatever a trial reads or prints."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return asked, answers


def main(parent: int) -> None:
    """Load a job, report whether it loaded, play key after key, and take the next job."""
    die_with(parent)
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    asked, answers = _pipes()
    show_visibly(sys.stdout)  # logs and warnings too, which a stranger's names may stand in
    show_visibly(sys.stderr)
    job: list[Callable[[str], Any]] = []
    while (message := receive(asked)) is not None:
        kind, body = message[:1], memoryview(message)[1:]
        if kind == JOB:
            job.clear()  # before the next one is made: both may not fit
            send(answers, answer(lambda body=body: job.append(pickle.loads(body))))
            if not job:
                return
            threadpool_limits(1)  # of the libraries that came with it, too
        else:
            send(answers, answer(lambda body=body: job[0](bytes(body).decode())))
