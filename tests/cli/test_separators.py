"""Every table of numbers that a user writes may stand between commas, semicolons or tabs."""

import json
import random

import pytest

from narcissus._files import csv_rows, separator
from narcissus.errors import InputError


def _files() -> dict[str, str]:
    drawn = random.Random(1)
    coins = [drawn.randint(0, 1) for _ in range(200)]
    people = [(model, record) for model in range(12) for record in range(30)]
    return {
        "matrix": "secret,a,b\nx,0.25,0.75\ny,0.5,0.5\n",
        "losses": "secret,l,m\nx,0,1.5\ny,1,0\n",
        "weights": "x,0.25\ny,0.75\n",
        "curve": "epsilon,delta\n0.5,0.1\n1.5,0.001\n",
        "priors": "0.5,0.5\n0.25,0.75\n",
        "samples": "secret,o\n" + "".join(f"{'xy'[c]},{c + 0.5}\n" for c in coins),
        "scores": "score,member\n" + "".join(f"{drawn.gauss(c, 1):.4f},{c}\n" for c in coins),
        "shadows": "model,record,score,member\n"
        + "".join(f"{m},r{r},{drawn.gauss(0, 1):.3f},{drawn.randint(0, 1)}\n" for m, r in people),
    }


COMMANDS = [
    "channel matrix",
    "channel matrix --exact",
    "channel matrix --prior weights",
    "channel matrix --loss losses",
    "estimate samples --seed 1",
    "refute --scores scores",
    "bound --profile curve --prior 0.5",
    "bound --epsilon 1 --priors priors",
    "membership shadows --scale score --seed 1",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_separator_changes_no_number(command, tmp_path, narcissus):
    said = []
    for mark, point in ((",", "."), (";", ","), ("\t", ".")):
        words = command.split()
        for name, text in _files().items():
            path = tmp_path / f"{name}.csv"
            path.write_text(text.replace(",", mark).replace(".", point))
            words = [str(path) if word == name else word for word in words]
        code, out, err = narcissus(*words, "--json")
        assert code in (0, 1, 3), err
        said.append(json.loads(out))
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("a,b", ","),
        ("a;b", ";"),
        ("0,5;0,5", ";"),
        ("a\tb", "\t"),
        ("a;b,c", ","),
        ('"a;b",c', ","),
        ("word", ","),
        ("a\tb,c", ","),
    ],
)
def test_the_first_line_decides_the_separator(line, mark, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"\n{line}\n")
    assert separator(path) == mark


def test_only_a_number_gets_a_point(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1,5;x,y\n-,5e-3;1,2,3\n")
    assert csv_rows(path) == [["a", "b"], ["1.5", "x,y"], ["-.5e-3", "1,2,3"]]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a;b\n0,5;1\n2;1.234\n", 3),
        ("1.234;2\n3;0,5\n", 1),
        ('a;b\n"-1.234.567";"0,5"\n', 2),
        ("1.000,5;0\n2;3\n", 1),
        ("a;b\n0.5;1.234\n", 0),  # points alone are decimal ones
        ("a;b\n0,5;0.125\n2;1.5\n", 0),  # no thousand
    ],
)
def test_a_number_that_may_be_a_thousand_times_more_is_refused(text, line, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    if not line:
        assert separator(path) == ";"
        return
    with pytest.raises(InputError, match=f"line {line}: numbers have decimal commas"):
        separator(path)
