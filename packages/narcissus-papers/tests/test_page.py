"""The page says of each item what its verdict rests on."""

from __future__ import annotations

from matplotlib.figure import Figure

from narcissus.report.html import page_html
from narcissus.report.panels import draw
from narcissus_papers import Item, Line, Panel, Printed, Quote, Reproduced
from narcissus_papers.page import page

ITEM = Item("002", "table", "3", "Some table", 1.0, Reproduced)


def test_numbers_that_differ_say_why():
    made = Reproduced(
        printed=(Printed("one", Quote("1.0", "it is 1.0", "section 1"), 2.0, "the <text> errs"),),
        table=(("a", "b"), ("x", 1.5)),
        notes=("read so",),
    )
    laid = page([(ITEM, made)])
    assert laid.verdict.headline == "1 made again: 1 differing."
    text = page_html(laid)
    assert "the &lt;text&gt; errs" in text
    assert "it is 1.0 (section 1)" in text
    assert "read so" in text
    assert "1.5" in text


def test_all_curves_are_drawn():
    canvas = Figure()
    lines = [Line("a", [1, 2], [1, 2]), Line("b", [1], [1], "points")]
    draw(
        canvas,
        panels=[Panel("left", "x", "y", lines, log_x=True), Panel("right", "x", "y", lines[:1])],
    )
    axes, _ = canvas.axes
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    assert axes.get_xscale() == "log"


def test_what_are_no_numbers_have_names_in_the_picture_and_in_the_data():
    canvas = Figure()
    lines = [Line(str(n), [0, 0.8], [1, 2]) for n in range(9)]
    panel = Panel("left", "column", "y", lines, names=("SEX", "AGEP"))
    draw(canvas, panels=[panel])
    [axes] = canvas.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["SEX", "AGEP"]
    canvas.draw_without_rendering()
    legend = axes.get_legend().get_window_extent()
    assert legend.x0 >= axes.get_window_extent().x1  # so many lines have theirs beside the picture
    assert Reproduced(panels=(panel,)).rows[1:3] == (
        ("left", "0", "SEX", 1.0),
        ("left", "0", "AGEP", 2.0),
    )
