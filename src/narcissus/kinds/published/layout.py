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
        detail: TablesResult = case.detail
        lines = [f"{detail.cells:,} cells of {detail.tables:,} tables: what follows with certainty"]
        if detail.game is not None:
            lines.append(
                f"{detail.secret}, for an attacker who knows {list_known(detail)}: "
                f"{detail.game.trials:,} tables of the game, {detail.game.left_out:,} people left "
                "out each"
            )
        return lines

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        detail: TablesResult = case.detail
        if detail.determined.high is None:
            yield NotAssessed(
                "whether other people are determined",
                "the tables are too large to settle it",
                "take fewer tables together, or raise `run.seconds`",
            )
        if any(one.criterion.of == CERTAIN and one.status == "inconclusive" for one in case.each):
            yield NotAssessed(
                f"for whom else the {detail.secret} is certain",
                "no data set was found that leaves them another",
                "raise `run.steps`",
            )
        if detail.leaves_statistics_out:
            yield NotAssessed(
                "what an attacker who uses all means, medians and totals reaches",
                "of some tables the attack read the counts alone",
                "raise `run.steps`, and name `people` with whole numbers of the variable, at most "
                f"{MOST_PEOPLE} of them",
            )
        if any(share.read == "fitted" for share in detail.expected):
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
        detail: TablesResult = case.detail
        parts = [Section("What follows with certainty", describe_certain(detail))]
        if detail.secret is not None:
            heading = f"Whose {detail.secret} the tables tell"
            parts.append(Section(heading, describe_secrets(case)))
        return [*parts, Section("Method", [describe_method(detail.game)])]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        detail: TablesResult = case.detail
        some: tuple[EveryAttacker, ...] = ()
        if detail.game is not None:
            share = percent(detail.game.ceiling.value, "up")
            text = (
                f"At most {share} of the people's {detail.secret} is named by an attacker who "
                f"knows {list_known(detail)}."
            )
            some = (EveryAttacker(text, "proved"),)
        released = f"{detail.cells:,} cells of {detail.tables:,} published tables"
        return Subject(f"{released}, {detail.hidden.total:,} of them hidden.", limits=some)

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        detail, attack = case.detail, find_attack(case)
        if attack is None:
            return {}
        text = (
            f"{percent(attack.published.value)} of the people's {detail.secret} named from these "
            f"tables, a gain of {percent(attack.gain.value)} over people left out"
            f"{describe_ignored(detail)}"
        )
        return {"inference": Answered(text, attack.gain.grade)}

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        game: PlayedTables | None = case.detail.game
        if game is None:
            return []
        how = f"Counts over {game.people:,} people's records, and the tables of them."
        where = ("rows*", "verdict*", "status", "grade", "assessed*", "detail*", "title")
        return [RealFigure("Shares, limits and the verdict", how, where)]


LAYOUT = PublishedTablesLayout()
