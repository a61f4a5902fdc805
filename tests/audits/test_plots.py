"""The report's figures drawn from Python: each by its name, on axes of its own or given ones."""

import matplotlib as mpl
import pytest
from matplotlib import pyplot

import narcissus
from narcissus.errors import InputError
from narcissus.kinds.table.kind import KIND
from narcissus.report import Figure, page_of
from narcissus.study.shipped import shipped_study


@pytest.fixture(autouse=True)
def closed():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def channel():
    return narcissus.run(
        narcissus.load_study(
            {
                "kind": "channel",
                "channel": {
                    "mechanism": {"name": "randomized-response", "values": 4, "epsilon": 1}
                },
            }
        )
    )


def test_every_figure_of_a_table_is_drawn(sweep):
    assert sweep.figures == ("settings", "attacks", "targets", "columns", "groups")
    blocks = [b for b in page_of(sweep.record).blocks if isinstance(b, Figure)]
    for name, figure in zip(sweep.figures, blocks, strict=True):
        ax = sweep.plot(name)
        assert tuple(ax.figure.get_size_inches()) == pytest.approx(figure.size)
        assert ax.lines or ax.patches
        ax.figure.canvas.draw()


def test_the_first_figure_is_drawn_if_none_is_named(sweep):
    assert sweep.plot().get_ylabel() == "share recovered"


def test_what_is_drawn_are_the_numbers(sweep):
    """The best attack's circle stands at its share."""
    one = KIND.judged(sweep.record).each[0]
    ax = sweep.plot("attacks")
    circles = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    shares = [attack.share for attack in one.result.attacks.values()]
    assert sorted(circles) == pytest.approx(sorted(shares))


def test_a_figure_is_drawn_on_given_axes(sweep):
    figure, axes = pyplot.subplots(1, 2)
    assert sweep.plot("attacks", ax=axes[0]) is axes[0]
    sweep.plot("groups", ax=axes[1])
    assert figure.axes == list(axes)
    assert all(ax.get_legend() is not None for ax in axes)


def test_figures_of_other_kinds_are_drawn(channel):
    game = narcissus.run(narcissus.load_study(shipped_study("counting-query").path), rng=1)
    for audit, names in ((channel, ("pairs", "profile")), (game, ("profile",))):
        assert audit.figures == names
        for name in names:
            audit.plot(name).figure.canvas.draw()


def test_the_settings_of_matplotlib_change_nothing_and_stay(sweep):
    usual = sweep.plot("attacks")
    with mpl.rc_context({"font.size": 3.0, "lines.markersize": 40.0, "axes.titlesize": 2.0}):
        ax = sweep.plot("attacks")
        assert mpl.rcParams["font.size"] == 3.0
    sizes = [[line.get_markersize() for line in one.lines] for one in (usual, ax)]
    assert sizes[0] == sizes[1]


def test_what_cannot_be_drawn_is_said(sweep, channel, quick):
    with pytest.raises(InputError, match="no figure `atacks`; did you mean `attacks`"):
        sweep.plot("atacks")
    with pytest.raises(InputError, match="needs several axes: leave out `ax`"):
        channel.plot("pairs", ax=pyplot.subplots()[1])
