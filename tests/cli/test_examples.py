"""The command examples lists the shipped studies and writes them."""

from __future__ import annotations

import json

import pytest


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
    assert {"name", "about", "source", "expected"} <= set(rows[0])
    names = [row["name"] for row in rows]
    assert names == sorted(names)
    assert all(row["about"] and row["source"] for row in rows)
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
