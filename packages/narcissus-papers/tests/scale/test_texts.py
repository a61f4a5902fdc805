"""A sweep as data, text, page and picture."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from narcissus.errors import InputError
from narcissus.report.about import verdict_of as record_verdict
from narcissus.study.shipped import shipped_study
from narcissus_papers.scale import AtValue, Parameter, Sweep, scale, write
from narcissus_papers.scale.fit import EVERYBODY, Known, SizeCurve
from narcissus_papers.scale.texts import FILES, as_dict, page, picture, rows_of, text_of, verdict_of


def test_the_files_hold_the_numbers(drawn, tmp_path):
    write(drawn, tmp_path / "new")
    folder = tmp_path / "new"
    assert {path.name for path in folder.iterdir()} == {*FILES, "narcissus.marks"}
    with (folder / "data.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(c.points) for c in drawn.curves)
    told = json.loads((folder / "data.json").read_text())
    assert told["parameter"] == "success.k"
    assert told["with"] == {"attack.released-places.k": [1, 2, 3]}
    curve = next(c for c in told["curves"] if c["whose"] == EVERYBODY and c["quantity"] == "gain")
    numbers = [
        float(r["number"]) for r in rows if r["whose"] == EVERYBODY and r["quantity"] == "gain"
    ]
    assert [p["value"] for p in curve["points"]] == numbers
    assert len(told["records"]) == 3
    html = (folder / "index.html").read_text()
    assert told["verdict"].split(",")[0] in html
    assert "<script" not in html
    assert (folder / "picture.svg").read_text().startswith("<svg")


def test_the_same_sweep_is_the_same_bytes(drawn, tmp_path):
    for name in "ab":
        write(drawn, tmp_path / name)
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_folder_that_cannot_be_written_is_an_error(drawn, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write(drawn, tmp_path / "file")


def test_the_verdict_is_about_the_values_drawn(drawn):
    words, grade, is_told = verdict_of(drawn)
    assert words.startswith("For success.k = 1 to 3, the largest gain of any attacker goes up")
    assert is_told
    assert as_dict(drawn)["grade"] == grade
    assert "values of success.k other than those drawn" in str(page(drawn).sections[-1])


def test_values_without_an_exact_answer_are_counted(drawn, changed):
    bare = changed(drawn.each[-1], exact=None, bounds=()).record
    longer = [replace(drawn.each[0], value=v) if v < 4 else AtValue(v, bare) for v in (1, 2, 3, 4)]
    words = verdict_of(replace(drawn, each=tuple(longer)))[0]
    assert "Every attacker is covered at 3 of the 4 values" in words


def test_a_bound_and_what_lies_beyond_are_said():
    study = {
        "kind": "game",
        "world": {"name": "tardos", "N": 50, "d": 20, "n": 3},
        "mechanism": {"name": "exact-average"},
        "success": {"name": "hamming", "gamma": 0.1},
        "attack": [{"name": "majority"}],
        "statement": {"name": "bayesian", "epsilon": 0.0, "delta": 0.5},
        "run": {"trials": 40},
    }
    scaled = scale(study, Sweep(Parameter("world.d", (40, 80, 160))), rng=1)
    words = verdict_of(scaled)[0]
    assert "the bound on success by Kaplan et al. 2025, Lemma 3.5" in words
    assert (
        "Beyond these values only formulas speak: at world.d = 1280 the bound on success" in words
    )
    assert [row[1] for row in rows_of(scaled)[1:] if row[1] > 160] == [320, 640, 1280]


def test_what_failed_or_is_contradicted_is_said(drawn):
    first, second, third = drawn.each
    odd = second.record.model_copy(update={"status": "contradicted"})
    changed = replace(drawn, each=(AtValue(1, None, "no such thing"), AtValue(2, odd), third))
    text = " ".join(text_of(changed).split())
    assert max(map(len, text_of(changed).splitlines())) <= 80
    assert "success.k = 1 could not be played: no such thing" in text
    assert f"success.k = 2: {record_verdict(second.record)}" in text
    assert as_dict(changed)["failed"] == {"1": "no such thing"}
    shown = str(page(changed).sections[-1])
    assert "no such thing" in shown
    assert record_verdict(second.record) in shown
    assert first.record is not None


def test_an_attack_that_raised_at_a_value_is_said(rows):
    sweep = Sweep(Parameter("attack.released-places.k", (1, 2, 9)), trials=20)
    scaled = scale({**rows, "exact": {"when": "never"}}, sweep, rng=1)
    assert [one.is_whole for one in scaled.each] == [True, True, False]
    said = "the attack released-places failed with an error on 20 of 20 trials (ValueError"
    assert said in as_dict(scaled)["failed"]["9"]
    assert said in " ".join(text_of(scaled).split())
    assert said in str(page(scaled).sections[-1])


def test_nothing_played_is_nothing_told(drawn, changed):
    record = changed(drawn.each[0], play=None, exact=None, bounds=()).record
    words, grade, is_told = verdict_of(replace(drawn, each=(AtValue(1, record),)))
    assert words.startswith("Nothing could be told")
    assert (grade, is_told) == ("not assessed", False)
    assert page(replace(drawn, each=(AtValue(1, record),))).verdict.status == "not assessed"


def axes_of(curves, further=()):
    figure = Figure()
    picture(curves, further, "world.n").draw(figure)
    return figure.axes


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_success_and_baseline_stand_left_and_the_gain_right(drawn):
    left, right = axes_of(drawn.curves)
    assert {"success, any attacker", "baseline, released-places"} <= set(labels(left))
    assert all(label.startswith("gain, ") for label in labels(right))
    assert len(labels(right)) == 3
    shown = picture(drawn.curves, (), "world.n").table
    assert len(shown.rows) == sum(len(c.points) for c in drawn.curves)


def test_bounds_stand_where_they_limit_and_what_was_not_played_is_dashed(drawn):
    points = tuple(Known(n, 0.5 / n, 0.5 / n, 0.5 / n, exact=True) for n in (1, 2, 3))
    on_success = SizeCurve("Lemma", "bound", points, "proved", "success")
    on_gain = replace(on_success, limits="gain")
    later = replace(on_success, whose="later")
    form = replace(on_success, quantity="closed form", whose="raw")
    left, right = axes_of([*drawn.curves, on_success, on_gain], [later, form])
    assert {"bound: Lemma", "bound, not played", "formula: raw"} <= set(labels(left))
    assert "bound: Lemma" in labels(right)
    styles = {line.get_label(): line.get_linestyle() for line in left.lines}
    assert styles["bound: Lemma"] == "-"
    assert styles["bound, not played"] == "--"


def test_an_upper_limit_is_an_arrow_on_a_scale_that_has_no_zero():
    points = (Known(1, 0.5, 0.4, 0.6), Known(2, 0.01, 0.005, 0.02), Known(3, 0.0, 0.0, 0.004))
    _, right = axes_of([SizeCurve("x", "gain", points, "sampled")])
    assert right.get_yscale() == "log"
    arrows = [line for line in right.lines if line.get_marker() == "v"]
    assert [(list(one.get_xdata()), list(one.get_ydata())) for one in arrows] == [([3], [0.004])]


def test_sizes_that_double_stand_on_a_scale_of_twos(exact):
    _, right = axes_of(
        [SizeCurve("x", "gain", tuple(exact(lambda n: 1 / n, (8, 16, 32, 64))), "proved")]
    )
    assert right.get_xscale() == "log"
    assert [text.get_text() for text in right.get_xticklabels()] == ["8", "16", "32", "64"]
    _, right = axes_of(
        [SizeCurve("x", "gain", tuple(exact(lambda n: 1 / n, (8, 16, 24))), "proved")]
    )
    assert right.get_xscale() == "linear"


def test_no_text_is_read_as_mathematics(exact):
    """In a report nothing is: numbers on an axis must be plain."""
    curve = SizeCurve("x", "gain", tuple(exact(lambda n: 2.0**-n, range(1, 9))), "proved")
    with mpl.rc_context({"text.parse_math": False}):
        _, right = axes_of([curve])
        right.figure.canvas.draw()
        assert not any("$" in text.get_text() for text in right.get_yticklabels())


def test_a_string_does_what_a_path_does(tmp_path):
    text = shipped_study("counting-query").path.read_text(encoding="utf-8")
    (tmp_path / "g.toml").write_text(text, encoding="utf-8")
    names = []
    for kind, of in (("path", Path), ("string", str)):
        sweep = Sweep(Parameter("world.n", (20, 40)), trials=20)
        found = scale(of(tmp_path / "g.toml"), sweep, folder=of(tmp_path / f"{kind}-kept"), rng=1)
        write(found, of(tmp_path / kind))
        names.append(sorted(one.name for one in (tmp_path / kind).iterdir()))
    assert names[0] == names[1]
