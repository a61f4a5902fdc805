"""Values to try, and the game at another value."""

import pytest

from narcissus.errors import InputError
from narcissus.study import load_study
from narcissus.study.game.covered import varied
from narcissus.study.ranges import LARGEST, MOST, spread


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0:0.3:0.1", [0, 0.1, 0.2, 0.3]),
        ("1:5:2", [1, 3, 5]),
        ("1:6:2", [1, 3, 5]),
        ("3:1:-1", [3, 2, 1]),
        ("2:2:1", [2]),
        (" 1, 2.5 ,4", [1, 2.5, 4]),
        ("7", [7]),
        ("0.1:0.1:5", [0.1]),
        ("1e-3:3e-3:1e-3", [0.001, 0.002, 0.003]),
        ("8:64:x2", [8, 16, 32, 64]),
        ("8:63: x2", [8, 16, 32]),
        ("1:0.1:x0.5", [1, 0.5, 0.25, 0.125]),
        ("3:3:x2", [3]),
    ],
)
def test_both_ends_are_tried_and_steps_are_decimal(text, values):
    found = spread(text)
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1:2",
        "1:2:3:4",
        "1;2",
        "1:inf:1",
        "nan",
        "1,,2",
        "1,x2",
        "x1:4:2",
        "1:4:x",
        f"1,{LARGEST}",
        f"-{LARGEST}",
    ],
)
def test_what_is_no_list_of_values_is_refused(text):
    with pytest.raises(InputError, match="`--values` must be FROM:TO:STEP"):
        spread(text)


@pytest.mark.parametrize(
    "text",
    [
        "1:2:0",
        "1:2:-1",
        "2:1:1",
        "1:2:x1",
        "1:2:x0",
        "1:2:x-2",
        "2:1:x2",
        "1:2:x0.5",
        "0:4:x2",
        "4:0:x0.5",
    ],
)
def test_steps_lead_from_one_end_to_the_other(text):
    with pytest.raises(InputError, match="never gets from"):
        spread(text)


def test_there_are_not_too_many_values():
    assert len(spread(f"0:{MOST}:1")) == MOST + 1
    with pytest.raises(InputError, match="holds more than 100,000 values"):
        spread(f"0:{MOST + 1}:1")
    assert spread(str(LARGEST - 1)) == [LARGEST - 1]
    with pytest.raises(InputError, match="`--over n` holds more than 100,000 values"):
        spread("1:1e14:x1.0001", "--over n")


STUDY = """
kind = "game"
[world]
name = "bits"
n = 4
[mechanism]
name = "randomized-response"
epsilon = 1.0
[success]
name = "prefix"
[statement]
name = "narcissus"
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(STUDY)
    return load_study(path).settings


def test_a_key_of_the_mechanism_needs_no_section(study, tmp_path):
    assert varied(study, tmp_path, "epsilon", 2.5).mechanism.epsilon == 2.5
    assert varied(study, tmp_path, "mechanism.epsilon", 2.5).mechanism.epsilon == 2.5
    game = varied(study, tmp_path, "world.n", 7)
    assert (game.world.n, game.mechanism.epsilon) == (7, 1.0)
    assert varied(study, tmp_path, "success.length", 2).relation.length == 2
    assert study.build().game.world.n == 4  # the study is as it was


@pytest.mark.parametrize(
    ("parameter", "value", "says"),
    [
        ("worlds.n", 1, r"no section \[worlds\] of mechanism, world, success, looser"),
        ("statement.epsilon", 1, r"no section \[statement\]"),
        ("looser.length", 1, r"no section \[looser\]"),
        (
            "epsilonn",
            1,
            "it has epsilon, values; did you mean `epsilon`",
        ),
        ("epsilon", -1, "-1 is refused: .*`epsilon` must be"),
        ("world.n", 0, "0 is refused"),
    ],
)
def test_what_cannot_be_varied_is_told(study, tmp_path, parameter, value, says):
    with pytest.raises(InputError, match=says):
        varied(study, tmp_path, parameter, value)
