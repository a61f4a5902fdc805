"""The risk to one person, against linear programs, exact posteriors and closed forms."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from narcissus import risk_of
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    from_losses,
)
from narcissus.guarantees.risk import log_odds_gain

GUARANTEES = [
    PureDP(1.0),
    ApproximateDP(1.0, 1e-3),
    ApproximateDP(0.0, 5e-3),
    GaussianDP(1.0),
    ZeroConcentratedDP(0.2),
    RenyiDP(4.0, 0.5),
    from_losses([math.log(0.75), 0.0, math.log(2)], [0.3, 0.5, 0.2]),
]


def _most(guarantee, t, rest):
    """The largest chance of a loss above ``t`` of all pairs on a grid that keep the profile."""
    near = np.array([t + 1e-3, t + 0.01, t + 0.05])
    losses = np.concatenate([np.linspace(-9, 9, 361), near, -near, [np.inf]])
    # Of each loss the mass under P and under Q; the last column is where P has none.
    p = np.append(np.ones_like(losses), 0.0)
    q = np.append(np.exp(-losses), 1.0)
    # Fewer points would be fewer constraints: those where the limit is decided are among them.
    fine = np.linspace(0, 8, 16_001)
    spent = np.minimum(guarantee.profile(fine) / rest, 1 - 1e-12)
    decides = fine[(fine - np.log1p(-spent)).argmin()] + np.linspace(-0.005, 0.005, 41)
    at = np.abs(np.concatenate([np.linspace(0, 8, 161), [t], decides]))[:, None]
    deltas, scale = guarantee.profile(at[:, 0]), np.exp(9 - at)
    keeps, back = np.maximum(p - np.exp(at) * q, 0), np.maximum(q - np.exp(at) * p, 0)
    found = linprog(
        -np.append(losses > t, False).astype(float),
        np.vstack([keeps, back / scale]),
        np.concatenate([deltas, deltas / scale[:, 0]]),
        np.vstack([p, q]),
        [1.0, 1.0],
        method="highs",
    )
    assert found.status == 0, found.message
    return -found.fun


@pytest.mark.states("Narcissus theory", "4.8")
@pytest.mark.parametrize("confidence", [0.9, 0.99])
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
def test_no_pair_with_the_guarantee_exceeds_it_more_often_and_one_does_nearly(
    guarantee, confidence
):
    gain = log_odds_gain(guarantee, confidence)
    rest = 1 - confidence
    assert _most(guarantee, gain, rest) <= rest * (1 + 1e-3)
    assert _most(guarantee, gain - 0.1, rest) > rest  # sharp: a little below, more is reached


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0])
def test_a_gaussian_exceeds_it_less_often(mu):
    gain = log_odds_gain(GaussianDP(mu), 0.99)
    exact = stats.norm.sf(gain / mu - mu / 2)
    assert 0.001 < exact <= 0.01


@pytest.mark.parametrize("prior", [Fraction(1, 1000), Fraction(1, 3), Fraction(99, 100)])
def test_randomized_response_reaches_the_belief_of_pure_dp(prior):
    likely, unlikely = Fraction(3, 4), Fraction(1, 4)
    after = prior * likely / (prior * likely + (1 - prior) * unlikely)
    found = risk_of(math.log(3), prior=float(prior))
    assert float(after) <= found.belief.value <= float(after) * (1 + 1e-9)
    assert found.every_release
    assert found.advantage.value == pytest.approx(0.5)
    assert risk_of(math.log(3), float(prior), fpr=0.25).tpr.value == pytest.approx(0.75)
    before, most = found.odds
    assert most / before == pytest.approx(3)


def test_a_guarantee_that_may_reveal_all_limits_no_belief():
    found = risk_of(BayesSecurity(0.9), prior=0.01)
    assert (found.belief.value, found.every_release) == (1.0, False)
    assert "does not limit" in found.sentence
    assert json.loads(json.dumps(found.to_dict()))["odds_at_most"] is None
    # the same leak in a share of releases that is accepted
    assert risk_of(BayesSecurity(0.9), prior=0.01, confidence=0.8).belief.value < 0.05


@pytest.mark.parametrize("given", [1.0, (1.0, 1e-6)])
def test_a_fact_about_a_record_costs_two_steps_where_records_are_added(given):
    member, fact = (risk_of(given, prior=0.1, secret=one) for one in ("membership", "value"))
    gains = [math.log(one.odds[1] / one.odds[0]) for one in (member, fact)]
    assert gains == pytest.approx([1.0, 2.0], rel=2e-3)
    same = risk_of(PureDP(1.0), prior=0.1, secret="value")
    assert same.odds[1] / same.odds[0] == pytest.approx(math.e)


def test_it_is_printed_rounded_outwards_with_a_picture():
    found = risk_of((1.0, 1e-6), prior=0.01)
    assert found.sentence.endswith("at most 2.68% likely after the release, "
                                   "in at least 99 of 100 releases.")  # fmt: skip
    assert found.of_100 == (1, 3)
    assert found.squares().count("+ +") == 1
    root = ElementTree.fromstring(found.svg())
    fills = [one.get("fill") for one in root if one.tag.endswith("rect")]
    assert [fills.count(one) for one in dict.fromkeys(fills)] == [1, 2, 97]
    assert found.sentence in "".join(root.itertext())
    assert "1:99, to at most 1:36.4" in str(found)


@pytest.mark.parametrize(
    ("given", "also", "said"),
    [
        ("1", {}, "`epsilon` must be"),
        ((1.0, 2.0, 3.0), {}, "`guarantee` must be an epsilon or"),
        (-1.0, {}, "`epsilon` must be"),
        ((1.0, 2.0), {}, "`delta` must be"),
        (1.0, {"prior": 1.0}, "`prior` must be"),
        (1.0, {"fpr": 2}, "`fpr` must be"),
        (1.0, {"confidence": 1}, "`confidence` must be"),
        (1.0, {"secret": "age"}, "secret"),
    ],
)
def test_what_is_out_of_range_is_refused(given, also, said):
    with pytest.raises(InputError, match=said):
        risk_of(given, **{"prior": 0.1, **also})


def test_it_loads_neither_pandas_nor_what_of_scipy_takes_long():
    code = (
        "import sys; from narcissus import risk_of; risk_of((1.0, 1e-6), prior=.01).svg();"
        "print([m for m in ('scipy.special', 'scipy.optimize', 'scipy.fft', 'pandas',"
        " 'narcissus.bounds') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.strip() == "[]"
