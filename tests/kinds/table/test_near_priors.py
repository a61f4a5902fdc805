"""Audits of tables whose prior is known up to a factor or a distance: what holds for all near."""

from dataclasses import replace

import numpy as np
import pytest

import narcissus
from narcissus.bounds import Nearby
from narcissus.errors import InputError, StudyError
from narcissus.kinds.table import proofs
from narcissus.kinds.table.population import proved

TWO = {"unknown": ["ill", "sex"]}
NEAR = [{"prior_factor": 1.5}, {"prior_distance": 0.1}]
EPSILON = {"mechanism": {"epsilon": [2.0]}, "run": {"trials": 2}}
MU = {"mechanism": {"epsilon": None, "mu": 0.8}, "run": {"trials": 2}}
MORE = [EPSILON, MU]


def near_priors(prior, nearby, rng):
    """Draw priors near the given ones, at the edge of what is near."""
    if nearby.factor is not None:
        lifted = prior * rng.choice([1 / nearby.factor, 1.0, nearby.factor], prior.shape)
        room = 1.0 - lifted.sum(axis=1, keepdims=True)
        ends = np.where(room > 0, nearby.factor, 1 / nearby.factor) * prior
        gap = np.abs(ends - lifted).sum(axis=1, keepdims=True)
        share = np.divide(np.abs(room), gap, out=np.zeros_like(room), where=gap > 0)
        return lifted + np.minimum(share, 1.0) * (ends - lifted)
    other = rng.dirichlet(np.full(prior.shape[1], 0.1), len(prior))
    apart = np.abs(other - prior).sum(axis=1, keepdims=True) / 2
    return prior + np.minimum(1.0, nearby.distance / np.maximum(apart, 1e-12)) * (other - prior)


@pytest.mark.parametrize("more", MORE, ids=["epsilon", "mu"])
@pytest.mark.parametrize("near", NEAR, ids=str)
def test_what_is_proved_holds_for_every_near_prior(ready, near, more):
    experiment = ready(threat=near, **more)
    [setting], nearby = experiment.settings, Nearby(*(near.get(k) for k in NAMES))
    assert experiment.nearby == nearby
    people, points = experiment.population(0), experiment.points[0]
    targets, guarantee = people.targets, setting.guarantee
    kept = people.proved(0, setting, points, nearby)
    plain = proved(targets, people.members, setting, points)
    assert kept["bound"][0] > plain["bound"][0] + 1e-3
    n, rng = targets.people, np.random.default_rng(2)
    assert kept["gain_bound"][0] <= min(kept["bound"][0], n * guarantee.profile(0.0)) + 1e-12
    for _ in range(20):
        prior = near_priors(targets.prior, nearby, rng)
        np.testing.assert_allclose(prior.sum(axis=1), 1.0)
        if nearby.factor is not None:
            assert (prior <= nearby.factor * targets.prior + 1e-9).all()
            assert (prior >= targets.prior / nearby.factor - 1e-9).all()
        true = replace(targets, prior=prior)
        shares = proofs.shares(true, guarantee)  # what some mechanism reaches of each
        assert shares.sum() <= kept["bound"][0] + 1e-9
        assert proofs.gains(true, guarantee, shares).sum() <= kept["gain_bound"][0] + 1e-9
        assert kept["bound"][2] <= true.best_chance.sum() + 1e-9  # an advantage is over this
        reached = proofs.reached(true, guarantee)
        if reached is not None:
            assert (reached <= kept["tails/0"] + 1e-9).all()


NAMES = ("prior_factor", "prior_distance")


@pytest.mark.parametrize("near", [{"prior_factor": 1.0}, {"prior_distance": 0.0}], ids=str)
def test_a_prior_that_is_right_proves_what_it_proves_itself(ready, near):
    experiment = ready(threat=near, **EPSILON)
    [setting], people = experiment.settings, experiment.population(0)
    kept = people.proved(0, setting, experiment.points[0], experiment.nearby)
    plain = proved(people.targets, people.members, setting, experiment.points[0])
    for key in plain.keys() - {"gain_bound", "group_gain_bound"}:
        np.testing.assert_allclose(kept[key], plain[key], atol=1e-9)


def test_the_record_says_what_its_limits_assume(study):
    def played(**more):
        given = study(threat=more, threshold={"share": 0.99}, **EPSILON)
        return narcissus.run(narcissus.load_study(given)).record

    record, plain = played(prior_factor=1.2), played()
    bounds, before = [
        [r for r in one.result.rows() if r.role == "bound"] for one in (record, plain)
    ]
    said = (
        "the true prior gives each value between 1/1.2 and 1.2 times the probability that is "
        "given, for what the attacker knows of a person"
    )
    for one, other in zip(bounds, before, strict=True):
        assert one.quantity.grade == "proved if"
        assert one.quantity.takes_as_given == (said,)
        assert one.value >= other.value - 1e-12
    assert (record.status, record.grade) == ("met", plain.grade)
    assert said in record.assumptions
    assert "prior_factor" not in plain.study["threat"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threat": {"prior_factor": 2.0, "prior_distance": 0.1}}, "not both"),
        ({"threat": {"prior_factor": 0.5}}, "prior_factor"),
        ({"threat": {"prior_distance": 1.5}}, "prior_distance"),
        (
            {"threat": {"prior_factor": 2.0, "at_least": 1, **TWO}},
            r"threat\.prior_factor.*at_least",
        ),
        (
            {"threat": {"prior_distance": 0.1, "share_of_columns": True, **TWO}},
            r"threat\.prior_distance",
        ),
    ],
)
def test_what_near_priors_leave_open_is_refused(study, changes, said):
    given = study(**changes)
    with pytest.raises((InputError, StudyError), match=said):
        narcissus.run(narcissus.load_study(given))
