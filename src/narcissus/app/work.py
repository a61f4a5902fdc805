"""Work about tables in a process of its own: ``python -m narcissus.app.work WHAT ARGUMENT ...``.

It prints one JSON object. A table that takes for ever, or all memory, ends this process alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._isolation import isolate
from narcissus._visible import visible
from narcissus.app.text import written
from narcissus.audits import run
from narcissus.errors import LongWorkError, NarcissusError
from narcissus.kinds.synthetic.propose import completed
from narcissus.kinds.table.propose import ColumnProposal, draft, propose
from narcissus.study import load_study
from narcissus.study.store import FILE
from narcissus.tables import Bins
from narcissus.tables.coding import coding_of
from narcissus.tables.parts import ColumnSketch, sketch_table

BARS = 24
"""Most bars of the picture of a column."""
MOST_VALUES = 200


def look(source: str) -> dict[str, Any]:
    """Return what a table holds and what is proposed, as `narcissus init` understands it."""
    sketch = sketch_table(source)
    found = propose(sketch)
    seen = {one.name: one for one in found.seen}
    columns = [
        asdict(seen[one.name]) | {"bars": _bars(one, seen[one.name])}
        for one in sketch.columns
        if one.name in seen
    ]
    return {
        "columns": columns,
        "rows": sketch.rows,
        "all_rows": sketch.all_rows,
        "remarks": [visible(one) for one in sketch.remarks],
        "drop": dict(found.drop),
        "unknown": list(found.unknown),
        "secret": list(found.secret),
        "public": list(found.public),
        "cautions": [visible(one) for one in found.cautions],
    }


def _bars(column: ColumnSketch, proposal: ColumnProposal) -> list[float]:
    """Return the heights of a picture of a column, the highest 1; none where it has too many."""
    if proposal.drop or not proposal.labels:
        return []
    bins = Bins(**proposal.bins) if proposal.bins else None  # pyright: ignore[reportArgumentType]
    codes = coding_of(column.tally, bins, MOST_VALUES).codes[:-1]
    people = np.bincount(codes, weights=column.tally.counts, minlength=1)
    if len(people) > BARS:
        people = np.array([part.sum() for part in np.array_split(people, BARS)])
    return [round(float(one / people.max()), 3) for one in people]


def new(source: str, path: str) -> dict[str, Any]:
    """Return the text of the study that `narcissus init` writes; ``path`` is what it names."""
    return {"text": draft(propose(sketch_table(source)), path)}


def new_of_files(real: str, synthetic: str, control: str) -> dict[str, Any]:
    """Return the text of a study of a given file, with what `narcissus synth` chooses."""
    nothing = dict.fromkeys(("drop", "bins", "missing", "read_as", "unit"))
    files = {"real": real, "synthetic": synthetic, "control": control or None}
    settings, lines = completed({
        "kind": "synthetic",
        "title": f"{Path(synthetic).name}, made from {Path(real).name}",
        "data": {**files, **nothing},
        "threat": {"unknown": None},
        "groups": {"columns": None},
        "run": {"seed": 1},
    })  # fmt: skip
    return {"text": written(settings, lines)}


def plan(study: str, folder: str) -> dict[str, Any]:
    """Check a study as an audit does, and return what it takes; nothing is run.

    A run that was begun counts by what is left of it.
    """
    loaded = load_study(Path(study))
    place = Path(folder) / loaded.digest[:12]
    found: dict[str, Any] = {"digest": loaded.digest, "seconds": 0.0, "work": ""}
    try:
        run(loaded, hours=0.0, folder=place if (place / FILE).is_file() else None)
    except LongWorkError as error:
        found |= {"seconds": error.seconds, "work": error.work}
    return found


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    "look": look,
    "new": new,
    "new-of-files": new_of_files,
    "plan": plan,
}


def main(what: str, *arguments: str) -> None:
    isolate()
    try:
        found = WORK[what](*arguments)
    except MemoryError:
        found = {"error": "there is not enough memory for this"}
    except (NarcissusError, OSError) as error:
        found = {"error": str(error)}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
