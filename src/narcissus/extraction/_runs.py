"""One run of one program: its folder, process, output and ending."""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from narcissus._forked import Forks, isolated_python
from narcissus._guarded import AnsweringProgram, GuardedRun, Stop, run_guarded
from narcissus._scratch import scratch_folder
from narcissus._validation import duration, integer
from narcissus.errors import NarcissusError
from narcissus.extraction.model_folders import check_model_folder

Ending = Literal["finished", "crashed", "timeout", "output limit"]
_FREE_USERS = (61184, 65519)  # as systemd has them for users of one service: nobody's
_ASK = """
import json, sys
found = list(sys.path)
for finder in sys.meta_path:  # editable installs that come with a separate finder
    names = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", {})
    found += [str(place) for place in getattr(names, "values", list)()]
print(json.dumps(found))
"""
METHOD = "namespaces"
NEWEST_LANDLOCK = 6
"""Newest version of Landlock that is used; tests lower it, as on an older kernel."""
"""The walls that a server can be behind: the private folder has a separate size there."""
IMPORTED_ONCE = (
    "numpy",
    "scipy",
    "pandas",
    "sklearn",
    "safetensors",
    "tokenizers",
    "torch",
    "transformers",
)
"""Packages that are imported before a program is run, where it names them."""
OPENED_ONCE = (
    "transformers.pipeline",
    "transformers.AutoTokenizer.from_pretrained",
    "transformers.AutoModelForCausalLM.from_pretrained",
)
"""Calls that are made before a program is run, where it makes them with these words:"""
WORDS = {"release", "text-generation"}
_NAMES = {"task", "model", "pretrained_model_name_or_path"}
Opening = tuple[str, list[str], dict[str, str]]
"""What is called, with which words in their order and by name."""
_READ = {"", ".json", ".jinja", ".md", ".model", ".safetensors", ".txt"}  # files of such a folder
_MOST_BYTES = 2**60
"""Limits of a system are whole numbers of 63 bits."""
_START = 120.0  # seconds for imports
_SPEED = 2e7  # bytes of weights that are read in a second, at least
_ROOM = 65536  # bytes of a run besides what it prints
_PROCESSOR_TIME_IS_OVER = b"-%d" % getattr(signal, "SIGXCPU", 24)  # exit code of such a run


@dataclass(frozen=True)
class Limits:
    """Resource limits of a program."""

    seconds: float = 60.0  # wall clock of one run, in seconds
    memory: int = 2 * 2**30  # address space in bytes
    output: int = 16 * 2**20  # largest output, in bytes
    threads: int = 64  # threads of its only process
    disk: int = 2**28  # bytes in its private temporary folder
    processor: float | None = None  # seconds of the processor, all threads; None: as `seconds`

    def __post_init__(self) -> None:
        duration("seconds", self.seconds)
        if self.processor is not None:
            duration("processor", self.processor)
        integer("memory", self.memory, low=2**26, high=_MOST_BYTES)
        integer("output", self.output, low=1, high=_MOST_BYTES)
        integer("threads", self.threads, low=1, high=2**20)
        integer("disk", self.disk, low=2**16, high=_MOST_BYTES)


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class ProgramRun:
    """Result of one program run."""

    output: bytes  # bytes of standard output
    error: str  # end of standard error
    ending: Ending  # "finished", "crashed" (an exception, a signal), "timeout" or "output limit"
    seconds: float  # wall clock, including the interpreter's start
    layers: tuple[str, ...] = ()
    # of the signal that ended it; 0 where none did, None where nobody is left to tell
    signal: int | None = 0


@lru_cache(maxsize=1)
def readable_paths() -> tuple[str, ...]:
    """Return the paths that a program may read: interpreter, packages, system libraries.

    ``.pth`` files (editable installs) may name packages elsewhere, so the interpreter itself is
    asked. All of these belong to the language in which programs are measured.
    """
    paths = sysconfig.get_paths()
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    process = subprocess.run(
        [*isolated_python(), "-c", _ASK], check=False, capture_output=True, env={}, cwd="/"
    )
    wanted = [
        paths["stdlib"],
        paths["platstdlib"],
        paths["purelib"],
        paths["platlib"],
        str(Path(sys.base_prefix) / "lib" / version),
        *(str(p) for p in Path(sys.base_prefix, "lib").glob("libpython*")),
        *(json.loads(process.stdout) if process.returncode == 0 else []),
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/etc/ld.so.cache",
        "/dev/null",
        "/dev/urandom",
    ]
    roots = dict.fromkeys(p for p in wanted if os.path.isabs(p) and os.path.exists(p))
    roots.pop("/", None)
    # A path inside another is already there; mounting it again is harmless but slow.
    return tuple(
        p for p in roots if not any(p != q and Path(p).is_relative_to(q) for q in roots)
    )  # links such as /lib -> usr/lib stay links


def run_once(
    program: bytes | Path,
    release: bytes | Path,
    limits: Limits,
    method: str,
    *,
    beside: Mapping[str, bytes] = MappingProxyType({}),
    stop: Stop | None = None,
    forks: Forks | None = None,
) -> ProgramRun:
    """Run a program with one isolation method, which `narcissus.extraction.sandbox` chooses.

    forks: Where it is forked, with what it imports already there; None: it is started by itself.
    """
    run = run_in_box(program, release, limits, method, beside=beside, stop=stop, forks=forks)
    layers, _, code = run.report.partition(b"\n")
    ending: Ending = run.stopped or ("finished" if code == b"0" else "crashed")
    is_over = run.seconds >= limits.seconds or code == _PROCESSOR_TIME_IS_OVER
    if ending == "crashed" and is_over:
        ending = "timeout"
    return ProgramRun(
        run.output,
        run.error.decode("utf-8", "replace"),
        ending,
        run.seconds,
        tuple(json.loads(layers)) if layers else (),
        _signal(code) if run.stopped is None else 0,
    )


def _signal(code: bytes) -> int | None:
    """Return the number of the signal that an exit code, as the guard writes it, tells of."""
    return max(0, -int(code)) if code.lstrip(b"-").isdigit() else None


def run_in_box(
    program: bytes | Path,
    release: bytes | Path,
    limits: Limits,
    method: str,
    *,
    beside: Mapping[str, bytes],
    stop: Stop | None,
    told: Mapping[str, Any] = MappingProxyType({}),
    seconds: float | None = None,
    output: int | None = None,
    forks: Forks | None = None,
) -> GuardedRun:
    """Make a folder for a program and run it there through the guard; arguments as for `run_once`.

    ``told`` overrides entries of the jail's configuration. ``seconds`` and ``output`` limit all
    runs together; None takes them from ``limits``.
    """
    with _box(program, release, limits, method, beside=beside, told=told) as (
        config,
        fill,
        environment,
    ):
        return run_guarded(
            config,
            fill,
            seconds=limits.seconds if seconds is None else seconds,
            output=limits.output if output is None else output,
            environment=environment,
            stop=stop,
            forks=forks,
        )


@contextmanager
def converse(
    program: Path,
    release: Callable[[Path], None],
    limits: Limits,
    method: str,
    *,
    readable: Sequence[Path],
    told: Mapping[str, Any],
    forks: Forks | None = None,
) -> Generator[AnsweringProgram]:
    """Start a program in the box that is asked again and again on its standard input.

    release: puts what the program reads into a folder of that name.
    readable: files and folders next to its own that it may read.
    told: more entries of the jail's configuration.
    forks: as for `run_once`.
    """
    with _box(program, release, limits, method, readable=readable, told=told) as (
        config,
        fill,
        environment,
    ):
        process = AnsweringProgram(config, fill, environment=environment, forks=forks)
        try:
            yield process
        finally:
            process.end()


Box = tuple[dict[str, Any], Callable[[], None], dict[str, str]]


@contextmanager
def _box(
    program: bytes | Path,
    release: bytes | Path | Callable[[Path], None],
    limits: Limits,
    method: str,
    *,
    beside: Mapping[str, bytes] = MappingProxyType({}),
    readable: Sequence[Path] = (),
    told: Mapping[str, Any] = MappingProxyType({}),
) -> Generator[Box]:
    """Yield the configuration of a run, what fills its folder, and its environment."""
    if os.name != "posix":
        raise NarcissusError(
            "programs are run on Linux, and with --no-isolation on other Unix systems; not here"
        )
    with scratch_folder() as folder:
        has_input = isinstance(release, bytes) or (isinstance(release, Path) and release.is_file())
        told = {**told, "readable": [*readable_paths(), *map(str, readable)]}
        config = _config(folder, limits, method, has_input=has_input, told=told)

        def fill() -> None:
            try:
                _fill(folder, program, release, beside)
            except (OSError, shutil.Error) as error:
                raise NarcissusError(
                    f"cannot copy the release to a temporary folder in {folder.parent}: "
                    f"{error}; name another place in TMPDIR"
                ) from error
            if config["uid"] is not None:
                # for the program's user and nobody else
                folder.chmod(0o711)
                for place in (folder / "box", folder / "tmp"):
                    place.chmod(0o700)
                    os.chown(place, config["uid"], config["uid"])

        yield config, fill, dict.fromkeys(("HOME", "TMPDIR"), str(folder / "tmp"))


def _config(
    folder: Path, limits: Limits, method: str, *, has_input: bool, told: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the configuration of the guard and the jail."""
    box = str(folder / "box")
    config: dict[str, Any] = {
        "method": method,
        "jail": str(Path(__file__).with_name("_jail.py")),
        "folder": str(folder),
        "box": box,
        "tmp": str(folder / "tmp"),
        "root": str(folder / "root"),
        "stdin": str(folder / "box" / "release") if has_input else os.devnull,
        "memory": limits.memory,
        "processor": limits.processor,
        "threads": limits.threads,
        "disk": limits.disk,
        "landlock": NEWEST_LANDLOCK,
        # Where the private folder cannot be given a size of its own, somebody must look at it.
        "watch_folder": method in {"Landlock", "bubblewrap"},
        **told,
    }
    config["uid"], config["user"] = _user(config["readable"], method)
    is_root = method != "none" and config["uid"] is None and os.geteuid() == 0
    free = _free_user()
    config["real"] = free if is_root and method != "bubblewrap" and isinstance(free, int) else None
    config["watch_threads"] = is_root and "runs" not in told  # which run in turn in one process
    config["readable"].append(box)
    if method == "bubblewrap":
        config["command"] = _bubblewrap(config)
    return config


def _user(readable: list[str], method: str) -> tuple[int | None, str]:
    """Choose the user that root becomes, and name the layer; an ordinary user stays."""
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
    free = _free_user()
    if isinstance(free, str):
        return None, f"!an ordinary user: it runs as root without powers, as {free}"
    return free, "an ordinary user"


_POWERS = {0: "give files to", 6: "take the group of", 7: "become"}
"""Capabilities of Linux that it takes to run a program as another user."""


def _free_user() -> int | str:
    """Choose a user that nobody is, or return why root cannot become one here."""
    chosen = random.SystemRandom().randint(*_FREE_USERS)
    for kind in ("uid", "gid"):
        ranges = [line.split() for line in _own_status(f"{kind}_map").splitlines()]
        if ranges and not any(0 <= chosen - int(at) < int(many) for at, _, many in ranges):
            return "no other user is mapped into its user namespace"
    if _own_status("setgroups").strip() == "deny":
        return "its user namespace allows no change of groups"
    powers = re.search(r"^CapEff:\s*([0-9a-f]+)$", _own_status("status"), re.M)
    for bit, power in _POWERS.items():
        if powers and not int(powers[1], 16) >> bit & 1:
            return f"root may not {power} another user here"
    return chosen


def _own_status(name: str) -> str:
    """Return what the system tells of this process; '' where it tells nothing."""
    try:
        return Path("/proc/self", name).read_text()
    except OSError:
        return ""


def _bubblewrap(config: dict[str, Any]) -> list[str]:
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
    inner = {**config, "method": "inside bubblewrap", "uid": None, "real": None}
    return [*command, *isolated_python(), config["jail"], json.dumps(inner)]


def _fill(
    folder: Path,
    program: bytes | Path,
    release: bytes | Path | Callable[[Path], None],
    beside: Mapping[str, bytes],
) -> None:
    box = folder / "box"
    for name in ("box", "root", "tmp"):
        (folder / name).mkdir(mode=0o755)
    (box / "program.py").write_bytes(program.read_bytes() if isinstance(program, Path) else program)
    inside = box / "release"
    if isinstance(release, bytes):
        inside.write_bytes(release)
    elif not isinstance(release, Path):
        release(inside)
    elif release.is_dir():
        shutil.copytree(release, inside)
    else:
        shutil.copyfile(release, inside)
    for name, content in beside.items():
        (box / name).write_bytes(content)
    for file in box.rglob("*"):
        if not file.is_symlink():
            file.chmod(0o755 if file.is_dir() else 0o644)


def run_served(
    programs: Sequence[tuple[bytes, Limits]],
    release: bytes | Path,
    *,
    beside: Mapping[str, bytes] = MappingProxyType({}),
    stop: Stop | None = None,
) -> list[ProgramRun]:
    """Run programs one after another on one release, behind walls that are put up once.

    Each run forks from a process that has imported the `IMPORTED_ONCE` packages the programs name,
    and has an empty private folder. For a model folder, the programs' `OPENED_ONCE` calls are also
    made beforehand; their results are copied on write. Runs share only the state at their start:
    modules, the hash seed, memory addresses.

    If the server dies, its remaining runs count as crashed. They are not repeated, or a program
    could choose its luck. Returns a run for each of ``programs``, in order.
    """
    sources = list(dict.fromkeys(source for source, _ in programs))
    names = {source: f"program_{number}.py" for number, source in enumerate(sources)}
    largest_limits = max((limits for _, limits in programs), key=lambda limits: limits.disk)
    weights = _weights(release)
    configuration = {
        "jail": str(Path(__file__).with_name("_serving.py")),
        "modules": sorted({name for source in sources for name in imports(source)}),
        # one of each: what is held for all runs has no limit of memory
        "openings": list(
            {opening[0]: opening for source in sources for opening in openings(source)}.values()
        )
        if weights
        else [],
        "runs": [(names[source], asdict(limits)) for source, limits in programs],
    }
    run = run_in_box(
        sources[0],
        release,
        largest_limits,
        METHOD,
        beside={**beside, **{names[source]: source for source in sources}},
        stop=stop,
        told=configuration,
        seconds=_START + weights / _SPEED + sum(limits.seconds for _, limits in programs),
        output=sum(limits.output + _ROOM for _, limits in programs),
    )
    runs = list(_answers(run.output))
    ended = ProgramRun(b"", "the server of the runs was ended", "crashed", 0.0)
    return [*runs, *[ended] * (len(programs) - len(runs))]


def imports(source: bytes) -> Iterator[str]:
    """Yield a program's imports from `IMPORTED_ONCE`: ``module``, or ``module:attribute``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}:{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0].split(":")[0] in IMPORTED_ONCE)


def openings(source: bytes) -> Iterator[Opening]:
    """Yield a program's calls of `OPENED_ONCE` whose arguments are all in `WORDS`."""
    tree = ast.parse(source)
    names = dict(_names(tree))
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.Call)
            or (function := _dotted(node.func, names)) not in OPENED_ONCE
        ):
            continue
        arguments = [_constant(argument) for argument in node.args]
        named = {str(argument.arg): _constant(argument.value) for argument in node.keywords}
        words = {*arguments, *named.values()}
        if "release" in words and words <= WORDS and named.keys() <= _NAMES and len(arguments) <= 2:
            yield function, arguments, named


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield imported names and the full names that they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname, alias.name) for alias in node.names if alias.asname)
            yield from ((alias.name, alias.name) for alias in node.names if not alias.asname)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names
            )


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """Return the full name of the called function; '' for anything else."""
    path = ""
    while isinstance(node, ast.Attribute):
        path, node = f".{node.attr}{path}", node.value
    return names.get(node.id, "") + path if isinstance(node, ast.Name) else ""


def _constant(node: ast.expr) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _weights(release: bytes | Path) -> int:
    """Return the bytes of weights of a model folder without unread files; 0: none."""
    if isinstance(release, bytes) or not release.is_dir():
        return 0
    if any(path.is_dir() or path.suffix not in _READ for path in release.iterdir()):
        return 0
    try:
        return check_model_folder(release)
    except NarcissusError:
        return 0


def _answers(output: bytes) -> Iterator[ProgramRun]:
    """Parse the server's output; a truncated answer is dropped."""
    place = 0
    while (end := output.find(b"\n", place)) >= 0:
        answer: dict[str, Any] = json.loads(output[place:end])
        middle, last = end + 1 + answer["output"], end + 1 + answer["output"] + answer["error"]
        if last > len(output):
            return
        yield ProgramRun(
            output[end + 1 : middle],
            output[middle:last].decode("utf-8", "replace"),
            answer["stopped"] or ("finished" if answer["code"] == 0 else "crashed"),
            answer["seconds"],
            tuple(answer["layers"]),
        )
        place = last
