"""Run an untrusted program with nothing but its inputs, and make sure that the walls hold.

The program gets a Python interpreter, the release, and a pipe to print to: no network, no other
file, no environment, no child process; limits on time, memory and output. The walls are built by
`_jail.py`: bubblewrap where it is installed (or namespaces made by ourselves), Landlock, seccomp
and resource limits, each of which would do most of the work alone. Nothing is trusted because it
is documented: `check_isolation` plays burglar first, once in a process, and a machine where one
of its attempts succeeds is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Generator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Literal

from narcissus._validation import integer, positive
from narcissus.errors import InputError, NarcissusError
from narcissus.extraction._burglars import BURGLARS

Ending = Literal["finished", "crashed", "timeout", "output limit"]


class IsolationError(NarcissusError):
    """No safe place for an untrusted program on this machine; the message says what is missing."""


@dataclass(frozen=True)
class Limits:
    """What a program may use.

    Attributes
    ----------
    seconds
        Wall clock of one run, in seconds.
    memory
        Address space in bytes.
    output
        Bytes that it may print.
    threads
        Threads of the one process that it has.
    """

    seconds: float = 60.0
    memory: int = 2 * 2**30
    output: int = 16 * 2**20
    threads: int = 64

    def __post_init__(self) -> None:
        positive("seconds", self.seconds)
        integer("memory", self.memory, low=2**26)
        integer("output", self.output, low=1)
        integer("threads", self.threads, low=1)


@dataclass(frozen=True)
class Isolation:
    """The walls of this machine, as they were found when they were tried.

    Attributes
    ----------
    method
        "bubblewrap", "namespaces", "Landlock" or "none".
    layers
        Every layer in force, by name.
    missing
        Layers that this machine lacks, with the reason.
    checks
        Attempts to break out, with what came of each; all of them failed, or there would be an
        `IsolationError`.
    """

    method: str
    layers: tuple[str, ...]
    missing: tuple[str, ...] = ()
    checks: tuple[tuple[str, str], ...] = ()

    @property
    def safe(self) -> bool:
        """Whether there are walls at all."""
        return self.method != "none"


@dataclass(frozen=True)
class Run:
    """What one run of a program came to.

    Attributes
    ----------
    output
        Bytes printed on standard output.
    error
        The end of what it wrote on standard error.
    ending
        "finished", "crashed" (an exception, a signal), "timeout" or "output limit".
    seconds
        Wall clock, start of the interpreter included.
    """

    output: bytes
    error: str
    ending: Ending
    seconds: float
    layers: tuple[str, ...] = ()


_unprotected: ContextVar[bool] = ContextVar("_unprotected", default=False)


@contextlib.contextmanager
def without_isolation() -> Generator[None]:
    """Run programs unprotected in this block, for programs that you wrote yourself.

    The limits on time and output remain; everything else of this machine is open to them. Records
    say that it was so.
    """
    token = _unprotected.set(True)
    try:
        yield
    finally:
        _unprotected.reset(token)


def run_program(
    program: bytes | Path,
    release: bytes | Path,
    limits: Limits = Limits(),
    *,
    beside: Mapping[str, bytes] | None = None,
    isolation: Isolation | None = None,
) -> Run:
    """Run a Python program on a release, behind walls.

    It finds the release on its standard input, and as the file ``release`` in its working folder,
    which is also its first argument.

    Parameters
    ----------
    program
        Its source.
    release
        The bytes handed to it; empty for "without the release". A file or a folder is copied;
        a folder is not on standard input.
    limits
        Time, memory, output, threads.
    beside
        Further files in its working folder, by name.
    isolation
        From `check_isolation`, which is asked if it is not given.

    Raises
    ------
    IsolationError
        The machine offers no isolation that withstands `check_isolation`.
    """
    isolation = isolation or check_isolation()
    return _run(program, release, limits, isolation.method, beside or {})


@lru_cache(maxsize=2)
def _checked() -> Isolation:
    """Find the first method that withstands every burglar."""
    refusals: list[str] = []
    for method in ("bubblewrap", "namespaces", "Landlock"):
        try:
            return _try_method(method)
        except IsolationError as error:
            refusals.append(f"{method}: {error}")
    raise IsolationError(
        "this machine cannot isolate an untrusted program ("
        + "; ".join(refusals)
        + "). Use a Linux with user namespaces, Landlock and seccomp; if you wrote or read the "
        "program yourself and trust it, say so with --no-isolation (in Python: "
        "`with narcissus.extraction.without_isolation():`)"
    )


def check_isolation() -> Isolation:
    """Try to break out in every way that the walls forbid, once in a process.

    Raises
    ------
    IsolationError
        An attempt succeeded with every method that the machine has, or none is there.
    """
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
    for burglar in BURGLARS:
        limits = replace(
            Limits(), seconds=burglar.seconds, memory=burglar.memory, output=burglar.output
        )
        run = _run(burglar.source.encode(), b"the release", limits, method)
        if run.ending == "crashed" and not run.layers:
            raise IsolationError(f"it did not start ({run.error.strip()[-200:]})")
        layers = run.layers
        if not any(layer == "seccomp" for layer in layers):
            raise IsolationError("seccomp is not there")
        walls = {"namespaces": "namespaces", "Landlock": "Landlock"}.get(method, "")
        if not any(layer.startswith(walls) for layer in layers):
            raise IsolationError(next(x for x in layers if x.startswith(f"!{walls}"))[1:])
        if burglar.expected == run.ending and burglar.says == run.output.strip():
            checks.append((burglar.name, burglar.stopped))
        else:
            raise IsolationError(
                f"the check '{burglar.name}' was not stopped: the program ended with "
                f"'{run.ending}' and printed {run.output[:80]!r} {run.error.strip()[-120:]}"
            )
    return Isolation(
        method,
        tuple(x for x in layers if not x.startswith("!")),
        tuple(x[1:] for x in layers if x.startswith("!")),
        tuple(checks),
    )


@lru_cache(maxsize=1)
def readable_paths() -> tuple[str, ...]:
    """Files and folders that a program may read: the interpreter, its packages, system libraries.

    What they hold belongs to the language in which programs are measured.
    """
    paths = sysconfig.get_paths()
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    wanted = [
        paths["stdlib"],
        paths["platstdlib"],
        paths["purelib"],
        paths["platlib"],
        str(Path(sys.base_prefix) / "lib" / version),
        *(str(p) for p in Path(sys.base_prefix, "lib").glob("libpython*")),
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/etc/ld.so.cache",
        "/dev/null",
        "/dev/urandom",
    ]
    found = dict.fromkeys(p for p in wanted if os.path.exists(p))
    # A path inside another is already there; mounting it again is harmless but slow.
    return tuple(
        p for p in found if not any(p != q and Path(p).is_relative_to(q) for q in found)
    )  # links such as /lib -> usr/lib stay links


def _command(method: str, box: Path, config: dict[str, object]) -> list[str]:
    jail = str(Path(__file__).with_name("_jail.py"))
    python = [sys.executable, "-I", "-B", "-X", "utf8", jail]
    if method != "bubblewrap":
        return [*python, json.dumps(config)]
    command = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
    ]
    executable = os.path.realpath(sys.executable)
    for path in [*readable_paths(), executable, sys.executable, jail, str(box)]:
        if os.path.islink(path) and path != sys.executable:
            command += ["--symlink", os.readlink(path), path]
        elif path.startswith("/dev/"):
            command += ["--dev-bind", path, path]
        else:
            command += ["--ro-bind", path, path]
    pyvenv = Path(sys.prefix, "pyvenv.cfg")
    if pyvenv.exists():
        command += ["--ro-bind", str(pyvenv), str(pyvenv)]
    return [*command, "--chdir", str(box), *python, json.dumps(config)]


def _run(
    program: bytes | Path,
    release: bytes | Path,
    limits: Limits,
    method: str,
    beside: Mapping[str, bytes] = MappingProxyType({}),
) -> Run:
    source = program.read_bytes() if isinstance(program, Path) else program
    with tempfile.TemporaryDirectory(prefix="narcissus-") as temporary:
        box, root = Path(temporary, "box"), Path(temporary, "root")
        box.mkdir(mode=0o755)
        root.mkdir(mode=0o755)
        (box / "program.py").write_bytes(source)
        inside = box / "release"
        if isinstance(release, bytes):
            inside.write_bytes(release)
        elif release.is_dir():
            shutil.copytree(release, inside)
        else:
            shutil.copyfile(release, inside)
        for name, content in beside.items():
            (box / name).write_bytes(content)
        for file in box.rglob("*"):
            file.chmod(0o755 if file.is_dir() else 0o644)
        read_end, write_end = os.pipe()
        config: dict[str, object] = {
            "box": str(box),
            "root": str(root),
            "readable": [*readable_paths(), str(box)],
            "outer": ["bubblewrap"] if method == "bubblewrap" else [],
            "namespaces": method == "namespaces",
            "locked": method != "none",
            "report": write_end,
            "memory": limits.memory,
            "seconds": limits.seconds,
            "threads": limits.threads,
        }
        started = time.monotonic()
        with open(os.devnull if inside.is_dir() else inside, "rb") as standard_input:
            process = subprocess.Popen(
                _command(method, box, config),
                stdin=standard_input,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                cwd=box,
                pass_fds=(write_end,),
                start_new_session=True,
            )
        os.close(write_end)
        try:
            output, error, stopped = _read(process, limits, started)
        finally:
            _kill(process)
        with os.fdopen(read_end, "rb") as report:
            text = report.read(4096)
    ending: Ending = stopped or ("finished" if process.returncode == 0 else "crashed")
    layers = tuple(json.loads(text)) if text else ()
    return Run(output, error.decode("utf-8", "replace"), ending, time.monotonic() - started, layers)


def _read(
    process: subprocess.Popen[bytes], limits: Limits, started: float
) -> tuple[bytes, bytes, Ending | None]:
    """Collect what is printed until the end, the deadline or the output limit."""
    assert process.stdout is not None
    assert process.stderr is not None
    output, error = bytearray(), bytearray()
    deadline = started + limits.seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return bytes(output), bytes(error), "timeout"
            for key, _ in selector.select(left):
                stream: IO[bytes] = key.fileobj  # pyright: ignore[reportAssignmentType] (we registered them)
                chunk = os.read(stream.fileno(), 65536)
                if not chunk:
                    selector.unregister(stream)
                elif stream is process.stdout:
                    output += chunk
                    if len(output) > limits.output:
                        return bytes(output[: limits.output]), bytes(error), "output limit"
                else:
                    error = (error + chunk)[-4096:]
    # The program may close its output and go on: it still has no more than its time.
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return bytes(output), bytes(error), "timeout"
    return bytes(output), bytes(error), None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group; it cannot leave it, since seccomp forbids a session of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def check_source(source: bytes, name: str = "the program") -> None:
    """Refuse a program that is empty or does not parse, before anything is run.

    Raises
    ------
    InputError
        With the line and the reason.
    """
    if not source.strip():
        raise InputError(f"{name} is empty")
    try:
        compile(source, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise InputError(
            f"{name} is not a Python program: line {error.lineno}: {error.msg}"
        ) from error
    except ValueError as error:  # a NUL byte
        raise InputError(f"{name} is not a Python program: {error}") from error
