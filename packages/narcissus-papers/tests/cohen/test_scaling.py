"""Examples against their security parameter: claims hold, and fail where something is wrong."""

import pytest

from narcissus.scale import Known, SizeCurve
from narcissus_papers import ITEMS, Given
from narcissus_papers.cohen import scaling


def made(number):
    return ITEMS[f"003/figure-{number}"].make(Given())


QUICK = ["composition", "pinned-bits", "generator"]
LONG = [pytest.param(n, marks=pytest.mark.nightly) for n in ("one-wayness", "encryption")]


@pytest.mark.parametrize("number", [*QUICK, *LONG])
def test_all_claims_hold(number):
    found = made(number)
    assert found.verdict == "agrees"
    assert found.panels
    for panel in found.panels:
        assert all(len(line.x) == len(line.y) > 1 for line in panel.lines)


def test_every_item_says_what_a_user_runs():
    for item in scaling.SCALING:
        assert item.command.startswith("narcissus scale ")
        assert " --over " in item.command


IDENTITY = {"name": "identity"}
WRONG = [
    ("composition", "silent", lambda f: lambda name: f("xor-half-alone")),
    (
        "pinned-bits",
        "silent",
        lambda f: lambda name: {**f(name), "mechanism": IDENTITY},
    ),
    ("generator", "found_of", lambda f: lambda budget: f(2 * budget)),
]


@pytest.mark.parametrize(("number", "name", "wrong"), WRONG)
def test_a_claim_fails_where_something_is_wrong(monkeypatch, number, name, wrong):
    monkeypatch.setattr(scaling, name, wrong(getattr(scaling, name)))
    assert made(number).verdict == "differs"


def test_a_formula_is_held_against_exact_values_and_limits():
    points = tuple(Known(n, 1 / n, 0.9 / n, 1.1 / n) for n in (1, 2, 3))
    curve = SizeCurve("x", "gain", points, "sampled")
    assert scaling.holds(curve, lambda n: 1.05 / n)
    assert not scaling.holds(curve, lambda n: 1.2 / n)
    assert not scaling.is_exactly(curve, lambda n: 1 / n)
    exact = SizeCurve(
        "x", "gain", tuple(Known(n, 1 / n, 1 / n, 1 / n, exact=True) for n in (1, 2)), "proved"
    )
    assert scaling.is_exactly(exact, lambda n: 1 / n)
    assert not scaling.is_exactly(exact, lambda n: 1.1 / n)


def test_what_is_missed_is_that_of_the_images():
    """One bit: its images share 1,024 strings nearly evenly, by count."""
    assert 0.49 < scaling.missed(1) < 0.5
    assert scaling.tabled(64)(1) == 1
    assert 0.5 < scaling.tabled(64)(6) < 0.8
    assert scaling.tabled(64)(14) == 64 / 2**14
