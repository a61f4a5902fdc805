"""A study at other values: set along with others, and refused with the value."""

from pathlib import Path

import pytest

from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.knowledge import Candidates
from narcissus.mechanisms import ExactAverage, Identity, NoisyAverage, Parity
from narcissus.observer import SILENT
from narcissus.profiles import write_out
from narcissus.profiles.closed_forms.average import limit_given_rows
from narcissus.profiles.closed_forms.candidates import candidates_success
from narcissus.scale.variants import (
    Parameter,
    Sweep,
    Variants,
    beyond,
    located,
    names_of,
    read_parameter,
    with_value,
)
from narcissus.study import load_study
from narcissus.success.relations import Hamming, Member
from narcissus.worlds import Tardos, Uniform


def variants(study):
    return Variants(study, allow_code=False, observer=SILENT)


def test_parameters_move_together_and_one_value_is_for_all(halves):
    sweep = Sweep(
        Parameter("world.n", (2, 4)),
        (Parameter("success.length", (1, 2)), Parameter("statement.delta", (0.5,))),
    )
    made = [variants(halves).at(sweep, number).settings for number in (0, 1)]
    assert [one.world.options["n"] for one in made] == [2, 4]
    assert [one.success.options["length"] for one in made] == [1, 2]
    assert [one.statement.options["delta"] for one in made] == [0.5, 0.5]


def test_runs_are_not_stopped_and_share_the_level(rows):
    sweep = Sweep(Parameter("success.k", (1, 2, 3, 4)), trials=70, confidence=0.9)
    run = variants(rows).at(sweep, 2).settings.run
    assert (run.trials, run.stop) == (70, False)
    assert run.confidence == pytest.approx(1 - 0.1 / 8)
    plain = variants(rows).at(Sweep(Parameter("success.k", (1, 2))), 0).settings.run
    assert plain.trials == 400


def test_values_are_put_in_order_with_those_of_the_others():
    sweep = Sweep(Parameter("a", (3, 1, 2)), (Parameter("b", (30, 10, 20)), Parameter("c", (5,))))
    made = sweep.in_order()
    assert made.over.values == (1, 2, 3)
    assert [one.values for one in made.together] == [(10, 20, 30), (5,)]


@pytest.mark.parametrize(
    ("over", "together", "said"),
    [
        ((1,), (), "at least two values, all different; got 1"),
        ((1, 2, 1), (), "all different"),
        ((1, 2), ((1, 2, 3),), "has 3 values, and `--over world.n` 2"),
    ],
)
def test_what_does_not_go_together_is_refused(over, together, said):
    with pytest.raises(InputError, match=said):
        Sweep(Parameter("world.n", over), tuple(Parameter("x", one) for one in together))


def test_what_is_drawn_over_is_not_set_besides():
    with pytest.raises(InputError, match="is what is drawn over"):
        Sweep(Parameter("world.n", (1, 2)), (Parameter("world.n", (1,)),))


@pytest.mark.parametrize(
    "keys", [{"confidence": 1.0}, {"confidence": 0.0}, {"trials": 0}, {"trials": 1.5}]
)
def test_levels_and_trials_are_in_range(keys):
    with pytest.raises(InputError, match=next(iter(keys))):
        Sweep(Parameter("world.n", (1, 2)), **keys)


def test_a_value_that_the_study_refuses_is_named(halves):
    with pytest.raises(InputError, match=r"world\.n = 0 is refused: `world\.n`: `n` must be"):
        variants(halves).at(Sweep(Parameter("world.n", (0, 2))), 0)
    with pytest.raises(InputError, match=r"`--with success\.lenght`: the study has no such"):
        variants(halves).at(
            Sweep(Parameter("world.n", (2, 4)), (Parameter("success.lenght", (1,)),)), 0
        )


def test_trials_without_an_attack_are_refused(halves):
    with pytest.raises(InputError, match="`--trials` is not used"):
        variants(halves).at(Sweep(Parameter("world.n", (2, 4)), trials=10), 0)


def test_another_kind_of_study_is_refused():
    with pytest.raises(InputError, match="of the kind 'table'; only a game"):
        variants(Path(__file__).parents[2] / "examples" / "affairs.toml")


def test_the_older_spelling_of_a_section_is_taken():
    study = {
        "kind": "game",
        "world": {"name": "bits", "n": 4},
        "mechanism": {"name": "identity"},
        "side_information": {"name": "rows", "rows": 1},
        "success": {"name": "pinned", "k": 1},
        "statement": {"name": "side-information", "epsilon": 0.0, "delta": 0.0},
    }
    made = variants(study).at(Sweep(Parameter("side-information.rows", (2, 3))), 1)
    assert made.settings.side_information.options["rows"] == 3


STUDY = {
    "kind": "game",
    "world": {"name": "bits", "n": 4},
    "mechanism": {
        "name": "parallel",
        "parts": [
            {"name": "randomized-response", "epsilon": 0.2},
            {"name": "randomized-response", "epsilon": 0.3},
            {"name": "sha256", "bits": 3},
        ],
    },
    "success": {"name": "same-image", "function": {"name": "sha256", "bits": 3}},
    "attack": [{"name": "bayes"}, {"name": "fixed-guess", "guess": [0, 0, 0, 0]}],
    "statement": {"name": "narcissus", "epsilon": 0.0, "delta": 0.0},
}


@pytest.fixture(scope="module")
def settings():
    return load_study(STUDY).to_dict()


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("world.n=2:6:2", "world.n", (2, 4, 6)),
        ("world.n=2:9:x2", "world.n", (2, 4, 8)),
        (" world.rate = 0.1,0.2", "world.rate", (0.1, 0.2)),
    ],
)
def test_values_are_steps_factors_or_a_list(text, name, values):
    found = read_parameter(text, "--over")
    assert (found.name, found.values) == (name, values)


@pytest.mark.parametrize("text", ["world.n", "world.n=", "=1:2:1", "", "world.n=a"])
def test_another_form_is_refused(text):
    with pytest.raises(InputError, match=r"`--over.* must be"):
        read_parameter(text, "--over")


def test_too_many_values_are_refused():
    with pytest.raises(InputError, match="1,001 values, at most 1,000"):
        read_parameter("world.n=0:1000:1", "--over")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("world.n", ("world", "n")),
        ("success.function.bits", ("success", "function", "bits")),
        ("mechanism.parts.1.epsilon", ("mechanism", "parts", 1, "epsilon")),
        ("mechanism.parts.sha256.bits", ("mechanism", "parts", 2, "bits")),
        ("attack.bayes.epsilon", ("attack", 0, "epsilon")),
        ("attack.1.guess.0", ("attack", 1, "guess", 0)),
    ],
)
def test_a_parameter_is_found_at_any_depth(settings, name, place):
    assert located(settings, name, "--over") == place


def test_the_only_attack_needs_no_name(settings):
    one = {**settings, "attack": settings["attack"][:1]}
    assert located(one, "attack.epsilon", "--over") == ("attack", 0, "epsilon")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("wrld.n", "`world.n`"),
        ("world.m", "`world.n`"),
        ("success.function.bit", "`success.function.bits`"),
        ("delta", "`statement.delta`"),
        ("attack.epsilon", "`attack.bayes.epsilon`"),
        ("mechanism.parts.randomized-response.epsilon", "`mechanism.parts.0.epsilon`"),
    ],
)
def test_a_typo_is_answered_with_the_nearest_names(settings, name, near):
    with pytest.raises(InputError, match="the study has no such number; did you mean") as found:
        located(settings, name, "--over")
    assert near in str(found.value)
    assert f"`--over {name}`" in str(found.value)


@pytest.mark.parametrize("name", ["zzzz", "mechanism.name", "world", "run.trials", "attack.9.x"])
def test_what_is_no_parameter_is_refused(settings, name):
    with pytest.raises(InputError, match="no such number"):
        located(settings, name, "--with")


def test_all_that_are_named_are_found(settings):
    names = names_of(settings)
    assert {"world.n", "mechanism.parts.sha256.bits", "attack.bayes.limit"} <= set(names)
    for name in names:
        assert located(settings, name, "--over")


def test_a_value_is_set_where_the_file_left_it_out(settings):
    place = located(settings, "world.rate", "--over")
    made = with_value(STUDY, settings, place, 0.25)
    assert made["world"] == {"name": "bits", "n": 4, "rate": 0.25}
    assert "rate" not in STUDY["world"]
    inner = with_value(STUDY, settings, ("mechanism", "parts", 1, "epsilon"), 0.9)
    assert [part.get("epsilon") for part in inner["mechanism"]["parts"]] == [0.2, 0.9, None]
    assert inner["mechanism"]["parts"][2] == {"name": "sha256", "bits": 3}


def test_a_lemma_goes_on_beyond_what_was_played():
    def game(d):
        return Game(Tardos(100, int(d), 5), ExactAverage(), Hamming(0.1))

    (found,) = beyond(game, ["majority"], [20, 40])
    assert [p.size for p in found.points] == [80, 160, 320]
    assert [p.value for p in found.points] == [limit_given_rows(5, d, 0.1) for d in (80, 160, 320)]
    assert (found.quantity, found.limits, found.grade) == ("bound", "success", "proved")


def test_the_way_up_ends_where_a_value_is_refused():
    def game(d):
        if d > 100:
            raise InputError("too large")
        return Game(Tardos(100, int(d), 5), ExactAverage(), Hamming(0.1))

    (found,) = beyond(game, [], [20, 40])
    assert [p.size for p in found.points] == [80]


def test_the_best_success_at_parities_is_that_of_the_game():
    def game(d):
        return Game(Uniform(2, int(d)), Parity(), Member())

    found = next(c for c in beyond(game, [], [2, 4]) if c.quantity == "closed form")
    assert [p.size for p in found.points] == [2, 4, 8, 16, 32]
    for point in found.points[:2]:
        exact = write_out(game(point.size)).best(float("-inf"))
        assert point.value == pytest.approx(sum(gain for *_, gain in exact))


def test_two_candidates_are_told_apart_by_the_formula():
    def game(d):
        return Game(Tardos(50, int(d), 5), NoisyAverage(1.0), Member(), side=Candidates())

    (found,) = beyond(game, ["two-candidates", "other"], [100, 200])
    assert found.whose == "two-candidates"
    assert found.grade == "approximate"
    for point in found.points:
        one = candidates_success(5, int(point.size), 1.0)
        assert point.value == pytest.approx(0.9 * one + 0.1)


def test_where_nothing_is_known_nothing_is_drawn():
    assert beyond(lambda d: Game(Uniform(2, int(d)), Identity(), Member()), [], [2, 4]) == []
