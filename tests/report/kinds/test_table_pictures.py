"""The pictures at one setting: what is drawn is what stands in the table behind it."""

import numpy as np
import pytest
from matplotlib.figure import Figure as MplFigure

from narcissus.kinds.table import KIND
from narcissus.kinds.table.pictures import (
    as_range,
    attacks_picture,
    columns_picture,
    distribution_picture,
)
from narcissus.report import render_html


def settings_of(record):
    return KIND.judged(record).settings


def test_many_targets(single):
    def enlarge(result):
        for answer in [*result["attacks"].values(), result["ceiling"]]:
            counts = answer["distribution"]["targets"]
            answer["distribution"]["targets"] = [100 * v + 17 for v in counts]
        result["bounds"][0].update(at_most=7100, at_most_of_population=7200, of=10_000)

    record = single(enlarge, people=10_100)
    html = render_html(record)
    assert "of 10,100 targets" in html
    assert len(html.encode()) < 300 * 1024


def axes_of(picture):
    canvas = MplFigure()
    picture.draw(canvas)
    [axes] = canvas.axes
    return axes


def vertical_lines(axes):
    return [line.get_xdata()[0] for line in axes.lines
            if list(line.get_ydata()) == [0, 1]]  # fmt: skip


def test_a_share_keeps_its_limits(table_record):
    ceiling = settings_of(table_record(1))[0].ceiling
    found = as_range(ceiling)
    assert (found.share, found.low, found.high) == (ceiling.share, ceiling.low, ceiling.high)
    assert as_range(None) is None


def test_every_attack_is_drawn_at_its_share_beside_its_own_baseline(table_record):
    setting = settings_of(table_record(1))[0]
    axes = axes_of(attacks_picture(setting, is_sweep=False))
    drawn = {(line.get_marker(), round(float(line.get_xdata()[0]), 9)) for line in axes.lines}
    for attack in setting.attacks.values():
        assert ("o", round(attack.share, 9)) in drawn
        assert ("s", round(attack.baseline, 9)) in drawn
    assert ("^", round(setting.ceiling.share, 9)) in drawn
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels[0] == "ceiling"
    assert labels[1] == "posterior, mean field"
    assert vertical_lines(axes) == pytest.approx([setting.share_bound.at_most, 0.7])


def test_no_edge_is_drawn_where_nothing_is_proved(single):
    def assume(result):
        for bound in result["bounds"]:
            bound.update(takes_as_given=["the prior is right"], grade="proved if")

    picture = attacks_picture(settings_of(single(assume))[0], is_sweep=False)
    assert vertical_lines(axes_of(picture)) == pytest.approx([0.7])  # the threshold
    assert picture.table.grades[0] == "proved if"
    assert "no attacker is beyond" not in picture.description


def test_quartiles_are_those_of_all_trials(table_record):
    setting = settings_of(table_record(1))[0]
    rows = {row[0]: row[1:6] for row in distribution_picture(setting).table.rows}
    for name, attack in (("posterior, mean field", setting.attacks["posterior"]),
                         ("ceiling", setting.ceiling)):  # fmt: skip
        found = attack.about.distribution
        every = np.repeat(found.targets, found.trials)
        expected = np.quantile(every, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
        assert rows[name] == expected.tolist()


def test_the_edge_of_a_count_is_drawn_beyond_it(table_record):
    """Between 71, which may be, and 72, which in no more than 5% of releases is."""
    axes = axes_of(distribution_picture(settings_of(table_record(1))[0]))
    assert vertical_lines(axes) == [71.5]
    [words] = [t.get_text() for t in axes.texts]
    assert words == "proved: beyond in at most 5% of releases"


def test_the_column_that_gains_most_is_named(single):
    def raise_one(result):
        columns = result["attacks"]["posterior"]["columns"]
        columns["religious"]["baseline"] -= 0.2

    picture = columns_picture(settings_of(single(raise_one))[0])
    assert picture.title.endswith("about religious")
    assert [row[0] for row in picture.table.rows] == ["affairs", "religious", "occupation"]
    shares = [row[2] for row in picture.table.rows]
    assert shares == sorted(shares, reverse=True)
