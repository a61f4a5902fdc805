"""The words of a study of published tables: what is certain, and whose secret the tables tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from narcissus.counts.people import MOST_PEOPLE
from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import Headings, Layout
from narcissus.kinds.published.blocks import describe_certain, describe_method, describe_secrets
from narcissus.kinds.published.kind import FITTED
from narcissus.kinds.published.result import (
    CERTAIN,
    DETERMINED,
    GAIN,
    SHARE,
    PlayedTables,
    TablesResult,
)
from narcissus.kinds.published.screen import describe_glance
from narcissus.kinds.published.words import (
    describe_ignored,
    find_attack,
    list_known,
)
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance
from narcissus.report.format import percent
from narcissus.report.page import Section
from narcissus.results import NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.record import Record


class PublishedTablesLayout(Layout):
    """The words of published tables."""

    not_covered = (
        "attackers who know other columns of a person than these, or other people in the tables",
        "tables of the same people that are published elsewhere, or later",
    )

    headings: ClassVar[Headings] = {
        ("measure", DETERMINED): "People determined",
        ("attack", SHARE): "Secrets named right",
        ("fresh", SHARE): "Secrets named right, of people left out",
        ("excess", GAIN): "Gain in the game",
    }

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "Published tables"

    def subtitle(self, case: StudyJudgement) -> str:
        return "What do the tables tell of the people in them?"

    def assessed(self, case: StudyJudgement) -> list[str]:
        result: TablesResult = case.result
        lines = [f"{result.cells:,} cells of {result.tables:,} tables: what follows with certainty"]
        if result.game is not None:
            lines.append(
                f"{result.secret}, for an attacker who knows {list_known(result)}: "
                f"{result.game.trials:,} tables of the game, {result.game.left_out:,} people left "
                "out each"
            )
        return lines

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        result: TablesResult = case.result
        if result.determined.high is None:
            yield NotAssessed(
                "whether other people are determined",
                "the tables are too large to settle it",
                "take fewer tables together, or raise `run.seconds`",
            )
        if any(one.criterion.of == CERTAIN and one.status == "inconclusive" for one in case.each):
            yield NotAssessed(
                f"for whom else the {result.secret} is certain",
                "no data set was found that leaves them another",
                "raise `run.steps`",
            )
        if result.leaves_statistics_out:
            yield NotAssessed(
                "what an attacker who uses all means, medians and totals reaches",
                "of some tables the attack read the counts alone",
                "raise `run.steps`, and name `people` with whole numbers of the variable, at most "
                f"{MOST_PEOPLE} of them",
            )
        if any(share.read == "fitted" for share in result.expected):
            yield NotAssessed(
                "what an attacker expects to name",
                FITTED,
                "raise `run.steps`, or take fewer tables together",
            )

    def glance(self, case: StudyJudgement) -> Glance:
        return describe_glance(case)

    def deciding(self, case: StudyJudgement) -> Iterator[StudyRow]:
        attack = find_attack(case)
        for row in case.findings.rows:
            if row.of == DETERMINED or (attack is not None and row.about is attack):
                yield row

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        result: TablesResult = case.result
        parts = [Section("What follows with certainty", describe_certain(result))]
        if result.secret is not None:
            heading = f"People whose {result.secret} follows from the tables"
            parts.append(Section(heading, describe_secrets(case)))
        return [*parts, Section("Method", [describe_method(result.game)])]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        result: TablesResult = case.result
        some: tuple[EveryAttacker, ...] = ()
        if result.game is not None:
            share = percent(result.game.ceiling.value, "up")
            text = (
                f"At most {share} of the people's {result.secret} is named by an attacker who "
                f"knows {list_known(result)}."
            )
            some = (EveryAttacker(text, "proved"),)
        released = f"{result.cells:,} cells of {result.tables:,} published tables"
        return Subject(f"{released}, {result.hidden.total:,} of them hidden.", limits=some)

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        result, attack = case.result, find_attack(case)
        if attack is None:
            return {}
        text = (
            f"{percent(attack.published.value)} of the people's {result.secret} named from these "
            f"tables, a gain of {percent(attack.gain.value)} over people left out"
            f"{describe_ignored(result)}"
        )
        return {"inference": Answered(text, attack.gain.grade)}

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        game: PlayedTables | None = case.result.game
        if game is None:
            return []
        how = f"Counts over {game.people:,} people's records, and the tables of them."
        where = ("rows*", "verdict*", "status", "grade", "assessed*", "result*", "title")
        return [RealFigure("Shares, limits and the verdict", how, where)]


LAYOUT = PublishedTablesLayout()
