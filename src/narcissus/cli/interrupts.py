"""Signals that end a command: Ctrl-C, SIGTERM (kill) and SIGHUP (a closed terminal).

Each is raised in the main thread as `Interrupted`, so that workers and programs are ended, folders
removed and finished trials kept. The command exits with 128 plus the number of the signal. Where
the main thread does not respond soon, deep in a long computation, another thread ends the process;
whatever must not be left behind ends with it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType

GRACE = 1.5  # seconds to end in good order
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))

_next_step: str | None = None


class Interrupted(BaseException):
    """A signal asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def on_interrupt(next_step: str) -> None:
    """Set the advice that is printed if the command is interrupted from here on."""
    global _next_step  # noqa: PLW0603  (a process runs one command)
    _next_step = next_step


def farewell(number: int) -> None:
    """Print on standard error that the command was ended, and how to continue."""
    message = (
        "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    )
    with suppress(OSError, ValueError):  # the terminal may be gone
        print(f"{message}; {_next_step}" if _next_step else message, file=sys.stderr, flush=True)


def _last_words(number: int) -> None:
    with suppress(OSError, ValueError):
        if sys.stderr.isatty():
            print("\x1b[?25h", file=sys.stderr)  # a bar may have hidden the cursor
    farewell(number)


def _pass_over(_number: int, _frame: FrameType | None) -> None:
    """Do nothing; Python would complain about a signal that came before it was ignored."""


@contextmanager
def interruptible(*, to_the_end: bool = False) -> Generator[None, None, None]:
    """Raise `Interrupted` in this block on a signal; only in the main thread.

    With ``to_the_end`` the exit of the process after that must be short as well. A signal that was
    ignored when the process began (``nohup``, a job in the background) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [n for n in _ENDING if signal.getsignal(n) is not signal.SIG_IGN]

    def raise_it(number: int, _frame: FrameType | None) -> None:
        for other in taken:  # once is enough: what is in hand now is the cleaning up
            signal.signal(other, _pass_over)
        raise Interrupted(number)

    global _next_step  # noqa: PLW0603
    _next_step = None
    before = {number: signal.signal(number, raise_it) for number in taken}
    watch = _Watch(taken)
    is_last = False
    try:
        yield
    except Interrupted:
        is_last = to_the_end
        raise
    finally:
        if is_last:
            for number in taken:  # also while the interpreter ends, which forgets handlers
                signal.signal(number, signal.SIG_IGN)
        else:
            watch.end()
            for number, handler in before.items():
                signal.signal(number, handler)


class _Watch:
    """A thread that ends the process soon after a signal if the main thread does not.

    Python's wake-up descriptor reports every signal. The thread needs the interpreter's lock, which
    long computations release now and then.
    """

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = numbers
        self._over = threading.Event()
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)
        self._before = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._wait, name="interrupts", daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while received := os.read(self._reads, 1):
            if received[0] in self._numbers:
                if not self._over.wait(GRACE):
                    # In a thread: whoever should read it may not do so, and that must not hold us.
                    last = threading.Thread(target=_last_words, args=(received[0],), daemon=True)
                    last.start()
                    last.join(0.3)
                    os._exit(128 + received[0])
                return

    def end(self) -> None:
        self._over.set()
        signal.set_wakeup_fd(self._before)
        os.close(self._writes)
        self._thread.join()
        os.close(self._reads)
