"""The pictures of a table's audit: what is drawn is what stands in the table behind it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure as MplFigure

from narcissus.findings import Finding, contradictions
from narcissus.kinds.table.kind import KIND
from narcissus.kinds.table.pictures import (
    as_range,
    attacks_picture,
    columns_picture,
    curves_picture,
    distribution_picture,
    groups_picture,
)
from narcissus.report import Figure, page_of, render_html


def settings_of(record):
    return KIND.judged(record).each


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
    ceiling = settings_of(table_record(1))[0].result.ceiling
    found = as_range(ceiling)
    assert (found.share, found.low, found.high) == (ceiling.share, ceiling.low, ceiling.high)
    assert as_range(None) is None


def test_every_attack_is_drawn_at_its_share_beside_its_own_baseline(table_record):
    setting = settings_of(table_record(1))[0]
    axes = axes_of(attacks_picture(setting, is_sweep=False))
    drawn = {(line.get_marker(), round(float(line.get_xdata()[0]), 9)) for line in axes.lines}
    for attack in setting.result.attacks.values():
        assert ("o", round(attack.share, 9)) in drawn
        assert ("s", round(attack.baseline, 9)) in drawn
    assert ("^", round(setting.result.ceiling.share, 9)) in drawn
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels[0] == "ceiling"
    assert labels[1] == "posterior, mean field"
    assert vertical_lines(axes) == pytest.approx([setting.result.share_bound.at_most, 0.7])


def test_no_edge_is_drawn_where_nothing_is_proved(single):
    def assume(result):
        for bound in result["bounds"]:
            bound.update(takes_as_given=["the prior is right"], grade="proved if")

    picture = attacks_picture(settings_of(single(assume))[0], is_sweep=False)
    assert vertical_lines(axes_of(picture)) == pytest.approx([0.7])  # the threshold
    assert "no attacker is beyond" not in picture.description


def test_quartiles_are_those_of_all_trials(table_record):
    setting = settings_of(table_record(1))[0]
    rows = {row[0]: row[1:6] for row in distribution_picture(setting).table.rows}
    for name, attack in (("posterior, mean field", setting.result.attacks["posterior"]),
                         ("ceiling", setting.result.ceiling)):  # fmt: skip
        found = attack.distribution
        every = np.repeat(found.targets, found.trials)
        expected = np.quantile(every, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
        assert rows[name] == expected.tolist()


def test_the_edge_of_a_count_is_drawn_beyond_it(table_record):
    """Between 71, which may be, and 72, which in no more than 5% of releases is."""
    axes = axes_of(distribution_picture(settings_of(table_record(1))[0]))
    assert vertical_lines(axes) == [71.5]
    [words] = [t.get_text() for t in axes.texts]
    assert words == "proved: beyond in at most 5% of releases"


def test_columns_are_drawn_by_what_is_recovered_and_none_is_called_the_worst(single):
    """The title named the column of the largest estimate, whatever the limits said."""

    def raise_one(result):
        columns = result["attacks"]["posterior"]["columns"]
        columns["religious"]["baseline"] -= 0.2

    picture = columns_picture(settings_of(single(raise_one))[0])
    assert picture.title == "What the best attack recovers of each unknown column"
    assert [row[0] for row in picture.table.rows] == ["affairs", "religious", "occupation"]
    shares = [row[2] for row in picture.table.rows]
    assert shares == sorted(shares, reverse=True)


def test_the_group_named_is_one_whose_limits_show_it(table_record, blocks):
    title = blocks(page_of(table_record(5)), Figure)[-1].title
    assert title.startswith("The release adds most for “singled out by the release: yes”")

    def unsure(results):
        for group in (g for result in results for g in result["groups"]):
            group["attacks"]["posterior"]["over_guess_low"] = -1.0

    record = table_record(5, edit=unsure)
    assert blocks(page_of(record), Figure)[-1].title.startswith("No group clearly loses more")


def test_there_is_no_section_without_groups(single):
    titles = [section.title for section in page_of(single(groups=[])).sections]
    assert not [title for title in titles if "groups" in title]


def test_the_average_comes_first_and_the_worst_group_is_bold(table_record):
    setting = settings_of(table_record(1))[0]
    picture = groups_picture(setting)
    assert [row[1] for row in picture.table.rows] == [
        group.group for group in setting.result.groups
    ]
    canvas = MplFigure()
    picture.draw(canvas)
    [axes] = canvas.axes
    ticks = [(t.get_text(), t.get_fontweight() == "bold") for t in axes.get_yticklabels()]
    assert ticks[0][0] == "everyone (100% of people)"
    assert [text for text, bold in ticks if bold] == ["yes (6%)"]
    headings = {text.get_text() for text in axes.texts}
    assert {"how unusual the secret is", "children", "singled out by the release"} <= headings


def test_few_people_do_not_look_worst_by_luck(single):
    """The group with the largest gain has the widest limits: another one is named."""

    def widen(result):
        group = next(g for g in result["groups"] if g["group"] == "yes")
        group["attacks"]["posterior"]["over_guess_low"] = -0.2
        sure = next(g for g in result["groups"] if g["group"] == "one or two")
        sure["attacks"]["posterior"]["over_guess_low"] = 0.029

    title = groups_picture(settings_of(single(widen))[0]).title
    assert "“children: one or two”: from 52.0% to 55.0%" in title
    assert "the average goes from 53.0% to 56.0%" in title
    assert title.startswith("No group clearly loses more than the average")  # .029 < .03


@pytest.mark.parametrize("by", ["attacks", "best"])
def test_without_an_attack_nobody_is_named(single, by):
    def leave_out(result):
        for group in result["groups"]:
            group["attacks"] = {}
        if by == "best":
            result.update(best=None, attacks={})

    setting = settings_of(single(leave_out))[0]
    picture = groups_picture(setting)
    assert picture.title == "The groups compared with the average"
    shares = [row for row in picture.table.rows if any(row[4:-2])]
    assert not shares


def test_nearly_everybody_is_a_plain_number(single):
    def widen(result):
        result["groups"][0]["share_of_people"] = 0.999

    canvas = MplFigure()
    groups_picture(settings_of(single(widen))[0]).draw(canvas)
    ticks = [tick.get_text() for tick in canvas.axes[0].get_yticklabels()]
    assert any(text.endswith("(100%)") for text in ticks)
    assert not any("e+" in text for text in ticks)


def test_a_group_that_loses_nothing_is_not_said_to_lose_most(single):
    def nothing(result):
        for group in result["groups"]:
            share = group["guess"]["share"]
            group["attacks"]["posterior"].update(
                share=share, low=0.0, high=1.0, over_guess=0.0, over_guess_low=-0.03
            )

    title = groups_picture(settings_of(single(nothing))[0]).title
    assert title == "No group clearly loses more than the average"


def test_the_overview_has_every_setting(table_record, blocks):
    table = blocks(page_of(table_record(5)), Figure)[0].table
    assert [row[0].replace("\xa0", " ") for row in table.rows] == [
        "ε = 0.5", "ε = 1", "ε = 3", "ε = 10", "no noise",
    ]  # fmt: skip
    assert table.rows[1][1:5] == [0.56, "54.8%\xa0to\xa057.2%", 0.526, 0.585]
    assert [row[-1] for row in table.rows][1] == "met"


def drawn(settings):
    """Give where the settings stand on the axis, what is written there, and the title."""
    canvas = MplFigure()
    curves_picture(settings).draw(canvas)
    [axes] = canvas.axes
    labels = [tick.get_text() for tick in axes.get_xticklabels()]
    return list(axes.get_xticks()), labels, axes.get_xlabel()


def changed(settings, **values):
    def result(one, n):
        return one.result.model_copy(update={key: made[n] for key, made in values.items()})

    return [replace(one, result=result(one, n)) for n, one in enumerate(settings)]


def test_settings_stand_at_the_logarithm_of_epsilon_and_no_noise_apart(table_record):
    places, labels, title = drawn(settings_of(table_record(5)))
    assert places[:4] == pytest.approx([math.log10(e) for e in (0.5, 1, 3, 10)])
    assert places[4] > places[3] + 0.28
    assert labels == ["0.5", "1", "3", "10", "no\nnoise"]
    assert title.startswith("epsilon")


def test_a_scale_grows_to_the_left(table_record):
    settings = changed(settings_of(table_record(5))[:3], epsilon=[None] * 3, mu=[None] * 3)
    places, labels, title = drawn(settings)
    scales = [one.result.noise.scale for one in settings]
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
    clash = Finding("share", "a", low=0.9), Finding("share", "b", high=0.5)
    refuted = [replace(one, elsewhere=tuple(contradictions(clash))) for one in settings]
    picture = curves_picture(refuted)
    assert "Proved at most" not in picture.table.columns  # nothing would stand in it
    assert {len(row) for row in picture.table.rows} == {7}
    assert "hatched" not in picture.description
    assert "hatched" in curves_picture(settings).description


def test_where_no_noise_is_known_the_axis_speaks_of_protection(table_record):
    settings = settings_of(table_record(5))[:3]
    assert drawn(settings)[2].endswith("less noise to the right")
    rows = changed(settings, noise=[None] * 3)
    assert drawn(rows)[2].endswith("less protection to the right")
