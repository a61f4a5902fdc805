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
ENDING = 10.0  # seconds to end all that a program has started
OVER_MEMORY = -1000  # what is reported of a program that took more memory than it may
SLACK = 2**26  # bytes that are no memory of the program's, such as tables of its libraries
_MANY = 1000  # processes that are stopped before some are let go
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


def children(parent: int | None = None) -> list[int]:
    """Return the children of a process, adopted ones included; none where nothing tells.

    parent: its id; None: this process.
    """
    parent = os.getpid() if parent is None else parent
    pids: list[int] = []
    try:
        for task in os.listdir(f"/proc/{parent}/task"):
            pids += map(int, _content(f"/proc/{parent}/task/{task}/children").split())
    except OSError:  # it is gone, or this system keeps no such lists
        return (
            [] if os.path.exists(f"/proc/self/task/{os.getpid()}/children") else _looked_for(parent)
        )
    return pids


def _content(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY)
    try:
        parts: list[bytes] = []
        while part := os.read(handle, 2**16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def _looked_for(parent: int) -> list[int]:
    """Look through all processes for the children of one."""
    pids: list[int] = []
    names: list[str] = []
    with contextlib.suppress(OSError):  # a system without /proc, as some containers are
        names = os.listdir("/proc") if sys.platform == "linux" else []
    for name in names:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = _content(f"/proc/{name}/stat").rpartition(b")")[2].split()
                if int(fields[1]) == parent:
                    pids.append(int(name))
    return pids


def descendants() -> list[int]:
    """Return all that this process has started, by whatever others, as far as it is to be seen."""
    pids, seen, waiting = list[int](), set[int](), children()
    while waiting:
        pid = waiting.pop()
        if pid not in seen:
            seen.add(pid)
            pids.append(pid)
            waiting += children(pid)
    return pids


def memory(pids: list[int]) -> int:
    """Return the bytes that processes have written: private, shared, and put aside on a disk.

    Limits of the system on what a process may write do not count shared pages, nor a stack that
    grows downwards; pages of files that nobody has changed cost nothing, and are not counted here.
    """
    size = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in _content(f"/proc/{pid}/status").splitlines():
                if line.startswith((b"RssAnon:", b"RssShmem:", b"VmSwap:")):
                    size += int(line.split()[1]) << 10
    return size


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _freeze(deadline: float) -> None:
    """Stop all that a run has started, until nothing new comes: what is stopped starts nothing."""
    stopped: set[int] = set()
    while time.monotonic() < deadline:
        fresh = [pid for pid in children() if pid not in stopped]
        for pid in fresh:  # before anything else: it may be gone in the time of a longer look
            _send(pid, signal.SIGSTOP)
        others = [pid for pid in descendants() if pid not in stopped]
        for pid in others:
            _send(pid, signal.SIGSTOP)
        stopped.update(fresh, others)
        if not fresh and not others:
            return
        if len(stopped) > _MANY:  # mostly of processes that have ended: let these go
            return


def end_all(child: int | None, seconds: float = ENDING) -> bool:
    """Kill the rest of a run: its group, and all processes orphaned to this one.

    A program may start processes faster than they are seen, each of which ends at once. So each is
    stopped before any is killed, again and again, for so many seconds at most.

    Returns whether nothing is left, as far as this system tells.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if child is not None:
            os.killpg(child, signal.SIGKILL)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        _freeze(deadline)
        for pid in children():
            _send(pid, signal.SIGKILL)
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.001)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
    return False


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
    limit_of_memory: int | None = config.get("data")
    ticks = 0
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
        if limit_of_memory:
            pids = descendants() if ticks % 5 == 0 else [child]
            if memory(pids) > limit_of_memory + SLACK:
                return OVER_MEMORY
            ticks += 1
        is_seldom = len(watched) > 1 and not limit_of_memory
        select.select(watched, [], [], TICK if is_seldom else TICK / 5)


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
