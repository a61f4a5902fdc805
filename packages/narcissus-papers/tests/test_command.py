"""``narcissus-papers reproduce`` from the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from narcissus_papers.command import reproduce as command
from narcissus_papers.main import main


def run(*arguments: str):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=True)


def test_the_list_names_all_items():
    text = run("--list").output
    line = next(line for line in text.splitlines() if line.startswith("001 figure    2a"))
    assert line.endswith("1 s  Advantage against canaries of uneven priors")
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


def test_each_number_carries_one_of_four_words_and_where_it_is_printed(tmp_path):
    lines = run("001", "--figure", "2b", "--quiet").output.splitlines()
    words = {line.split()[0] for line in lines if "(section 5.3)" in line}
    assert words == {"agrees", "DIFFERS", "fitted"}
    [one] = json.loads(run("001", "--figure", "2b", "--quiet", "--json").output)
    for printed in one["printed"]:
        assert printed["word"] in {"agrees", "differs", "fitted"}
        assert str(printed["paper"]) in printed["quote"]
    text = run("001", "--statement", "Corollary 3.4", "--quiet").output
    assert "0.232" not in text  # drawn in Figure 1, and printed nowhere


def test_another_table_than_the_census_stops_the_run(tmp_path, capsys):
    rows = "caseid,dAge,dIncome1,iMarital,iSex\n1,0,0,0,0\n2,1,1,1,1\n"
    (tmp_path / "USCensus1990.data.txt").write_text(rows)
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "002", "--figure", "7", "--data", str(tmp_path), "--quiet"])
    assert ended.value.code == 2
    assert "has 2 records" in capsys.readouterr().err


def test_what_is_asked_must_be_one_thing():
    figure = ("--figure", "1")
    wrong = ((), ("001",), figure, ("--list", "--all"), ("001", *figure, "--all"))
    both = ("001", *figure, "--statement", "1")
    own = ("001", "--figure", "4", "--table", "my.csv", "--all")
    for arguments in (*wrong, both, own, ("001", *figure, "--k", "2")):
        assert run(*arguments).exit_code == 2, arguments


def test_a_number_that_is_not_there_exits_with_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "001", "--figure", "17"])
    assert ended.value.code == 2
    assert "what can" in capsys.readouterr().err


def test_one_that_fails_is_named_at_the_end(monkeypatch, tmp_path, capsys):
    from narcissus_papers import ITEMS

    def make(_given):
        raise ValueError("no")

    failing = replace(ITEMS["001/figure-1"], make=make)
    two = {one.name: one for one in (failing, ITEMS["001/figure-2b"])}
    monkeypatch.setattr("narcissus_papers.items.ITEMS", two)
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "001", "--all", "--quiet", "--out", str(tmp_path)])
    assert ended.value.code == 3
    out, err = capsys.readouterr()
    assert "failed: ValueError: no (test_command.py" in out
    assert "paper 17.8" in out
    assert err == "failed: 001/figure-1\n"


def test_data_are_looked_at_and_engines_are_those_of_other_commands(tmp_path, capsys):
    for words, says in (
        (("--data", str(tmp_path / "no")), "must be a folder"),
        (("--table", "1"), "about no table"),
        (("--figure", "4", "--table", "no.csv"), "there is no file no.csv"),
        (("--figure", "4", "--table", "no.csv", "--epsilons", "1,a"), "must be numbers"),
        (("--engine", "proceses"), "did you mean `processes`"),
        (("--engine", "serial", "--workers", "2"), "serial is one process"),
    ):
        figure = () if "--figure" in words else ("--figure", "1")
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", "001", *figure, *words])
        assert ended.value.code == 2
        assert says in capsys.readouterr().err
