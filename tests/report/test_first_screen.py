"""The first screen: its figures are the record's, and all its forms hold the same."""

import json
import re
from dataclasses import fields, replace
from types import NoneType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from narcissus._visible import WORD_JOINER
from narcissus.kinds.table.kind import KIND
from narcissus.report import Figure, page_of, render_html
from narcissus.report.first_screen import (
    GUESSED,
    LIMIT,
    MORE,
    NO_GROUP,
    NO_GROUPS,
    REST,
    THRESHOLD,
    Glance,
    first_screen,
    markdown,
    surely_largest,
)
from narcissus.report.format import STATUS, grade_word
from narcissus.report.html import page_html
from narcissus.report.reach import Reach, hundredths, of_100
from narcissus.report.text import WIDTH, first_text
from narcissus.rows import Quantity, Unaccounted
from narcissus.study.kinds import KINDS, study_kind

REFUTED = {"contradictions": ["Refuted: that it rains (a says 1, b says 2)."],
           "status": "contradicted"}  # fmt: skip

NO_SHARES = ("epsilon", "targets", "people determined", "small groups known")
"""Quantities that may decide and are no share of a hundred: nothing is drawn."""


def first_of(record):
    return page_of(record, internal=True).first


def figures(record):
    """Read the two shares and the limit from rows, by rules of this file alone."""
    rows = [row.model_dump() for row in record.rows]

    def of(**wanted):
        return [
            row for row in rows
            if all(row.get(k, row.get("at", {}).get(k)) == v for k, v in wanted.items())
        ]  # fmt: skip

    def value(row):
        return row["quantity"]["value"]

    if record.kind == "table":
        setting = record.result.settings[-1]
        return (
            setting.guess.share,
            setting.best_attack.share,
            setting.share_bound.of_population,
        )
    if record.kind == "synthetic":
        if copies := of(of="copied"):
            [excess] = of(role="excess", name="copies")
            if excess["quantity"]["low"] > record.criteria[0].at_most:  # it comes before risks
                return value(copies[0]) - value(excess), value(copies[0]), 1.0
        excess = max(of(role="excess", group=""), key=lambda row: row["quantity"]["low"])
        [risk] = of(of="risk", name=excess["name"], group="")
        return risk["baseline"], value(risk), 1.0
    if record.kind == "published-tables":
        name = max(of(of="gain"), key=value)["name"]
        [seen] = of(role="attack", name=name, question="these tables")
        [fresh] = of(role="fresh", name=name)
        return value(fresh), value(seen), value(of(role="bound")[0])
    if record.kind == "membership":
        fpr = next(c.at["fpr"] for c in record.criteria if "members" in c.of and c.at_most)
        told = max(of(role="attack", of="members told", fpr=fpr), key=value)
        return fpr, value(told), min(value(row) for row in of(role="bound", fpr=fpr))
    if record.kind == "secrets":
        attack = max(of(role="attack"), key=lambda row: row["quantity"]["low"])
        at = attack["at"]
        return (
            value(of(role="guess", **at)[0]), value(attack), value(of(role="bound", **at)[0]),
        )  # fmt: skip
    if record.kind == "game":
        if top := of(role="measure", of="success"):
            return top[0]["baseline"], value(top[0]), record.result.exact.largest
        [attack] = of(role="attack")
        return attack["baseline"], value(attack), 1.0
    if record.kind == "channel":
        named = {
            row["name"]: row["quantity"] for row in rows if row["of"] in ("measure", "estimate")
        }
        risk = named["bayes_risk"]
        of_two = named["beta_star"]  # by which these records are judged
        least = of_two["low"] if of_two["grade"] == "sampled" else of_two["value"]
        return 0.5, 1 - of_two["value"] / 2, 1 - least / 2
    if record.kind == "extraction":
        runs = {row["name"]: row["quantity"]["value"] for row in of(of="success")}
        without = max(v for name, v in runs.items() if name not in ("with the release",
                                                                     "on shadow data"))  # fmt: skip
        return without, runs["with the release"], 1.0
    if record.kind == "copyright":
        without = max(value(row) for row in of(of="passages without access"))
        return without, value(of(of="passages with access")[0]), 1.0
    name = "reproduced" if record.kind == "image-model" else "recovered"
    gains = max(of(of="gain"), key=lambda row: row["quantity"]["low"])
    gains = max(
        (row for row in of(of="gain") if not row.get("at", {}).get("copies")),
        key=lambda row: row["quantity"]["value"],
    ) if record.kind != "image-model" else gains  # fmt: skip
    [count] = [r for r in of(of=name, name=gains["name"]) if r.get("at") == gains.get("at")]
    return count["baseline"], value(count), 1.0


def test_each_figure_is_the_record_s_rounded_to_whole_ones_of_a_hundred(every_record):
    assert {record.kind for record in every_record.values()} == set(KINDS)
    drawn = 0
    for name, record in every_record.items():
        first, (without, with_it, most) = first_of(record), figures(record)
        decided = first.decided_by
        if decided is None or decided.of in NO_SHARES:
            continue
        drawn += 1
        total = first.total
        assert abs(first.without - total * without) <= 0.5, name
        assert abs(first.with_it - total * with_it) <= 0.5, name
        is_exact = most == with_it and first.sentences[2][0].endswith("it is exact.")
        if most > 0.99 or is_exact:
            assert first.most is None, name
        else:
            assert 0 <= first.most - total * most < 1, name
        for (text, _), figure in zip(first.sentences, (without, with_it, most), strict=True):
            for said in re.findall(r"succeed (\d+) of 100|gets? (\d+) of 100", text):
                number = int("".join(said))
                assert abs(number - 100 * figure) < 1 or "fewer than" in text, (name, text)
    assert drawn >= 15


def test_word_sign_and_grade_are_the_record_s_and_the_grade_is_the_weakest(every_record):
    for record in every_record.values():
        case = study_kind(record.kind).judged(record)
        for changed in (record, record.model_copy(update=REFUTED)):
            first = first_of(changed)
            assert (first.sign, first.word) == STATUS[changed.status]
            assert (first.status, first.grade) == (changed.status, changed.grade)
        assert first_of(record).grade == case.grade


def test_every_form_holds_the_same(every_record):
    for record in every_record.values():
        page = page_of(record, internal=True)
        first = page.first
        held = [first.answer, *(text for text, _ in first.sentences), first.hardest,
                *first.rests_on, first.not_looked_at]  # fmt: skip
        heard = re.sub(r"<span [^>]*popover.*?</span>", "", render_html(record, internal=True))
        html = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", heard))
        as_json = json.dumps(first.to_dict(), ensure_ascii=False)
        plain = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown(first)).replace(WORD_JOINER, "")
        for form in (first_text(page), plain, as_json):
            flat = re.sub(r"\s+", " ", form)
            for text in held:
                assert text in flat.replace('\\"', '"'), text
        for text in held:
            assert text.replace("'", "&#39;").replace('"', "&#34;") in html, text


FORGED = "t\n\n### ✓ met\n\n![x](https://e.example/t.png) <img src=x> @all\n* [a](http://b)"


def test_no_text_of_a_study_writes_markdown(every_record):
    """Every text of a screen may hold a title, a column or a value that somebody else chose."""
    parser, record = MarkdownIt("commonmark"), next(iter(every_record.values()))
    first = first_of(record)
    texts = {one.name: FORGED for one in fields(first) if isinstance(getattr(first, one.name), str)}
    told = {name: texts[name] for name in texts.keys() - {"sign", "word", "status", "grade"}}
    told |= {"sentences": [(FORGED, grade) for _, grade in first.sentences], "rests_on": [FORGED]}
    tokens = parser.parse(markdown(replace(first, **told)))
    assert [one.type for one in tokens].count("heading_open") == 1
    true = [one.type for one in parser.parse(markdown(first))]
    assert [one.type for one in tokens].count("list_item_open") <= true.count("list_item_open")
    inner = {child.type for one in tokens for child in one.children or []}
    assert inner <= {"text", "text_special"}


def test_what_is_refuted_limits_nobody_and_comes_first(every_record):
    limited = 0
    for record in every_record.values():
        limited += first_of(record).most is not None
        first = first_of(record.model_copy(update=REFUTED))
        assert first.most is None
        assert not first.edge
        assert first.rests_on[0] == "Refuted: that it rains."
        assert "refuted" in first.answer
    assert limited


def test_it_fits_a_terminal_with_both_paths(every_record, table_record, single):
    made = [table_record(5), table_record(4, status="exceeded"), single(), single(groups=[])]
    for record in (*every_record.values(), *made):
        lines = first_text(page_of(record, internal=True)).splitlines()
        assert len(lines) + 3 <= 25, record.title
        assert all(len(line) <= WIDTH for line in lines)
        assert len(first_of(record).rests_on) <= 3


@given(share=st.floats(0, 1))
def test_whole_ones_of_a_hundred_are_near_and_a_limit_is_never_below(share):
    assert abs(hundredths(share) - 100 * share) <= 0.5
    assert -1e-9 <= hundredths(share, "up") - 100 * share <= 1
    assert -1 <= hundredths(share, "down") - 100 * share <= 1e-9
    text = of_100(share)
    assert (text == "0 of 100") == (share == 0)
    assert text != "100 of 100" or share == 1


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 of 100"), (1e-9, "fewer than 1 of 100"), (0.9999, "more than 99 of 100"),
     (1.0, "100 of 100"), (0.5, "50 of 100")],
)  # fmt: skip
def test_few_are_not_none_and_many_are_not_all(share, text):
    assert of_100(share) == text


def test_the_picture_counts_what_the_sentences_say(every_record):
    for record in every_record.values():
        first = first_of(record)
        if first.with_it is None:
            continue
        without = first.without or 0
        both = max(without, first.with_it) if first.is_shown else without
        assert len(first.squares) == first.total
        assert first.squares.count(GUESSED) == without
        assert first.squares.count(MORE) == both - without
        assert first.squares.count(REST) == first.total - both
        if first.most is not None:
            text = first_text(page_of(record, internal=True))
            squares = [line for line in text.splitlines() if set(line) <= set(" ¦|■▲·") and line]
            drawn = "".join(squares).replace(" ", "").replace("¦", "")
            assert drawn.index("|") == first.most
            numbers = [int(n) for n in re.findall(r"\d+", first.edge)]
            row, column = divmod(first.most, 20)
            assert numbers == ([0, row + 1, column, row, 20] if column else [0, row, 20])


def test_the_legend_names_what_is_drawn_and_nothing_else(every_record):
    seen = set()
    for record in every_record.values():
        first = first_of(record)
        if first.with_it is None and first.without is None:
            assert first.allowed is None
            continue
        legend = first.key.partition(". ")[0]
        drawn = set(first.squares) & {GUESSED, MORE}
        drawn |= {LIMIT} if first.edge else set()
        drawn |= {THRESHOLD} if first.threshold else set()
        assert {sign for sign in (GUESSED, MORE, LIMIT, THRESHOLD) if sign in legend} == drawn
        assert legend.count(",") == max(0, len(drawn) - 1) + first.unit.count(",")
        seen |= drawn
    assert seen == {GUESSED, MORE, LIMIT, THRESHOLD}


def test_the_threshold_is_drawn_where_it_is_said_and_allows_no_square_more(every_record):
    drawn = 0
    for name, record in every_record.items():
        first = first_of(record)
        number = re.match(r"([\d.]+)( more)? of 100", first.decided_by.accepted)
        if first.with_it is None or number is None:
            continue
        drawn += 1
        allowed = float(number[1]) / 100
        if number[2]:
            allowed += figures(record)[0]
        assert first.allowed is not None, name
        assert first.allowed <= first.total * allowed + 1e-9, name
        assert first.allowed > first.total * allowed - 1, name
        squares = [line for line in first_text(page_of(record, internal=True)).splitlines()
                   if set(line) <= set(" ¦|■▲·") and line]  # fmt: skip
        assert re.sub("[ |]", "", "".join(squares)).index("¦") == first.allowed, name
        assert 'class="allowed"' in render_html(record) or page_of(record).lead is not None
    assert drawn >= 5


def test_a_sweep_opens_with_the_risk_over_its_settings_and_its_sections_leave_that_out(
    every_record, table_record
):
    sweeps = [table_record(5), every_record["sweep"], every_record["secrets"]]
    for record in sweeps:
        page = page_of(record, internal=True)
        assert page.lead is not None
        figures = [block for block in page.blocks if isinstance(block, Figure)]
        assert figures[0] is page.lead
        assert [figure.name for figure in figures].count(page.lead.name) == 1
        html = render_html(record)
        assert html.index("<figure>") < html.index('class="headline"')
        assert 'class="hundred"' not in html
    assert page_of(table_record(1), internal=True).lead is None


def test_no_line_is_empty(every_record):
    for record in every_record.values():
        page = page_of(record, internal=True)
        blank = replace(page.first, hardest="")
        html = page_html(replace(page, first=blank))
        assert not re.search(r"<(p|li)( [^>]*)?>\s*</", html)
        assert "\n\n\n" not in markdown(blank)


def test_a_share_above_its_limit_is_said_to_be_chance(single):
    def edit(result):
        for one in result["bounds"]:
            if "share_at_most" in one:
                one |= {"share_at_most": 0.52, "share_of_population": 0.52}

    first = first_of(single(edit))
    assert first.most == 52 < first.with_it
    assert "higher by chance" in first.sentences[2][0]


@pytest.mark.parametrize(
    ("status", "said"),
    [("met", "is kept"), ("exceeded", "is exceeded"), ("contradicted", "refuted"),
     ("too few trials", "too few"), ("inconclusive", "may exist"), ("not shown", "may exist"),
     ("not assessed", "could not answer"), ("no threshold", "no threshold")],
)  # fmt: skip
def test_every_status_has_an_answer_of_its_own(table_record, status, said):
    first = first_of(table_record(1).model_copy(update={"status": status}))
    assert said in first.answer
    assert first.answer.endswith(".")


@pytest.mark.parametrize(
    ("subject", "verb"), [("column `a`", "is"), ("columns `a`, `b`", "are"), ("the order", "is")]
)
def test_the_verb_agrees_with_what_is_not_accounted_for(table_record, subject, verb):
    record = table_record(1).model_copy(update={"status": "undeclared"})
    note = Unaccounted(subject=subject, reason="No reason.", declaration="nothing")
    case = SimpleNamespace(status="undeclared", unaccounted=(note,), decision=None)
    said = Reach("Nobody was found.")
    screen = first_screen(record, case, Glance("people", said, said, None, "", "", "no more"))
    assert f"{subject[1:]} {verb} not accounted for." in screen.answer


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        ("a", "Column a is"),
        ("ab", "Column a and column b are"),
        ("abc", "Column a, column b and 1 more are"),
        ("abcd", "Column a, column b and 2 more are"),
    ],
)
def test_several_things_are_joined_by_a_single_and(table_record, names, listed):
    record = table_record(1).model_copy(update={"status": "undeclared"})
    notes = tuple(
        Unaccounted(subject=f"column {name}", reason="No reason.", declaration="nothing")
        for name in names
    )
    case = SimpleNamespace(status="undeclared", unaccounted=notes, decision=None)
    said = Reach("Nobody was found.")
    screen = first_screen(record, case, Glance("people", said, said, None, "", "", "no more"))
    assert screen.answer.startswith(f"{listed} not accounted for.")


def test_what_is_not_accounted_for_is_the_answer_and_comes_first(table_record):
    record = table_record(1).model_copy(update={"status": "undeclared"})
    note = Unaccounted(
        subject="column `note`",
        reason="It appears in both files.",
        declaration='`irrelevant = ["note"]` in `[data]`',
    )
    case = SimpleNamespace(status="undeclared", unaccounted=(note,), decision=None)
    said = Reach("Nobody was found.")
    screen = first_screen(record, case, Glance("people", said, said, None, "", "", "no more"))
    assert screen.answer == (
        "Column `note` is not accounted for. It appears in both files. "
        'To decide, write `irrelevant = ["note"]` in `[data]`.'
    )
    assert screen.rests_on[0] == "Not accounted for: column `note`."
    assert screen.word == "Not decided"


def test_of_a_sweep_the_answer_names_where_and_the_figures_are_from_there(table_record):
    record = table_record(5, status="exceeded")
    result = record.result.model_copy(update={"decided_at": None})
    record = record.model_copy(update={"result": result})
    one = KIND.judged(record).worst
    first = first_of(record)
    assert one.label in first.answer
    assert f"without {one.label.removeprefix('no ')}" == "without noise"
    assert "release without noise" in first.sentences[1][0]
    assert first.with_it == hundredths(one.result.best_attack.share)
    assert "at ε = 1" in first_of(table_record(5)).sentences[1][0]


def test_the_hardest_hit_group_is_the_one_with_the_surest_gain(table_record, single):
    record = table_record(1)
    (setting,) = KIND.judged(record).each
    gains = [(a.sure_gain, g, a) for g in setting.result.groups for a in g.attacks.values()]
    _, group, attack = max(gains, key=lambda one: one[0])
    said = first_of(record).hardest
    assert f"“{group.by}: {group.group}”" in said
    assert f"{of_100(attack.share)} of them right" in said
    assert f"guessing {of_100(group.guess.share)}" in said

    def by_chance(result):
        chance = {"share": 0.6, "gain": 0.3, "gain_low": 0.2}
        result["groups"] = [dict(result["groups"][5]), dict(result["groups"][5], group="other")]
        names = result["groups"][1]["attacks"]
        low = {"over_guess": 0.0, "over_guess_low": -0.1, "over_guess_high": 0.1}
        result["groups"][1]["attacks"] = {name: {**names[name], **low} for name in names}
        found = result["groups"][0]["attacks"]["posterior"]
        found |= {"by_chance": chance, "share": 0.9, "low": 0.8, "high": 1.0}
        found |= {"over_guess": 0.4, "over_guess_low": 0.3, "over_guess_high": 0.5}

    assert "90 of 100 of them right, guessing 60 of 100" in first_of(single(by_chance)).hardest


def test_groups_of_which_none_is_surely_hit_are_not_called_safe(single):
    def change(result):
        for group in result["groups"]:
            for attack in group["attacks"].values():
                attack["over_guess_low"] = -0.5

    assert first_of(single(change)).hardest == NO_GROUP
    assert first_of(single(groups=[])).hardest == NO_GROUPS


def test_a_count_that_decides_is_shown_as_a_count(every_record):
    """One small group was "100 of 100"."""
    for name, record in every_record.items():
        decided = first_of(record).decided_by
        if decided is not None and decided.of in {*NO_SHARES} - {"targets"}:  # that is an excess
            assert " of 100" not in decided.shown, (name, decided)


def test_a_title_and_its_record_tell_two_reports_apart(table_record, every_record):
    one, other = table_record(1), table_record(1, title="Another")
    titles = [re.search("<title>(.*?)</title>", render_html(record))[1] for record in (one, other)]
    assert titles[0] != titles[1]
    for record in every_record.values():
        first = first_of(record)
        html = render_html(record, internal=True)
        assert record.digest.removeprefix("sha256:")[:8] in re.search("<title>(.*?)</title>",
                                                                       html)[1]  # fmt: skip
        assert first.source in f"{record.title} {first.subtitle}"
        assert "/" not in first.source.replace("made/from", "")
        decided_by = None if first.decided_by is None else first.decided_by.of
        is_drawn = decided_by is not None and decided_by not in NO_SHARES
        assert isinstance(first.with_it, int if is_drawn else NoneType)
        assert grade_word(first.grade) in html


def with_counts(record, counts, others):
    """Give groups of images, by their copies, other counts of those that come back."""
    groups = []
    for group in record.result.groups:
        recovered, total = counts.get(group.at["copies"], others)
        groups.append(group.model_copy(update={"recovered": recovered, "total": total}))
    return record.model_copy(
        update={"result": record.result.model_copy(update={"groups": tuple(groups)})}
    )


def test_copies_and_groups_that_are_hit_hardest_are_named(every_record):
    assert first_of(every_record["image-model"]).hardest == NO_GROUP  # 4 of 4 are too few
    record = with_counts(every_record["image-model"], {0: (40, 120), 20: (40, 40)}, (0, 40))
    assert "with 20 copies. 40 of 40 come back" in first_of(record).hardest
    # two groups, both hit hard: which is hit harder is not sure
    record = every_record["synthetic"]
    groups = [row for row in record.rows if row.of == "excess" and row.at["group"]]
    assert max(row.quantity.low for row in groups) > 0
    assert first_of(record).hardest == NO_GROUP


def test_a_group_is_the_largest_only_where_its_limits_are_apart():
    assert surely_largest([]) is surely_largest([(0.5, 0.6)]) is None
    assert surely_largest([(0.1, 0.2), (0.21, 0.9), (0.0, 0.2)]) == 1
    assert surely_largest([(0.1, 0.2), (0.2, 0.9)]) is None  # they touch
    assert surely_largest([(0.1, 0.2), (0.5, 0.9), None]) is None  # nothing is known of the last


def test_what_could_not_be_measured_is_said_with_its_reason_and_draws_nothing(table_record):
    """The page of a study in folds said that an attack finds "{}", and that it added nothing."""
    record = table_record(1).model_copy(update={"status": "not assessed"})
    case = SimpleNamespace(
        status="not assessed", grade="not assessed", unaccounted=(), decision=None,
        findings=SimpleNamespace(rows=()), assumptions=(),
    )  # fmt: skip
    unseen = Quantity(value=None, grade="not assessed", why="cannot be seen with 9 people.")
    glance = Glance(
        "people",
        Reach("Guessing names {} people.", unseen),
        Reach("The attack names {}.", Quantity(value=None, grade="not assessed")),
        None, "", "", "no more", why="{} decided",
    )  # fmt: skip
    screen = first_screen(record, case, glance)
    assert [text for text, _ in screen.sentences[:2]] == [
        "Without the release, what is reached is not assessed: cannot be seen with 9 people.",
        "With the release, what is reached is not assessed.",
    ]
    assert screen.key == "100 people."
    assert "{" not in screen.answer


def test_what_is_shown_and_rounds_to_no_square_is_not_called_nothing(table_record):
    screen = first_of(table_record(1))
    shown = replace(screen, without=66, with_it=66, most=None, allowed=None, is_shown=True)
    assert shown.key == "100 people: ■ without the release. The release adds less than one."
    assert replace(shown, is_shown=False).key.endswith(
        ": ■ without the release. No gain from the release is shown."
    )
