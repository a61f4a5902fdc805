"""One attacked release of the paper's tables, small: what must hold whatever the people are."""

from __future__ import annotations

import json
import pickle
import shutil
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg import tables
from narcissus_papers.swanberg.tables import (
    ACS,
    ATTACKS,
    COLUMNS,
    DISTANCES,
    EPSILON,
    EPSILONS,
    FIRE,
    LABELS,
    PIECES,
    PIECES_5,
    PIECES_6,
    PIECES_7,
    SOURCES,
    SPLIT,
    LikeliestValue,
    attacked,
    first_columns,
    joined,
    kept_below,
    lines,
    never_above,
)


def played(epsilon=1.0, unknown=("SEX",), **changes):
    settings = {"trials": 2, "people": 20, "attacks": ("posterior",), **changes}
    return attacked(Given(), source="acs", unknown=unknown, epsilon=epsilon, **settings)


@pytest.mark.states("Swanberg et al. 2025", "section 6")
def test_the_columns_and_priors_are_those_of_the_tables():
    for source, columns in COLUMNS.items():
        table = SOURCES[source].read(Given())
        assert set(columns) == set(table.names)
        order = SOURCES[source].in_order(Given())
        assert len(order) == {"acs": 13, "fire": 7}[source]
        assert set(order) < set(columns)
    network = ACS.network(Given())
    place = {name: at for at, name in enumerate(ACS.in_order(Given()))}
    for name, at in place.items():  # parents come before their children
        for parent in network.parents[network.names.index(name)]:
            assert place[network.names[parent]] < at


@pytest.mark.states("Swanberg et al. 2025", "section 6.2")
@pytest.mark.nightly
def test_more_epsilon_recovers_more_and_is_proved_less_of():
    small, large = (played(e, unknown=("SCHL",)) for e in (0.1, 10.0))
    exact = played(inf, unknown=("SCHL",))
    shares = [one["posterior"]["share"] for one in (small, large, exact)]
    assert shares == sorted(shares)
    assert shares[0] < shares[2]
    assert small["guess"] == large["guess"] == exact["guess"]  # the same people
    assert set(small["published"]) == {"0.05", "0.5", "0.95"}
    for key in ("published", "ours"):
        values = list(small[key].values())
        assert values == sorted(values)  # in the level
        assert all(one <= large[key][level] for level, one in small[key].items())
        assert set(exact[key].values()) == {1.0}
        assert all(small["ours"][level] <= small["published"][level] for level in small["ours"])
    assert small["guess"]["share"] <= small["mean"] <= large["mean"] < exact["mean"] == 1.0
    assert never_above({"small": small, "large": large, "exact": exact})
    assert json.loads(json.dumps(small)) == small


@pytest.mark.states("Swanberg et al. 2025", "section 6.4")
@pytest.mark.nightly
def test_a_distance_makes_it_easier():
    attacks = ("posterior", "likeliest")
    exact, near = (played(unknown=("AGEP",), within=w, attacks=attacks) for w in (0.0, 1.0))
    plain = played(unknown=("AGEP",), attacks=attacks)
    for name in ("guess", "posterior"):
        assert near[name]["share"] > exact[name]["share"]
    assert near["mean"] > exact["mean"]
    # What covers most is the better guess of the two without the release; exactly, they are one.
    assert near["likeliest"]["share"] < near["guess"]["share"]
    assert exact["likeliest"] == exact["guess"] == plain["guess"]
    assert "likeliest" not in plain


def test_the_likeliest_value_is_that_of_each_column_whatever_is_released():
    chances = [np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]), np.array([[0.1, 0.9], [0.8, 0.2]])]
    joined = SimpleNamespace(marginals=chances, success=SimpleNamespace(join_guess=np.asarray))
    guess = LikeliestValue().guess(SimpleNamespace(targets=joined), rng=None)
    assert guess.tolist() == [[1, 1], [0, 0]]


@pytest.mark.nightly
def test_only_of_one_column_there_is_a_ceiling_and_rap_starts_from_the_prior():
    assert set(ATTACKS) == set(LABELS)
    assert {ATTACKS[name]["start"] for name in ("rap", "short")} == {"prior"}
    one = played(attacks=("posterior", "ceiling"))
    two = played(attacks=("posterior", "ceiling"), unknown=("SEX", "MAR"))
    assert "ceiling" in one
    assert "ceiling" not in two


def test_lines_are_per_hundred_and_leave_out_what_was_not_played(answer):
    alone = answer(guess=0.3)
    del alone["ceiling"], alone["likeliest"]
    drawn = {one.label: one for one in lines([1, 2], [answer(guess=0.2, ours=0.6), alone])}
    assert list(drawn["prior"].y) == [20.0, 30.0]
    assert list(drawn[LABELS["ceiling"]].x) == [1]
    assert list(drawn["ours, 50%"].y) == [60.0, 80.0]
    assert drawn["Corollary 3.4, 95%"].style == "dashed"
    points = {one.label: one for one in lines([0], [alone], joined=False)}
    assert points[LABELS["rap"]].style == "points"
    assert LABELS["ceiling"] not in points
    beside = [points[LABELS[name]].x[0] for name in ("rap", "short", "posterior")]
    assert beside == pytest.approx([-0.18, 0.0, 0.18])  # not one on the other


def test_an_attack_above_the_bound_is_said(answer):
    assert kept_below({"a": answer(), "b": answer(posterior=0.79)}).holds
    for name in LABELS:
        assert not kept_below({"a": answer(), "b": answer(**{name: 0.81})}).holds


def test_the_file_is_the_users_else_that_beside_a_checkout(tmp_path, monkeypatch):
    assert FIRE.path(Given(data=tmp_path)) == tables.BESIDE / FIRE.needed.name
    shutil.copy(ACS.path(Given()), tmp_path / ACS.needed.name)
    assert ACS.path(Given(data=tmp_path)) == tmp_path / ACS.needed.name
    monkeypatch.setattr(tables, "BESIDE", tmp_path / "nowhere")
    assert ACS.read(Given(data=tmp_path)).names[0] == "MAR"
    with pytest.raises(InputError, match=r"fire_10col.csv.gz is not in .*nowhere.*--data"):
        FIRE.path(Given(data=tmp_path))


ITEM = ITEMS["001/figure-4"]


def test_each_column_of_both_tables_has_a_piece():
    assert len(PIECES) == 16 + 10
    assert {piece.keywords["epsilon"] for piece in PIECES.values()} == {EPSILON}
    assert PIECES["acs/SEX"].keywords["unknown"] == ("SEX",)
    assert pickle.loads(pickle.dumps(PIECES)).keys() == PIECES.keys()


@pytest.mark.states("Swanberg et al. 2025", "Figure 4")
def test_claims_follow_the_answers(answer, held):
    answers = {name: answer() for name in PIECES}
    made = ITEM.make(Given(answers))
    assert [len(panel.names) for panel in made.panels] == [16, 10]
    assert held(made, "matches or exceeds")
    assert held(made, "1,000 steps")
    assert held(made, "at least 80")
    assert held(made, "posterior is nowhere")
    assert [one.ours for one in made.printed] == [0.5, 0.5, 0.9]
    answers["acs/SEX"] = answer(guess=0.56, rap=0.3, short=0.6, published=0.84)
    answers["acs/AGEP"] = answer(published=0.7)
    answers["fire/City"] = answer(published=0.7)
    made = ITEM.make(Given(answers))
    assert held(made, "matches or exceeds")  # the one with small steps
    assert not held(made, "1,000 steps")
    assert held(made, "at least 80")  # AGEP may be below, and FIRE is not spoken of
    prior, attack, bound = made.printed
    assert (prior.word, attack.word, bound.word) == ("agrees", "differs", "agrees")
    answers["acs/MAR"] = answer(published=0.7)
    answers["acs/MIL"] = answer(posterior=0.2, short=0.2)
    made = ITEM.make(Given(answers))
    assert not held(made, "at least 80")
    assert not held(made, "posterior is nowhere")
    assert not held(made, "matches or exceeds")
    assert "MAR" in made.because


ITEM_5 = ITEMS["001/figure-5"]


@pytest.mark.states("Swanberg et al. 2025", "Figure 5")
def test_claims_follow_the_answers_5(answer, held):
    shares = [0.3 + 0.08 * place for place in range(len(EPSILONS))]
    rising = {
        f"{source}/{epsilon:g}": answer(posterior=share, rap=1.0 if epsilon > 99 else 0.4, mean=1.0)
        for source in ("acs", "fire")
        for epsilon, share in zip(EPSILONS, shares, strict=True)
    }
    assert rising.keys() == PIECES_5.keys()
    made = ITEM_5.make(Given(rising))
    assert made.verdict == "agrees"
    assert [panel.names[-1] for panel in made.panels] == ["inf", "inf"]
    falling = {**rising, "acs/10": answer(posterior=0.1, mean=1.0)}
    assert not held(ITEM_5.make(Given(falling)), "the more epsilon")
    short = {**rising, "fire/inf": answer(posterior=0.9, rap=0.97, mean=1.0)}
    made = ITEM_5.make(Given(short))
    assert not held(made, "recovers everybody")
    assert "97.0 of 100 of ALS Unit" in made.because


@pytest.mark.nightly
def test_made_again_at_length():
    made = ITEM_5.make(Given({name: piece(Given()) for name, piece in PIECES_5.items()}))
    assert all(one.holds for one in made.held if "recovers everybody" not in one.what)
    at = {line.label: line.y for line in made.panels[0].lines}
    for level in (5, 50, 95):
        pairs = zip(at[f"ours, {level}%"], at[f"Corollary 3.4, {level}%"], strict=True)
        assert all(own <= theirs for own, theirs in pairs)


ITEM_6 = ITEMS["001/figure-6"]


@pytest.fixture
def answers(answer):
    """Give answers of all pieces in which the prior falls."""
    attacks = dict(SPLIT)
    found = {}
    for key in PIECES_6:
        _, columns, name = key.split("/")
        share = 0.5 / int(columns)
        one = answer(guess=share, rap=share, short=share, posterior=share)
        kept = {*attacks[name], "guess", "mean", "published", "ours"}
        found[key] = {k: v for k, v in one.items() if k in kept}
    return found


@pytest.mark.states("Swanberg et al. 2025", "Figure 6")
def test_claims_follow_the_answers_6(answers, answer, held):
    made = ITEM_6.make(Given(answers))
    assert made.verdict == "agrees"
    assert [len(panel.lines[0].x) for panel in made.panels] == [13, 7]
    few = {**answers, "acs/5/prior": answer(guess=0.1, rap=0.5)}
    assert held(ITEM_6.make(Given(few)), "more than five")
    many = {**answers, "acs/6/prior": answer(guess=0.1, rap=0.5)}
    made = ITEM_6.make(Given(many))
    assert not held(made, "more than five")
    assert "acs/6" in made.because
    many = {**answers, "fire/7/prior": answer(guess=0.05, rap=0.05, short=0.5)}
    assert not held(ITEM_6.make(Given(many)), "more than five")
    rising = {**answers, "fire/7/posterior": answer(guess=0.6)}
    assert not held(ITEM_6.make(Given(rising)), "never easier")
    other = {**answers, "fire/3/posterior": answer(guess=0.1, published=0.7)}
    assert not held(ITEM_6.make(Given(other)), "roughly the same")


def test_what_was_played_of_the_same_releases_is_put_together(answers):
    found = joined(answers, "fire")
    assert list(found) == [1, 2, 3, 4, 5, 6, 7]
    assert {"rap", "short", "posterior", "guess", "ours"} <= set(found[3])


def test_a_piece_takes_the_first_columns_in_order(monkeypatch):
    seen = {}
    monkeypatch.setattr(tables, "attacked", lambda given, **asked: seen.update(asked))
    first_columns(Given(), source="acs", columns=4, attacks=("rap",), trials=2)
    assert seen["unknown"] == ACS.in_order(Given())[:4]
    assert seen["epsilon"] == 3.0
    assert PIECES_6["fire/7/prior"].keywords["columns"] == 7


@pytest.mark.states("Swanberg et al. 2025", "section 6.3")
@pytest.mark.nightly
def test_thirteen_columns_are_played_without_a_list():
    """One release of few people."""
    found = tables.attacked(
        Given(),
        source="acs",
        unknown=ACS.in_order(Given()),
        epsilon=3.0,
        trials=1,
        people=4,
        attacks=("short",),
    )
    assert 0 < found["guess"]["share"] < 0.1
    assert found["ours"]["0.95"] <= found["published"]["0.95"]
    assert 0 <= found["short"]["share"] <= 1
    assert "ceiling" not in found


ITEM_7 = ITEMS["001/figure-7"]


@pytest.mark.states("Swanberg et al. 2025", "Figure 7")
def test_claims_follow_the_answers_7(answer, held):
    rising = {
        f"{source}/{distance}": answer(guess=g, likeliest=g, rap=g, short=g, mean=1.0)
        for source, distances in DISTANCES.items()
        for distance in distances
        for g in [0.3 + distance / 50]
    }
    assert rising.keys() == PIECES_7.keys()
    assert PIECES_7["acs/2"].keywords["within"] == 2.0
    rising["acs/1"] = answer(
        guess=0.32, likeliest=0.3, rap=0.4, short=0.81, published=0.82, mean=1.0
    )
    made = ITEM_7.make(Given(rising))
    assert made.verdict == "agrees"
    assert list(made.panels[1].lines[0].x) == list(DISTANCES["fire"])
    falling = {**rising, "fire/10": answer(guess=0.1)}
    assert not held(ITEM_7.make(Given(falling)), "the more is allowed")
    below = {**rising, "fire/10": answer(guess=0.5, rap=0.2)}
    made = ITEM_7.make(Given(below))
    assert held(made, "better than the prior")  # the one with small steps
    assert not held(made, "1,000 steps")
    assert "at 1 of 19 distances" in made.because
    below = {**rising, "fire/10": answer(guess=0.5, short=0.2)}
    assert not held(ITEM_7.make(Given(below)), "better than the prior")


@pytest.mark.states("Swanberg et al. 2025", "Figure 7")
def test_the_attack_is_compared_with_the_likeliest_value_and_not_with_what_covers_most(
    answer, held
):
    """An attack that names likely values beats that prior, though another guess covers more."""
    found = {
        key: answer(guess=0.9, likeliest=0.3, rap=0.5, short=0.5, mean=1.0) for key in PIECES_7
    }
    made = ITEM_7.make(Given(found))
    assert held(made, "better than the prior")
    assert held(made, "1,000 steps")
    assert f"at {len(PIECES_7)} (small steps)" in " ".join(made.notes)
    labels = [line.label for line in made.panels[0].lines]
    assert "likeliest value, without the release" in labels
    worse = {key: answer(guess=0.9, likeliest=0.8, rap=0.5, short=0.5) for key in PIECES_7}
    made = ITEM_7.make(Given(worse))
    assert not held(made, "better than the prior")
    assert not held(made, "1,000 steps")
