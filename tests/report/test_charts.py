"""What charts share: axes around what is drawn, labels that fit, histograms with every trial."""

import pytest
from matplotlib.figure import Figure as MplFigure

from narcissus.report.charts import (
    Range,
    edge_line,
    histograms,
    key_of,
    share_axis,
    short,
    threshold_line,
    values_of,
)


@pytest.fixture
def axes():
    return MplFigure().subplots()


@pytest.mark.parametrize("vertical", [True, False])
def test_an_axis_of_shares_holds_them_and_never_leaves_0_to_1(axes, vertical):
    assert share_axis(axes, [0.4, 0.6], vertical=vertical) == pytest.approx((0.385, 0.615))
    assert (axes.get_ylim() if vertical else axes.get_xlim()) == pytest.approx((0.385, 0.615))
    assert share_axis(axes, [0.0, 1.0], vertical=vertical) == (0.0, 1.0)
    low, high = share_axis(axes, [0.0, 0.5], vertical=vertical)
    assert (low, high) == (0.0, pytest.approx(0.53))
    axis = axes.yaxis if vertical else axes.xaxis
    assert axis.get_major_formatter()(0.125, 0) == "12.5%"


def test_a_label_is_cut_only_where_it_is_long():
    assert short("a" * 46) == "a" * 46
    assert short("a" * 47) == "a" * 45 + "…"
    assert short("a b", 2) == "a…"
    assert len(short("word " * 30)) <= 46


def test_the_numbers_in_ranges():
    assert values_of([Range(0.5, 0.4), None, Range(0.7, None, 0.8)]) == [0.5, 0.4, 0.7, 0.8]


def test_an_edge_is_hatched_where_no_attacker_is(axes):
    axes.set_xlim(0, 1)
    edge_line(axes, 0.7, 1.0, "proved")
    [area] = axes.patches
    assert (area.get_x(), area.get_x() + area.get_width()) == pytest.approx((0.7, 1.0))
    assert area.get_hatch()
    assert axes.texts[0].get_ha() == "right"
    edge_line(axes, 1.0, 1.0, "all")  # nothing is beyond it
    assert len(axes.patches) == 1
    assert [line.get_xdata()[0] for line in axes.lines] == [0.7, 1.0]


@pytest.mark.parametrize(("at", "side"), [(0.2, "left"), (0.8, "right")])
def test_the_name_of_a_threshold_stands_towards_the_middle(axes, at, side):
    axes.set_xlim(0, 1)
    threshold_line(axes, at)
    assert axes.texts[0].get_text() == "threshold"
    assert axes.texts[0].get_ha() == side


def test_the_key_names_every_mark():
    figure = MplFigure()
    key_of(figure, [("one", {"marker": "o", "color": "k"}), ("two", {"marker": "s", "color": "k"})])
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]


@pytest.mark.parametrize(
    ("apart", "first", "second"), [(1, [0.2, 0.4, 1.0], [1.0, 1.0]), (100, [1.0], [1.0, 1.0])]
)
def test_a_histogram_has_every_trial_once(apart, first, second):
    """Bars are the trials of each number beside the most; bins are wide where numbers are far."""
    rows = [("a", [3, 4, 6], [1, 2, 5], False), ("b", [apart, 9 * apart], [4, 4], True)]
    figure = MplFigure()
    histograms(figure, rows, people=1000)
    [axes] = figure.axes
    for place, (bars, expected) in enumerate(zip(axes.patches, (first, second), strict=True)):
        heights, edges, base = bars.get_data()
        assert base == pytest.approx(place + 0.35)
        shares = (place + 0.35 - heights) / 0.8
        assert shares[shares > 0] == pytest.approx(expected)
        assert edges[0] < min(3, apart)
        assert len(edges) <= 48
    assert axes.get_xlim()[0] >= -0.5


def test_an_edge_and_a_threshold_stand_after_the_last_number_that_they_allow():
    figure = MplFigure()
    histograms(figure, [("a", [5], [1], False)], people=10, edge=7, edge_words="no", threshold=6)
    assert {7.5, 6.5} <= {line.get_xdata()[0] for line in figure.axes[0].lines}
    assert figure.axes[0].get_xlim()[1] == 9.5  # two bins beyond the edge
