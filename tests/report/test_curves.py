"""Curves over the settings: labels apart and in order, what is proved hatched above."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as MplFigure

from narcissus.report.charts import Curve, Range, curves, spread


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.01, 0.1))
def test_labels_are_apart_and_in_order(wanted, gap):
    placed = np.array(spread(wanted, gap))
    order = np.argsort(wanted, kind="stable")
    assert np.all(np.diff(placed[order]) >= gap * 0.99)
    if np.all(np.diff(np.sort(wanted)) >= gap):
        assert np.allclose(placed, wanted)


LOOK = {"marker": "o", "color": "#123456"}


def drawn(lines, places=(0.0, 1.0, 2.0), **options):
    canvas = MplFigure()
    labels = [f"{p:g}" for p in places]
    curves(canvas, lines, places=places, labels=labels, axis="epsilon", **options)
    return canvas.axes[0]


def points(axes):
    return [[(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]
            for line in axes.lines if line.get_marker() == "o"]  # fmt: skip


def test_a_curve_goes_through_its_values_and_passes_over_gaps():
    axes = drawn([Curve("a", [Range(0.2, 0.1, 0.3), None, Range(0.6)], LOOK)])
    assert points(axes) == [[(0.0, 0.2), (2.0, 0.6)]]
    assert [text.get_text() for text in axes.texts] == ["a"]


def test_a_setting_without_noise_is_not_joined_with_the_others():
    axes = drawn([Curve("a", [Range(0.2), Range(0.3), Range(0.9, 0.8, 1.0)], LOOK)], apart=2)
    joined, alone = points(axes)
    assert joined == [(0.0, 0.2), (1.0, 0.3)]
    assert alone == [(2.0, 0.9)]
    bars = [line for line in axes.lines if line.get_linewidth() == 2.2]
    assert [list(bar.get_ydata()) for bar in bars] == [[0.8, 1.0]]


def test_what_is_proved_is_hatched_from_the_limit_upwards():
    given = [Curve("a", [Range(0.2), Range(0.3), Range(0.4)], LOOK)]
    axes = drawn(given, proved=[0.5, None, 0.7])
    [area] = [c for c in axes.collections if c.get_hatch()]
    heights = area.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(0.5)
    assert heights.max() == pytest.approx(axes.get_ylim()[1])
    assert not [c for c in drawn(given).collections if c.get_hatch()]
    [one] = [c for c in drawn(given, proved=[None, 0.5, None]).collections if c.get_hatch()]
    assert np.ptp(one.get_paths()[0].vertices[:, 0]) > 0  # an edge of one setting is seen


def test_a_threshold_is_drawn_and_named_with_its_share():
    axes = drawn([Curve("a", [Range(0.2)] * 3, LOOK)], threshold=0.625)
    assert "threshold 62.5%" in [text.get_text() for text in axes.texts]
    assert axes.get_ylim()[1] >= 0.625


def test_curves_that_end_together_have_their_labels_apart():
    axes = drawn([Curve(name, [Range(0.2), Range(0.3), Range(0.4)], LOOK) for name in "abc"])
    heights = sorted(text.get_position()[1] for text in axes.texts)
    gap = 0.06 * np.ptp(axes.get_ylim())
    assert np.diff(heights) == pytest.approx([gap, gap], rel=0.01)
