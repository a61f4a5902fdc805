"""Run one program once: its folder, its process, its output, its end."""

from __future__ import annotations

import contextlib
import json
import os
import random
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Literal

from narcissus._validation import integer, positive
from narcissus.errors import NarcissusError
from narcissus.extraction._scratch import scratch_folder

Ending = Literal["finished", "crashed", "timeout", "output limit"]
PATIENCE = 2.0  # seconds for the guard to clean up
_FREE_USERS = (61184, 65519)  # as systemd has them for users of one service: nobody's
_ASK = """
import json, sys
found = list(sys.path)
for finder in sys.meta_path:  # editable installs that come with a finder of their own
    names = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", {})
    found += [str(place) for place in getattr(names, "values", list)()]
print(json.dumps(found))
"""


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
    disk
        Bytes that it may keep in its private temporary folder.
    """

    seconds: float = 60.0
    memory: int = 2 * 2**30
    output: int = 16 * 2**20
    threads: int = 64
    disk: int = 2**28

    def __post_init__(self) -> None:
        positive("seconds", self.seconds)
        integer("memory", self.memory, low=2**26)
        integer("output", self.output, low=1)
        integer("threads", self.threads, low=1)
        integer("disk", self.disk, low=2**16)


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class ProgramRun:
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


class Stop:
    """Ends programs that run in other threads, for whoever is interrupted while they do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guards: set[subprocess.Popen[bytes]] = set()
        self._is_over = False

    def add(self, guard: subprocess.Popen[bytes]) -> None:
        """Take a run in; one that comes too late is ended at once."""
        with self._lock:
            self._guards.add(guard)
            if self._is_over:
                guard.terminate()

    def remove(self, guard: subprocess.Popen[bytes]) -> None:
        """Forget a run that has ended."""
        with self._lock:
            self._guards.discard(guard)

    def end(self) -> None:
        """End all that run, and all that are still to come."""
        with self._lock:
            self._is_over = True
            for guard in self._guards:
                guard.terminate()


@lru_cache(maxsize=1)
def readable_paths() -> tuple[str, ...]:
    """Files and folders that a program may read: the interpreter, its packages, system libraries.

    Packages may lie elsewhere and be named in a ``.pth`` file, as editable installs are: the
    interpreter itself is asked where it looks. What all these hold belongs to the language in which
    programs are measured.
    """
    paths = sysconfig.get_paths()
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    asked = subprocess.run(
        [*_python(), "-c", _ASK], check=False, capture_output=True, env={}, cwd="/"
    )
    wanted = [
        paths["stdlib"],
        paths["platstdlib"],
        paths["purelib"],
        paths["platlib"],
        str(Path(sys.base_prefix) / "lib" / version),
        *(str(p) for p in Path(sys.base_prefix, "lib").glob("libpython*")),
        *(json.loads(asked.stdout) if asked.returncode == 0 else []),
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/etc/ld.so.cache",
        "/dev/null",
        "/dev/urandom",
    ]
    found = dict.fromkeys(p for p in wanted if os.path.isabs(p) and os.path.exists(p))
    found.pop("/", None)
    # A path inside another is already there; mounting it again is harmless but slow.
    return tuple(
        p for p in found if not any(p != q and Path(p).is_relative_to(q) for q in found)
    )  # links such as /lib -> usr/lib stay links


def _python() -> list[str]:
    return [sys.executable, "-I", "-B", "-X", "utf8"]


def run_once(
    program: bytes | Path,
    release: bytes | Path,
    limits: Limits,
    method: str,
    *,
    beside: Mapping[str, bytes] = MappingProxyType({}),
    stop: Stop | None = None,
) -> ProgramRun:
    """Run a program with one method of isolation; `narcissus.extraction.sandbox` chooses it."""
    if os.name != "posix":
        raise NarcissusError(
            "programs are run on Linux, and with --no-isolation on other Unix systems; not here"
        )
    with scratch_folder() as folder:
        reads, report = os.pipe()
        held, lifeline = os.pipe()
        config = _config(folder, limits, method, report, held)
        with os.fdopen(reads, "rb") as reported:
            guard = subprocess.Popen(
                [*_python(), str(Path(__file__).with_name("_guard.py")), json.dumps(config)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(folder),
                cwd="/",
                pass_fds=(report, held),
                start_new_session=True,
            )
            os.close(report)
            os.close(held)
            try:
                if stop is not None:
                    stop.add(guard)
                # The guard was there first: from here on nothing stays behind, come what may.
                try:
                    _fill(folder, program, release, beside)
                except (OSError, shutil.Error) as error:
                    raise NarcissusError(
                        f"cannot copy the release to a temporary folder in {folder.parent}: "
                        f"{error}; name another place in TMPDIR"
                    ) from error
                if config["uid"] is not None:
                    _hand_over(folder, config["uid"])
                started = time.monotonic()
                with contextlib.suppress(BrokenPipeError):
                    os.write(lifeline, b"!")
                output, error, stopped = _read(guard, limits, started)
                # A program may close its output and go on: it still has no more than its time.
                text = b"" if stopped else reported.read()
                seconds = time.monotonic() - started
            finally:
                os.close(lifeline)
                _await(guard)
                if stop is not None:
                    stop.remove(guard)
            layers, _, code = (text + reported.read()).partition(b"\n")
    ending: Ending = stopped or ("finished" if code == b"0" else "crashed")
    if ending == "crashed" and seconds >= limits.seconds:
        ending = "timeout"
    return ProgramRun(
        output,
        error.decode("utf-8", "replace"),
        ending,
        seconds,
        tuple(json.loads(layers)) if layers else (),
    )


def _config(
    folder: Path, limits: Limits, method: str, report: int, lifeline: int
) -> dict[str, Any]:
    """Say everything that the guard and the jail need to know."""
    box = str(folder / "box")
    config: dict[str, Any] = {
        "method": method,
        "jail": str(Path(__file__).with_name("_jail.py")),
        "folder": str(folder),
        "box": box,
        "tmp": str(folder / "tmp"),
        "root": str(folder / "root"),
        "readable": list(readable_paths()),
        "report": report,
        "lifeline": lifeline,
        "parent": os.getpid(),
        "memory": limits.memory,
        "seconds": limits.seconds,
        "threads": limits.threads,
        "disk": limits.disk,
        # Where the private folder cannot be given a size of its own, somebody must look at it.
        "watch_folder": method in {"Landlock", "bubblewrap"},
    }
    config["uid"], config["user"] = _user(config["readable"], method)
    config["readable"].append(box)
    if method == "bubblewrap":
        config["command"] = _bubblewrap(config)
    return config


def _user(readable: list[str], method: str) -> tuple[int | None, str]:
    """Choose whom root becomes to run a program, and name the layer; an ordinary user stays."""
    if method == "none" or os.geteuid() != 0:
        return None, "an ordinary user"
    for path in readable:
        # What is bound into namespaces can be reached whatever is above it.
        above = [] if method == "namespaces" else Path(path).parents
        if not Path(path).stat().st_mode & 0o004 or not all(p.stat().st_mode & 1 for p in above):
            return (
                None,
                f"!an ordinary user: it runs as root without powers, as only root reads {path}",
            )
    return random.SystemRandom().randint(*_FREE_USERS), "an ordinary user"


def _environment(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder / "tmp"), "TMPDIR": str(folder / "tmp")}


def _bubblewrap(config: dict[str, Any]) -> list[str]:
    """Give the command that starts the jail once more, inside of bubblewrap."""
    box, tmp = config["box"], config["tmp"]
    nobody = ("--uid", "65534", "--gid", "65534")
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", *nobody, "--die-with-parent"]
    command += ["--new-session", "--clearenv", "--setenv", "HOME", tmp, "--setenv", "TMPDIR", tmp]
    executable = os.path.realpath(sys.executable)
    for path in [*config["readable"], executable, sys.executable, config["jail"]]:
        if os.path.islink(path) and path != sys.executable:
            command += ["--symlink", os.readlink(path), path]
        elif path.startswith("/dev/"):
            command += ["--dev-bind", path, path]
        else:
            command += ["--ro-bind", path, path]
    pyvenv = Path(sys.prefix, "pyvenv.cfg")
    if pyvenv.exists():
        command += ["--ro-bind", str(pyvenv), str(pyvenv)]
    command += ["--bind", tmp, tmp, "--chdir", box]
    inner = {**config, "method": "inside bubblewrap", "uid": None}
    return [*command, *_python(), config["jail"], json.dumps(inner)]


def _fill(
    folder: Path, program: bytes | Path, release: bytes | Path, beside: Mapping[str, bytes]
) -> None:
    """Put into the folder what the program is to find, readable and no more."""
    box = folder / "box"
    for name in ("box", "root", "tmp"):
        (folder / name).mkdir(mode=0o755)
    (box / "program.py").write_bytes(program.read_bytes() if isinstance(program, Path) else program)
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


def _hand_over(folder: Path, uid: int) -> None:
    """Let the user that the program becomes, and nobody else, into its two folders."""
    folder.chmod(0o711)
    for place in (folder / "box", folder / "tmp"):
        place.chmod(0o700)
        os.chown(place, uid, uid)


def _read(
    guard: subprocess.Popen[bytes], limits: Limits, started: float
) -> tuple[bytes, bytes, Ending | None]:
    """Collect what is printed until the end, the deadline or the output limit."""
    assert guard.stdout is not None
    assert guard.stderr is not None
    output, error = bytearray(), bytearray()
    deadline = started + limits.seconds
    with selectors.DefaultSelector() as selector:
        selector.register(guard.stdout, selectors.EVENT_READ)
        selector.register(guard.stderr, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return bytes(output), bytes(error), "timeout"
            for key, _ in selector.select(left):
                stream: IO[bytes] = key.fileobj  # pyright: ignore[reportAssignmentType] (we registered them)
                chunk = os.read(stream.fileno(), 65536)
                if not chunk:
                    selector.unregister(stream)
                elif stream is guard.stdout:
                    output += chunk
                    if len(output) > limits.output:
                        return bytes(output[: limits.output]), bytes(error), "output limit"
                else:
                    error = (error + chunk)[-4096:]
    return bytes(output), bytes(error), None


def _await(guard: subprocess.Popen[bytes]) -> None:
    """Wait until the guard has ended the run, as it does when its lifeline ends; or kill it."""
    try:
        guard.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(guard.pid, signal.SIGKILL)
        guard.wait()
    finally:
        for stream in (guard.stdout, guard.stderr):
            if stream is not None:
                stream.close()
