"""The verdict on one setting: from graded findings to a status and its evidence.

The worse end always counts. A threshold is exceeded when a lower limit of an attack is above it:
each of two has half of the error. It is met when the upper limit of a bound, or of the ceiling,
keeps it; the status then has the grade and the assumptions of that finding. If two findings
contradict each other, that is the verdict. "Too few trials" is what more trials would settle;
anything else is inconclusive. An attack that fails proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narcissus.findings import Contradiction, weakest
from narcissus.results import Grade, Status
from narcissus.study.results.table import Excess
from narcissus.study.table.schema import ThresholdSpec


@dataclass(frozen=True)
class Judgement:
    """The conclusion on one setting."""

    status: Status
    grade: Grade  # the weakest grade of its evidence
    # its evidence, compared with the threshold; empty without a threshold
    rests_on: tuple[Excess, ...]
    # assumptions of the evidence besides the guarantee and the game
    takes_as_given: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]  # pairs of findings that cannot both hold
    # rough number of trials that would settle what is open; None if none would
    trials_needed: int | None
    # label of the earlier setting at which a sweep lost its claim, if the threshold would be
    # met here
    held_back_by: str | None = None


def judge(
    threshold: ThresholdSpec | None,
    excesses: Sequence[Excess],
    contradictions: Sequence[Contradiction],
    takes_as_given: Sequence[str],
) -> Judgement:
    status, rests_on, needed = _status(threshold, excesses, contradictions)
    given = tuple(takes_as_given) if any(e.role != "attack" for e in rests_on) else ()
    if contradictions:
        grade, given = weakest(c.grade for c in contradictions), ()
    elif threshold is None:
        # nothing is claimed but what was measured and what is proved
        grade, given = "sampled", tuple(takes_as_given)
    else:
        grade = weakest(e.kind for e in rests_on)
    return Judgement(status, grade, tuple(rests_on), given, tuple(contradictions), needed)


def _status(
    threshold: ThresholdSpec | None,
    excesses: Sequence[Excess],
    contradictions: Sequence[Contradiction],
) -> tuple[Status, list[Excess], int | None]:
    """Return the status, its evidence, and roughly the trials that would settle what is open."""
    if threshold is None:
        return ("contradicted" if contradictions else "no threshold"), [], None
    attacks = [e for e in excesses if e.role == "attack"]
    beyond = [e for e in attacks if (e.at_least or 0.0) > 0]
    if beyond:
        return "exceeded", [max(beyond, key=lambda e: e.at_least or 0.0)], None
    if contradictions:
        return "contradicted", [], None
    keepers, open_ = _keepers(excesses)
    if keepers is not None:
        return "met", keepers, None
    seems_beyond = [e for e in attacks if e.value > 0 and e.trials is not None]
    undecided = seems_beyond or open_
    if undecided:
        return "too few trials", undecided, max(e.trials or 0 for e in undecided)
    return "inconclusive", list(excesses), None


def _keepers(excesses: Sequence[Excess]) -> tuple[list[Excess] | None, list[Excess]]:
    """Return the findings that keep each limit, for everybody and each group; or nearly do.

    A bound is preferred to the ceiling: it needs no measurement of an attacker.
    """
    limits = [e for e in excesses if e.role != "attack"]
    kept: list[Excess] = []
    nearly: list[Excess] = []
    holds = True
    for about in dict.fromkeys((e.of, e.group) for e in excesses):
        own = [e for e in limits if (e.of, e.group) == about]
        own.sort(key=lambda e: e.role != "bound")
        below = [e for e in own if e.high is not None and e.high <= 0]
        if below:
            kept.append(below[0])
            continue
        holds = False
        almost = [e for e in own if e.value <= 0 and e.trials is not None]
        if not almost:
            return None, []
        nearly.append(min(almost, key=lambda e: e.trials or 0))
    return (kept if holds and kept else None), nearly
