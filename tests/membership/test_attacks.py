"""The attacks by name: all tell more than guessing where there is something to tell."""

import numpy as np
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.membership import ATTACKS, attack_scores, shadow_scores


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_tells_members_apart(drawn, name):
    data = drawn(24, 300, leak=2.0, seed=1)
    data = shadow_scores(special.expit(data.scores), data.members)
    found = attack_scores(name, data.scores[:1], data.of(range(1, 24)))[0]
    inside = data.members[0]
    assert np.mean(found[inside][:, None] > found[~inside]) > 0.7


def test_the_scores_themselves(drawn):
    data = drawn(9, 50)
    assert (attack_scores("score", data.scores[8:], data.of(range(8))) == data.scores[8:]).all()


def test_a_name_that_is_not_known(drawn):
    data = drawn(3, 5)
    with pytest.raises(InputError, match="did you mean `lira`"):
        attack_scores("lyra", data.scores[:1], data.of([1, 2]))
