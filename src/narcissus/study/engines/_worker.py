"""The inside of a worker process: play the requested trials, job after job, until the pipe ends.

Started by `processes.py` with a safe path: nothing is ever imported from the current directory.
Standard input and output of the process are the pipes; whatever a trial itself prints goes to
standard error. An answer is packed as bytes: a value, or the exception that was raised.
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
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

import cloudpickle
from threadpoolctl import threadpool_limits

from narcissus._visible import show_visibly
from narcissus.errors import NarcissusError

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


def answer(play: Callable[[], Any]) -> bytes:
    """Pack the value, or the exception and its traceback."""
    try:
        return pickle.dumps((play(), None, ""))
    except MemoryError:
        error: BaseException = MemoryError("memory ran out")
        text = ""
    except SystemExit as raised:
        error, text = SystemExit(), repr(raised.code)
    except Exception as raised:
        error, text = raised, traceback.format_exc()
    with suppress(Exception):
        packed = cloudpickle.dumps((None, error, text))
        pickle.loads(packed)  # some exceptions cannot be made again from what they were made of
        return packed
    replacement = RuntimeError(f"{type(error).__name__}: {error}")
    return pickle.dumps((None, replacement, text))


def opened(message: bytes, where: str) -> Any:
    """Return the value, or raise the exception with ``where`` in a note."""
    value, error, text = pickle.loads(message)
    if error is None:
        return value
    if isinstance(error, MemoryError):
        raise NarcissusError(
            f"memory ran out {where} (MemoryError): use fewer --workers or a smaller study; "
            "finished trials are kept"
        )
    if isinstance(error, SystemExit):
        raise NarcissusError(f"sys.exit({text}) was called {where}")
    error.add_note(where)
    if not isinstance(error, NarcissusError):
        error.add_note("in a worker process:\n" + text)
    raise error


def die_with(parent: int) -> None:
    """End this process when its parent ends, for whatever reason.

    On Linux the kernel does so at the same time; elsewhere a thread checks twice a second.
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
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def main(parent: int) -> None:
    """Load a job, report whether it loaded, play key after key, and take the next job."""
    die_with(parent)
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    questions, answers = _pipes()
    show_visibly(sys.stdout)  # logs and warnings too, which a stranger's names may stand in
    show_visibly(sys.stderr)
    job: list[Callable[[str], Any]] = []
    while (message := receive(questions)) is not None:
        kind, body = message[:1], memoryview(message)[1:]
        if kind == JOB:
            job.clear()  # before the next one is made: both may not fit
            send(answers, answer(lambda body=body: job.append(pickle.loads(body))))
            if not job:
                return
            with suppress(OSError):  # where they can be found
                threadpool_limits(1)  # of the libraries that came with it, too
        else:
            send(answers, answer(lambda body=body: job[0](bytes(body).decode())))
