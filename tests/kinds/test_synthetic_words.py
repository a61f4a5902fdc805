"""What the first screen of a published file says: what is guessed, counted, declared, left open."""

import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from narcissus.audits import run
from narcissus.errors import InputError
from narcissus.kinds.synthetic.copies import (
    ACCEPTED,
    GROUPS_LEFT,
    CountedQuestion,
    _of_groups,
)
from narcissus.kinds.synthetic.copies import CONTROL as BY_CONTROL
from narcissus.kinds.synthetic.copy_sentences import unseen
from narcissus.kinds.synthetic.kind import KIND, _criteria
from narcissus.kinds.synthetic.propose import completed
from narcissus.kinds.synthetic.schema import ExcessThreshold
from narcissus.kinds.synthetic.screen import glance_of
from narcissus.kinds.table.twins import guessed
from narcissus.report import page_of, render_html, render_text
from narcissus.report.first_screen import first_screen
from narcissus.study.load import load_study
from narcissus.synthetic.row_groups import LESS_THE_LEAST, GroupedPeople

LABS = ("gluc", "hb", "iron", "plt", "sbp", "zinc")


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    labs = {name: np.round(rng.normal(100, 15, n), 1) for name in LABS}
    pay = np.round(rng.lognormal(10, 0.4, n)).astype(int)
    return pd.DataFrame({**labs, "pay": pay, "ill": rng.choice([*"abcd"], n)})


REAL, MADE, CONTROL = (people(seed) for seed in (1, 2, 3))


def settings_of(folder, real, made, control, unknown, **data):
    paths = {}
    for name, frame in {"real": real, "synthetic": made, "control": control}.items():
        paths[name] = frame if frame is None else str(folder / f"{name}.csv")
        if isinstance(frame, pd.DataFrame):
            frame.to_csv(paths[name], index=False)
        elif frame is not None:
            paths[name] = str(frame)
    names = ("columns", "drop", "irrelevant", "bins", "missing", "read_as", "unit")
    return completed({
        "kind": "synthetic",
        "data": {**paths, **{name: data.get(name) for name in names}},
        "threat": {"unknown": unknown},
        "groups": {"columns": None},
        "threshold": None,
    })  # fmt: skip


def audited(folder, made=MADE, *, real=REAL, control=CONTROL, unknown=("ill",), **data):
    """Audit files as `narcissus synth` does; return audit and first screen."""
    unknown = None if unknown is None else list(unknown)
    settings, _ = settings_of(folder, real, made, control, unknown, **data)
    audit = run(load_study(settings), rng=1)
    return audit, page_of(audit.record, internal=True).first


def said_of(audit, screen):
    return " ".join([screen.answer, *(text for text, _ in screen.sentences), *screen.rests_on])


def planted(real, made, many, columns=None):
    """Return a file with rows of the data, or with some columns of these."""
    mixed, names = made.copy(), list(columns or real)
    mixed.loc[: many - 1, names] = real.loc[: many - 1, names]
    return mixed.sample(frac=1, random_state=1, ignore_index=True)


# Content that no reader gives


@pytest.fixture(scope="module")
def with_backup(tmp_path_factory):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path_factory.mktemp("made") / "made.parquet"
    table = arrow.Table.from_pandas(MADE, preserve_index=False)
    backup = {b"backup": zlib.compress(REAL.to_csv(index=False).encode())}
    table = table.replace_schema_metadata({**table.schema.metadata, **backup})
    pytest.importorskip("pyarrow.parquet").write_table(table, path)
    return path


def test_a_backup_in_the_metadata_is_not_judged_in_favour(with_backup, tmp_path):
    """All people of the data stood there, and the screen did not name it."""
    audit, screen = audited(tmp_path, with_backup)
    assert audit.status == "undeclared"
    assert "metadata backup of the file is not accounted for" in screen.answer
    assert '`--irrelevant "unread metadata backup of the file"`' in screen.answer
    name = "unread metadata backup of the file"
    audit, screen = audited(tmp_path, with_backup, irrelevant=[name])
    assert audit.status == "not shown"
    assert "metadata `backup` of the file" in screen.not_looked_at
    assert f"as you declare, nothing about a person follows from the {name}." in screen.answer


# Which people a number is of


QUESTIONS = {
    "columns recoded": (
        "people who are unique in the data",
        "appear in the file with them recoded",
    ),
    "the rows that are nearly a person": ("people", "have a row that is far nearer to them"),
    "column `iron`": ("people with a unique value in `iron`", "appear in the file by it"),
    "the rows of whole groups by `ill`": ("groups of rows", "appear in the file with all rows"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of a file of other people, and of one of copies in some columns, each once."""
    folder = tmp_path_factory.mktemp("open")
    files = {"whole": MADE, "by columns": planted(REAL, MADE, 60, LABS[:4])}
    audits = {name: audited(folder, made, control=None)[0] for name, made in files.items()}
    return {name: audit.record for name, audit in audits.items()}


def opened(record, *questions):
    """Return the first screen of a record, were these questions open."""
    result = record.result.model_copy(update={"unaccounted": questions})
    accepts = ExcessThreshold.model_validate({"copies": 0.9})
    case = KIND.conclude(KIND.found(_criteria(result, accepts), result))
    record = record.model_copy(update={"status": case.status})
    return case, first_screen(record, case, glance_of(case))


def question_of(subject, standing=200, declaration=BY_CONTROL):
    who, does = QUESTIONS[subject]
    return CountedQuestion(
        subject=subject, reason=f"{standing} of 300 {who} {does}.", declaration=declaration,
        who=who, does=does, standing=standing, of=300, expected=2.0,
    )  # fmt: skip


@pytest.mark.parametrize("way", ["whole", "by columns"])
@pytest.mark.parametrize("subject", QUESTIONS)
def test_every_number_of_an_open_screen_says_whom_it_is_of(subject, way, results):
    """300 of 300 stood in the file, and the excess of copies was none, by three columns."""
    case, screen = opened(results[way], question_of(subject))
    assert case.status == "undeclared"
    assert f"200 of 300 {QUESTIONS[subject][0]}" in screen.sentences[1][0]
    copied = results[way].result.copied
    for line in screen.rests_on:
        assert "Counted" not in line
        if "excess of" in line.lower():
            assert ("hole copies, as the file is written" in line) == (not copied.columns)
            assert all(name in line for name in copied.columns)


@pytest.mark.parametrize("subject", QUESTIONS)
def test_every_open_question_is_counted(subject, results):
    """Of a second question the subject alone was told, and no number."""
    first = next(name for name in QUESTIONS if name != subject)
    _, screen = opened(results["whole"], question_of(first), question_of(subject, 123))
    text = " ".join(screen.rests_on)
    assert f"Not accounted for: {subject} (123 of 300 {QUESTIONS[subject][0]}" in text


EITHER = f"{BY_CONTROL}; or {ACCEPTED}"


@pytest.mark.parametrize("ways", [(BY_CONTROL, EITHER), (EITHER, BY_CONTROL)])
def test_each_remedy_is_advised_once(ways, results):
    subjects = list(QUESTIONS)[:2]
    each = [question_of(name, 200, way) for name, way in zip(subjects, ways, strict=True)]
    _, screen = opened(results["whole"], *each)
    assert screen.answer.count("--control FILE") == 1
    assert "--copies" not in screen.answer


# What was not looked at, and what is declared


@pytest.mark.parametrize("with_control", [True, False])
@pytest.mark.one_in(2)
def test_whatever_decides_the_screen_says_what_was_not_looked_at(
    with_control, tmp_path, monkeypatch
):
    monkeypatch.setattr("narcissus.synthetic.full_files.LARGE", 100)
    monkeypatch.setattr("narcissus.kinds.synthetic.copies.MOST_SOUGHT", 50)
    audit, screen = audited(tmp_path, control=CONTROL if with_control else None)
    assert audit.status == "not shown"
    assert "No copied people are shown" in said_of(audit, screen)
    for part in (
        "copies by two columns",
        "nearest records",
        "disguised copies",
        "other columns in each row",
        "how the file was made",
    ):
        assert part in screen.not_looked_at


@pytest.mark.parametrize("with_control", [True, False])
@pytest.mark.one_in(2)
def test_a_declaration_is_said_with_the_verdict(with_control, tmp_path):
    control = CONTROL if with_control else None
    declared = ["iron", "order of rows"]
    audit, screen = audited(tmp_path, control=control, irrelevant=declared)
    text = (
        "This holds if, as you declare, nothing about a person follows from `iron`, the order of "
        "rows."
    )
    assert text in screen.answer
    assert text in audit.verdict
    assert text in " ".join(render_text(audit.record).split())
    assert "as you declare" in render_html(audit.record)
    assert audit.record.result.declared == tuple(declared)
    audit, screen = audited(tmp_path, REAL, control=control, irrelevant=declared)
    assert audit.status == "exceeded"
    assert "as you declare" not in screen.answer


# What is guessed


WAYS = {
    "to the right fifth": {"quantiles": 5},
    "to the right one of 7 bins": {"quantiles": 7},
    "to the right 10,000": {"width": 10_000},
    "to the right side of 20,000": {"above": 20_000},
    "to the right one of 3 bins": {"edges": [15_000, 30_000]},
    "to the right one of its 3 commonest values and all others": {"common": 3},
}


@pytest.mark.parametrize("way", WAYS)
def test_bins_have_words(way):
    assert guessed(WAYS[way]) == way


@pytest.mark.parametrize("with_control", [True, False])
@pytest.mark.one_in(2)
def test_a_guess_in_bins_is_not_said_to_be_right(with_control, tmp_path):
    """It guessed the right of five groups, and the screen said that it guessed the number."""
    way = "to the right fifth"
    control = CONTROL if with_control else None
    made = REAL if not with_control else MADE
    audit, screen = audited(
        tmp_path, made, control=control, unknown=["pay"], bins={"pay": {"quantiles": 5}}
    )
    texts = [said_of(audit, screen), audit.verdict, render_text(audit.record)]
    for text in texts:
        assert "guesses pay right" not in text
        assert "guessed right" not in text
    assert f"inference of pay {way}" in set(audit.to_frame()["name"])
    assert any(way in " ".join(text.split()) for text in texts)


def test_of_several_secrets_each_that_is_binned_is_named(tmp_path):
    audit, _ = audited(tmp_path, unknown=["ill", "pay"], bins={"pay": {"width": 10_000}})
    names = {risk.name: risk.how for risk in audit.record.result.risks if risk.secret}
    assert names == {
        "inference of ill": "right",
        "inference of pay to the right 10,000": "to the right 10,000",
        "inference of ill and pay (pay to the right 10,000)": "right (pay to the right 10,000)",
    }


def with_codes(frame, seed, common=3):
    rng = np.random.default_rng(seed)
    codes = [f"{a}{b:02d}.{c}" for a, b, c in zip(
        rng.choice([*"CEFIJKMNSZ"], len(frame)), rng.integers(0, 20, len(frame)),
        rng.integers(0, 3, len(frame)), strict=True)]  # fmt: skip
    return frame.assign(diagnosis=[*["A00.0"] * common, *codes[common:]])


CODED = [with_codes(frame, seed) for seed, frame in enumerate((REAL, MADE, CONTROL))]


def test_a_secret_whose_bins_make_most_people_one_is_not_proposed(tmp_path):
    """295 codes became two and "(other)", which 99 of 100 people have: "little is left"."""
    real, made, control = CODED
    settings, lines = settings_of(tmp_path, real, made, control, None)
    assert "diagnosis" not in settings["threat"]["unknown"]
    assert any("`diagnosis` is not guessed: it has" in line for line in lines)
    with pytest.raises(InputError, match="`diagnosis` cannot be unknown: it has"):
        settings_of(tmp_path, real, made, control, ["diagnosis"])


def test_a_residue_that_the_user_asks_for_is_said_to_be_one(tmp_path):
    real, made, control = CODED
    audit, screen = audited(
        *(tmp_path, made), real=real, control=control, unknown=["diagnosis"],
        bins={"diagnosis": {"common": 1}},
    )  # fmt: skip
    text = said_of(audit, screen)
    assert "diagnosis right for" not in text
    assert "and all others" in text
    assert "finer values are not asked about" in text


# What is counted, and why it is open


@pytest.fixture(scope="module")
def of_rounded_copies(tmp_path_factory):
    """An audit of a file of which 40 of 300 rows are people's, their pay rounded."""
    copies = REAL.assign(pay=(REAL["pay"] / 1000).round().astype(int) * 1000)
    return audited(tmp_path_factory.mktemp("rounded"), planted(copies, MADE, 40))


def test_copies_that_only_some_rows_are_rounded_like_are_said_to_be_some(of_rounded_copies):
    audit, _ = of_rounded_copies
    (line,) = audit.record.result.copies.coarse
    assert line == "`pay` rounded to 1,000, in 40 of 300 rows"


def test_a_control_that_decides_does(of_rounded_copies):
    """40 of 300 people stand in the file and nobody of the control: it has people enough."""
    audit, screen = of_rounded_copies
    excess = audit.record.result.copied.excess.share
    assert excess.grade == "sampled"
    assert excess.low > 0
    text = f"{said_of(audit, screen)} {audit.verdict}"
    assert "too few people" not in text
    assert "favours" not in text


def test_a_control_that_does_not_decide_is_told_by_its_counts(tmp_path):
    audit, screen = audited(tmp_path, planted(REAL, MADE, 30), control=CONTROL[:45])
    assert audit.status == "exceeded"
    copied = audit.record.result.copied
    if "favours" in screen.answer:
        assert f"0 of its {copied.control[1]} unique people" in screen.answer


def test_what_is_counted_is_counted_in_the_whole_file(tmp_path):
    """Columns chosen by half of the people were counted by the other half, and said to be all."""
    columns = ["gluc", "hb", "plt", "sbp"]
    made = planted(REAL, MADE, 100, columns)
    audit, screen = audited(tmp_path, made)
    assert audit.status == "exceeded"
    copied = audit.record.result.copied
    names = list(copied.columns)
    both = pd.concat([REAL, CONTROL], keys=["real", "control"])
    unique = both[~both.duplicated(names, keep=False)].loc["real"]
    standing = len(unique.merge(made[names].drop_duplicates(), on=names))
    assert copied.counted == (standing, len(unique))
    text = f"{said_of(audit, screen)} {audit.verdict}"
    assert f"{standing} of {len(unique)} people" in text
    if " ".join(names) in " ".join(columns):
        assert f"Of the {copied.scored[1]} who were scored" in text
    assert "Not accounted for: column" not in said_of(audit, screen)


def test_people_who_could_be_copied_unseen_are_those_who_are_unique(tmp_path):
    """Some are like others, and the sentence spoke of all."""
    audit, screen = audited(tmp_path)
    copied = audit.record.result.copied
    unique = f"of the {copied.deciding[1]} people who are unique in the data"
    text = said_of(audit, screen)
    assert unique in text
    assert "could be copied unseen" in text


def test_groups_of_rows_are_asked_about_as_groups():
    """Households that stand in the file are no people, and what was not sought of them is said."""
    groups = GroupedPeople("place", ("age (1)", "age (2)"), 109, 10, 0.0, None, is_whole=True)
    question = _of_groups(groups, can_tell=False)
    assert "`age" not in question.reason
    some = replace(groups, columns=("age", "sex"), is_whole=False, reading=LESS_THE_LEAST)
    reason = _of_groups(some, can_tell=False).reason
    assert "in the data by `age`, `sex`, less the least of each group, appear in" in reason
    assert question.subject == "the rows of whole groups by `place`"
    assert "10 of 109 groups of several rows" in question.reason
    assert question.who.startswith("groups of rows")
    assert "`place`" in GROUPS_LEFT.format(" by `place`")


def test_of_people_of_several_rows_single_rows_alone_are_sought(results):
    """None of 200 patients could be copied unseen whole, and 25 were, their dates moved."""
    result = results["whole"].result
    assert "could be copied unseen whole" in unseen(result)
    left = (GROUPS_LEFT.format(" by `ill`"),)
    text = unseen(result.model_copy(update={"not_sought": left}))
    assert "unseen with single rows as they are written" in text
    assert "whole" not in text


def test_rows_that_were_not_tried_are_no_reason_to_say_that_none_is_copied(tmp_path):
    """Of each person of a panel one row is tried; copies of the others stand in the file."""
    rng = np.random.default_rng(4)

    def panel(first):
        who = first + np.repeat(np.arange(120), 5)
        pay = rng.lognormal(8, 1, 600).round(2)
        return pd.DataFrame({"who": who, "year": np.tile(range(5), 120), "pay": pay,
                             "hours": rng.integers(10, 60, 600),
                             "ill": rng.choice(["yes", "no"], 600)})  # fmt: skip

    real, made = panel(1000), panel(5000)
    copied = real.iloc[[3, 51, 107, 222, 306]]
    made.loc[[0, 50, 100, 200, 300], list(real)[1:]] = copied[list(real)[1:]].to_numpy()
    for name, frame in {"real": real, "made": made}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    settings = {"real": "real.csv", "synthetic": "made.csv", "unit": "who"}
    study = {"kind": "synthetic", "data": settings, "threat": {"unknown": ["ill"]}}
    for at in ("real", "synthetic"):
        settings[at] = str(tmp_path / settings[at])
    screen = page_of(run(load_study(study), rng=2).record).first
    assert screen.status != "met"
    assert "none of the" not in screen.answer
