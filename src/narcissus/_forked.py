"""Guards that are forked from a process that has imported what their programs need.

A program that imports PyTorch and transformers takes ten seconds of a processor to do so.
`_fork.py` does it once, in a process that no program can reach, and each run is forked from there.
Where a system lacks what this takes, guards are started one by one.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

_NOWHERE = "/dev/null"  # a home in which a library that is imported can make nothing


class RunGuard(Protocol):
    """The process between Narcissus and a program."""

    @property
    def pid(self) -> int: ...
    @property
    def stdout(self) -> IO[bytes] | None: ...
    @property
    def stderr(self) -> IO[bytes] | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


def isolated_python() -> list[str]:
    """Return the command of this interpreter in isolated mode, without settings of the user."""
    return [sys.executable, "-I", "-B", "-X", "utf8"]


class ForkedGuard:
    """A guard that another process has forked, with the methods of `subprocess.Popen`.

    handle: A descriptor of the process, which no other process can get by accident.
    """

    def __init__(self, pid: int, handle: int, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self.pid, self.stdout, self.stderr = pid, stdout, stderr
        self._handle = handle
        weakref.finalize(self, os.close, handle)

    def poll(self) -> int | None:
        """Return a number where it has ended; its exit code is nobody's to know."""
        return 0 if select.select([self._handle], [], [], 0)[0] else None

    def wait(self, timeout: float | None = None) -> int:
        if not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a guard", timeout or 0.0)
        return 0

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if sys.platform == "linux":
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)


class Forks:
    """A process that has imported ``modules``, from which guards are forked.

    It is started at the first fork, or by `begin`, and ends with this object or this process.

    environment: Variables that the modules read while they are imported; programs do not see them.
    """

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        self._modules, self._environment = list(modules), dict(environment)
        self._lock = threading.Lock()
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ending: weakref.finalize[..., Any] | None = None
        self._is_of = 0  # the process that has started it; a fork of that has none

    def begin(self) -> None:
        """Start to import, and do not wait for the end of it."""
        with self._lock, contextlib.suppress(OSError):
            self._begin()

    def end(self) -> None:
        """End the process, and with it all guards that are left; the next fork starts another."""
        with self._lock:
            self._forget()

    def _begin(self) -> socket.socket:
        if self._channel is not None and self._is_of == os.getpid():
            return self._channel
        if self._ending is not None:
            self._ending.detach()  # this is a fork: the process is another's to end
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        told = {"modules": self._modules, "parent": os.getpid(), "channel": theirs.fileno()}
        with theirs:
            self._process = subprocess.Popen(
                [*isolated_python(), str(Path(__file__).with_name("_fork.py")), json.dumps(told)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"HOME": _NOWHERE, **self._environment},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._channel, self._is_of = ours, os.getpid()
        self._ending = weakref.finalize(self, _end, ours, self._process)
        return ours

    def fork(
        self, config: Mapping[str, Any], environment: Mapping[str, str], handles: Sequence[int]
    ) -> ForkedGuard | None:
        """Return a guard with this configuration; None: it cannot be had, so start one.

        handles: Of the report, the lifeline and, if there are any, the requests, in this order.
        """
        with contextlib.ExitStack() as stack:
            output, printed = os.pipe()
            stack.callback(os.close, printed)
            error, written = os.pipe()
            stack.callback(os.close, written)
            streams = os.fdopen(output, "rb", 0), os.fdopen(error, "rb", 0)
            with self._lock:
                try:
                    asked = {"config": dict(config), "environment": dict(environment)}
                    told = _memory_file(json.dumps(asked).encode())
                    stack.callback(os.close, told)
                    channel = self._begin()
                    socket.send_fds(channel, [b"fork"], [told, printed, written, *handles])
                    answer, found, _, _ = socket.recv_fds(channel, 16, 1, socket.MSG_CMSG_CLOEXEC)
                except OSError:
                    answer, found = b"", []
                except BaseException:  # its answer would be that to the next one
                    self._forget()
                    raise
                if found:
                    return ForkedGuard(int(answer), found[0], *streams)
                self._forget()
            for stream in streams:
                stream.close()
            return None

    def _forget(self) -> None:
        if self._ending is not None:
            self._ending()
        self._channel = self._ending = None


def can_fork() -> bool:
    """Say whether this system has what it takes."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open") and hasattr(os, "memfd_create")


def _memory_file(content: bytes) -> int:
    """Return a descriptor of a file in memory."""
    if sys.platform != "linux":
        raise OSError("there are no files in memory")
    handle = os.memfd_create("config")
    try:
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(content)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _end(channel: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """End a process that guards are forked from; killed as it may be importing."""
    channel.close()
    process.kill()
    process.wait()
