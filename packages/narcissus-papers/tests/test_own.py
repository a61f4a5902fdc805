"""Figures of a table of one's own: small ones, and what is refused."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from narcissus.cli.playing import SynthOptions
from narcissus.errors import InputError
from narcissus_papers import reproduce
from narcissus_papers.base import OwnTable
from narcissus_papers.own import own_item

SMALL = OwnTable(people=10, releases=2)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Write 300 people of three columns: a number, a word, and a number that follows both."""
    path = tmp_path_factory.mktemp("own") / "my people.csv"
    rng = np.random.default_rng(5)
    ages, jobs = rng.integers(2, 6, 300), rng.choice(["clerk", "nurse"], 300)
    rows = [f"{10 * a},{j},{a + (j == 'nurse')}" for a, j in zip(ages, jobs, strict=True)]
    path.write_text("\n".join(["age,job,income", *rows]) + "\n")
    return path


def asked(*unknown, **more):
    return replace(SMALL, read=SynthOptions(unknown=list(unknown) or None), **more)


@pytest.mark.parametrize(
    ("name", "wanted", "panels", "pieces"),
    [
        ("001/4", asked(), ["epsilon 1"], 3),
        ("001/4", asked("job", epsilons=(1.0, 2.0)), ["epsilon 1", "epsilon 2"], 2),
        ("001/5", asked("job", "income"), ["job", "income"], 16),
        ("001/6", asked("income", "job"), ["epsilon 3"], 2),
        ("001/7", asked("age", distances=(0.0, 10.0)), ["age, epsilon 1"], 2),
        ("001/7", asked("age"), ["age, epsilon 1"], 4),
        ("002/7", asked("age", "job", epsilons=(1.0,), people=100), ["my people.csv"], 1),
    ],
)
def test_what_is_asked_is_what_is_drawn(table, monkeypatch, name, wanted, panels, pieces):
    monkeypatch.setattr("narcissus_papers.own.timed", lambda *_, **__: 100.0)
    item = own_item(name, table, wanted)
    assert item.name == f"{name[:4]}figure-{name[4:]}-of-my-people.csv"
    assert len(item.pieces) == pieces
    assert item.seconds == 100.0 * pieces
    drawn = item.make.keywords.get("drawn", [])
    assert [one.title for one, _, _ in drawn] == (panels if drawn else [])


@pytest.mark.parametrize(
    ("name", "wanted", "says"),
    [
        ("001/1", asked(), "about no table"),
        ("004/7", asked(), "about no table"),
        ("001/4", asked("incom"), "no column 'incom'; did you mean `income`"),
        ("001/5", asked(), "name columns of figure 5"),
        ("001/6", asked("age", "job", "income"), "must be known"),
        ("001/6", asked(), "name columns of figure 6"),
        ("001/7", asked("job"), "have no distances"),
        ("001/4", asked(k=4), "at most the 3 columns"),
        ("001/4", asked(epsilons=(0.0,)), "`epsilons`"),
        ("001/4", asked(levels=(1.0,)), "`levels`"),
        ("001/4", asked(distances=(1.0,)), "changes nothing"),
        ("002/7", asked(k=2), "changes nothing"),
        ("002/7", asked(epsilons=(float("inf"),), people=100), "`epsilons`"),
        ("001/4", asked(releases=1), "`releases`"),
    ],
)
def test_what_the_table_does_not_have_is_refused_before_any_work(table, name, wanted, says):
    with pytest.raises(InputError, match=says):
        own_item(name, table, replace(wanted))


def test_a_figure_is_made_kept_and_made_anew_for_another_table(table, tmp_path, monkeypatch):
    monkeypatch.setattr("narcissus_papers.own.timed", lambda *_, **__: 0.0)
    wanted = asked("income", epsilons=(0.5, 8.0), levels=(0.9,))
    item = own_item("001/5", table, wanted)
    [(_, made)] = reproduce([item], tmp_path, data=table.parent, engine="serial")
    found = {line.label: line.y for line in made.panels[0].lines}
    assert {"Corollary 3.4, 90%", "ours, 90%", "posterior", "prior"} <= set(found)
    assert len(set(found["prior"])) == 1  # the same people at every level
    assert found["ours, 90%"][0] <= found["Corollary 3.4, 90%"][0]
    assert all(one.holds for one in made.held)
    folder = tmp_path / item.name
    assert {one.name for one in folder.glob("picture.*")} == {"picture.svg", "picture.pdf"}
    rows = list(csv.reader((folder / "data.csv").read_text().splitlines()))
    assert next(row[2:] for row in rows if row[1] == "prior") == ["0.5", f"{found['prior'][0]}"]
    assert json.loads((folder / "data.json").read_text())["printed"] == []
    before = (folder / "kept" / "item.json").read_bytes()
    reproduce([item], tmp_path, data=table.parent, engine="serial")
    assert (folder / "kept" / "item.json").read_bytes() == before
    other = tmp_path / table.name
    other.write_text(table.read_text() + "20,clerk,3\n")
    again = own_item("001/5", other, wanted)
    reproduce([again], tmp_path, data=tmp_path, engine="serial")
    assert (folder / "kept" / "item.json").read_bytes() != before


def test_randomized_response_is_as_the_channel_says(table, tmp_path, monkeypatch):
    monkeypatch.setattr("narcissus_papers.own.timed", lambda *_, **__: 0.0)
    item = own_item("002/7", table, asked("age", "job", epsilons=(0.5, 9.0), people=100))
    [(_, made)] = reproduce([item], data=table.parent, engine="serial")
    found = {line.label: line.y for line in made.panels[0].lines}
    keep = [np.exp(e) / (np.exp(e) + 7) for e in (0.5, 9.0)]
    wanted = [1 - (p - (1 - p) / 7) for p in keep]  # beta* = 1 - total variation of two rows
    assert found["beta*, 8 values"] == pytest.approx(wanted)
    nearest = found["utility, the nearest distribution"]
    assert nearest[0] < nearest[1] <= 1
    assert nearest[1] > 0.97
