"""A study at other values: set along with others, and refused with the value."""

from pathlib import Path

import pytest

from narcissus.errors import InputError
from narcissus.observer import SILENT
from narcissus.scale.variants import Parameter, Sweep, Variants


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
