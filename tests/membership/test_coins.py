"""How records were put into models: found out, and what the shadows leave to chance."""

from itertools import product

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.membership import coin_design, shadow_scores


def of(members, priors=None):
    members = np.asarray(members)
    return shadow_scores(np.zeros(members.shape), members, priors)


def dealt(models, records, number, rng):
    return rng.permuted(np.arange(models)[:, None] < number + np.zeros(records), axis=0)


def test_own_coins_leave_the_priors():
    rng = np.random.default_rng(0)
    chance = rng.random(300)
    data = of(rng.random((9, 300)) < chance, chance)
    design = coin_design(data)
    assert design.kind == "own coins"
    assert design.shadows_of([8, 2]) == [0, 1, 3, 4, 5, 6, 7]
    assert (design.chances(data, [0, 1]) == chance).all()


def test_opposites_are_not_each_others_shadows():
    half = np.random.default_rng(0).random((3, 60)) < 0.5
    design = coin_design(of(np.concatenate([half, ~half])))
    assert design.kind == "pairs of opposites"
    assert design.opposite.tolist() == [3, 4, 5, 0, 1, 2]
    assert design.shadows_of([5]) == [0, 1, 3, 4]


def test_a_dealt_coin_has_the_chance_that_the_shadows_leave():
    """Exactly: over all deals of one record, those with these shadows."""
    rng = np.random.default_rng(1)
    data = of(dealt(6, 80, 3, rng))
    design = coin_design(data)
    assert (design.kind, design.number) == ("fixed number", 3)
    shadows = design.shadows_of([5])
    assert shadows == [0, 2, 4]
    found = design.chances(data, shadows)
    deals = [d for d in product((0, 1), repeat=6) if sum(d) == 3]
    for record in range(80):
        like = [d for d in deals if all(d[s] == data.members[s, record] for s in shadows)]
        assert found[record] == pytest.approx(np.mean([d[5] for d in like]))


def test_outsiders_have_no_coin():
    members = np.concatenate([dealt(6, 80, 3, np.random.default_rng(1)), np.zeros((6, 20))], 1)
    data = of(members, np.repeat([0.5, 0], [80, 20]))
    design = coin_design(data)
    assert (design.chances(data, [0])[80:] == 0).all()


def test_coins_that_cannot_have_fallen_so_are_refused():
    rng = np.random.default_rng(2)
    members = rng.random((40, 100)) < 0.5
    with_outsider = members.copy()
    with_outsider[:, 7] = False
    with pytest.raises(InputError, match="record 7 is in 0 of 40"):
        coin_design(of(with_outsider))
    twins = members.copy()
    twins[11] = twins[30]
    with pytest.raises(InputError, match="models 11 and 30 agree on 100 of 100"):
        coin_design(of(twins))
    one_pair = members.copy()
    one_pair[11] = ~one_pair[30]
    with pytest.raises(InputError, match="exactly what another lacks"):
        coin_design(of(one_pair))
    with pytest.raises(InputError, match="leave records to chance"):
        coin_design(of(np.zeros((3, 5)), np.zeros(5)))
    half = rng.random((2, 60)) < 0.5
    with pytest.raises(InputError, match="must be 1/2"):
        coin_design(of(np.concatenate([half, ~half]), np.full(60, 0.4)))


def test_twins_are_found_among_dealt_records():
    rng = np.random.default_rng(3)
    first = rng.random(100) < 0.5
    rest = rng.permuted(np.arange(4)[:, None] < np.where(first, 1, 3), axis=0)
    with pytest.raises(InputError, match="models 0 and 1 agree on 100 of 100"):
        coin_design(of(np.concatenate([[first, first], rest])))


def test_three_models_with_one_opposite_are_no_pairs():
    half = np.random.default_rng(3).random(100) < 0.5
    with pytest.raises(InputError, match="not all in pairs"):
        coin_design(of([half, half, ~half]))
