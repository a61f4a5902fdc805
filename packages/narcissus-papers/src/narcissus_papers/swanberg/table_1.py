"""Table 1 of Swanberg et al. 2025: which threats each framework's bound covers.

A mark is not copied: the theorem, as implemented here, is asked about threats of each kind. It gets
the mark if it answers one of them, under some guarantee, with a limit that holds.

Source: Swanberg et al. 2025, Table 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from narcissus.bounds import threat
from narcissus.bounds.theorem import Question
from narcissus.bounds.theorems import THEOREMS
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP, RenyiDP
from narcissus.results import Bound
from narcissus_papers.base import Given, Held, Item, Quote, Reproduced

ROWS = {
    "Balle et al. [6]": ("balle",),
    "Stock et al. [59]": ("stock",),
    "Hayes et al. [31]": ("hayes",),
    "Steinke et al. [58]": ("one-run",),
    "Cherubin et al. [12]": ("chatzikokolakis-1",),
    "Cummings et al. [18]": ("distributional",),
    "Mahloujifar et al. [43]": ("f-dp-one-run",),
    "Ours": ("swanberg-3.2", "swanberg-3.4"),
}
"""The rows of the table, and the theorems by which we have them."""
KINDS = {
    "prior knowledge": ("uniform", "non-uniform"),
    "attack goal": ("MI", "AI", "reconstruction"),
    "targets": ("single", "multiple"),
    "success metric": ("simple", "complex"),
}
MARKS = tuple(kind for kinds in KINDS.values() for kind in kinds)
GUARANTEES = (
    PureDP(1.0), ApproximateDP(1.0, 1e-5), GaussianDP(0.5), RenyiDP(2.0, 0.5), BayesSecurity(0.6),
)  # fmt: skip
VALUES = {"MI": 2, "AI": 4, "reconstruction": 200}
"""How many values a secret has: membership, an attribute, a whole record."""
TARGETS, FALL = 20, 18


@dataclass(frozen=True)
class Probe:
    """A threat of one kind of each; see `KINDS`."""

    prior: str
    goal: str
    targets: str
    metric: str

    @property
    def kinds(self) -> frozenset[str]:
        """The columns of the table that it stands for."""
        return frozenset((self.prior, self.goal, self.targets, self.metric))

    def answered_by(self, ids: Iterable[str]) -> bool:
        """Whether one of these theorems bounds it, under some guarantee."""
        weights = np.arange(VALUES[self.goal], 0, -1) ** (1.0 if self.prior != "uniform" else 0.0)
        several = self.targets == "multiple"
        asked = threat(
            values=weights / weights.sum(),
            within=1 if self.metric == "complex" else None,
            targets=TARGETS if several else 1,
        )
        questions = [Question(asked, g, FALL if several else None) for g in GUARANTEES]
        if not several:  # one guess is also a count of one
            questions += [Question(asked, g, 1) for g in GUARANTEES]
        answers = (THEOREMS[name].answer(q) for name in ids for q in questions)
        return any(isinstance(one, Bound) and one.valid for one in answers)


PROBES = tuple(
    Probe(prior, goal, targets, metric)
    for prior in KINDS["prior knowledge"]
    for goal in KINDS["attack goal"]
    for targets in KINDS["targets"]
    for metric in KINDS["success metric"]
    if not (goal == "MI" and metric == "complex")  # a bit has no neighbours
)


@cache
def answered(row: str) -> tuple[frozenset[str], ...]:
    """Return the kinds of each probe that a row's theorems bound."""
    return tuple(probe.kinds for probe in PROBES if probe.answered_by(ROWS[row]))


def covers(row: str, *kinds: str) -> bool:
    """Whether a row bounds a threat that is of all these kinds at once."""
    return any(set(kinds) <= found for found in answered(row))


def make(_given: Given) -> Reproduced:
    """Ask every row about every column; compare the claims of the text with the answers."""
    others = [row for row in ROWS if row != "Ours"]
    hard = [row for row in others if covers(row, "non-uniform", "multiple", "complex")]
    near = {row for row in others if covers(row, "complex", "reconstruction")}
    single = [r for r in ("Balle et al. [6]", "Stock et al. [59]", "Hayes et al. [31]")
              if covers(r, "multiple")]  # fmt: skip
    uneven = [r for r in ("Steinke et al. [58]", "Mahloujifar et al. [43]")
              if covers(r, "non-uniform")]  # fmt: skip
    printed = {"Balle et al. [6]", "Stock et al. [59]", "Hayes et al. [31]"}
    return Reproduced(
        table=(
            ("Reference", *MARKS),
            *((row, *("yes" if covers(row, kind) else "" for kind in MARKS)) for row in ROWS),
        ),
        held=(
            Held(
                "ours has all nine marks", all(covers("Ours", kind) for kind in MARKS), "checked"
            ),
            Held(
                "ours is the first to limit approximate reconstruction of several records under a "
                "non-uniform prior (section 1.1)",
                covers("Ours", "non-uniform", "multiple", "complex", "reconstruction") and not hard,
                "checked",
                "" if not hard else f"as we have them, {', '.join(hard)} does too",
            ),
            Held(
                "only [6, 31, 59] limit approximate reconstruction (section 1.1)",
                near == printed,
                "checked",
                f"as we have it, {', '.join(sorted(near ^ printed))} does too: its formula is in "
                "the chance of an attempt, whatever counts as success",
                Quote("", "Only a few works [6, 31, 59] address approximate", "section 1.1"),
            ),
            Held("[6, 31, 59] are about a single target", not single, "checked"),
            Held(
                "[58, 43] are about uniform priors: fair bits, equally likely canaries", not uneven,
                "checked", ", ".join(uneven),
            ),
        ),
        notes=(
            "Which cells the paper marks is not in the text that we have: its sentences about "
            "them are compared instead.",
            "A mark here: the theorem, as this project has it, limits some threat of that kind. "
            "[12] stands as the Bayes risk that it builds on (Chatzikokolakis et al., Theorem 1), "
            "[18] as our form of distributional reconstruction.",
            f"Threats asked about: {len(PROBES)}, with 2, 4 and {VALUES['reconstruction']} values, "
            f"uniform or falling, one target or {FALL} of {TARGETS}, exact or within one value.",
        ),
    )  # fmt: skip


TABLE_1 = Item(
    "001", "table", "1", "Which threats each framework's bound is about", 3.0, make,
    command="narcissus bound --epsilon 1 --delta 1e-5 --values 0.4,0.3,0.2,0.1",
)  # fmt: skip
