"""The process between Narcissus and a program, so that nothing of a run outlives it.

`_guarded.py` starts it as a script (``python -I _guard.py CONFIG``); standard library only. On
command it starts the program, by way of the file ``jail``. It ends the program and all that it
started when the program ends, its time is over, its folder is too full, or Narcissus is gone. The
pipe called lifeline ends with Narcissus. Then it removes the folder of the run.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import runpy
import select
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

TICK = 0.1  # seconds between two looks at the clock and the folder
ENDING = 10.0  # seconds to end all that a program has started
OVER_MEMORY = -1000  # what is reported of a program that took more memory than it may
SLACK = 2**26  # bytes that are no memory of the program's, such as tables of its libraries
_MANY = 1000  # processes that are stopped before some are let go
ENTRIES = 10_000  # most files and folders in a private folder that has no size of its own
DEPTH = 100  # most folders within each other there
_REMOVING = 300.0  # seconds to remove a folder that somebody may still be filling
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def remove(folder: str, seconds: float = _REMOVING) -> bool:
    """Remove a folder with all that is in it, of any depth and modes; never raise.

    Folders may lie deeper than any path reaches. So each is opened relative to the folder, which no
    link leads out of, and the folders in it are moved up into that one before it is removed.

    Returns whether it is gone.
    """
    if os.open not in os.supports_dir_fd:  # Windows, where no stranger's program is run
        shutil.rmtree(folder, ignore_errors=True)
        return not os.path.lexists(folder)
    with contextlib.suppress(OSError):
        top = enter_folder(folder, None)
        try:
            _remove_content(top, time.monotonic() + seconds)
        finally:
            os.close(top)
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def enter_folder(name: str, parent: int | None) -> int:
    """Open a folder, no link, after it was made one that this process may read and change."""
    with contextlib.suppress(OSError, NotImplementedError):
        if hasattr(os, "O_PATH"):
            handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
            try:
                os.chmod(f"/proc/self/fd/{handle}", 0o700)
            finally:
                os.close(handle)
        else:
            os.chmod(name, 0o700, dir_fd=parent, follow_symlinks=False)
    return os.open(name, os.O_RDONLY | _FOLDER, dir_fd=parent)


def _remove_content(top: int, deadline: float) -> None:
    """Remove what is in an opened folder, in passes of which each removes or moves something."""
    is_changed = True
    while is_changed and time.monotonic() < deadline:
        is_changed = False
        with os.scandir(top) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    is_changed |= _remove_folder(entry.name, top)
                else:
                    is_changed |= _succeeds(os.unlink, entry.name, dir_fd=top)
                if time.monotonic() > deadline:
                    return


def _remove_folder(name: str, top: int) -> bool:
    """Remove a folder whose folders move up into the top one; return whether anything changed."""
    is_changed = False
    with contextlib.suppress(OSError):
        handle = enter_folder(name, top)
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        is_changed |= _succeeds(os.unlink, entry.name, dir_fd=handle)
                        continue
                    with contextlib.suppress(OSError):  # to move it, its own entries change
                        os.close(enter_folder(entry.name, handle))
                    is_changed |= _succeeds(
                        os.rename,
                        entry.name,
                        os.urandom(16).hex(),
                        src_dir_fd=handle,
                        dst_dir_fd=top,
                    )
        finally:
            os.close(handle)
    return _succeeds(os.rmdir, name, dir_fd=top) or is_changed


def _succeeds(change: Callable[..., None], *names: str, **where: int) -> bool:
    try:
        change(*names, **where)
    except OSError:
        return False
    return True


File = tuple[int, int]
"""A file: the numbers of its device and of itself."""


def usage(folder: str) -> tuple[dict[File, int], int]:
    """Return the bytes of each file of a folder, and the number of entries.

    Beyond a limit the count stops. A folder that lies within more than `DEPTH` others, or that
    cannot be read, counts as too many entries.
    """
    files: dict[File, int] = {}
    count = 0
    waiting: list[tuple[int, Any]] = []
    try:
        _open_within(waiting, folder, None)
        while waiting and count <= ENTRIES:
            handle, entries = waiting[-1]
            entry = next(entries, None)
            if entry is None:
                _close_last(waiting)
                continue
            count += 1
            try:
                status = os.stat(entry.name, dir_fd=handle, follow_symlinks=False)
                files[status.st_dev, status.st_ino] = status.st_blocks * 512
                if stat.S_ISDIR(status.st_mode):
                    if len(waiting) > DEPTH:
                        return files, ENTRIES + 1
                    _open_within(waiting, entry.name, handle)
            except OSError as error:
                if error.errno not in _IS_GONE:
                    return files, ENTRIES + 1
    except OSError:  # the folder of the run itself is not there yet, or no more
        pass
    finally:
        while waiting:
            _close_last(waiting)
    return files, count


_IS_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def _open_within(waiting: list[tuple[int, Any]], name: str, parent: int | None) -> None:
    handle = enter_folder(name, parent)
    try:
        waiting.append((handle, os.scandir(handle)))
    except BaseException:
        os.close(handle)
        raise


def _close_last(waiting: list[tuple[int, Any]]) -> None:
    handle, entries = waiting.pop()
    entries.close()
    os.close(handle)


def unlinked(pids: list[int], folder: str, uid: int | None) -> tuple[dict[File, int], bool]:
    """Return the bytes of files without a name that processes hold open, and whether more is held.

    More: a file of the folder that is mapped into memory, and has neither a name nor a descriptor.

    uid: the user of the processes, if root has given them another one.
    """
    files: dict[File, int] = {}
    mapped: set[int] = set()
    for pid in pids:
        with _seeing(pid, uid), contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    status = os.stat(f"/proc/{pid}/fd/{name}")
                    if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                        files[status.st_dev, status.st_ino] = status.st_blocks * 512
            mapped |= _mapped_without_name(_content(f"/proc/{pid}/maps"), folder)
    return files, not mapped <= {number for _, number in files}


def _mapped_without_name(maps: bytes, folder: str) -> set[int]:
    """Return the numbers of a folder's mapped files that have no name any more."""
    prefix = os.fsencode(folder).replace(b"\n", b"\\012") + b"/"
    if b" (deleted)\n" not in maps:
        return set()
    lines = (line.split(maxsplit=5) for line in maps.splitlines())
    return {
        int(fields[4])
        for fields in lines
        if len(fields) == 6 and fields[5].startswith(prefix) and fields[5].endswith(b" (deleted)")
    }


@contextlib.contextmanager
def _seeing(pid: int, uid: int | None) -> Generator[None]:
    """Look at a process as its own user, where root itself may not look at it."""
    if uid is not None:
        with contextlib.suppress(OSError):
            os.readlink(f"/proc/{pid}/exe")  # which lists of its files do not ask for
            uid = None
    if uid is None:
        yield
        return
    os.setresgid(-1, uid, -1)
    os.setresuid(-1, uid, -1)
    try:
        yield
    finally:
        os.setresuid(-1, 0, -1)
        os.setresgid(-1, 0, -1)


def threads(pids: list[int]) -> int:
    """Return the threads of the process that has most of them."""
    counts = [0]
    for pid in pids:
        with contextlib.suppress(OSError):
            counts.append(len(os.listdir(f"/proc/{pid}/task")))
    return max(counts)


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

    A program may start processes faster than they are seen, each of which ends immediately. So
    each is stopped before any is killed, again and again, for so many seconds at most.

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
    is_watched = limit_of_memory or config["watch_folder"] or config.get("watch_threads")
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
        began = time.monotonic()
        if config["watch_folder"] and _is_too_full(config, child):
            return None
        if config.get("watch_threads") and threads(descendants()) > config["threads"]:
            return None
        if limit_of_memory:
            pids = descendants() if ticks % 5 == 0 else [child]
            if memory(pids) > limit_of_memory + SLACK:
                return OVER_MEMORY
            ticks += 1
        is_seldom = len(watched) > 1 and not is_watched
        took = time.monotonic() - began
        select.select(watched, [], [], TICK if is_seldom else max(TICK / 5, 4 * took))


def _is_too_full(config: dict[str, Any], child: int) -> bool:
    """Whether a program has more on the disk than it may, with or without a name."""
    files, count = usage(config["tmp"])
    pids = [child] if config["method"] == "Landlock" else descendants()
    others, is_more = unlinked(pids, config["tmp"], config.get("uid"))
    return is_more or count > ENTRIES or sum((files | others).values()) > config["disk"]


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
