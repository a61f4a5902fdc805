"""The words of a study of published tables: what is certain, and whose secret the tables tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from narcissus.counts.audit import NOTHING_PRINTED
from narcissus.counts.people import MOST_PEOPLE
from narcissus.kinds.layout import Headline, Layout
from narcissus.kinds.published.blocks import describe_certain, describe_method, describe_secrets
from narcissus.kinds.published.kind import FITTED
from narcissus.kinds.published.result import (
    CERTAIN,
    DETERMINED,
    GAIN,
    GROUPS,
    PlayedTables,
    TablesAttack,
    TablesResult,
)
from narcissus.kinds.published.words import (
    describe_criterion,
    describe_determined,
    describe_ignored,
    describe_recovered,
    find_attack,
    list_known,
    may_be_more,
)
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Section
from narcissus.report.reach import Reach, of_100
from narcissus.results import NotAssessed
from narcissus.rows import Quantity, StudyJudgement
from narcissus.study.record import Record

UNSEEN = "attackers who know other columns, other people in the tables, or other releases"


class PublishedTablesLayout(Layout):
    """The words of published tables."""

    not_covered = (
        "attackers who know other columns of a person than these, or other people in the tables",
        "tables of the same people that are published elsewhere, or later",
    )

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
        detail, of, at_most = case.detail, case.worst.criterion.of, case.worst.at_most
        attack = find_attack(case)
        common: dict[str, Any] = {
            "unit": "people",
            "accepted": "" if at_most is None else _accepted(detail, of, at_most),
            "asked": f"Your threshold{' for the gain' * (of == GAIN)}",
            "unseen": UNSEEN,
            "notes": [describe_determined(detail), *_nothing_printed(detail)],
        }
        if attack is None or of == DETERMINED:
            return Glance(**(common | _without_game(detail)))
        if of == CERTAIN:
            return Glance(**common, **_of_certain(detail, detail.game))
        if of == GAIN:
            low, high = (100 * (end or 0.0) for end in (attack.gain.low, attack.gain.high))
            ignored = describe_ignored(detail)
            common["why"] = f"it is {low:.1f} to {high:.1f} of 100 in the game{ignored}"
        is_gain = of == GAIN and at_most is not None
        return Glance(**common, **_of_attack(detail, detail.game, attack, is_gain=is_gain))

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        detail, attack = case.detail, find_attack(case)
        people, ends = detail.determined, "at least" if may_be_more(detail) else "no others"
        many = MISSING if people.value is None else f"{int(people.value):,}"
        shares = (
            ()
            if attack is None
            else (
                ("Right of people in these tables", attack.published),
                ("Right of people left out", attack.left_out),
                ("Gain in the game", attack.gain),
            )
        )
        return [
            ("People determined", many, ends, people.grade),
            *((label, percent(share.value), _ends(share), share.grade) for label, share in shares),
        ]

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        texts = {
            status: [
                describe_criterion(judged, case.detail)
                for judged in case.deciding
                if judged.status == status
            ]
            for status in ("met", "exceeded")
        }
        return {"evidence_against": texts["exceeded"], "evidence_for": texts["met"]}

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


def _accepted(detail: TablesResult, of: str, at_most: float) -> str:
    """Describe what is accepted, in people."""
    if of == DETERMINED:
        return f"{at_most:,.0f} people determined"
    if of == GROUPS:
        return f"{at_most:,.0f} small groups known"
    if of == CERTAIN and detail.game is not None:
        return f"{at_most * detail.game.people:,.0f} people whose {detail.secret} is certain"
    return f"{number(100 * at_most)} of 100 people"


def _ends(share: Quantity) -> str:
    is_exact = share.grade == "counted"
    return "exact" if is_exact else limits(share.low, share.high)


def _nothing_printed(detail: TablesResult) -> list[str]:
    return [NOTHING_PRINTED] if NOTHING_PRINTED in detail.notes else []


def _without_game(detail: TablesResult) -> dict[str, Any]:
    """Return the sentences where no game was played, or people who are determined decided."""
    expected = [share.named.value for share in detail.expected if share.named.value is not None]
    determined = describe_determined(detail)
    with_it, notes = Reach(determined), _nothing_printed(detail)
    if expected:
        # no figure: without a baseline nothing is known to be added
        with_it = Reach(
            "An attacker who thinks all consistent data sets equally likely expects to be right "
            f"for {of_100(expected[0])} people{describe_ignored(detail)}."
        )
        if not expected[0]:
            with_it = Reach("The tables have no people: there is no secret to name.")
        notes = [determined, *notes]
    unlimited = "This holds for every attacker: it follows from the tables."
    if detail.game is None:
        unlimited = "What attackers reach is unknown: it takes the people's records."
    elif detail.unaccounted:
        unlimited = "An attacker may get more from what was not accounted for."
    return {
        "without": Reach("These numbers follow from the tables alone."),
        "with_it": with_it,
        "most": None,
        "unlimited": unlimited,
        "hardest": describe_recovered(detail),
        "notes": notes,
    }


def _of_certain(detail: TablesResult, game: PlayedTables) -> dict[str, Any]:
    """Return the sentences where the number of people whose secret is certain decided."""
    certain, most = game.certain, None
    if certain.high is not None and not detail.unaccounted:
        most = Reach(
            f"The tables leave a doubt about the {detail.secret} of all but {{}} people.",
            certain.model_copy(update={"value": certain.high}),
        )
    return {
        "without": Reach(f"From elsewhere, nobody's {detail.secret} is certain."),
        "with_it": Reach(
            f"The {detail.secret} of {{}} people follows from the tables with "
            f"certainty{describe_ignored(detail, 'find more')}.",
            certain,
        ),
        "most": most,
        "unlimited": f"For whom else the {detail.secret} is certain was not settled.",
        "hardest": describe_recovered(detail),
    }


def _of_attack(
    detail: TablesResult, game: PlayedTables, attack: TablesAttack, *, is_gain: bool
) -> dict[str, Any]:
    """Return the sentences where an attack decided, by its gain or what it names."""
    most = Reach(
        "No attacker who knows the same columns is right about more than {}.", game.ceiling
    )
    known = list_known(detail)
    unlimited = f"No lower limit exists: people who share {known} share {detail.secret}."
    named, people = attack.published, "these tables"
    if is_gain:  # the limit is of the published tables, and not of those of the game
        ceiling = of_100(game.ceiling.value or 0.0, "up")
        unlimited = (
            "With the published tables, no attacker who knows the same columns is right about more "
            f"than {ceiling}."
        )
        named, people = attack.members, "the tables of the game"
    return {
        "without": Reach(
            "The attack is right about {} people whom the tables leave out.", attack.left_out
        ),
        "with_it": Reach(
            f"It is right about {{}} people in {people}{describe_ignored(detail)}.", named
        ),
        "most": None if is_gain else most,
        "unlimited": unlimited,
        "hardest": _hardest(detail, game),
    }


def _hardest(detail: TablesResult, game: PlayedTables) -> str:
    """Describe what is certain of hidden counts, and of people's secrets."""
    text = describe_recovered(detail)
    if game.certain.value:
        people = of_100(game.certain.value, "down")
        text += f" The {detail.secret} of {people} people follows with certainty."
    elif not detail.hidden.determined and not detail.unaccounted:
        text += f" Nobody was found whose {detail.secret} follows with certainty."
    return f"{text[:-1]}{describe_ignored(detail, 'find more')}."
