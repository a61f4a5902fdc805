"""What a published file's steward is told to do leads to an answer, and is not asked again."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.kinds.test_synthetic_copies import audited

from narcissus.errors import ColumnError, InputError, each_problem, refuse
from narcissus.kinds.synthetic.copies import WRITTEN_ALIKE, _of_strange
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.traces import traces_of

WORDS = dict(zip(range(1, 6), ["never", "seldom", "at times", "often", "always"], strict=True))
ITEMS = [f"q{number}" for number in range(6)]


def survey(seed, n=120):
    rng = np.random.default_rng(seed)
    level = rng.normal(size=(n, 1))
    answers = np.digitize(level + rng.normal(size=(n, len(ITEMS))), [-1.5, -0.5, 0.5, 1.5]) + 1
    frame = pd.DataFrame(answers, columns=ITEMS)
    age = rng.integers(18, 80, n)
    return frame.assign(age=age, town=rng.choice([*"ABCDEF"], n), pay=rng.normal(50, 9, n).round(2))


def recoded(frame, columns=ITEMS):
    return frame.assign(**{name: frame[name].map(WORDS) for name in columns})


FILES = {
    "answers in words": (survey(1), recoded(survey(2))),
    "the data's answers in words": (survey(1), recoded(survey(1))),
    "one answer in words": (survey(1), recoded(survey(2), ITEMS[:1])),
    "letters and words": (
        survey(1),
        recoded(survey(2)).assign(town=lambda f: f["town"].map(dict(zip("ABCDEF", "uvwxyz")))),
    ),
    "another unit": (survey(1), survey(2).assign(pay=lambda f: (f["pay"] * 1e5).round(2))),
    "a column of the file alone": (survey(1), survey(2).assign(note=survey(4)["pay"])),
    "everything in words": (survey(1)[ITEMS], recoded(survey(2))[ITEMS]),
    "the data, everything in words": (survey(1)[ITEMS], recoded(survey(1))[ITEMS]),
    "all but one in words": (survey(1)[[*ITEMS, "age"]], recoded(survey(2))[[*ITEMS, "age"]]),
    "codes for numbers": (survey(1), survey(2).assign(age=lambda f: "a" + f["age"].astype(str))),
}


def advised(text):
    """Return the columns that a text says to declare irrelevant, and those to leave out."""
    return [
        [
            name
            for names in re.findall(rf"--{option} ([^`\s);]+)", text)
            for name in names.split(",")
        ]
        for option in ("irrelevant", "drop")
    ]


@pytest.mark.parametrize("files", FILES)
def test_advice_leads_to_an_answer_in_two_rounds(files, tmp_path):
    (real, made), irrelevant, drop = FILES[files], [], []
    for number in range(3):
        try:
            audit, screen = audited(real, made, tmp_path, irrelevant=irrelevant, drop=drop or None)
            text, is_open = screen.answer, audit.status == "undeclared"
        except InputError as error:
            text, is_open = str(error), True
        names, left = advised(text)
        if not is_open or not (names or left):
            break
        assert not {*names} & {*irrelevant, *drop}
        assert len(names) + len(left) < real.shape[1]
        irrelevant, drop = [*irrelevant, *names], [*drop, *left]
    assert number <= 2
    assert not is_open or WRITTEN_ALIKE in text or "control" in text


@pytest.mark.parametrize("columns", [ITEMS, [*ITEMS, "age"]])
def test_a_file_of_other_words_alone_is_sought_by_its_codes(columns):
    real, made = (
        survey(1)[columns],
        recoded(survey(1))[columns].drop(columns="age", errors="ignore"),
    )
    files = read_whole(real, made.sample(frac=1, random_state=1))
    assert traces_of(files, ITEMS, ITEMS[:1], entropy=1).changed is not None


@pytest.mark.parametrize("left", [0, 1, 2])
def test_columns_are_not_all_declared_away(left):
    """Who leaves out what is written otherwise must have two columns to compare."""
    names = [*ITEMS[:2], *["age", "town"][:left]]
    real, made = survey(1, 40)[names], recoded(survey(2, 40), ITEMS[:2])[names]
    (question,) = _of_strange(read_whole(real, made))
    assert all(name in question.subject for name in ITEMS[:2])
    assert ("irrelevant" in question.declaration) == (left == 2)
    assert (question.declaration == WRITTEN_ALIKE) == (left < 2)


def test_columns_under_whose_codes_people_are_are_not_declared_away():
    """To declare them irrelevant, as was advised, hid the people."""
    real, made = survey(1, 40), recoded(survey(2, 40), ITEMS[:2])
    files = read_whole(real, made)
    (question,) = _of_strange(files, ITEMS[:1])
    assert ITEMS[0] not in question.declaration
    assert ITEMS[1] in question.declaration
    assert not list(_of_strange(files, ITEMS[:2]))


def test_each_problem_of_several_is_known():
    """So that columns of hardly a common value are told from what must be refused."""
    unlike = [
        ColumnError(name, name, f"values: text in the real file, text in the {file} file", str)
        for name, file in (("a", "synthetic"), ("b", "synthetic"), ("c", "control"))
    ]
    with pytest.raises(InputError) as raised:
        refuse([*unlike, InputError("no rows")])
    problems = each_problem(raised.value)
    assert [str(problem) for problem in problems] == ["a", "b", "c", "no rows"]
    assert [problem.is_unlike("synthetic") for problem in problems[:3]] == [True, True, False]
