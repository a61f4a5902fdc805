"""Many program runs in one jailed server, started once, with a fork for each run."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from narcissus._guarded import Stop
from narcissus.errors import NarcissusError
from narcissus.extraction._runs import Limits, ProgramRun, run_in_box
from narcissus.extraction.huggingface import check_model_folder

METHOD = "namespaces"
"""The walls that a server can stand behind: the private folder has a size of its own there."""
IMPORTED_ONCE = ("numpy", "scipy", "pandas", "sklearn", "safetensors", "tokenizers", "torch",
                 "transformers")  # fmt: skip
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
_START = 120.0  # seconds for imports
_SPEED = 2e7  # bytes of weights that are read in a second, at least
_ROOM = 65536  # bytes of a run besides what it prints


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
    most = max((limits for _, limits in programs), key=lambda limits: limits.disk)
    weights = _weights(release)
    told = {
        "jail": str(Path(__file__).with_name("_serving.py")),
        "modules": sorted({name for source in sources for name in imports(source)}),
        # one of each: what is held for all runs has no limit of memory
        "openings": list({one[0]: one for source in sources for one in openings(source)}.values())
        if weights
        else [],
        "runs": [(names[source], asdict(limits)) for source, limits in programs],
    }
    run = run_in_box(
        sources[0],
        release,
        most,
        METHOD,
        beside={**beside, **{names[source]: source for source in sources}},
        stop=stop,
        told=told,
        seconds=_START + weights / _SPEED + sum(limits.seconds for _, limits in programs),
        output=sum(limits.output + _ROOM for _, limits in programs),
    )
    found = list(_answers(run.output))
    ended = ProgramRun(b"", "the server of the runs was ended", "crashed", 0.0)
    return [*found, *[ended] * (len(programs) - len(found))]


def imports(source: bytes) -> Iterator[str]:
    """Yield a program's imports from `IMPORTED_ONCE`: ``module``, or ``module:attribute``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [node.module, *(f"{node.module}:{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in found if name.split(".")[0].split(":")[0] in IMPORTED_ONCE)


def openings(source: bytes) -> Iterator[Opening]:
    """Yield a program's calls of `OPENED_ONCE` whose arguments are all in `WORDS`."""
    tree = ast.parse(source)
    names = dict(_names(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or (what := _dotted(node.func, names)) not in OPENED_ONCE:
            continue
        given = [_constant(one) for one in node.args]
        named = {str(one.arg): _constant(one.value) for one in node.keywords}
        words = {*given, *named.values()}
        if "release" in words and words <= WORDS and named.keys() <= _NAMES and len(given) <= 2:
            yield what, given, named


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield imported names and the full names that they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((one.asname, one.name) for one in node.names if one.asname)
            yield from ((one.name, one.name) for one in node.names if not one.asname)
        elif isinstance(node, ast.ImportFrom):
            yield from ((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)


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
    if any(one.is_dir() or one.suffix not in _READ for one in release.iterdir()):
        return 0
    try:
        return check_model_folder(release)
    except NarcissusError:
        return 0


def _answers(output: bytes) -> Iterator[ProgramRun]:
    """Parse the server's output; a truncated answer is dropped."""
    place = 0
    while (end := output.find(b"\n", place)) >= 0:
        said: dict[str, Any] = json.loads(output[place:end])
        middle, last = end + 1 + said["output"], end + 1 + said["output"] + said["error"]
        if last > len(output):
            return
        yield ProgramRun(
            output[end + 1 : middle],
            output[middle:last].decode("utf-8", "replace"),
            said["stopped"] or ("finished" if said["code"] == 0 else "crashed"),
            said["seconds"],
            tuple(said["layers"]),
        )
        place = last
