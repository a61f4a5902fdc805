"""Reasons why a process ended, in words: its own exit, a crash, a kill, or lack of memory."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

CRASHES = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT")


def oom_kills() -> int | None:
    """Count the processes that the kernel has killed for lack of memory; None if unknown."""
    found: list[int] = []
    places = [Path("/proc/vmstat")]
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kinds, path = line.split(":", 2)
            root = "/sys/fs/cgroup" + ("/memory" if kinds == "memory" else "")
            name = "memory.oom_control" if kinds == "memory" else "memory.events"
            if kinds in {"", "memory"}:
                places += [Path(root + path, name), Path(root, name)]
    for place in places:
        with suppress(OSError, ValueError):
            lines = place.read_text(encoding="utf-8").splitlines()
            found += [int(s.split()[1]) for s in lines if s.startswith("oom_kill ")]
    return sum(found) if found else None


def how_it_ended(code: int, before: int | None, after: int | None) -> str:
    """Describe how a process ended from its exit status (minus the number of a signal).

    ``before`` and ``after`` are `oom_kills` before the trial began and after the process ended.
    """
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "no name"
    text = f"it was killed by signal {-code} ({name})"
    if name in CRASHES:
        return f"{text}: a crash in compiled code"
    if name != "SIGKILL":
        return text
    if before is None or after is None:
        return f"{text}; whether memory ran out cannot be told on this machine"
    if after > before:
        return f"{text}, and memory ran out: use fewer --workers or a smaller study"
    return f"{text}, and not for want of memory: somebody sent it"
