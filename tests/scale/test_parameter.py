"""Parameters by their names: found at any depth, and the nearest named where there is none."""

import pytest

from narcissus.errors import InputError
from narcissus.scale.variants import located, names_of, read_parameter, with_value
from narcissus.study import load_study

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
