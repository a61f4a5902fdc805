"""Figure 3 of 001: the printed rates, and the series of models by the thousand behind them."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg import figure_3
from narcissus_papers.swanberg.figure_3 import EPSILONS, MODELS, PIECES, named

# Argmax from the prior's start, noise for two clipping norms, 20,000 models: made independently.
SERIES = {
    "uniform": (0.103, 0.111, 0.121, 0.142, 0.165, 0.199, 0.215, 0.260, 0.341),
    "password": (0.372, 0.369, 0.377, 0.373, 0.377, 0.382, 0.397, 0.414, 0.468),
    "PII": (0.513, 0.532, 0.521, 0.526, 0.527, 0.523, 0.522, 0.540, 0.574),
}
ERROR = 0.0035
# One false alarm in a million for each of 27 points; the other training chose its steps.
ERRORS = 5.0


def near(prior, epsilon, models):
    wanted = SERIES[prior][EPSILONS.index(epsilon)]
    found = named(prior, epsilon, models)["published"]["argmax"]
    own = math.sqrt(wanted * (1 - wanted) / models)
    return abs(found - wanted) <= ERRORS * math.hypot(own, ERROR)


@pytest.mark.states("Swanberg et al. 2025", "Figure 3")
@pytest.mark.parametrize(("prior", "epsilon"), [("uniform", 5.0), ("password", 1.0), ("PII", 10.0)])
def test_rates_are_those_of_the_series(prior, epsilon):
    assert near(prior, epsilon, 1000)


@pytest.mark.nightly
@pytest.mark.parametrize("prior", SERIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_whole_series(prior, epsilon):
    assert near(prior, epsilon, 10_000)


def answers(**changed):
    """Give what pieces give, from the series; zero starts as even secrets."""
    found = {}
    for prior, rates in SERIES.items():
        for place, epsilon in enumerate(EPSILONS):
            rate = changed.get(f"{prior}_{epsilon:g}", rates[place])
            mu = 0.1 * epsilon
            zero = changed.get(f"zero_{prior}", SERIES["uniform"][place])
            found[f"{prior}-{epsilon:g}"] = {
                "published": {"argmax": rate, "posterior": rate, "mu": mu},
                "zero start": {"argmax": zero, "posterior": rate, "mu": mu},
                "add/remove": {"argmax": rate, "posterior": rate, "mu": 2 * mu},
            }
    return Given(found)


@pytest.mark.states("Swanberg et al. 2025", "Figure 3")
def test_printed_rates_agree_and_claims_hold():
    item = ITEMS["001/figure-3"]
    made = item.make(answers())
    assert made.verdict == "fitted"
    assert made.shown == "played"
    assert [one.quote.number for one in made.printed] == ["10%", "38.0%", "52.5%"]
    assert [one.ours for one in made.printed] == [pytest.approx(0.1), 0.377, 0.521]
    assert [one.word for one in made.printed] == ["agrees", "fitted", "fitted"]
    assert "not in the text" in made.because
    assert [panel.title for panel in made.panels] == ["published", "zero start", "add/remove"]
    assert any(f"{MODELS:,} models" in note for note in made.notes)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"password_1": 0.13}, "printed"),
        ({"PII_1": 0.13}, "printed"),
        ({"PII_10": 0.70}, 0),
        ({"PII_10": 0.45}, 0),
        ({"password_1": 0.11}, 1),
        ({"zero_PII": 0.30}, 2),
    ],
)
def test_what_is_another_way_is_said_to_differ(changed, place):
    made = ITEMS["001/figure-3"].make(answers(**changed))
    assert made.verdict == "differs"
    if place == "printed":
        assert "differs" in {one.word for one in made.printed}
    else:
        assert not made.held[place].holds


def test_lines_of_the_published_panel():
    """Theorem 3.3 for one target, MMC for even secrets only, and the guess."""
    panel = ITEMS["001/figure-3"].make(answers()).panels[0]
    lines = {line.label: line for line in panel.lines}
    at = EPSILONS.index(1.0)
    for name, p in (("uniform over 10", 0.1), ("PII-like over 10, assumed", 0.525)):
        beta = math.e * p / (1 + (math.e - 1) * p)
        assert lines[f"{name}: Theorem 3.3"].y[at] == pytest.approx(beta, abs=2e-5)
        assert lines[f"{name}: without the model"].y == [p, p]
    assert [name for name in lines if "MMC" in name] == ["uniform over 10: MMC"]
    # The one-run form of f-DP at one canary, computed apart; 1 - f(.1) would be .7639 at the last.
    mmc = dict(zip(EPSILONS, lines["uniform over 10: MMC"].y, strict=True))
    wanted = (0.14810971, 0.25274701, 0.36347920, 0.61206245)
    assert [mmc[e] for e in (1.0, 3.0, 5.0, 10.0)] == pytest.approx(wanted, abs=5e-9)
    optimum = lines["uniform over 10: optimum at the mu that holds"].y
    assert all(0.1 <= low <= high for low, high in pairwise(optimum))


def test_pieces_are_points_that_can_be_made_in_any_order(monkeypatch):
    assert len(PIECES) == len(SERIES) * len(EPSILONS) == len(ITEMS["001/figure-3"].pieces)
    asked = []
    monkeypatch.setattr(figure_3, "named", lambda *which: asked.append(which))
    PIECES["PII-0.5"](Given())
    assert asked == [("PII", 0.5)]
