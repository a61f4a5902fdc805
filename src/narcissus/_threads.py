"""One thread for linear algebra: the last digits depend on how many there are."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Generator[None]:
    """Let the libraries of this process work in one thread each, where they can be found.

    They are found by the memory map of the process; without ``/proc`` they stay as they are.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            stack.enter_context(threadpool_limits(1))
        yield
