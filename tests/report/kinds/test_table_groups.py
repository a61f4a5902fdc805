"""Groups beside the average: the one that is named is one whose limits show it."""

import pytest
from matplotlib.figure import Figure as MplFigure

from narcissus.kinds.table import KIND
from narcissus.kinds.table.pictures import groups_picture
from narcissus.report import Figure, page_of


def settings_of(record):
    return KIND.judged(record).settings


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
    assert picture.table.rows[0][:4] == ["everyone", "average", 1.0, 0.53]
    assert [row[1] for row in picture.table.rows[1:]] == [group.group for group in setting.groups]
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
    assert picture.title == "The groups beside the average"
    assert picture.table.rows[1][4:6] == [None, ""]


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


def test_who_is_hurt_most_is_named_with_both_shares_and_where(table_record):
    words, grade = page_of(table_record(5)).verdict.worst
    assert words.startswith(
        "at ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1, “yes” (singled out by the release), 6.0% of"
    )
    assert words.endswith(
        "61.0% of their secrets are recovered; 49.0% are guessed without the release."
    )
    assert grade == "sampled"


def test_an_average_or_too_few_people_name_nobody_and_nobody_is_called_safe(single):
    def unsure(result):
        for group in result["groups"]:
            group["attacks"]["posterior"]["over_guess_low"] = -1.0

    words, grade = page_of(single(unsure)).verdict.worst
    assert "that does not show that none does" in words
    assert grade == "sampled"
    words, grade = page_of(single(groups=[])).verdict.worst
    assert words.startswith("not assessed")
    assert grade == "not assessed"
