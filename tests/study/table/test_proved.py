"""What is kept of what is proved: sums over people and over groups, each against the theorems."""

import numpy as np
import pytest

from narcissus.bounds import each_success, exact_match_optimum, interpolation_tails, posterior
from narcissus.bounds.one_target import profile_multipliers
from narcissus.guarantees import PureDP
from narcissus.study.table.crowd import Members, proved

STUDY = {"threat": {"unknown": ["ill"], "targets": 9}, "bounds": {"confidence": [0.9, 0.5]}}
MECHANISMS = {
    "approximate": {"epsilon": 1.5, "delta": 1e-3},
    "pure": {"noise": "laplace", "epsilon": 1.5},
    "mu": {"epsilon": None, "mu": 0.7},
    "no point": {"epsilon": None, "mu": 1e-6},
}


@pytest.mark.parametrize("kind", MECHANISMS)
def test_sums_over_the_people_and_over_the_members_of_each_group(ready, kind):
    """By the closed forms of exact match, person by person."""
    experiment = ready(**STUDY, mechanism=MECHANISMS[kind])
    targets, setting = experiment.known(0), experiment.settings[0]
    rng = np.random.default_rng(1)
    members = Members(9, ((rng.integers(0, 3, 9), 4), (rng.integers(0, 2, 9), 2)))
    masks = members.masks()
    assert masks.sum(axis=1).tolist()[3] == 0 < masks.sum(axis=1)[[0, 1, 2, 4, 5]].min()
    found = proved(targets, members, setting, (0.4, 0.8))
    prior, guarantee = np.asarray(targets.prior), setting.guarantee
    guess, share = prior.max(axis=1), each_success(prior, guarantee)
    assert (guess < 1).all()
    moments = np.stack([share, share**2, guess, guess**2, share * guess], axis=1)
    assert found["bound"] == pytest.approx(moments.sum(axis=0))
    for group, members in enumerate(masks):
        assert found["group_bound"][group] == pytest.approx(moments[members].sum(axis=0))
    for place, epsilon in enumerate((0.4, 0.8)):
        o = exact_match_optimum(prior, epsilon)
        pure = isinstance(guarantee, PureDP)
        cost = np.zeros(9) if pure else profile_multipliers(prior, guarantee, epsilon)[3]
        assert (cost <= guarantee.profile(epsilon) * (1 - o) + 1e-12).all()
        part = cost / max(float(guarantee.profile(epsilon)), 1e-300)
        sums = [o.sum(), (o**2).sum(), part.sum(), (part**2).sum()]
        assert found[f"single/{place}"] == pytest.approx(sums)
        plain, tails = interpolation_tails(o, cost), found[f"tails/{place}"]
        assert (tails <= plain + 1e-15).all()
        assert pure or (tails >= found["reached"] - 1e-12).all()  # at its own epsilon alone
        if pure:
            assert tails == pytest.approx(plain)
        assert found[f"tails/{place}"][0] == pytest.approx(1)
        assert found[f"tails/{place}"][-1] == 0
    assert ("published" in found) == ("share_single" in found) == (kind != "no point")


@pytest.mark.parametrize("kind", ["approximate", "pure"])
def test_one_point_alone_for_comparison(ready, kind):
    """Everybody recovered: the product of the chances given the output, plus n delta."""
    experiment = ready(**STUDY, mechanism=MECHANISMS[kind])
    targets, setting = experiment.known(0), experiment.settings[0]
    found = proved(targets, Members(9, ((np.zeros(9, int), 1),)), setting, (0.4,))
    prior = np.asarray(targets.prior)
    assert found["share_single"] == pytest.approx(each_success(prior, setting.single).mean())
    pure = isinstance(setting.single, PureDP)
    delta = 0.0 if pure else setting.single.delta
    assert delta == (0.0 if kind == "pure" else 1e-3)
    chances = posterior(prior.max(axis=1), 1.5)
    assert found["published"].shape == (11,)
    assert found["published"][9] == pytest.approx(np.prod(chances) + 9 * delta)
    assert found["published"][0] == 1
    assert found["published"][10] == 0
