"""The picture draws what is in the data."""

from dataclasses import replace

import matplotlib as mpl
from matplotlib.figure import Figure

from narcissus.scale.fit import Known, SizeCurve
from narcissus.scale.picture import picture


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
