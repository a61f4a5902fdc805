"""The words of a study of published tables: what is certain, and whose secret the tables tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from narcissus.kinds.layout import Headline, Layout, table
from narcissus.kinds.published.kind import (
    CERTAIN,
    DETERMINED,
    EXPECTED,
    GAIN,
    GAME,
    SHARE,
    THESE,
    TablesDetail,
)
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance, Reach, of_100
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Block, Facts, Grid, Items, Section, Text
from narcissus.results import NotAssessed
from narcissus.rows import JudgedCriterion, StudyJudgement, StudyRow
from narcissus.study.record import Record

PRIORS = {"uniform": "every data set alike", "people": "every person alike"}
"""Names of attacks, by the prior that the attacker holds."""
ONE_SECRET = "attackers who know other columns, other people in the tables, or other releases"
"""What the game is not about."""


def _one(case: StudyJudgement, of: str) -> StudyRow:
    return case.findings.select(of=of)[0]


def _best(case: StudyJudgement) -> str | None:
    """Return the attack that gains most; None: no game was played."""
    gains = case.findings.select(of=GAIN)
    return max(gains, key=lambda row: row.value).name if gains else None


def _of_attack(case: StudyJudgement, of: str, name: str, at: Any) -> StudyRow:
    return next(row for row in case.findings.select(at, of=of) if row.name == name)


def _determined(case: StudyJudgement) -> str:
    """Say how many people are determined."""
    row = _one(case, DETERMINED)
    if row.quantity.value is None:
        return "Whether people are determined with all their labels was not settled."
    many = int(row.value)
    least = "" if row.quantity.high is not None else "At least "
    said = f"{least}{many:,} {'person is' if many == 1 else 'people are'}"
    return f"{said} determined with all their labels, by nothing but the tables."


class PublishedTablesLayout(Layout):
    """The words of published tables."""

    not_covered = (
        "attackers who know other columns of a person than these, or other people in the tables",
        "tables of the same people that are published elsewhere, or later",
        "what is told by means, medians and totals, in the game",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "Published tables"

    def subtitle(self, case: StudyJudgement) -> str:
        return "What do the tables tell of the people in them?"

    def assessed(self, case: StudyJudgement) -> list[str]:
        detail: TablesDetail = case.detail
        found = [f"{detail.cells:,} cells of {detail.tables:,} tables: what follows with certainty"]
        if detail.trials:
            found.append(
                f"{detail.secret}, for an attacker who knows {', '.join(detail.known) or 'nothing'}"
                f": {detail.trials:,} tables of the game, {detail.left_out:,} people left out each"
            )
        return found

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        if _one(case, DETERMINED).quantity.high is not None:
            return []
        return [NotAssessed(
            "whether other people are determined", "the tables are too large to settle it",
            "take fewer tables together, or raise `run.seconds`",
        )]  # fmt: skip

    def glance(self, case: StudyJudgement) -> Glance:
        detail, worst = case.detail, case.worst
        of_people = worst.criterion.of == DETERMINED
        accepted = ""
        if worst.at_most is not None:
            accepted = f"{number(100 * worst.at_most)} of 100 people" if not of_people else (
                f"{worst.at_most:,.0f} people determined"
            )  # fmt: skip
        common: dict[str, Any] = {
            "unit": "people", "accepted": accepted, "unseen": ONE_SECRET,
            "asked": "Your threshold" if of_people else "Your threshold for the gain",
            "notes": [_determined(case)],
        }  # fmt: skip
        name = _best(case)
        if name is None:
            return Glance(**(common | _without_records(case)))
        sure, gain = _one(case, CERTAIN), _of_attack(case, GAIN, name, GAME)
        seen = _of_attack(case, SHARE, name, THESE)
        fresh = next(r for r in case.findings.select(GAME, role="fresh") if r.name == name)
        bound = case.findings.select(THESE, role="bound")[0]
        low, high = 100 * (gain.quantity.low or 0.0), 100 * (gain.quantity.high or 0.0)
        return Glance(
            **common,
            without=Reach(
                f"The attack gets {detail.secret} right for {{}} people whom the tables leave out.",
                fresh.quantity,
            ),
            with_it=Reach("It gets {} right of the people in these tables.", seen.quantity),
            most=Reach("No attacker who knows the same columns gets more than {}.",
                       bound.quantity),
            unlimited="All 100 can be got: people with the same known columns have one secret.",
            hardest=f"The tables leave no doubt about {of_100(sure.value)} people, or more.",
            why="" if of_people else f"in the game it is {low:.1f} to {high:.1f} of 100",
        )  # fmt: skip

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        row, name = _one(case, DETERMINED), _best(case)
        many = MISSING if row.quantity.value is None else f"{int(row.value):,}"
        found: list[Headline] = [(
            "People determined", many,
            "no others" if row.quantity.high is not None else "at least", row.quantity.grade,
        )]  # fmt: skip
        if name is None:
            return found
        for label, one in (
            ("Right of people in these tables", _of_attack(case, SHARE, name, THESE)),
            ("Right of people left out", next(
                r for r in case.findings.select(GAME, role="fresh") if r.name == name
            )),
            ("Gain in the game", _of_attack(case, GAIN, name, GAME)),
        ):  # fmt: skip
            ends = "exact" if one.is_exact else limits(one.quantity.low, one.quantity.high)
            found.append((label, percent(one.value), ends, one.quantity.grade))
        return found

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        said = {status: [_sentence(one) for one in case.deciding if one.status == status]
                for status in ("met", "exceeded")}  # fmt: skip
        return {"evidence_against": said["exceeded"], "evidence_for": said["met"]}

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        found = [Section("What follows with certainty", _certain(case))]
        if case.detail.secret:
            found.append(Section(f"Whose {case.detail.secret} the tables tell", _secrets(case)))
        return [*found, Section("Method", [_method(case.detail)])]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        detail: TablesDetail = case.detail
        bounds = case.findings.select(THESE, role="bound")
        some = tuple(
            EveryAttacker(
                f"At most {percent(one.quantity.high, 'up')} of the people's {detail.secret} is "
                f"named by an attacker who knows {', '.join(detail.known) or 'no column'}.",
                "proved",
            )
            for one in bounds
        )
        released = f"{detail.cells:,} cells of {detail.tables:,} published tables"
        return Subject(f"{released}, {detail.hidden:,} of them hidden.", limits=some)

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        name = _best(case)
        if name is None:
            return {}
        seen, gain = _of_attack(case, SHARE, name, THESE), _of_attack(case, GAIN, name, GAME)
        text = (
            f"{percent(seen.value)} of the people's {case.detail.secret} named from these tables, "
            f"a gain of {percent(gain.value)} over people left out"
        )
        return {"inference": Answered(text, gain.quantity.grade)}

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        if not case.detail.people:
            return []
        how = f"Counts over {case.detail.people:,} people's records, and the tables of them."
        where = ("rows*", "verdict*", "status", "grade", "assessed*", "detail*", "title")
        return [RealFigure("Shares, limits and the verdict", how, where)]


LAYOUT = PublishedTablesLayout()


def _without_records(case: StudyJudgement) -> dict[str, Any]:
    """Return the sentences where no game was played."""
    believed = case.findings.select(of=EXPECTED)
    with_it = Reach(_determined(case))
    if believed:
        with_it = Reach(
            "An attacker who holds every consistent data set alike expects to be right for {} "
            "people.", believed[0].quantity,
        )  # fmt: skip
    return {
        "without": Reach("What follows here follows from the tables alone."),
        "with_it": with_it,
        "most": None,
        "unlimited": "Without the people's records, we cannot say what attackers reach.",
        "hardest": f"{case.detail.hidden_determined:,} of {case.detail.hidden:,} hidden cells are "
        "determined.",
        "notes": [_determined(case)] if believed else [],
    }  # fmt: skip


def _sentence(one: JudgedCriterion) -> str:
    if one.criterion.of == DETERMINED:
        return f"{one.measures[0].value:,.0f} people are determined; {one.at_most:,.0f} accepted."
    least, surest = one.surest.quantity.low or 0.0, PRIORS.get(one.surest.name, one.surest.name)
    return (
        f"The attack that holds {surest} gains at least {percent(least, 'down')}; "
        f"{percent(one.at_most)} is accepted."
    )


def _certain(case: StudyJudgement) -> list[Block]:
    detail: TablesDetail = case.detail
    counted = MISSING if detail.data_sets is None else f"{detail.data_sets:,}"
    more = "" if detail.all_counted or detail.data_sets is None else " or more"
    facts = [
        ("Tables, cells", f"{detail.tables:,}, {detail.cells:,}"),
        ("Hidden cells, of which determined", f"{detail.hidden:,}, {detail.hidden_determined:,}"),
        ("Data sets consistent with all tables", f"{counted}{more}"),
        ("People", _determined(case)),
    ]
    blocks: list[Block] = [Facts(facts)]
    if detail.narrowest:
        blocks.append(Grid(
            "Hidden cells, the narrowest first; ? marks limits that may be wider than necessary",
            ("Table", "Labels", "Printed", "Least", "Most"),
            [
                [one.table, one.labels, one.printed, f"{one.low:,}{'' if one.exact else ' ?'}",
                 MISSING if one.high is None else f"{one.high:,}{'' if one.exact else ' ?'}"]
                for one in detail.narrowest
            ],
            folded=len(detail.narrowest) > 12,
        ))  # fmt: skip
    return [*blocks, Items("Assumed", detail.notes)]


def _read(row: StudyRow) -> str:
    said = {k.removeprefix("read "): v for k, v in row.facts.items() if k.startswith("read ")}
    return ", ".join(f"{many:,} {how}" for how, many in said.items())


def _prior(row: StudyRow) -> str:
    return PRIORS.get(row.name, row.name)


def _secrets(case: StudyJudgement) -> list[Block]:
    detail: TablesDetail = case.detail
    known = ", ".join(detail.known) or "nothing"
    if not detail.trials:
        return [
            Facts([("The attacker knows", known)]),
            table(
                "Share of people whose secret an attacker expects to name, if the prior is true",
                case.findings.select(of=EXPECTED),
                {"Attacker holds": _prior, "Expects": "value", "Read": _read}, percent=("Expects",),
            ),
        ]  # fmt: skip
    [guess] = case.findings.select(THESE, role="guess")
    [most] = case.findings.select(THESE, role="bound")
    sure = _one(case, CERTAIN)
    played = [row for row in case.findings.select(GAME, of=SHARE) if row.role == "attack"]

    def these(row: StudyRow) -> float:
        return _of_attack(case, SHARE, row.name, THESE).value

    def ends(of: str, role: Any) -> Any:
        def said(row: StudyRow) -> str:
            rows = case.findings.select(GAME, of=of, role=role)
            found = next(one for one in rows if one.name == row.name)
            return f"{percent(found.value)} ({limits(found.quantity.low, found.quantity.high)})"

        return said

    return [
        Facts([
            ("The attacker knows", known),
            ("People, left out of each table of the game",
             f"{detail.people:,}, {detail.left_out:,}"),
            ("Tables of the game", f"{detail.trials:,}"),
            ("Most frequent secret", percent(guess.value)),
            ("No doubt is left about", f"{percent(sure.value, 'down')} of people, at least"),
            ("No attacker with the same columns exceeds", percent(most.value, "up")),
        ]),
        table(
            "People whose secret is named; limits of all attacks hold together", played,
            {
                "Attacker holds": _prior, "These tables": these, "In the game": "value",
                "Limits": "limits", "Left out": ends(SHARE, "fresh"),
                "Gain": ends(GAIN, "excess"), "Tables read": _read,
            },
            percent=("These tables", "In the game"),
        ),
    ]  # fmt: skip


def _method(detail: TablesDetail) -> Text:
    said: Sequence[str] = [
        "Limits of cells and determined people hold for every data set that is consistent with all "
        "tables. They are computed in exact arithmetic.",
        "The attacker expects so many people with each secret, among those who have the same known "
        "columns, as consistent data sets have on average. The likeliest secret is named; ties are "
        "split. One attacker holds every data set alike, the other every arrangement of people.",
        "A table is read exactly where all consistent data sets are enumerated, by sampling where "
        "Markov chains mix, and else by proportional fitting. How it is read changes how good the "
        "attack is, and not how its success is counted.",
    ]
    if not detail.trials:
        return Text(said)
    return Text([
        *said,
        f"Each table of the game leaves {detail.left_out:,} of {detail.people:,} people out by "
        "chance, and is made by the same rules. Shares are means over who is left out. The limits "
        "are about these people, not about others.",
        f"All limits hold together at level {detail.confidence:g} (Bonferroni), by betting "
        "(Waudby-Smith and Ramdas 2023).",
    ])  # fmt: skip
