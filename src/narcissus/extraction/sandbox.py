"""Run an untrusted program with nothing but its inputs, and verify that the walls hold.

The program gets a Python interpreter, the release, a private temporary folder and a pipe to print
to: no network, no other file, no child process; limits on time, memory, disk and output. `_jail.py`
builds the walls: bubblewrap if installed (or namespaces of our making), Landlock, seccomp and
resource limits, each of which would do most of the work alone. Documentation is not trusted:
`check_isolation` tries to escape first, once in a process, and refuses a machine where an attempt
succeeds.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
from collections.abc import Generator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from narcissus._forked import Forks, can_fork
from narcissus._guarded import Stop
from narcissus.errors import InputError, NarcissusError
from narcissus.extraction._runs import (
    DEFAULT_LIMITS,
    METHOD,
    Limits,
    ProgramRun,
    readable_paths,
    run_once,
    run_served,
)

__all__ = [
    "Isolation",
    "IsolationError",
    "Limits",
    "ProgramRun",
    "Stop",
    "can_serve",
    "check_isolation",
    "check_source",
    "readable_paths",
    "run_program",
    "run_programs",
    "without_isolation",
]

NOT_HIDDEN = (
    "which files and folders exist, their sizes, times and owners, and where links point",
    "which processes run, by their numbers and owners",
    "how much memory and disk this machine has, and uses",
)


class IsolationError(NarcissusError):
    """The machine has no safe place for untrusted programs; the message names the gap."""


@dataclass(frozen=True)
class Isolation:
    """The walls of this machine, as tested."""

    method: str  # "bubblewrap", "namespaces", "Landlock" or "none"
    layers: tuple[str, ...]  # every layer in force, by name
    missing: tuple[str, ...] = ()  # layers that this machine lacks, with the reason
    # escape attempts with their results; all failed, or there would be an `IsolationError`
    checks: tuple[tuple[str, str], ...] = ()
    # what a program can still find out about this machine: Landlock alone prevents reading
    # and writing, and hides nothing
    not_hidden: tuple[str, ...] = ()

    @property
    def reduced(self) -> bool:
        """Whether the program cannot read or write, but sees the machine."""
        return self.method == "Landlock"

    @property
    def safe(self) -> bool:
        """Whether there are walls at all."""
        return self.method != "none"


_REFUSED = b"refused"


@dataclass(frozen=True)
class EscapeProbe:
    """An escape attempt: its source, its limits, and the only ending that counts as stopped."""

    name: str
    source: str
    stopped: str
    expected: str = "finished"
    says: bytes = _REFUSED
    seconds: float = 600.0
    processor: float = 20.0  # which ends an attempt that works; the clock runs on a busy machine
    memory: int = 2**30
    output: int = 2**16
    disk: int = 2**20
    or_ended: bool = False  # whether it may be ended instead, before it says anything


def _attempt(code: str, errors: str = "OSError") -> str:
    body = "\n".join("    " + line for line in code.splitlines())
    return f"try:\n{body}\n    print('broken')\nexcept {errors}:\n    print('refused')\n"


ESCAPE_PROBES = (
    EscapeProbe(
        "reads its release",  # walls that let nothing in are no use either
        "import sys\nprint(open(sys.argv[1]).read(), end='')\n",
        "it can",
        says=b"the release",
    ),
    EscapeProbe(
        "uses its temporary folder",  # real programs need one
        "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as file:\n"
        "    print('mine', file=file, flush=True)\n    print(open(file.name).read(), end='')\n",
        "it can",
        says=b"mine",
    ),
    EscapeProbe("fork bomb", _attempt("import os\nwhile True:\n    os.fork()"), "no child process"),
    EscapeProbe(
        "starts another program",
        _attempt("import os\nos.execv('/bin/sh', ['sh', '-c', 'echo broken'])"),
        "refused",
    ),
    EscapeProbe(
        "memory hog",
        _attempt("held = []\nwhile True:\n    held.append(bytearray(b'x' * 2**24))", "MemoryError"),
        "the memory limit held",
        memory=2**28,
    ),
    EscapeProbe(
        "endless loop",
        "while True: pass\n",
        "killed at its time limit",
        expected="timeout",
        says=b"",
        seconds=2.0,
    ),
    EscapeProbe("reads /etc/passwd", _attempt("open('/etc/passwd').read()"), "refused"),
    EscapeProbe(
        "lists the root folder",
        _attempt(
            "import os\nassert not "
            "set(os.listdir('/')) & {'home', 'root', 'etc', 'proc'}\nraise OSError"
        ),
        "refused",
    ),
    EscapeProbe("writes a file", _attempt("open('kept', 'w').write('x')"), "refused"),
    EscapeProbe("changes its release", _attempt("open('release', 'r+').write('x')"), "refused"),
    EscapeProbe(
        "empties its release",  # without ever asking to write
        _attempt("import os\nos.open('release', os.O_RDONLY | os.O_TRUNC)"),
        "refused",
    ),
    EscapeProbe(
        "locks others out of its folder", _attempt("import os\nos.chmod('.', 0)"), "refused"
    ),
    EscapeProbe(
        "makes a link",
        _attempt("import os\nos.symlink('/etc/passwd', os.environ['TMPDIR'] + '/link')"),
        "refused",
    ),
    EscapeProbe(
        "fills the disk",
        _attempt(
            "import os\nfor n in range(10**4):\n"
            "    with open(os.environ['TMPDIR'] + f'/{n}', 'wb') as file:\n"
            "        file.write(bytes(2**16))\nimport time\ntime.sleep(2)"
        ),
        "stopped",
        or_ended=True,
    ),
    EscapeProbe("leaves its session", _attempt("import os\nos.setsid()"), "refused"),
    EscapeProbe(
        "reads the environment of the process that started it",
        _attempt("import os\nopen(f'/proc/{os.getppid() or 1}/environ', 'rb').read()"),
        "refused",
    ),
    EscapeProbe(
        "traces another process",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "print('broken' if libc.ptrace(0, 0, 0, 0) == 0 else 'refused')\n",
        "refused",
    ),
    EscapeProbe(
        "opens a socket",
        _attempt("import socket\nsocket.socket(socket.AF_INET).connect(('127.0.0.1', 9))"),
        "refused",
    ),
    EscapeProbe(
        "opens a local socket",
        _attempt("import socket\nsocket.socket(socket.AF_UNIX)"),
        "refused",
    ),
    EscapeProbe(
        "signals the process that started it",
        _attempt("import os\nos.kill(os.getppid() or 2, 0)"),
        "refused",
    ),
    EscapeProbe(
        "has another process signalled when its output is read",
        _attempt("import fcntl, os\nfcntl.fcntl(1, 8, os.getppid() or 1)"),  # F_SETOWN
        "refused",
    ),
    EscapeProbe(
        "chooses that signal",
        _attempt("import fcntl\nfcntl.fcntl(1, 10, 9)"),  # F_SETSIG
        "refused",
    ),
    EscapeProbe(
        "asks for that signal",
        _attempt("import fcntl, os\nfcntl.fcntl(1, 4, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_ASYNC)"),
        "refused",
    ),
    EscapeProbe(
        "asks for that signal by another call",
        _attempt("import fcntl, struct\nfcntl.ioctl(1, 0x5452, struct.pack('i', 1))"),  # FIOASYNC
        "refused",
    ),
    EscapeProbe(
        "takes a lease of its release",
        _attempt("import fcntl\nfcntl.fcntl(open('release'), 1024, fcntl.F_RDLCK)"),
        "refused",
    ),
    EscapeProbe(
        "looks at the environment",
        "import os\nprint('broken' if set(os.environ) - {'LC_CTYPE', 'PWD', 'TMPDIR', 'HOME'} "
        "else 'refused')\n",
        "it names the temporary folder",
    ),
    EscapeProbe(
        "prints 10 GB",
        "import sys\nfor _ in range(10 * 2**10): sys.stdout.write('x' * 2**20)\n",
        "killed at its output limit",
        expected="output limit",
        says=b"x" * 2**16,
    ),
)


_unprotected: ContextVar[bool] = ContextVar("_unprotected", default=False)


@contextlib.contextmanager
def without_isolation() -> Generator[None]:
    """Run programs unprotected in this block; only for programs that you wrote yourself.

    The limits on time and output remain; everything else on this machine is open to the programs.
    Records mention it.
    """
    token = _unprotected.set(True)
    try:
        yield
    finally:
        _unprotected.reset(token)


def as_file(given: bytes | Path | str) -> bytes | Path:
    """Convert a string to the path of a file or folder."""
    return Path(given) if isinstance(given, str) else given


def run_program(
    program: bytes | Path | str,
    release: bytes | Path | str,
    limits: Limits = DEFAULT_LIMITS,
    *,
    beside: Mapping[str, bytes] | None = None,
    isolation: Isolation | None = None,
    stop: Stop | None = None,
) -> ProgramRun:
    """Run a Python program on a release, behind walls.

    It finds the release on its standard input, and as the file ``release`` in its working folder,
    which is also its first argument. Its temporary folder, named in ``TMPDIR`` and ``HOME``, is
    writable, initially empty, and deleted afterwards. Nothing outlives this call or this process.

    program: its source as bytes, or its file.
    release: the bytes handed to it; empty for "without the release". A file or a folder is copied;
        a folder is not on standard input.
    next to: further files in its working folder, by name.
    stop: allows another thread to end the run early.
    Raises IsolationError: the machine offers no isolation that withstands `check_isolation`.
    """
    isolation = isolation or check_isolation()
    program, release = as_file(program), as_file(release)
    return run_once(program, release, limits, isolation.method, beside=beside or {}, stop=stop)


@lru_cache(maxsize=2)
def _checked() -> Isolation:
    """Find the first method that withstands every escape attempt."""
    refusals: list[str] = []
    for method in ("bubblewrap", "namespaces", "Landlock"):
        try:
            return _try_method(method)
        except IsolationError as error:
            refusals.append(f"{method}: {error}")
    raise IsolationError(
        "this machine cannot isolate what others made ("
        + "; ".join(refusals)
        + "). Use a Linux with user namespaces, Landlock and seccomp; if you made the "
        "program or the model yourself, or trust its maker, say so with --no-isolation (in Python: "
        "`with narcissus.extraction.without_isolation():`)"
    )


def check_isolation() -> Isolation:
    """Try to escape in every way that the walls forbid, once in a process."""
    if _unprotected.get():
        return Isolation("none", ("time and output limits only",))
    return _checked()


def _try_method(method: str) -> Isolation:
    if not sys.platform.startswith("linux"):
        raise IsolationError("only Linux has it")
    if method == "bubblewrap" and shutil.which("bwrap") is None:
        raise IsolationError("not installed")
    checks: list[tuple[str, str]] = []
    layers: tuple[str, ...] = ()
    for probe in ESCAPE_PROBES:
        run = _try_probe(probe, method)
        if run.ending == "crashed" and not run.layers:
            raise IsolationError(f"it did not start ({run.error.strip()[-200:]})")
        layers = run.layers
        if not any(layer == "seccomp" for layer in layers):
            raise IsolationError("seccomp is not there")
        walls = {"namespaces": "namespaces", "Landlock": "Landlock"}.get(method, "")
        if not any(layer.startswith(walls) for layer in layers):
            raise IsolationError(next(x for x in layers if x.startswith(f"!{walls}"))[1:])
        if _is_stopped(probe, run):
            checks.append((probe.name, probe.stopped))
        else:
            raise IsolationError(
                f"the check '{probe.name}' was not stopped: the program ended with "
                f"'{run.ending}' and printed {run.output[:80]!r} {run.error.strip()[-120:]}"
            )
    return Isolation(
        method,
        tuple(x for x in layers if not x.startswith("!")),
        tuple(x[1:] for x in layers if x.startswith("!")),
        tuple(checks),
        NOT_HIDDEN if method == "Landlock" else (),
    )


def _try_probe(probe: EscapeProbe, method: str, forks: Forks | None = None) -> ProgramRun:
    """Run a probe, and once more with a longer clock where the first time tells nothing.

    Raises IsolationError: it tells nothing again, which is no word about the walls.
    """
    limits = _limits_of(probe)
    longer = replace(limits, seconds=2 * limits.seconds + 20)
    for given in (limits, longer):
        run = run_once(probe.source.encode(), b"the release", given, method, forks=forks)
        if (cut := _cut_short(probe, run, given.seconds)) is None:
            return run
    raise IsolationError(
        f"the check '{probe.name}' {cut}, twice, so nothing is known of these walls: the machine "
        "may be busy, or short of memory; try again"
    )


def _cut_short(probe: EscapeProbe, run: ProgramRun, seconds: float) -> str | None:
    """Say how a probe ended before it could tell anything; None: it told something."""
    if run.ending == "timeout" and (not run.layers or probe.expected != "timeout"):
        return f"did not end in {seconds:g} seconds"
    if run.signal is None:
        return "was ended from outside, with what watched it"
    if run.signal in (signal.SIGKILL, signal.SIGTERM) and not _is_stopped(probe, run):
        return f"was ended by signal {run.signal}"
    return None


def _limits_of(probe: EscapeProbe) -> Limits:
    return replace(
        DEFAULT_LIMITS,
        seconds=probe.seconds,
        processor=probe.processor,
        memory=probe.memory,
        output=probe.output,
        disk=probe.disk,
    )


def _is_stopped(probe: EscapeProbe, run: ProgramRun) -> bool:
    was_ended = probe.or_ended and run.ending == "crashed" and not run.output
    return was_ended or (probe.expected == run.ending and probe.says == run.output.strip())


@lru_cache(maxsize=1)
def can_serve() -> bool:
    """Check whether one jailed process can serve many runs (`run_served`).

    The same programs try to escape, each forked from the server. If one succeeds, or the walls are
    other than `narcissus.extraction._runs.METHOD`, programs are run one by one.
    """
    if _unprotected.get() or _checked().method != METHOD:
        return False
    tried = [(probe.source.encode(), _limits_of(probe)) for probe in ESCAPE_PROBES]
    runs = run_served(tried, b"the release")
    return all(_is_stopped(probe, run) for probe, run in zip(ESCAPE_PROBES, runs, strict=True))


@lru_cache(maxsize=4)
def may_fork(method: str) -> bool:
    """Check whether a program may be forked from a process that has imported what it needs.

    The same programs try to escape, each forked from such a process. If one succeeds, or the system
    lacks what it takes, programs are started one by one. bubblewrap starts an interpreter anyway.
    """
    if not can_fork() or method == "bubblewrap":
        return False
    if method == "none":
        return True
    forks = Forks((), {})
    try:
        for probe in ESCAPE_PROBES:
            if not _is_stopped(probe, _try_probe(probe, method, forks)):
                return False
    except IsolationError:
        return False
    finally:
        forks.end()
    return True


def run_programs(
    program: bytes,
    release: bytes | Path | str,
    limits: Limits,
    runs: int,
    *,
    beside: Mapping[str, bytes] | None = None,
    stop: Stop | None = None,
) -> list[ProgramRun]:
    """Run a program many times on a release, each run forked from one that is started once.

    Imports and the copy of the release happen once; otherwise as `run_program`. Runs share the
    interpreter's start, including its hash seed. Call `can_serve` first.
    """
    return run_served([(program, limits)] * runs, as_file(release), beside=beside or {}, stop=stop)


def check_source(source: bytes, name: str = "the program") -> None:
    """Refuse a program that is empty or does not parse, with the line and the reason."""
    if not source.strip():
        raise InputError(f"{name} is empty")
    try:
        compile(source, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise InputError(
            f"{name} is not a Python program: line {error.lineno}: {error.msg}"
        ) from error
    except (RecursionError, MemoryError) as error:
        raise InputError(f"{name} is too deeply nested for Python to compile") from error
    except ValueError as error:  # a NUL byte
        raise InputError(f"{name} is not a Python program: {error}") from error
