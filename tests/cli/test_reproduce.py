"""``narcissus reproduce`` from the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from narcissus.cli.main import main
from narcissus.cli.reproduce import command


def run(*arguments: str):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=True)


def test_the_list_names_all_items():
    text = run("--list").output
    assert "001 figure    2a" in text
    rows = json.loads(run("--list", "--json").output)
    assert {"paper", "kind", "number", "title", "seconds"} == set(rows[0])


def test_a_figure_prints_ours_beside_theirs(tmp_path):
    out = tmp_path / "made"
    found = run("001", "--figure", "2b", "--quiet", "--out", str(out))
    assert found.exit_code == 0
    assert "paper 17.8" in found.output
    assert "differs: the text says s = 1.1" in found.output
    assert (out / "index.html").exists()
    [one] = json.loads(run("001", "--figure", "2b", "--quiet", "--json").output)
    assert one["printed"][0]["ours"] > 17.7


def test_what_is_asked_must_be_one_thing():
    figure = ("--figure", "1")
    wrong = ((), ("001",), figure, ("--list", "--all"), ("001", *figure, "--all"))
    for arguments in (*wrong, ("001", *figure, "--table", "1")):
        assert run(*arguments).exit_code == 2, arguments


def test_a_number_that_is_not_there_exits_with_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "001", "--figure", "17"])
    assert ended.value.code == 2
    assert "what can" in capsys.readouterr().err
