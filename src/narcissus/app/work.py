"""Work about tables in a separate process: ``python -m narcissus.app.work WHAT ARGUMENT ...``.

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
from narcissus.kinds.membership.kind import KIND as MEMBERSHIP
from narcissus.kinds.membership.schema import MembershipStudy
from narcissus.kinds.synthetic.propose import completed
from narcissus.kinds.table.examination import examine_proposal
from narcissus.kinds.table.propose import ColumnProposal, Proposal, draft, propose
from narcissus.membership import read_shadow_scores
from narcissus.membership.shadows import coin_design
from narcissus.observer import SILENT
from narcissus.study import load_study
from narcissus.study.kinds import RunOptions
from narcissus.study.store import FILE
from narcissus.tables import Bins
from narcissus.tables.coding import coding_of
from narcissus.tables.parts import ColumnSketch, sketch_table

BARS = 24
"""Most bars of the picture of a column."""
MOST_VALUES = 200
PACE = 6e-6  # seconds for each score of LiRA, the slowest attack, on one core


def look(source: str) -> dict[str, Any]:
    """Return what a table holds and what is proposed, as `narcissus init` understands it."""
    return _seen(propose(sketch_table(source)))


def examine(source: str) -> dict[str, Any]:
    """Return the same, with cautions of what an audit of the proposal would leave open."""
    return _seen(examine_proposal(propose(sketch_table(source)), source))


def _seen(found: Proposal) -> dict[str, Any]:
    sketch = found.sketch
    seen = {part.name: part for part in found.seen}
    nameless = [why for name, why in found.drop.items() if name not in seen]
    columns = [
        asdict(seen[part.name]) | {"bars": _bars(part, seen[part.name])}
        for part in sketch.columns
        if part.name in seen
    ]
    return {
        "columns": columns,
        "rows": sketch.rows,
        "all_rows": sketch.all_rows,
        "remarks": [visible(part) for part in (*sketch.remarks, *nameless)],
        "drop": dict(found.drop),
        "unknown": list(found.unknown),
        "secret": list(found.secret),
        "public": list(found.public),
        "cautions": [visible(part) for part in found.cautions],
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
    return [round(float(count / people.max()), 3) for count in people]


def new(source: str, path: str, preset: str = "") -> dict[str, Any]:
    """Return the text of the study that `narcissus init` writes; ``path`` is what it names.

    preset: Who set the threshold that is written; empty writes none.
    """
    proposal = examine_proposal(propose(sketch_table(source)), source)
    return {"text": draft(proposal, path, preset=preset)}


def new_of_files(real: str, synthetic: str, control: str) -> dict[str, Any]:
    """Return the text of a study of a given file, with what `narcissus synth` chooses."""
    nothing = dict.fromkeys(("drop", "columns", "bins", "missing", "read_as", "unit"))
    files = {"real": real, "synthetic": synthetic, "control": control or None}
    settings, lines = completed(
        {
            "kind": "synthetic",
            "title": f"{Path(synthetic).name}, made from {Path(real).name}",
            "data": {**files, **nothing},
            "threat": {"unknown": None},
            "groups": {"columns": None},
            "run": {"seed": 1},
        }
    )
    return {"text": written(settings, lines)}


def look_at_scores(scores: str, members: str, scale: str) -> dict[str, Any]:
    """Return what a file of scores holds, with pictures of members and others side by side."""
    data = read_shadow_scores(scores, members or None, scale=scale)
    coins = coin_design(data).said
    low, high = np.quantile(data.scores, [0.005, 0.995])
    inside = data.members
    return {
        "models": data.models,
        "records": data.scores.shape[1],
        "outsiders": int(data.outsiders.sum()),
        "unit": data.unit,
        "coins": f"{coins[0].upper()}{coins[1:]}.",
        "members": _heights(data.scores[inside], low, high),
        "others": _heights(data.scores[~inside], low, high),
    }


def _heights(values: np.ndarray[Any, Any], low: float, high: float) -> list[float]:
    people, _ = np.histogram(values.clip(low, high), BARS, (low, high if high > low else low + 1))
    return [round(float(count / max(1, people.max())), 3) for count in people]


def new_of_scores(scores: str, members: str) -> dict[str, Any]:
    """Return the text of a study of scores of models; what they are is proposed by their range."""
    data = read_shadow_scores(scores, members or None)
    coin_design(data)  # refuses what cannot be audited
    is_share = bool(((data.scores >= 0) & (data.scores <= 1)).all())
    shadows = [] if data.models < 4 else ["lira" if data.models >= 32 else "lira-fixed"]
    scale = "probability" if is_share else "score"
    settings = {
        "kind": "membership",
        "title": f"Who is in the training data? {Path(scores).name}",
        "data": {"scores": scores, "members": members or None, "scale": scale},
        "threat": {"attacks": [*shadows, "score"]},
        "run": {"seed": 1},
    }
    return {"text": written(settings, [])}


def plan(study: str, folder: str) -> dict[str, Any]:
    """Check a study as an audit does, and return what it takes; nothing is run.

    A run that was begun counts by what is left of it.
    """
    loaded = load_study(Path(study))
    place = Path(folder) / loaded.digest[:12]
    estimate: dict[str, Any] = {"digest": loaded.digest, "seconds": 0.0, "work": ""}
    if isinstance(settings := loaded.settings, MembershipStudy):
        work = MEMBERSHIP.ready(settings, Path(), RunOptions(0, SILENT))
        size = sum(shadow.scores.size for shadow in work.data.values()) * settings.threat.folds
        words = f"{size:,} scores of models are read and compared"
        return estimate | {"seconds": round(5 + size * PACE), "work": words}
    try:
        run(loaded, hours=0.0, folder=place if (place / FILE).is_file() else None)
    except LongWorkError as error:
        estimate |= {"seconds": error.seconds, "work": error.work}
    return estimate


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    "look": look,
    "examine": examine,
    "new": new,
    "new-of-files": new_of_files,
    "look-at-scores": look_at_scores,
    "new-of-scores": new_of_scores,
    "plan": plan,
}


def main(what: str, *arguments: str) -> None:
    isolate()
    try:
        answer = WORK[what](*arguments)
    except MemoryError:
        answer = {"error": "there is not enough memory for this"}
    except (NarcissusError, OSError) as error:
        answer = {"error": str(error).replace("`members_path`", "`members`")}  # as a study has it
    print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
