"""The process between Narcissus and a program, so that nothing of a run outlives it.

`_guarded.py` starts it as a script (``python -I _guard.py CONFIG``); standard library only. On
command it starts the program, by way of the file ``jail``. It ends the program and all that it
started when the program ends, its time is over, its folder is too full, or Narcissus is gone. The
pipe called lifeline ends with Narcissus. Then it removes the folder of the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

TICK = 0.1  # seconds between two looks at the clock and the folder
ENTRIES = 10_000  # most files and folders in a private folder that has no size of its own


def remove(folder: str) -> None:
    """Remove a folder with all that is in it, of any depth and modes; never raise."""
    folders, waiting = [], [folder]
    while waiting:
        place = waiting.pop()
        folders.append(place)
        with contextlib.suppress(OSError):
            os.chmod(place, 0o700)
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        with contextlib.suppress(OSError):
                            os.unlink(entry.path)
    for place in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(place)


def usage(folder: str) -> tuple[int, int]:
    """Return bytes and number of entries of a folder; beyond a limit the count stops."""
    size, count, waiting = 0, 0, [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                if count > ENTRIES:
                    return size, count
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
    return size, count


def children() -> list[int]:
    """Return the children of this process, adopted ones included; none where nothing tells."""
    me, pids = os.getpid(), []
    names: list[str] = []
    with contextlib.suppress(OSError):  # a system without /proc, as some containers are
        names = os.listdir("/proc") if sys.platform == "linux" else []
    for name in names:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
                if int(fields[1]) == me:
                    pids.append(int(name))
    return pids


def end_all(child: int | None) -> None:
    """Kill the rest of a run: its group, and all processes orphaned to this one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if child is not None:
            os.killpg(child, signal.SIGKILL)
    while True:
        for pid in children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _start(config: dict[str, Any]) -> tuple[int, Callable[[], None] | None]:
    """Fork a process for the program; return its id, and in the child also what to run.

    The child keeps the reading end of a pipe whose other end only this process has, so that it ends
    with this process.
    """
    jail = runpy.run_path(config["jail"], run_name="jail")
    config["unshared"] = jail["unshare"]() if config["method"] == "namespaces" else ""
    config["alive"], alive = os.pipe()
    child = os.fork()
    if child:
        os.close(config["alive"])
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        return child, None
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.close(alive)
    os.close(config["lifeline"])
    requests: int | None = config.get("requests")
    handle = os.open(config["stdin"], os.O_RDONLY) if requests is None else requests
    os.dup2(handle, 0)
    os.close(handle)
    return 0, jail["enter"](config)


def _is_gone(config: dict[str, Any], wait: float) -> bool:
    """Whether the lifeline is readable: once the start command was read, that is its end."""
    ready, _, _ = select.select([config["lifeline"]], [], [], wait)
    return bool(ready) or os.getppid() != config["parent"]


def _attend(config: dict[str, Any], child: int) -> int | None:
    """Wait for the program; return its exit code, or None if it had to be ended."""
    deadline = time.monotonic() + config["seconds"] + 1  # Narcissus looks at the clock, too
    watched: list[int] = [config["lifeline"]]
    with contextlib.suppress(AttributeError, OSError):
        watched.append(os.pidfd_open(child))  # not everywhere: then within a tick
    while True:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            limit, took = config.get("processor"), used.ru_utime + used.ru_stime
            return -signal.SIGXCPU if code and limit and took > limit else code
        if time.monotonic() > deadline or _is_gone(config, 0):
            return None
        if config["watch_folder"]:
            size, count = usage(config["tmp"])
            if size > config["disk"] or count > ENTRIES:
                return None
        select.select(watched, [], [], TICK if len(watched) > 1 else TICK / 5)


def main() -> Callable[[], None] | None:
    """Wait for the start command, run the program, report its end, clean up.

    Returns twice: None in this process, and in the child the callable to run.
    """
    config: dict[str, Any] = json.loads(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # Narcissus wants it to end at once
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans of the program become ours
    child: int | None = None
    try:
        while not _is_gone(config, 1):
            pass
        if os.read(config["lifeline"], 1):  # the word; nothing where Narcissus is gone
            child, program = _start(config)
            if child == 0:
                return program
            _see_through(config, child)
    finally:
        if child != 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            end_all(child)
            remove(config["folder"])
    return None


def _see_through(config: dict[str, Any], child: int) -> None:
    """Wait until the program has ended and Narcissus has finished with it."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the end of the program is to be the end of its output
        os.dup2(null, stream)
    if config.get("requests") is not None:
        os.close(config["requests"])
    code = _attend(config, child)
    end_all(child)
    os.write(config["report"], b"\n%d" % (1 if code is None else code))
    os.close(config["report"])
    while not _is_gone(config, 1):
        pass


if __name__ == "__main__":
    program = main()
    if program is not None:
        program()
