"""The first screen of a report: the answer, a picture of a hundred, and what both rest on.

The judge says which row decided, and what is accepted of it. A kind of study gives the words
(`Glance`); sentence, picture, interval and threshold are filled in here, from that row. So page,
terminal, Markdown and JSON hold the same (`narcissus.report.reach` says how numbers are written).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from textwrap import shorten
from typing import Any

from narcissus._outwards import lower, upper
from narcissus._visible import plain_markdown
from narcissus.judgement import Decision, StudyJudgement
from narcissus.report.format import STATUS, Rounding, grade_word, list_names
from narcissus.report.reach import (
    SHARE,
    Reach,
    RowView,
    counted_in,
    figure_text,
    hundredths,
    limits_everybody,
    limits_text,
    written,
)
from narcissus.results import CERTAIN, FOR_COPIES, LEFT_OUT, WEAK, Grade, Status
from narcissus.rows import Quantity, Unaccounted
from narcissus.study.plugins import GIVEN
from narcissus.study.record import Record

NO_GROUPS = "We did not look at groups. An average can hide who loses most."
NO_GROUP = "We found no group at clearly higher risk. A small group could still be."
EXACT = "The study is as it was described: nothing is estimated."
MOST_BULLETS, MOST_LETTERS = 3, 50
LONGEST = 200
"""Letters of one bullet; what the verdict rests on, further below, has the whole of it."""
COLUMNS = 50
"""Squares in a line of a terminal."""


def surely_largest(limits: Sequence[tuple[float, float] | None]) -> int | None:
    """Return the place of the group whose lower limit is above all others' upper limits.

    limits: lower and upper limit of each group of one partition, which hold jointly; None of a
        group that has none. None is returned where no group is surely above all others, as of a
        single group: so a group that is not the largest is named at most as often as limits fail.

    >>> surely_largest([(0.1, 0.2), (0.3, 0.5)]), surely_largest([(0.1, 0.4), (0.3, 0.5)])
    (1, None)
    """
    known = [ends for ends in limits if ends is not None]
    if len(known) < max(2, len(limits)):
        return None
    place = max(range(len(known)), key=lambda k: known[k][0])
    others = [high for k, (_, high) in enumerate(known) if k != place]
    return place if known[place][0] > max(others) else None


def seeks(knows: str, secret: str, released: str) -> str:
    """Name in a sentence what an attacker knows, what is secret, and what is released.

    >>> seeks("all other columns", "income", "noisy counts, at epsilon = 1")
    'An attacker who knows all other columns seeks income in noisy counts, at epsilon = 1.'
    """
    text = f"An attacker who knows {knows} seeks {secret} in {released}."
    return shorten(text, LONGEST, placeholder=" …")


@dataclass(frozen=True)
class Glance:
    """The numbers of a first screen, and the words that are a kind's own.

    unit: What the hundred are, in the plural.
    without, with_it: What is reached without the release, and with it by the best attack.
    most: What no attacker exceeds; None where nothing limits every attacker.
    unlimited: The sentence in that case.
    hardest: Who is hit hardest, one or two sentences.
    unseen: What no number is about, in a few words.
    signs: What the squares of the figure without are, and those beyond it, in the legend.
    accepted: The threshold in a few words: "{} people", with {} for what is accepted of the row
        that decided, read by ``view``; empty for no threshold.
    view: How the row that decided is read.
    interval: What the limits are of, as a subject: "The gain".
    level: Their confidence, where the row does not say it.
    added: What the release adds, with its limits; None: the figure with it, less that without.
    about: The secret, what the attacker knows, what is released and at which level, in a sentence.
    asked, kept, broken: Subject and verbs of the answer.
    where: The setting of the figures, after a verb: "at ε = 1".
    why: What the answer says besides, after a colon; {} for the number that decided.
    undecided: The answer where the study is not decided or not assessed; empty for the usual one.
    contradicted: The answer where what was assumed is refuted.
    plainly: The answer where no threshold was set.
    given: What the limit assumes.
    notes: Sentences that what it rests on begins with: "Counted: 6 of 8 images."
    declared: What the user declares and no number shows, a clause each.
    implied: What a verdict in favour assumes that nobody declares, a clause each.
    is_open: Whether the figures are of people whom an open question is about: what they are beyond
        the figure without is drawn, and nothing says that the release added it.
    allowed: The share that the threshold allows, in [0, 1], where the row that decided has another
        unit; None: it follows from that row.
    """

    unit: str
    without: Reach
    with_it: Reach
    most: Reach | None
    unlimited: str
    hardest: str
    unseen: str
    signs: tuple[str, str] = ("without the release", "added by it")
    accepted: str = ""
    view: RowView = SHARE
    interval: str = ""
    level: float | None = None
    added: Quantity | None = None
    about: str = ""
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
    declared: Sequence[str] = ()
    implied: Sequence[str] = ()
    is_open: bool = False
    allowed: float | None = None


@dataclass(frozen=True)
class DecidedBy:
    """The row that decided, as the first screen shows it.

    of, name, role, at: Its place in the record.
    value, low, high: Its numbers, as in the record.
    at_most, at_least: What is accepted of it, in its own unit.
    shown: Its number in words, in the unit of the sentences.
    between: Its limits in words; empty where it has none.
    accepted: What is accepted of it, in words; empty where nothing was asked.
    """

    of: str
    name: str
    role: str
    at: dict[str, int | float | str]
    value: float | None
    low: float | None
    high: float | None
    at_most: float | None
    at_least: float | None
    shown: str
    between: str
    accepted: str


@dataclass(frozen=True)
class FirstScreen:
    """What a report opens with.

    without, with_it, most: Squares of the picture, the last rounded up; None for no figure.
    allowed: Squares that the threshold allows, rounded down; None where it is not drawn.
    total: Squares in all: 100, or as many as were counted.
    is_shown: Whether what the release adds is beyond chance: else it has no squares.
    decided_by: The row that decided, by its place in the record, with its numbers and its
        threshold; None where no row could decide.
    about: What is secret, known and released, in a sentence; empty in some kinds.
    is_open: Whether it is open what explains the squares beyond those without the release.
    signs: What its two kinds of filled squares are.
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
    total: int = 100
    is_shown: bool = True
    decided_by: DecidedBy | None = None
    about: str = ""
    is_open: bool = False
    signs: tuple[str, str] = Glance.signs
    allowed: int | None = None

    @property
    def subtitle(self) -> str:
        """Name what was audited, if the title does not, and the record."""
        source = "" if self.source in self.title else f"{self.source}, "
        return f"{source}record {self.digest or 'without a digest'}"

    @property
    def key(self) -> str:
        """Name each sign that is drawn, and then say where nothing is added."""
        without, added = self.signs
        signs = [f"{GUESSED} {without}"] if GUESSED in self.squares else []
        if MORE in self.squares:
            beyond = "beyond it; the reason is open" if self.is_open else added
            signs.append(f"{MORE} {beyond}")
        if self.allowed is not None:
            signs.append(f"{THRESHOLD} threshold")
        if self.most is not None:
            signs.append(f"{LIMIT} bound on every attacker")
        names = f": {', '.join(signs)}" if signs else ""
        remark = ""
        if MORE not in self.squares and self.with_it is not None:
            remark = " The release adds less than one." if self.is_shown else f" {NO_GAIN}"
        return f"{self.total} {self.unit}{names}.{remark}"

    @property
    def rows(self) -> int:
        """Return how many rows of twenty squares the picture has."""
        return -(-self.total // 20)

    @property
    def squares(self) -> str:
        """Return a sign for each square, in order: what is not shown to be added has none."""
        first = self.without or 0
        both = max(first, self.with_it or 0) if self.is_shown else first
        return GUESSED * first + MORE * (both - first) + REST * (self.total - both)

    @property
    def edge(self) -> str:
        """Return the proved limit as an SVG path on a grid of 20 by 5; empty for none."""
        return _edge_after(self.most)

    @property
    def threshold(self) -> str:
        """Return the threshold as an SVG path on the same grid; empty for none."""
        return _edge_after(self.allowed)

    def to_dict(self) -> dict[str, Any]:
        """Return all that it holds as plain values."""
        sentences = [{"text": text, "grade": grade} for text, grade in self.sentences]
        return {**asdict(self), "sentences": sentences}


def _edge_after(squares: int | None) -> str:
    """Return the line behind so many squares as an SVG path; empty for none."""
    if squares is None:
        return ""
    row, column = divmod(squares, 20)
    step = f"M0,{row + 1}H{column}V{row}H20"
    return step if column else f"M0,{row}H20"


def placed(alike: Sequence[str], settings: int) -> str:
    """Name the settings that have the status of the study: two of them, or "all" where all have it.

    >>> placed(["epsilon 1", "epsilon 2", "epsilon 3"], 4)
    'at epsilon 1 and epsilon 2 and 1 more'
    """
    if settings == 1 or not alike:
        return ""
    if len(alike) == settings:
        return "at both settings" if settings == 2 else f"at all {settings} settings"
    rest = f" and {len(alike) - 2} more" if len(alike) > 2 else ""
    return f"at {' and '.join(alike[:2])}{rest}"


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


GUESSED, MORE, REST, LIMIT, THRESHOLD = "■", "▲", "·", "|", "¦"
NO_GAIN = "No gain from the release is shown."


def paragraph(case: StudyJudgement, words: Glance) -> str:
    """Return the verdict in words: the answer, and what is reached without, with, at most."""
    glance = filled(words, case.decision)
    sentences = [text for text, _ in _sentences(glance, case.contradictions)]
    answer = _answer(case.status, case.unaccounted, glance)
    between = _sampling(glance, case.decision)
    texts = [answer, *case.contradictions, *sentences, *between, *glance.notes]
    return f"{STATUS[case.status][1]}: {' '.join(texts)}"


def filled(glance: Glance, decision: Decision | None) -> Glance:
    """Put the row that decided, and what is accepted of it, into the words of a kind."""
    places = {name: getattr(glance, name) for name in ("without", "with_it", "most")}
    for name, reach in places.items():
        if reach is not None and reach.is_decided:
            places[name] = _put(reach, decision)
    limit = None if decision is None else decision.limit
    accepted, why = glance.accepted, glance.why
    if "{}" in accepted:
        accepted = "" if limit is None else accepted.format(written(limit, glance.view))
    if "{}" in why:
        why = "" if decision is None else why.format(_shown(decision, glance.view))
    return replace(
        glance,
        without=places["without"],
        with_it=places["with_it"],
        most=places["most"],
        accepted=accepted,
        why=why,
    )


def _shown(decision: Decision, view: RowView) -> str:
    """Write the number of the row that decided; a limit is rounded up."""
    row, quantity = decision.row, view.of(decision.row.quantity)
    is_limit = limits_everybody(row)
    value = quantity.high if is_limit and quantity.high is not None else quantity.value
    if value is None:
        return ""
    return figure_text(value, view, counted_in(row), "up" if is_limit else view.rounding)


def _put(reach: Reach, decision: Decision | None) -> Reach:
    if decision is None:
        return replace(reach, text="No number decides.", is_decided=False)
    row = decision.row
    quantity, counted = reach.view.of(row.quantity), counted_in(row)
    if quantity.high is not None and (
        reach.is_limit or quantity.value is None or row.role == "bound"
    ):
        quantity = quantity.model_copy(update={"value": quantity.high})
    return replace(reach, found=quantity, row=row, counted=counted)


def _sentences(glance: Glance, contradictions: Sequence[str]) -> list[tuple[str, Grade | None]]:
    limit = _limit(glance, contradictions)
    drawn = [figure for figure in (glance.without, glance.with_it) if figure.is_drawn]
    shares = [figure.found.value for figure in drawn if figure.found is not None]
    reached = max((figure for figure in shares if figure is not None), default=0.0)
    last: tuple[str, Grade | None] = (glance.unlimited, None)
    if limit is not None and limit.found is not None:
        last = _said(limit, "up")
        if _is_reached(glance, limit):
            last = "No attacker gets more than that: it is exact.", limit.grade
        elif limit.is_drawn and limit.view.form == "share" and reached > (limit.found.value or 0.0):
            last = f"{last[0]} These trials came out higher by chance.", last[1]
    elif reached == 1 and glance.most is not None and glance.most.found is not None:
        last = "All 100 are reached already, so no limit is lower.", None
    first, second = (
        _said(figure, figure.view.rounding, place)
        for figure, place in (
            (glance.without, "Without the release"),
            (glance.with_it, "With the release"),
        )
    )
    return [first, second, last]


def _is_reached(glance: Glance, limit: Reach) -> bool:
    """Return whether the limit is an exact number that an attacker reaches: it is drawn once."""
    attack, bound = glance.with_it.found, limit.found
    if attack is None or bound is None or attack.value is None or bound.value is None:
        return False
    exact = attack.grade in CERTAIN and bound.grade in CERTAIN
    return exact and abs(attack.value - bound.value) <= 1e-12


def first_screen(record: Record, case: StudyJudgement, glance: Glance) -> FirstScreen:
    """Make the first screen of a record.

    case: What follows from its rows. The row that decided is its judge's.
    glance: The words of its kind.
    """
    decision = case.decision
    glance = filled(glance, decision)
    sign, word = STATUS[record.status]
    limit = _limit(glance, record.contradictions)
    picture = _picture(glance, limit, decision)
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
        without=picture["without"],
        with_it=picture["with_it"],
        most=picture["most"],
        sentences=tuple(_sentences(glance, record.contradictions)),
        hardest=glance.hardest,
        rests_on=tuple(_bullets(record, case, glance, limit)) or (_exact(case),),
        not_looked_at=_unseen(record, glance),
        total=picture["total"] or 100,
        is_shown=_is_added(glance, decision),
        decided_by=_decided_by(glance, decision),
        about=glance.about,
        is_open=glance.is_open,
        signs=glance.signs,
        allowed=_allowed(glance, decision, picture),
    )


def _allowed(
    glance: Glance, decision: Decision | None, picture: Mapping[str, int | None]
) -> int | None:
    """Count the squares that the threshold allows, rounded down.

    A threshold of a gain is drawn where the picture shows that very gain.
    """
    first, second = picture["without"], picture["with_it"]
    if first is None and second is None:
        return None
    share = glance.allowed
    limit = None if decision is None else decision.limit
    if share is None and decision is not None and limit is not None and glance.accepted:
        before, after = (
            None if reach.found is None else reach.found.value
            for reach in (glance.without, glance.with_it)
        )
        gain = decision.row.quantity.value
        if glance.view.form == "share":
            share = glance.view.number(limit)
        elif glance.view.form == "more" and None not in (before, after, gain):
            is_drawn = abs((after or 0.0) - (before or 0.0) - (gain or 0.0)) < 1e-9
            share = (before or 0.0) + limit if is_drawn else None
    if share is None:
        return None
    return int(lower((picture["total"] or 100) * min(1.0, max(0.0, share)), places=0))


def _picture(
    glance: Glance, limit: Reach | None, decision: Decision | None
) -> dict[str, int | None]:
    """Count the squares; a reach of another row than the one that decided is not drawn."""
    drawn = {"without": glance.without, "with_it": glance.with_it, "most": limit}
    if limit is not None and _is_reached(glance, limit):
        drawn["most"] = None
    of = None if glance.with_it.counted is None else glance.with_it.counted[1]
    total = of if of is not None and 0 < of < 100 else 100
    squares: dict[str, int | None] = {"total": total}
    for name, reach in drawn.items():
        squares[name] = None
        if reach is None or reach.found is None or reach.found.value is None:
            continue
        if not reach.is_drawn or reach.view.form != "share" or not _is_of(glance, reach, decision):
            continue
        share = min(1.0, max(0.0, reach.found.value))
        if name == "with_it" and total != 100 and reach.counted is not None:
            squares[name] = reach.counted[0]
        elif name == "most":
            squares[name] = int(upper(total * share, places=0))
        else:
            squares[name] = round(total * share)
    return squares


def _is_of(glance: Glance, reach: Reach, decision: Decision | None) -> bool:
    """Return whether a figure is of the row that decided: the row itself, or one next to it."""
    if glance.is_open or reach.row is None or decision is None or reach.is_decided:
        return True
    row, other = reach.row, decision.row
    is_named = other.name in ("", row.name)
    return is_named or limits_everybody(other) or row.role in ("guess", "bound")


def _is_added(glance: Glance, decision: Decision | None) -> bool:
    """Return whether what the release adds is beyond chance."""
    added = glance.added
    if added is None and decision is not None and decision.row.role == "excess":
        added = decision.row.quantity
    if added is not None:
        return (added.value or 0.0) > 0 if added.low is None else added.low > 0
    figure, beside = glance.with_it.found, glance.without.found
    if figure is None or beside is None or figure.value is None:
        return True
    low = figure.value if figure.low is None else figure.low
    high = beside.value if beside.high is None else beside.high
    return low > (high or 0.0)


def _decided_by(glance: Glance, decision: Decision | None) -> DecidedBy | None:
    if decision is None:
        return None
    row, quantity = decision.row, glance.view.of(decision.row.quantity)
    return DecidedBy(
        of=row.of,
        name=row.name,
        role=row.role,
        at=dict(row.at),
        value=row.quantity.value,
        low=row.quantity.low,
        high=row.quantity.high,
        at_most=decision.at_most,
        at_least=decision.at_least,
        shown=_shown(decision, glance.view),
        between=limits_text(quantity, glance.view.form),
        accepted=glance.accepted,
    )


def _said(
    reach: Reach, rounding: Rounding = "nearest", place: str = ""
) -> tuple[str, Grade | None]:
    """Put the figure into the sentence, or say why there is none."""
    if reach.found is None or reach.found.value is None:
        if "{}" not in reach.text:
            return reach.text, None
        why = f": {reach.found.why.rstrip('.')}" if reach.found and reach.found.why else ""
        return f"{place}, what is reached is not assessed{why}.", None
    figure = figure_text(reach.found.value, reach.view, reach.counted, rounding)
    text = reach.text.format(figure)
    return f"{text[0].upper()}{text[1:]}", reach.grade


def _limit(glance: Glance, contradictions: Sequence[str]) -> Reach | None:
    """Return what limits every attacker, if that is below all 100 and nothing refutes it."""
    reach = glance.most
    if reach is None or reach.found is None or reach.found.value is None or contradictions:
        return None
    if reach.view.form != "share":
        return reach
    return reach if hundredths(reach.found.value, "up") < 100 else None


def holds_if(status: Status, declared: Sequence[str], implied: Sequence[str] = ()) -> str:
    """Say what a verdict takes from the user's declarations; "" where it is against the release.

    implied: what it assumes that nobody declares, a clause each.

    >>> holds_if("not shown", ["`note` tells nothing about a person"])
    'This holds if, as you declare, `note` tells nothing about a person.'
    """
    if status in ("exceeded", "contradicted"):
        return ""
    sentences = [f"This holds if, as you declare, {'; '.join(declared)}."] if declared else []
    sentences += [f"This holds if {'; '.join(implied)}."] if implied else []
    return " ".join(sentences)


def _answer(status: Status, unaccounted: Sequence[Unaccounted], glance: Glance) -> str:
    """Return the answer, and what it takes from the user's declarations."""
    text = _plain_answer(status, unaccounted, glance)
    return f"{text} {holds_if(status, glance.declared, glance.implied)}".rstrip()


def _plain_answer(status: Status, unaccounted: Sequence[Unaccounted], glance: Glance) -> str:
    if status == "undeclared" and unaccounted:
        return " ".join(_declarations(unaccounted))
    subject = f"{glance.asked}, {glance.accepted}," if glance.accepted else glance.asked
    where = f" {glance.where}" if glance.where else ""
    why = f": {glance.why}" if glance.why else ""
    question = f"{glance.asked[0].lower()}{glance.asked[1:]}"
    question = f"{question}, {glance.accepted}" if glance.accepted else question
    at = f",{where}" if where and glance.accepted else where
    open_ = f"No attack is shown to exceed {question}{at}, but one may exist{why}."
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


def _exact(case: StudyJudgement) -> str:
    """Say that nothing is estimated, or that what is sampled does not decide."""
    trials = [row.quantity.trials or 0 for row in case.findings.rows]
    if case.grade not in CERTAIN:
        return f"The deciding number is {grade_word(case.grade)}."
    if not any(trials):
        return EXACT
    return f"The decision is exact. {max(trials):,} trials are shown, and decide nothing."


def _declarations(unaccounted: Sequence[Unaccounted]) -> Iterator[str]:
    """Yield what a verdict in favour waits for, and what the user may write."""
    subjects = _subjects([item.subject for item in unaccounted])
    verb = "are" if len(unaccounted) > 1 or unaccounted[0].is_plural else "is"
    yield f"{subjects[0].upper()}{subjects[1:]} {verb} not accounted for."
    yield unaccounted[0].reason
    declarations = _least([item.declaration for item in unaccounted])
    yield f"To decide, write {' and '.join(declarations[:2])}."


def _least(declarations: Sequence[str]) -> list[str]:
    """Return each remedy once: of questions that share some, these alone.

    >>> _least(["`--control FILE`", "`--irrelevant note`; or `--control FILE`", "`--control FILE`"])
    ['`--control FILE`']
    >>> _least(["`--control FILE`; or `--copies SHARE`", "`--control FILE`"])
    ['`--control FILE`']
    """
    least: list[list[str]] = []
    for text in dict.fromkeys(declarations):
        ways = text.split("; or ")
        for at, others in enumerate(least):
            if shared := [way for way in others if way in ways]:
                least[at] = shared
                break
        else:
            least.append(ways)
    return ["; or ".join(ways) for ways in least]


def _bullets(
    record: Record, case: StudyJudgement, glance: Glance, limit: Reach | None
) -> Iterator[str]:
    """Yield what the answer rests on, the weightiest first; the last one counts the rest."""
    bullets = [_refuted(sentence) for sentence in record.contradictions]
    bullets += [_left(item) for item in case.unaccounted]
    weak = [r.reason.rstrip(".") for r in record.not_assessed if r.quantity == WEAK]
    bullets += [f"{reason[0].upper()}{reason[1:]}." for reason in weak]
    bullets += [*_sampling(glance, case.decision), *glance.notes]
    assumptions = [*record.assumptions, *_given(glance, limit, case)]
    bullets += [
        f"Assumes that {text}."
        for sentence in dict.fromkeys(assumptions)
        if sentence not in {*glance.declared, *glance.implied} and (text := plain(sentence))
    ]
    if limit is not None and limit.found is not None and limit.found.grade.startswith("proved"):
        bullets.append("Assumes that the release is made as the study describes.")
    bullets = [shorten(sentence, LONGEST, placeholder=" …") for sentence in dict.fromkeys(bullets)]
    if len(bullets) <= MOST_BULLETS:
        yield from bullets
        return
    yield from bullets[: MOST_BULLETS - 1]
    rest = [sentence.removeprefix("Assumes that ") for sentence in bullets[MOST_BULLETS - 1 :]]
    yield f"Also, in full below: {_named(rest, 2)}."


def _left(item: Unaccounted) -> str:
    """Name what is not accounted for, and how many people it is about."""
    counts = f" ({item.counts})" if item.counts else ""
    return f"Not accounted for: {item.subject}{counts}."


def _given(glance: Glance, limit: Reach | None, case: StudyJudgement) -> Iterator[str]:
    """Yield what every figure of the screen assumes, not only the one that decided."""
    for reach in (glance.without, glance.with_it, limit):
        if reach is None or reach.found is None or reach.found.value is None:
            continue
        yield from reach.found.takes_as_given
        if reach.found.grade == "sampled":
            yield from case.findings.premises
    if limit is not None:
        yield from glance.given


def _refuted(contradiction: str) -> str:
    """Keep of a contradiction what it refutes; its numbers, the last brackets, are further down.

    >>> _refuted("Refuted: that it is (1, 0)-private (share: at least 9%, but at most 8% (T)).")
    'Refuted: that it is (1, 0)-private.'
    """
    text = contradiction.rstrip(".")
    depth = 0
    for place in range(len(text) - 1, 0, -1) if text.endswith(")") else ():
        depth += (text[place] == ")") - (text[place] == "(")
        if depth == 0:
            text = text[:place].rstrip()
            break
    return f"{text}."


def _sampling(glance: Glance, decision: Decision | None) -> Iterator[str]:
    """Yield between which limits the row that decided lies, else the first figure that has any.

    Of a bound that the sentences state, its confidence alone: each number is stated once.
    """
    if decision is not None and decision.row.role != "bound":
        quantity = glance.view.of(decision.row.quantity)
        if limits_everybody(decision.row) and quantity.low is None:
            if level := _level(decision.row.quantity.confidence or glance.level):
                yield f"The bound on every attacker holds{level.removeprefix(',')}."
            return
        text = limits_text(quantity, glance.view.form)
        if text and quantity.grade in ("sampled", "approximate"):
            subject = glance.interval or "The figure with the release"
            level = _level(decision.row.quantity.confidence or glance.level)
            yield f"{subject} is {text}{level}."
        return
    for reach, which in ((glance.with_it, "with"), (glance.without, "without")):
        quantity = reach.found
        if (
            quantity is None
            or quantity.grade != "sampled"
            or quantity.low is None
            or quantity.high is None
        ):
            continue
        text = limits_text(quantity, reach.view.form)
        yield f"The figure {which} the release is estimated: {text}{_level(quantity.confidence)}."
        return


def _level(confidence: float | None) -> str:
    return "" if confidence is None else f", with {lower(100 * confidence, 3)}% confidence"


PLAIN: dict[str, str] = {
    "every record was put into every model by": "an independent coin put each record into each "
    "model",
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
    left = [gap.reason.rstrip(".") for gap in record.not_assessed if gap.quantity == LEFT_OUT]
    columns = re.findall(rf"(?:^|; )([^;(]+) \((?!{FOR_COPIES})", left[0]) if left else []
    named = [gap for gap in columns if not gap.startswith("any column ")]
    phrases = [gap for gap in columns if gap not in named]
    if named:
        phrases.append(f"the columns {list_names(named)}")
    text = f"{'; '.join([*phrases, glance.unseen])}."
    open_ = [
        gap.quantity.partition(" (")[0]
        for gap in record.not_assessed
        if gap.quantity not in (WEAK, LEFT_OUT) and not gap.quantity.startswith("distances in")
    ]
    return f"{text} Still open: {_named(open_, 3)}." if open_ else text


def _named(texts: Sequence[str], most: int) -> str:
    """Name the first of several in a few words each, and count the others."""
    names = [_cut(text) for text in texts[:most]]
    return "; ".join(names) + (f"; and {len(texts) - most} more" if len(texts) > most else "")


def _cut(text: str) -> str:
    """Return the beginning of a text, which ends in no quoted name.

    >>> _cut("columns `column 200`, `column 201`, `column 202`, `column 203`")
    'columns `column 200`, `column 201` …'
    """
    short = shorten(text.rstrip("."), MOST_LETTERS, placeholder=" …")
    return f"{short.rpartition('`')[0].rstrip(' ,')} …" if short.count("`") % 2 else short


def _subjects(texts: Sequence[str]) -> str:
    """Name the first two of several things in a few words each, and count the others.

    >>> _subjects(["column a", "column b", "column c"])
    'column a, column b and 1 more'
    """
    names = [_cut(text) for text in texts]
    left, last = names[:2], f"{len(names) - 2} more"
    first, final = (left, last) if len(names) > 2 else (left[:-1], left[-1])
    return " and ".join([", ".join(first), final] if first else [final])


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
    """Write a first screen as Markdown, for a README, an issue or a pull request.

    Titles, columns and values are somebody else's: they are shown as text, each in its line.
    """
    answer, title, subtitle = map(plain_markdown, (first.answer, first.title, first.subtitle))
    lines = [
        f"### {first.sign} {first.word}: {answer} ({grade_word(first.grade)})",
        "",
        f"{title}, {subtitle}",
        "",
        *([plain_markdown(first.about), ""] if first.about else []),
        *(
            f"* {plain_markdown(text)}{f' ({grade_word(grade)})' if grade else ''}"
            for text, grade in first.sentences
        ),
        "",
        *([plain_markdown(first.hardest), ""] if first.hardest else []),
        "What this rests on:",
        "",
        *(f"* {plain_markdown(text)}" for text in first.rests_on),
        "",
        f"Not looked at: {plain_markdown(first.not_looked_at)}",
    ]
    return "\n".join(lines) + "\n"
