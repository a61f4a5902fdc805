"""The command examples lists the shipped studies and writes them."""

from __future__ import annotations

import json

import pytest

import narcissus


@pytest.fixture
def call(narcissus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return narcissus


def test_examples_lists_and_writes(call, tmp_path):
    code, out, _ = call("examples")
    assert code == 0
    assert "counting-query" in out
    assert "Appendix A" in out
    rows = json.loads(call("examples", "--json")[1])
    assert {"name", "kind", "about", "source", "expected", "tables"} == set(rows[0])
    names = [row["name"] for row in rows]
    assert names == sorted(names)
    assert all(row["about"] and (row["source"] or row["kind"] != "game") for row in rows)
    assert {"table", "game", "language-model"} <= {row["kind"] for row in rows}
    code, out, _ = call("examples", "counting-query")
    assert code == 0
    assert (tmp_path / "counting-query.toml").exists()
    code, _, err = call("examples", "counting-query")
    assert code == 2
    assert "--force" in err
    assert call("examples", "counting-query", "--force")[0] == 0
    code, out, _ = call("examples", "counting-query", "--out", "-")
    assert out.startswith('kind = "game"')
    code, _, err = call("examples", "counting-querry")
    assert code == 2
    assert "did you mean `counting-query`" in err
    assert call("examples", "--out", "x.toml")[0] == 2
    code, _, err = call("examples", "counting-query", "--out", "no/such/folder.toml")
    assert code == 2
    assert "cannot write" in err


def test_a_study_of_a_table_comes_with_its_table(call, tmp_path):
    code, out, _ = call("examples", "audit-a-table")
    assert code == 0
    assert "wrote audit-a-table.toml and invented_people.csv" in out
    study = narcissus.load_study(tmp_path / "audit-a-table.toml")
    assert study.settings.data.path == "invented_people.csv"
    table = narcissus.read_table(tmp_path / "invented_people.csv")
    assert table.names == ("age", "region", "household", "education", "work", "income")
    # the table is there already, as it should be: it is in nobody's way
    assert call("examples", "audit-a-table", "--out", "mine.toml")[0] == 0
    (tmp_path / "there").mkdir()
    assert call("examples", "audit-a-table", "--out", "there/mine.toml")[0] == 0
    assert {p.name for p in (tmp_path / "there").iterdir()} == {"mine.toml", "invented_people.csv"}


def test_a_table_of_that_name_that_is_another_is_kept(call, tmp_path):
    own = tmp_path / "invented_people.csv"
    own.write_text("mine")
    code, _, err = call("examples", "audit-a-table")
    assert code == 2
    assert "invented_people.csv exists; choose another folder with --out" in err
    assert not (tmp_path / "audit-a-table.toml").exists()
    assert own.read_text() == "mine"
    assert call("examples", "audit-a-table", "--force")[0] == 0
    assert own.read_text() != "mine"


def test_a_shipped_study_comes_with_all_that_it_reads(call, tmp_path):
    """Whatever its kind: each is loaded from the folder that it was written to, and no other."""
    rows = json.loads(call("examples", "--json")[1])
    assert {tuple(row["tables"]) for row in rows} == {
        (), ("invented_people.csv",), ("invented_letters.txt",),
    }  # fmt: skip
    for row in rows:
        place = tmp_path / row["name"]
        place.mkdir()
        assert call("examples", row["name"], "--out", place / "mine.toml")[0] == 0
        assert narcissus.load_study(place / "mine.toml").kind == row["kind"]
        assert {path.name for path in place.iterdir()} == {"mine.toml", *row["tables"]}


def test_the_study_of_a_language_model_is_played(call):
    assert call("examples", "memorised-letters")[0] == 0
    code, _, _ = call("audit", "memorised-letters.toml", "--out", "kept", "--quiet")
    assert code == 1
    assert narcissus.load_audit("kept").status == "exceeded"
