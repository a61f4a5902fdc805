"""Many runs of programs in one jailed server: started once, a fork for each run."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from narcissus._guarded import Stop
from narcissus.extraction._runs import Limits, ProgramRun, run_in_box

METHOD = "namespaces"
"""The walls that a server can stand behind: the private folder has a size of its own there."""
IMPORTED_ONCE = ("numpy", "scipy", "pandas", "sklearn", "safetensors", "tokenizers", "torch",
                 "transformers")  # fmt: skip
"""Packages that are imported before a program is run, where it names them."""
_START = 120.0  # seconds for that
_ROOM = 65536  # bytes of a run besides what it prints


def run_served(
    programs: Sequence[tuple[bytes, Limits]],
    release: bytes | Path,
    *,
    beside: Mapping[str, bytes] = MappingProxyType({}),
    stop: Stop | None = None,
) -> list[ProgramRun]:
    """Run programs one after another on one release, behind walls that are put up once.

    Each run is a process forked from one that has imported the packages of `IMPORTED_ONCE` that
    the programs name, and has a private folder that is empty. What runs share is what was imported
    and the start of the interpreter: its seed of hashes, where things are in memory.

    Parameters
    ----------
    programs
        Sources, with the limits of each run.
    release, beside, stop
        As `narcissus.extraction.sandbox.run_program` takes them.

    Returns
    -------
    list
        As many as ``programs``, in their order. Where the server was ended, runs that it did not
        come to have crashed: they are not repeated, or a program could choose its luck.
    """
    sources = list(dict.fromkeys(source for source, _ in programs))
    names = {source: f"program_{number}.py" for number, source in enumerate(sources)}
    most = max((limits for _, limits in programs), key=lambda limits: limits.disk)
    told = {
        "jail": str(Path(__file__).with_name("_serving.py")),
        "modules": sorted({name for source in sources for name in imports(source)}),
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
        seconds=_START + sum(limits.seconds for _, limits in programs),
        output=sum(limits.output + _ROOM for _, limits in programs),
    )
    found = list(_answers(run.output))
    ended = ProgramRun(b"", "the server of the runs was ended", "crashed", 0.0)
    return [*found, *[ended] * (len(programs) - len(found))]


def imports(source: bytes) -> Iterator[str]:
    """Yield what a program imports of `IMPORTED_ONCE`: ``module``, or ``module:attribute``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [node.module, *(f"{node.module}:{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in found if name.split(".")[0].split(":")[0] in IMPORTED_ONCE)


def _answers(output: bytes) -> Iterator[ProgramRun]:
    """Read what the server wrote; an answer that was cut off is none."""
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
