"""The first screen of a report: the answer, a picture of a hundred, and what both rest on.

A kind of study names its numbers once (`Glance`). The sentences are made here, so that page,
terminal, Markdown and JSON hold the same. Figures are whole ones of 100; limits round outwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from textwrap import shorten
from typing import Any

from narcissus._outwards import lower, upper
from narcissus.report.format import STATUS, grade_word
from narcissus.results import LEFT_OUT, WEAK, Grade, Status
from narcissus.rows import Quantity, StudyJudgement, Unaccounted
from narcissus.study.plugins import GIVEN
from narcissus.study.record import Record

NO_GROUPS = "We did not look at groups. An average can hide who loses most."
NO_GROUP = "We found no group at clearly higher risk. A small group could still be."
EXACT = "The study is as it was described: nothing is sampled."
MOST_BULLETS, MOST_LETTERS = 3, 50
LONGEST = 160
"""Letters of one bullet; the verdict in full has the whole of it."""
COLUMNS = 50
"""Squares in a line of a terminal."""


@dataclass(frozen=True)
class Reach:
    """A share of a hundred in a sentence.

    text: The sentence, with {} for the figure: "guessing gets {} people right."
    found: The share with its limits and grade; None where the sentence holds no figure.
    """

    text: str
    found: Quantity | None = None


@dataclass(frozen=True)
class Glance:
    """The numbers of a first screen, and the words that are a kind's own.

    unit: What the hundred are, in the plural.
    without, with_it: What is reached without the release, and with it by the best attack.
    most: What no attacker exceeds; None where nothing limits every attacker.
    unlimited: The sentence in that case.
    hardest: Who is hit hardest, one or two sentences.
    unseen: What no number is about, in a few words.
    accepted: The threshold in a few words: "80 of 100 people".
    asked, kept, broken: Subject and verbs of the answer.
    where: The setting of the figures, after a verb: "at ε = 1".
    why: What the answer says besides, after a colon.
    undecided: The answer where the study is not decided or not assessed; empty for the usual one.
    contradicted: The answer where what was assumed is refuted.
    plainly: The answer where no threshold was set.
    given: What the limit assumes.
    notes: Sentences that what it rests on begins with: "Counted: 6 of 8 images."
    """

    unit: str
    without: Reach
    with_it: Reach
    most: Reach | None
    unlimited: str
    hardest: str
    unseen: str
    accepted: str = ""
    asked: str = "Your threshold"
    kept: str = "is kept"
    broken: str = "is exceeded"
    where: str = ""
    why: str = ""
    undecided: str = ""
    contradicted: str = "An assumption of this report is refuted, so it proves nothing."
    plainly: str = "You set no threshold, so this report only measures."
    given: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class FirstScreen:
    """What a report opens with.

    without, with_it, most: Whole ones of 100, the last rounded up; None where there is no figure.
    sentences: Three of them, each with the grade of its figure; None where it has none.
    """

    title: str
    source: str
    digest: str
    status: str
    word: str
    sign: str
    grade: Grade
    answer: str
    unit: str
    without: int | None
    with_it: int | None
    most: int | None
    sentences: tuple[tuple[str, Grade | None], ...]
    hardest: str
    rests_on: tuple[str, ...]
    not_looked_at: str

    @property
    def subtitle(self) -> str:
        """Name what was audited, if the title does not, and the record."""
        source = "" if self.source in self.title else f"{self.source}, "
        return f"{source}record {self.digest or 'without a digest'}"

    @property
    def key(self) -> str:
        """Describe the picture in a line."""
        limit = "" if self.most is None else f", {LIMIT} nobody gets further"
        return f"100 {self.unit}: {GUESSED} without the release, {MORE} added by it{limit}"

    @property
    def squares(self) -> str:
        """Return a sign for each of the hundred, in order."""
        first = self.without or 0
        both = max(first, self.with_it or 0)
        return GUESSED * first + MORE * (both - first) + REST * (100 - both)

    @property
    def edge(self) -> str:
        """Return the proved limit as an SVG path on a grid of 20 by 5; empty for none."""
        if self.most is None:
            return ""
        row, column = divmod(self.most, 20)
        step = f"M0,{row + 1}H{column}V{row}H20"
        return step if column else f"M0,{row}H20"

    def to_dict(self) -> dict[str, Any]:
        """Return all that it holds as plain values."""
        sentences = [{"text": text, "grade": grade} for text, grade in self.sentences]
        return {**asdict(self), "sentences": sentences}


def placed(alike: Sequence[str], settings: int) -> str:
    """Name the settings that have the status of the study: two of them, or "all" where all have it.

    >>> placed(["epsilon 1", "epsilon 2", "epsilon 3"], 4)
    'at epsilon 1 and epsilon 2 and 1 more'
    """
    if settings == 1 or not alike:
        return ""
    if len(alike) == settings:
        return "at both settings" if settings == 2 else f"at all {settings} settings"
    more = f" and {len(alike) - 2} more" if len(alike) > 2 else ""
    return f"at {' and '.join(alike[:2])}{more}"


def voided(unit: str, unseen: str) -> Glance:
    """Return the glance of a study whose points tell members from others without the model."""
    return Glance(
        unit=unit,
        without=Reach("A classifier that never saw the model tells members from others."),
        with_it=Reach("So an attack on the model may do no more than that."),
        most=None,
        unlimited="No number here is about what the model gives away.",
        hardest="We cannot say who is hit hardest.",
        unseen=unseen,
        undecided="The comparison is void: members differ from others in ways that need no model.",
    )


GUESSED, MORE, REST, LIMIT = "■", "▲", "·", "|"


def of_100(share: float, rounding: str = "nearest") -> str:
    """Write a share as whole ones of 100.

    >>> of_100(0.726), of_100(0.726, "up"), of_100(0.001), of_100(0.999), of_100(0.0)
    ('73 of 100', '73 of 100', 'fewer than 1 of 100', 'more than 99 of 100', '0 of 100')
    """
    count = hundredths(share, rounding)
    if count == 0 and share > 0:
        return "fewer than 1 of 100"
    return "more than 99 of 100" if count == 100 and share < 1 else f"{count} of 100"


def hundredths(share: float, rounding: str = "nearest") -> int:
    if rounding == "nearest":
        return round(100 * share)
    return int((upper if rounding == "up" else lower)(100 * share, places=0))


def paragraph(case: StudyJudgement, glance: Glance) -> str:
    """Return the verdict in words: the answer, and what is reached without, with, at most."""
    sentences = [text for text, _ in _sentences(glance, case.contradictions)]
    answer = _answer(case.status, case.unaccounted, glance)
    texts = [answer, *case.contradictions, *sentences, *glance.notes]
    return f"{STATUS[case.status][1]}: {' '.join(texts)}"


def _sentences(glance: Glance, contradictions: Sequence[str]) -> list[tuple[str, Grade | None]]:
    limit = _limit(glance, contradictions)
    shares = [one.found.value for one in (glance.without, glance.with_it) if one.found is not None]
    reached = max((one for one in shares if one is not None), default=0.0)
    last: tuple[str, Grade | None] = (glance.unlimited, None)
    if limit is not None and limit.found is not None:
        last = _said(limit, "up")
        if reached > (limit.found.value or 0.0):
            last = f"{last[0]} These trials came out higher by chance.", last[1]
    elif reached == 1:
        last = "All 100 are reached already, so no limit is lower.", None
    return [_said(glance.without), _said(glance.with_it), last]


def first_screen(record: Record, case: StudyJudgement, glance: Glance) -> FirstScreen:
    """Make the first screen of a record from the numbers that its kind names."""
    sign, word = STATUS[record.status]
    limit = _limit(glance, record.contradictions)
    found = [one and one.found for one in (glance.without, glance.with_it, limit)]
    without, with_it, most = (None if one is None else one.value for one in found)
    return FirstScreen(
        title=record.title,
        source=source_of(record),
        digest=record.digest.removeprefix("sha256:")[:8],
        status=record.status,
        word=word,
        sign=sign,
        grade=record.grade,
        answer=_answer(record.status, case.unaccounted, glance),
        unit=glance.unit,
        without=None if without is None else hundredths(without),
        with_it=None if with_it is None else hundredths(with_it),
        most=None if most is None else hundredths(most, "up"),
        sentences=tuple(_sentences(glance, record.contradictions)),
        hardest=glance.hardest,
        rests_on=tuple(_bullets(record, case, glance, limit)) or (EXACT,),
        not_looked_at=_unseen(record, glance),
    )


def _said(reach: Reach, rounding: str = "nearest") -> tuple[str, Grade | None]:
    if reach.found is None or reach.found.value is None:
        return reach.text, None
    text = reach.text.format(of_100(reach.found.value, rounding))
    return f"{text[0].upper()}{text[1:]}", reach.found.grade


def _limit(glance: Glance, contradictions: Sequence[str]) -> Reach | None:
    """Return what limits every attacker, if that is below all 100 and nothing refutes it."""
    most = glance.most
    if most is None or most.found is None or most.found.value is None or contradictions:
        return None
    return most if hundredths(most.found.value, "up") < 100 else None


def _answer(status: Status, unaccounted: Sequence[Unaccounted], glance: Glance) -> str:
    if status == "undeclared":
        return " ".join(_declarations(unaccounted))
    subject = f"{glance.asked}, {glance.accepted}," if glance.accepted else glance.asked
    where = f" {glance.where}" if glance.where else ""
    why = f": {glance.why}" if glance.why else ""
    asked = f"{glance.asked[0].lower()}{glance.asked[1:]}"
    open_ = f"No attack is shown to exceed {asked}{where}, but one may exist."
    if glance.undecided and STATUS[status][1].startswith("Not"):
        return glance.undecided
    return {
        "met": f"{subject} {glance.kept}{where}{why}.",
        "exceeded": f"{subject} {glance.broken}{where}{why}.",
        "contradicted": glance.contradicted,
        "too few trials": f"There are too few trials to decide{where}.",
        "not assessed": "The study could not answer the question.",
        "no threshold": glance.plainly,
    }.get(status, open_)


def _declarations(unaccounted: Sequence[Unaccounted]) -> Iterator[str]:
    """Yield what a verdict in favour waits for, and what the user may write."""
    subjects = _named([item.subject for item in unaccounted], 2).replace("; ", " and ")
    verb = "is" if len(unaccounted) == 1 else "are"
    yield f"{subjects[0].upper()}{subjects[1:]} {verb} not accounted for."
    yield unaccounted[0].reason
    declarations = list(dict.fromkeys(item.declaration for item in unaccounted))
    yield f"To decide, write {' and '.join(declarations[:2])}."


def _bullets(
    record: Record, case: StudyJudgement, glance: Glance, limit: Reach | None
) -> Iterator[str]:
    """Yield what the answer rests on, the weightiest first; the last one counts the rest."""
    said = [_refuted(one) for one in record.contradictions]
    said += [f"Not accounted for: {item.subject}." for item in case.unaccounted]
    weak = [r.reason.rstrip(".") for r in record.not_assessed if r.quantity == WEAK]
    said += [f"{reason[0].upper()}{reason[1:]}." for reason in weak]
    said += [*glance.notes, *_sampling(glance)]
    given = [*record.assumptions, *(glance.given if limit is not None else ())]
    said += [f"Assumes that {text}." for one in dict.fromkeys(given) if (text := plain(one))]
    if limit is not None and limit.found is not None and limit.found.grade.startswith("proved"):
        said.append("Assumes that the release is made as the study describes.")
    said = [shorten(one, LONGEST, placeholder=" …") for one in dict.fromkeys(said)]
    if len(said) <= MOST_BULLETS:
        yield from said
        return
    yield from said[: MOST_BULLETS - 1]
    rest = [one.removeprefix("Assumes that ") for one in said[MOST_BULLETS - 1 :]]
    yield f"Also, in full below: {_named(rest, 2)}."


def _refuted(contradiction: str) -> str:
    """Keep of a contradiction what it refutes; its numbers are further down."""
    head = contradiction.partition(" (")[0].rstrip(".")
    return f"{head}."


def _sampling(glance: Glance) -> Iterator[str]:
    """Yield between which limits the figure of the best attack, else the first, lies."""
    for reach, which in ((glance.with_it, "with"), (glance.without, "without")):
        found = reach.found
        if found is None or found.grade != "sampled" or found.low is None or found.high is None:
            continue
        low, high = hundredths(max(found.low, 0.0), "down"), hundredths(min(found.high, 1.0), "up")
        sure = lower(100 * (found.confidence or 0.0), 3)
        yield (
            f"The figure {which} the release is estimated: {low} to {high} of 100, with {sure}% "
            "confidence."
        )
        return


PLAIN: dict[str, str] = {
    "the guarantee is about changing one canary's value": "the guarantee is about adding or "
    "removing one record",
    "nothing about when the number of guesses was chosen": "",
    "limits over records take their scores": "",
    "the people of the control are of the same population": "the people of the control are like "
    "those in the data, chosen at random, and no part of the file",
    "the people of both are independent": "no household or person is in both data and control",
    "the targets are nobody's shadows": "the models that are attacked are no model's shadow",
    "the secrets of the people are independent": "people's secrets are independent of each other, "
    "given what the attacker knows",
}
"""Assumptions of records by how they begin, in fewer words; an empty text leaves one out."""


def plain(assumption: str) -> str:
    """Return an assumption in plain words.

    >>> plain("runs of a program are independent of one another")
    'runs of a program are independent of one another'
    """
    for start, text in PLAIN.items():
        if assumption.startswith(start):
            return text
    return assumption.rstrip(".")


def _unseen(record: Record, glance: Glance) -> str:
    left = [one.reason.rstrip(".") for one in record.not_assessed if one.quantity == LEFT_OUT]
    columns = re.findall(r"(?:^|; )([^;(]+) \(", left[0]) if left else []
    named = [one for one in columns if not one.startswith("a column ")]
    said = [one for one in columns if one not in named]
    if named:
        said.append(f"the columns {', '.join(named[:3])}{' and others' * (len(named) > 3)}")
    text = f"{'; '.join([*said, glance.unseen])}."
    open_ = [
        one.quantity.partition(" (")[0]
        for one in record.not_assessed
        if one.quantity not in (WEAK, LEFT_OUT) and not one.quantity.startswith("distances in")
    ]
    return f"{text} Still open: {_named(open_, 3)}." if open_ else text


def _named(texts: Sequence[str], most: int) -> str:
    """Name the first of several in a few words each, and count the others."""
    said = [shorten(one.rstrip("."), MOST_LETTERS, placeholder=" …") for one in texts[:most]]
    return "; ".join(said) + (f"; and {len(texts) - most} more" if len(texts) > most else "")


_SOURCES = (
    *("data.path", "data.table", "data.scores", "data.documents", "data.images"),
    *("channel.file", "channel.samples", "channel.mechanism", "mechanism.name"),
)


def source_of(record: Record) -> str:
    """Name what was audited: the file, or the mechanism; no folder of a machine.

    record: From a run, or read from a file.
    """
    study = record.study
    if record.kind == "extraction":
        return f"{_name(study.get('release'))} by {_name(study.get('program'))}"
    if record.kind == "published-tables":
        return ", ".join(map(_name, study["data"]["tables"][:3]))
    if record.kind == "synthetic":
        data = study["data"]
        return f"{_name(data['synthetic'])}, made from {_name(data['real'])}"
    for place in _SOURCES:
        section, key = place.split(".")
        part = study.get(section)
        if isinstance(part, dict) and isinstance(value := part.get(key), str):
            return _name(value)
    return record.kind


def _name(value: Any) -> str:
    text = str(value)
    if text.startswith(GIVEN):
        return "a data frame"
    return PurePath(text.replace("\\", "/")).name or text


def markdown(first: FirstScreen) -> str:
    """Write a first screen as Markdown, for a README, an issue or a pull request."""
    lines = [
        f"### {first.sign} {first.word}: {first.answer} ({grade_word(first.grade)})",
        "",
        f"{first.title}, {first.subtitle}",
        "",
        *(
            f"* {text}{f' ({grade_word(grade)})' if grade else ''}"
            for text, grade in first.sentences
        ),
        "",
        first.hardest,
        "",
        "What this rests on:",
        "",
        *(f"* {text}" for text in first.rests_on),
        "",
        f"Not looked at: {first.not_looked_at}",
    ]
    return "\n".join(lines) + "\n"
