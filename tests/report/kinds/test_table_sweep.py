"""All settings of a sweep: where each stands, and the numbers at a glance."""

import math
from dataclasses import replace

import pytest
from matplotlib.figure import Figure as MplFigure

from narcissus.kinds.table import KIND
from narcissus.kinds.table.pictures import curves_picture
from narcissus.report import Grid, page_of


def settings_of(record):
    return KIND.judged(record).settings


def test_glance_has_every_setting(table_record, blocks):
    table = blocks(page_of(table_record(5)), Grid)[0]
    assert [row[0].replace("\xa0", " ") for row in table.rows] == [
        "ε = 0.5", "ε = 1", "ε = 3", "ε = 10", "no noise",
    ]  # fmt: skip
    assert table.rows[-1][5:7] == ["—", "—"]
    assert table.rows[1][1:6] == [
        "53.0%", "56.0% (54.8–57.2)", "+3.0", "58.5% (57.3–59.7)", "61.5%",
    ]  # fmt: skip


def drawn(settings):
    """Give where the settings stand on the axis, what is written there, and the title."""
    canvas = MplFigure()
    curves_picture(settings).draw(canvas)
    [axes] = canvas.axes
    labels = [tick.get_text() for tick in axes.get_xticklabels()]
    return list(axes.get_xticks()), labels, axes.get_xlabel()


def changed(settings, **values):
    def detail(one, n):
        return one.detail.model_copy(update={key: made[n] for key, made in values.items()})

    return [replace(one, detail=detail(one, n)) for n, one in enumerate(settings)]


def test_settings_stand_at_the_logarithm_of_epsilon_and_no_noise_apart(table_record):
    places, labels, title = drawn(settings_of(table_record(5)))
    assert places[:4] == pytest.approx([math.log10(e) for e in (0.5, 1, 3, 10)])
    assert places[4] > places[3] + 0.28
    assert labels == ["0.5", "1", "3", "10", "no\nnoise"]
    assert title.startswith("epsilon")


def test_a_scale_grows_to_the_left(table_record):
    settings = changed(settings_of(table_record(5))[:3], epsilon=[None] * 3, mu=[None] * 3)
    places, labels, title = drawn(settings)
    scales = [one.detail.noise.scale for one in settings]
    assert places == pytest.approx([-math.log10(scale) for scale in scales])
    assert title.startswith("noise scale")
    assert float(labels[0]) > float(labels[1])


def test_a_setting_without_noise_alone_has_no_scale(table_record):
    places, labels, title = drawn(settings_of(table_record(5))[4:])
    assert (len(places), labels, title) == (1, ["no\nnoise"], "setting")


def test_only_what_is_proved_without_an_if_is_hatched(table_record):
    settings = settings_of(table_record(5))
    rows = curves_picture(settings).table.rows
    assert [row[6] for row in rows] == ["58.5%", "61.5%", "71.0%", "92.0%", ""]
    refuted = [replace(one, judgement=replace(one.judgement, contradictions=("a and b",)))
               for one in settings]  # fmt: skip
    picture = curves_picture(refuted)
    assert "Proved at most" not in picture.table.columns  # nothing would stand in it
    assert {len(row) for row in picture.table.rows} == {6}
    assert "hatched" not in picture.description
    assert "hatched" in curves_picture(settings).description


def test_where_no_noise_is_known_the_axis_speaks_of_protection(table_record):
    settings = settings_of(table_record(5))[:3]
    assert drawn(settings)[2].endswith("less noise to the right")
    rows = changed(settings, noise=[None] * 3)
    assert drawn(rows)[2].endswith("less protection to the right")
