"""Figure 2 of Swanberg et al. 2025: advantage against canaries of uneven priors, and what protects.

Over nine digits: uniform canaries, and passwords that follow Zipf's law. The paper says s = 1.1;
its printed numbers belong to s = 1.2 (Narcissus theory 4.11), so both are drawn. Names from a
language model are not published: their likeliest one's prior is fitted to what is printed of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from narcissus.bounds import advantage, posterior
from narcissus.priors import Zipf
from narcissus_papers.base import Given, Held, Item, Line, Panel, Printed, Quote, Reproduced

DELTA = 1e-5
VALUES = 10**9
MOST = 0.05  # advantage
EPSILONS = np.linspace(0.0, 20.0, 201)
NAME = 0.00545  # prior of the likeliest name, fitted
LAWS = (1.1, 1.2)

_SECTION = "section 5.3"
_REQUIRE = "numerical passwords and PIIs require ... 0.25 ... 2.37"
PASSWORD = Quote("0.24", "but 0.24 for the most probable canary", _SECTION)
LIKELIEST_NAME = Quote("0.45", "but 0.45 for the most probable canary", _SECTION)
CERTAIN = Quote("1.0", "canary both have advantage bounds of ... 1.0", _SECTION)
UNIFORM_PROTECTED = Quote("17.8", "canary can be protected by ... 17.8", _SECTION)
PASSWORD_PROTECTED = Quote("0.25", _REQUIRE, _SECTION)
NAME_PROTECTED = Quote("2.37", _REQUIRE, _SECTION)
FAR_BELOW = 0.005
"""What "much less than .05" is taken for: a tenth of it."""


def bound_on_advantage(prior: float, epsilon: float) -> float:
    """Compute Corollary 3.4 for one target, as an advantage over the prior."""
    success = min(1.0, float(posterior(prior, epsilon)) + DELTA)
    return advantage(success, prior)


def protecting(prior: float) -> float:
    low, high = 0.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if bound_on_advantage(prior, middle) <= MOST else (low, middle)
    return low


def _line(label: str, prior: float, style: str = "line") -> Line:
    values = [bound_on_advantage(prior, float(e)) for e in EPSILONS]
    return Line(label, EPSILONS.tolist(), values, style)  # pyright: ignore[reportArgumentType]


def _canaries() -> list[tuple[str, float]]:
    found = [("uniform, any", 1 / VALUES)]
    for s in LAWS:
        law = Zipf(s, VALUES)
        for which, share in (("likeliest", 1.0), ("median", 0.5), ("least likely", 0.0)):
            found.append((f"password (s = {s:g}), {which}", law.probability(law.percentile(share))))
    return [*found, ("name, likeliest (fitted)", NAME)]


_FITTED_NAME = (
    "its prior is not published: .00545 was chosen so that this and its other numbers agree"
)
_FITTED_LAW = "the text says s = 1.1: s = 1.2 was chosen so that both numbers of passwords agree"
_READING = "the text says s = 1.1, the printed numbers are those of s = 1.2"


def make_a(_given: Given) -> Reproduced:
    """Draw the advantage against epsilon."""
    canaries = dict(_canaries())
    top = {s: canaries[f"password (s = {s:g}), likeliest"] for s in LAWS}
    styles = {"median": "dashed", "least likely": "dotted"}
    lines = [_line(n, p, styles.get(n.rsplit(", ", 1)[-1], "line")) for n, p in canaries.items()]
    lines.append(Line(f"advantage {MOST:g}", [0.0, 20.0], [MOST, MOST], "dotted"))
    return Reproduced(
        panels=(Panel("Advantage", "epsilon", "bound on the advantage", lines),),
        printed=(
            Printed(
                "likeliest password at epsilon 1, s = 1.1 as the text says", PASSWORD,
                bound_on_advantage(top[1.1], 1.0), _READING,
            ),
            Printed(
                "likeliest password at epsilon 1, s = 1.2", PASSWORD,
                bound_on_advantage(top[1.2], 1.0), fitted=_FITTED_LAW,
            ),
            Printed(
                "likeliest name at epsilon 5", LIKELIEST_NAME, bound_on_advantage(NAME, 5.0),
                fitted=_FITTED_NAME,
            ),
            Printed(
                "likeliest password at epsilon 10, s = 1.1", CERTAIN,
                bound_on_advantage(top[1.1], 10.0),
            ),
            Printed(
                "likeliest name at epsilon 10", CERTAIN, bound_on_advantage(NAME, 10.0),
                fitted=_FITTED_NAME,
            ),
        ),
        held=_held(canaries),
        notes=(
            "The median canary is the median by count, as the print implies: below the uniform "
            "one. The median by mass would be rank 17 of s = 1.2, prior .00605.",
            "The prior of the likeliest name is fitted: from .00544 to .00545 agrees with both .45 "
            "here and 2.37 of figure 2b.",
        ),
    )  # fmt: skip


def _held(canaries: Mapping[str, float]) -> tuple[Held, ...]:
    """Check what section 5.3 claims of the curves without numbers."""
    rare = [p for name, p in canaries.items() if name.endswith(("median", "least likely"))]
    uniform = 1 / VALUES
    medians = [p for name, p in canaries.items() if name.endswith("median")]
    return (
        Held(
            "the median and the least likely password are far below .05 at epsilon 1",
            max(bound_on_advantage(p, 1.0) for p in rare) <= FAR_BELOW, "checked",
        ),
        Held(
            "the uniform canary is far below .05 at epsilon 10",
            bound_on_advantage(uniform, 10.0) <= FAR_BELOW, "checked",
        ),
        Held(
            "the median password is below the uniform canary", max(medians) < uniform, "checked"
        ),
    )  # fmt: skip


def make_b(_given: Given) -> Reproduced:
    """Draw the largest epsilon that protects, against the prior."""
    priors = np.logspace(-9, np.log10(0.6), 200)
    marks = [(name, p) for name, p in _canaries() if "likeliest" in name or "any" in name]
    lines: Sequence[Line] = (
        Line("any canary", priors.tolist(), [protecting(float(p)) for p in priors]),
        *(Line(name, [p], [protecting(p)], "points") for name, p in marks),
    )
    top = dict(marks)
    return Reproduced(
        panels=(Panel("What protects", "prior", "largest epsilon", lines, log_x=True),),
        printed=(
            Printed("uniform canary", UNIFORM_PROTECTED, protecting(1 / VALUES)),
            Printed(
                "likeliest password, s = 1.1 as the text says", PASSWORD_PROTECTED,
                protecting(top["password (s = 1.1), likeliest"]), _READING,
            ),
            Printed(
                "likeliest password, s = 1.2", PASSWORD_PROTECTED,
                protecting(top["password (s = 1.2), likeliest"]), fitted=_FITTED_LAW,
            ),
            Printed("likeliest name", NAME_PROTECTED, protecting(NAME), fitted=_FITTED_NAME),
        ),
    )  # fmt: skip


FIGURE_2A = Item("001", "figure", "2a", "Advantage against canaries of uneven priors", 1.0, make_a)
FIGURE_2B = Item("001", "figure", "2b", "What epsilon protects a canary of a prior", 1.0, make_b)
