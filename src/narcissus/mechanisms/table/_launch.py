"""Becomes the user's program, in a separate process; standard library only.

Loaded by `narcissus/_guard.py`, which then ends the process with all that it has started.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any


def enter(config: dict[str, Any]) -> Callable[[], None]:
    """Go to the empty folder; give what becomes the program.

    What it prints joins its errors, of which the end is kept.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # it ends with the guard
    os.dup2(2, 1)
    os.chdir(config["work"])

    def become() -> None:
        try:
            os.execv(config["command"][0], config["command"])
        except OSError as error:
            sys.exit(f"it cannot be started: {error.strerror or error}")

    return become
