"""Pictures of leakage: the curves are those of the channel, and what cannot be drawn is not."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure as MplFigure

from narcissus import channels as ch
from narcissus.report import svg
from narcissus.report.leakage import pages as pictures


def drawn(figure):
    canvas = MplFigure(figsize=figure.size)
    figure.draw(canvas)
    return canvas


def test_the_test_of_two_rows_is_the_best_one():
    first, second = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.3, 0.2, 0.4])
    figure = pictures.best_test(first, second, ("a", "b"))
    rows = np.array(figure.table.rows, dtype=float)
    assert (rows[:, 1] - rows[:, 0]).max() == pytest.approx(1 - np.minimum(first, second).sum())
    slopes = np.diff(rows[:, 1]) / np.maximum(np.diff(rows[:, 0]), 1e-12)
    assert (np.diff(slopes) <= 1e-9).all()  # concave: no test does better
    assert rows[-1].tolist() == pytest.approx([1, 1])
    lines = drawn(figure).axes[0].lines
    assert max(line.get_ydata()[0] for line in lines if len(line.get_ydata()) == 1) == 0.4


def test_beliefs_are_as_high_as_they_are_frequent():
    rows = [[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.1, 0.4]]
    found = ch.hyper(rows, [0.5, 0.25, 0.25])
    figure = pictures.hypers(found, ("a", "b", "c"), np.array([0.5, 0.25, 0.25]))
    assert figure is not None
    assert sum(row[0] for row in figure.table.rows) == pytest.approx(1)
    right = sum(row[0] * row[2] for row in figure.table.rows)
    assert right == pytest.approx(ch.bayes_vulnerability(rows, [0.5, 0.25, 0.25]))
    below = drawn(figure).axes[1]
    heights = np.diff(np.asarray(below.collections[0].get_coordinates())[:, 0, 1])
    assert heights.tolist() == pytest.approx(found.outer.tolist())


def test_many_beliefs_are_cut_and_said_and_many_secrets_are_not_drawn():
    rows = np.random.default_rng(0).dirichlet(np.ones(20), 3)
    figure = pictures.hypers(ch.hyper(rows), ("a", "b", "c"), np.full(3, 1 / 3))
    assert figure is not None
    assert "8 rarer ones" in figure.description
    assert len(figure.table.rows) == 20
    names = tuple(map(str, range(30)))
    assert pictures.hypers(ch.hyper(np.eye(30)), names, np.full(30, 1 / 30)) is None
    made = ch.channel(np.eye(30))
    assert pictures.rows_of(made, "t", ("secret", "answer"), "m") is None


@pytest.mark.parametrize(("rate", "scale"), [(0.45, "linear"), (0.1, "log")])
def test_small_values_are_on_a_scale_of_powers(rate, scale):
    rows = [[1 - rate, rate], [rate, 1 - rate]]
    figure = pictures.over_uses(ch.security_over_uses([(rows, 60)], points=4))
    axes = drawn(figure).axes[0]
    assert axes.get_yscale() == scale
    assert "$" not in axes.yaxis.get_major_formatter()(1e-20, 0)
    assert [row[0] for row in figure.table.rows] == [1, 4, 15, 60]
    assert all(row[1] <= row[2] for row in figure.table.rows)


@pytest.mark.parametrize(("cost", "lines"), [(0.0, 2), (0.1, 1)])
def test_the_chord_of_chance_is_drawn_only_where_it_is_a_mechanism(cost, lines):
    loss = 1 - np.eye(3) + cost
    figure = pictures.trade_off(ch.trade_off(loss, 3), None, ch.loss_of_nothing(loss))
    assert len(drawn(figure).axes[0].lines) == lines
    assert ("Dashed" in figure.description) == (lines == 2)


def test_every_cell_of_a_mechanism_is_written():
    made = ch.channel([[0.25, 0.75], [1, 0]], secrets=["a", "b"], outputs=["c", "d"])
    figure = pictures.rows_of(made, "t", ("secret", "answer"), "m")
    assert figure is not None
    assert [t.get_text() for t in drawn(figure).axes[0].texts] == ["25.0%", "75.0%", "100%", "0%"]
    assert figure.table.columns == ("Secret", "c", "d")


def test_numbers_in_cells_have_contrast_whatever_the_page_does():
    """The cells of a heat map keep their colour in the dark: so must what is written on them."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    def light(colour):
        parts = np.asarray(to_rgb(colour[:3] if isinstance(colour, tuple) else colour))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05

    for row in np.linspace(0, 1, 40).reshape(5, 8):
        canvas = MplFigure()
        axes = canvas.subplots()
        pictures._cells(axes, row[None, :], np.array([0.0, 1.0]))
        for value, text in zip(row, axes.texts, strict=True):
            one, other = light(text.get_color()), light(colormaps["Blues"](float(value)))
            assert max(one, other) / min(one, other) >= 4.5
            assert text.get_color() not in svg._NAMES  # which the page would swap
