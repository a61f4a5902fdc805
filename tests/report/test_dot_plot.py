"""Rows of marks: each at its share, with its limits, the number at its end."""

import pytest
from matplotlib.figure import Figure as MplFigure

from narcissus.report.charts import Range, Row, dot_plot

ROWS = [
    Row("first", 0.2, Range(0.5, 0.4, 0.6), None),
    Row("second", None, None, Range(0.9, None, 0.95), heading="others"),
    Row("third", 0.3, Range(0.35), Range(0.8, 0.7, 0.9), bold=True),
]


def drawn(rows, **options):
    figure = MplFigure()
    dot_plot(figure, rows, **options)
    return figure.axes[0], figure.legends[0]


def marks(axes, marker):
    return [(float(x), float(y)) for line in axes.lines if line.get_marker() == marker
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]  # fmt: skip


def test_marks_stand_at_their_shares_in_the_row_of_their_label():
    axes, _ = drawn(ROWS)
    rows = list(axes.get_yticks())
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["first", "second", "third"]
    assert marks(axes, "s") == [(0.2, rows[0]), (0.3, rows[2])]
    assert marks(axes, "o") == [(0.5, rows[0]), (0.35, rows[2])]
    assert marks(axes, "^") == [(0.9, rows[1]), (0.8, rows[2])]
    bold = [tick.get_fontweight() == "bold" for tick in axes.get_yticklabels()]
    assert bold == [False, False, True]


def test_limits_reach_from_low_to_high_and_stop_where_one_is_missing():
    axes, _ = drawn(ROWS)
    thick = [tuple(map(float, line.get_xdata())) for line in axes.lines
             if line.get_linewidth() == 2.2]  # fmt: skip
    assert thick == [(0.4, 0.6), (0.9, 0.95), (0.7, 0.9), (0.35, 0.35)]


def test_a_row_ends_with_what_is_recovered_or_else_the_ceiling():
    axes, _ = drawn(ROWS)
    ends = [text.get_text() for text in axes.texts if text.get_text().endswith("%")]
    assert ends == ["50.0%", "90.0%", "35.0%"]
    assert "others" in {text.get_text() for text in axes.texts}
    assert axes.get_yticks()[1] - axes.get_yticks()[0] > 1.5  # room for the heading


@pytest.mark.parametrize(("rows", "named"), [(ROWS, 3), (ROWS[:1], 2)])
def test_the_key_names_what_is_there(rows, named):
    _, legend = drawn(rows, without="fresh people")
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["fresh people", "recovered with the release", "ceiling"][:named]


def test_the_axis_holds_limits_edge_and_threshold():
    axes, _ = drawn(ROWS[:1], edge=0.8, threshold=0.1)
    low, high = axes.get_xlim()
    assert low <= 0.1
    assert high >= 0.8
    assert {0.8, 0.1} <= {float(line.get_xdata()[0]) for line in axes.lines}
    assert drawn([Row("nothing")])[0].get_xlim() == (0.0, 1.0)
