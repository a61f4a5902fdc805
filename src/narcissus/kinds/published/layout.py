"""The words of a study of published tables: what is certain, and whose secret the tables tell."""

from __future__ import annotations

from typing import Any

from narcissus.counts.audit import NOTHING_PRINTED
from narcissus.counts.people import MOST_PEOPLE
from narcissus.kinds.layout import Headline, Layout, table
from narcissus.kinds.published.kind import (
    CERTAIN,
    DETERMINED,
    EXPECTED,
    FITTED,
    GAIN,
    GAME,
    GROUP,
    GROUPS,
    HIDDEN,
    SHARE,
    THESE,
    TablesDetail,
)
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Block, Facts, Items, Section, Text
from narcissus.report.reach import Reach, of_100
from narcissus.results import NotAssessed
from narcissus.rows import JudgedCriterion, StudyJudgement, StudyRow
from narcissus.study.record import Record

PRIORS = {"uniform": "every data set alike", "people": "every person alike"}
"""Names of attacks, by the prior that the attacker holds."""
UNSEEN = "attackers who know other columns, other people in the tables, or other releases"
SIDES = {"attack": "people in the tables", "fresh": "people left out", "excess": "gain"}


def _one(case: StudyJudgement, of: str) -> StudyRow:
    return case.findings.select(of=of)[0]


def _best(case: StudyJudgement) -> str | None:
    """Return the attack that decided, else the one that gains most; None: no game was played."""
    gains, worst = case.findings.select(of=GAIN), case.worst
    if worst.criterion.of in (GAIN, SHARE) and worst.attacks:
        return (worst.surest if worst.criterion.of == GAIN else worst.best).name
    return max(gains, key=lambda row: row.value).name if gains else None


def _recovered(detail: TablesDetail) -> str:
    """Word how many hidden counts follow with certainty."""
    if not detail.hidden:
        return "No count is hidden."
    if detail.hidden_determined == detail.hidden:
        return f"All {detail.hidden:,} hidden counts can be recomputed exactly."
    is_open = bool(detail.unaccounted) or detail.hidden_open > 0
    if not detail.hidden_determined and is_open:
        return "Whether hidden counts can be recomputed exactly is not decided."
    if not detail.hidden_determined:
        return "No hidden count can be recomputed exactly."
    many = f"{'At least ' * is_open}{detail.hidden_determined:,} of {detail.hidden:,}"
    return f"{many} hidden counts can be recomputed exactly."


def _hardest(case: StudyJudgement) -> str:
    """Word what is certain of hidden counts, and of people's secrets."""
    detail, sure = case.detail, _one(case, CERTAIN)
    text = _recovered(detail)
    if sure.value > 0:
        people = of_100(sure.value, "down")
        text += f" The {detail.secret} of {people} people follows with certainty."
    elif not detail.hidden_determined and not detail.unaccounted:
        text += f" Nobody was found whose {detail.secret} follows with certainty."
    return text[:-1] + _may(case, "find more") + "."


def _of_certain(case: StudyJudgement) -> dict[str, Any]:
    """Return the sentences where the number of people whose secret is certain decided."""
    detail, sure = case.detail, _one(case, CERTAIN)
    limit = None
    if sure.quantity.high is not None and not detail.unaccounted:
        limit = Reach(
            f"The tables leave a doubt about the {detail.secret} of all but {{}} people.",
            sure.quantity.model_copy(update={"value": sure.quantity.high}),
        )
    return {
        "without": Reach(f"From elsewhere, nobody's {detail.secret} is certain."),
        "with_it": Reach(
            f"The {detail.secret} of {{}} people follows from the tables with "
            f"certainty{_may(case, 'find more')}.",
            sure.quantity,
        ),
        "most": limit,
        "unlimited": f"For whom else the {detail.secret} is certain was not settled.",
        "hardest": _recovered(detail),
    }


def _of_attack(case: StudyJudgement, of: str, name: str, at: Any, role: Any = None) -> StudyRow:
    return next(row for row in case.findings.select(at, of=of, role=role) if row.name == name)


def _known(detail: TablesDetail) -> str:
    return ", ".join(detail.known) or "nothing"


def _may_be_more(case: StudyJudgement, row: StudyRow) -> bool:
    """Check whether a number may be larger, by limits or by what was not accounted for."""
    return row.quantity.high is None or bool(case.detail.unaccounted)


def _determined(case: StudyJudgement) -> str:
    """Word the number of people who are determined."""
    row = _one(case, DETERMINED)
    if row.quantity.value is None:
        return "Whether the tables determine people with all labels was not settled."
    many = int(row.value)
    prefix = "at least " * _may_be_more(case, row)
    people = f"{prefix}{many:,} {'person' if many == 1 else 'people'}"
    return f"The tables alone settle all labels of {people}: how many, not who."


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
        detail: TablesDetail = case.detail
        lines = [f"{detail.cells:,} cells of {detail.tables:,} tables: what follows with certainty"]
        if detail.trials:
            lines.append(
                f"{detail.secret}, for an attacker who knows {_known(detail)}: "
                f"{detail.trials:,} tables of the game, {detail.left_out:,} people left out each"
            )
        return lines

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        gaps: list[NotAssessed] = []
        if _one(case, DETERMINED).quantity.high is None:
            gaps.append(
                NotAssessed(
                    "whether other people are determined",
                    "the tables are too large to settle it",
                    "take fewer tables together, or raise `run.seconds`",
                )
            )
        if any(
            judgement.criterion.of == CERTAIN and judgement.status == "inconclusive"
            for judgement in case.each
        ):
            gaps.append(
                NotAssessed(
                    f"for whom else the {case.detail.secret} is certain",
                    "no data set was found that leaves them another",
                    "raise `run.steps`",
                )
            )
        if _may(case):
            gaps.append(
                NotAssessed(
                    "what an attacker who uses all means, medians and totals reaches",
                    "of some tables the attack read the counts alone",
                    "raise `run.steps`, and name `people` with whole numbers of the variable, at "
                    "most "
                    f"{MOST_PEOPLE} of them",
                )
            )
        if any(row.quantity.why == FITTED for row in case.findings.select(of=EXPECTED)):
            gaps.append(
                NotAssessed(
                    "what an attacker expects to name",
                    FITTED,
                    "raise `run.steps`, or take fewer tables together",
                )
            )
        return gaps

    def glance(self, case: StudyJudgement) -> Glance:
        detail, of, threshold = case.detail, case.worst.criterion.of, case.worst.at_most or 0.0
        accepted = f"{number(100 * threshold)} of 100 people"
        if of == DETERMINED:
            accepted = f"{threshold:,.0f} people determined"
        elif of == GROUPS:
            accepted = f"{threshold:,.0f} small groups known"
        elif of == CERTAIN:
            accepted = f"{threshold * detail.people:,.0f} people whose {detail.secret} is certain"
        common: dict[str, Any] = {
            "unit": "people",
            "accepted": "" if case.worst.at_most is None else accepted,
            "asked": f"Your threshold{' for the gain' * (of == GAIN)}",
            "unseen": UNSEEN,
            "notes": [_determined(case), *_nothing_printed(detail)],
        }
        name = _best(case)
        if name is None or of == DETERMINED:
            return Glance(**(common | _without_records(case)))
        if of == CERTAIN:
            return Glance(**(common | _of_certain(case)))
        is_gain = of == GAIN and case.worst.at_most is not None
        place, people = (GAME, "the tables of the game") if is_gain else (THESE, "these tables")
        bound = case.findings.select(THESE, role="bound")[0].quantity
        limit = "No attacker who knows the same columns is right about more than {}."
        shared = f"No lower limit exists: people who share {_known(detail)} share {detail.secret}."
        if is_gain:  # the limit is of the published tables, and not of those of the game
            ceiling = of_100(bound.value or 0.0, "up")
            shared = f"With the published tables, {limit[0].lower()}{limit[1:].format(ceiling)}"
        gain = _of_attack(case, GAIN, name, GAME)
        low, high = 100 * (gain.quantity.low or 0.0), 100 * (gain.quantity.high or 0.0)
        return Glance(
            **common,
            without=Reach(
                "The attack is right about {} people whom the tables leave out.",
                _of_attack(case, SHARE, name, GAME, "fresh").quantity,
            ),
            with_it=Reach(
                f"It is right about {{}} people in {people}{_may(case)}.",
                _of_attack(case, SHARE, name, place, "attack").quantity,
            ),
            most=None if is_gain else Reach(limit, bound),
            unlimited=shared,
            hardest=_hardest(case),
            why=f"it is {low:.1f} to {high:.1f} of 100 in the game{_may(case)}" * (of == GAIN),
        )

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        row, name = _one(case, DETERMINED), _best(case)
        many = MISSING if row.quantity.value is None else f"{int(row.value):,}"
        lines: list[Headline] = [
            (
                "People determined",
                many,
                "at least" if _may_be_more(case, row) else "no others",
                row.quantity.grade,
            )
        ]
        if name is None:
            return lines
        for label, estimate in (
            ("Right of people in these tables", _of_attack(case, SHARE, name, THESE)),
            ("Right of people left out", _of_attack(case, SHARE, name, GAME, "fresh")),
            ("Gain in the game", _of_attack(case, GAIN, name, GAME)),
        ):
            ends = (
                "exact"
                if estimate.is_exact
                else limits(estimate.quantity.low, estimate.quantity.high)
            )
            lines.append((label, percent(estimate.value), ends, estimate.quantity.grade))
        return lines

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        texts = {
            status: [_sentence(test, case) for test in case.deciding if test.status == status]
            for status in ("met", "exceeded")
        }
        return {"evidence_against": texts["exceeded"], "evidence_for": texts["met"]}

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        parts = [Section("What follows with certainty", _certain(case))]
        if case.detail.secret:
            parts.append(Section(f"Whose {case.detail.secret} the tables tell", _secrets(case)))
        return [*parts, Section("Method", [_method(case.detail)])]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        detail: TablesDetail = case.detail
        text = (
            f"At most {{}} of the people's {detail.secret} is named by an attacker who knows "
            f"{_known(detail)}."
        )
        some = tuple(
            EveryAttacker(text.format(percent(bound.value, "up")), "proved")
            for bound in case.findings.select(THESE, role="bound")
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
            f"a gain of {percent(gain.value)} over people left out{_may(case)}"
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
    believed = [row for row in case.findings.select(of=EXPECTED) if row.quantity.value is not None]
    with_it = Reach(_determined(case))
    if believed and not believed[0].value:
        with_it = Reach("The tables have no people: there is no secret to name.")
    elif believed:
        # no figure: without a baseline nothing is known to be added
        with_it = Reach(
            "An attacker who thinks all consistent data sets equally likely expects to be right "
            f"for {of_100(believed[0].value)} people{_may(case)}."
        )
    return {
        "without": Reach("These numbers follow from the tables alone."),
        "with_it": with_it,
        "most": None,
        "unlimited": _unlimited(case.detail),
        "hardest": _recovered(case.detail),
        "notes": [_determined(case)] * bool(believed) + _nothing_printed(case.detail),
    }


def _unlimited(detail: TablesDetail) -> str:
    """Word what is known of other attackers, where no game was played."""
    if not detail.people:
        return "What attackers reach is unknown: it takes the people's records."
    if detail.unaccounted:
        return "An attacker may get more from what was not accounted for."
    return "This holds for every attacker: it follows from the tables."


def _may(case: StudyJudgement, more: str = "do better") -> str:
    """Return what follows a sentence about an attack that did not use all statistics."""
    is_ignored = any("read counts alone" in row.facts for row in case.findings.rows)
    return f". An attacker who uses all means, medians and totals may {more}" * is_ignored


def _nothing_printed(detail: TablesDetail) -> list[str]:
    return [NOTHING_PRINTED] if NOTHING_PRINTED in detail.notes else []


def _sentence(one: JudgedCriterion, case: StudyJudgement) -> str:
    if one.criterion.of == DETERMINED:
        return f"{one.measures[0].value:,.0f} people are determined; {one.at_most:,.0f} accepted."
    if one.criterion.of == GROUPS:
        few = f"of fewer than {case.detail.small:,} people"
        return f"{one.measures[0].value:,.0f} groups {few} are known; {one.at_most:,.0f} accepted."
    if one.criterion.of == CERTAIN:
        low, limit = (
            round(share * case.detail.people)
            for share in (one.measures[0].value, one.at_most or 0.0)
        )
        return f"The {case.detail.secret} of {low:,} people is certain; {limit:,} accepted."
    accepted = f"{percent(one.at_most)} is accepted"
    if one.status == "met" and one.bound is not None:
        return f"No attacker names more than {percent(one.bound.quantity.high, 'up')}; {accepted}."
    row, verb = (one.surest, "gains at least") if one.criterion.of == GAIN else (one.best, "names")
    low = row.value if row.quantity.low is None else row.quantity.low
    text = f"The attack with {_prior(row)} {verb} {percent(low, 'down')}; {accepted}"
    return f"{text}{_may(case)}."


def _certain(case: StudyJudgement) -> list[Block]:
    detail: TablesDetail = case.detail
    counted = MISSING if detail.data_sets is None else f"{detail.data_sets:,}"
    suffix = "" if detail.all_counted or detail.data_sets is None else " or more"
    prefix = "at least " * (bool(detail.unaccounted) or detail.hidden_open > 0)
    facts = [
        ("Tables, cells", f"{detail.tables:,}, {detail.cells:,}"),
        (
            "Hidden cells, of which determined",
            f"{detail.hidden:,}, {prefix}{detail.hidden_determined:,}",
        ),
        ("Data sets consistent with all tables", f"{counted}{suffix}"),
        ("People", _determined(case)),
    ]
    hidden = table(
        "Hidden cells, the narrowest first; ? marks limits that may be wider than necessary",
        case.findings.select(of=HIDDEN),
        {
            "Table": "table",
            "Labels": "name",
            "Printed": "printed",
            "Least": _end("low"),
            "Most": _end("high"),
        },
        folded=detail.hidden > 12,
    )
    known = table(
        "Small groups that are known, and that no mark hides",
        case.findings.select(of=GROUP),
        {"Table": "table", "Labels": "name", "Least": _end("low"), "Most": _end("high")},
    )
    blocks: list[Block] = [
        Items("How the tables were understood", [line.strip() for line in detail.layout]),
        Facts(facts),
    ]
    blocks += [hidden] if detail.hidden else []
    blocks += [known] if case.findings.select(of=GROUP) else []
    return [*blocks, Items("Assumed", detail.notes)]


def _end(which: str) -> Any:
    def said(row: StudyRow) -> str:
        limit = getattr(row.quantity, which)
        return MISSING if limit is None else f"{limit:,.0f}{' ?' * (row.quantity.why != '')}"

    return said


def _read(row: StudyRow) -> str:
    return ", ".join(f"{many:,} {how.removeprefix('read ')}" for how, many in row.facts.items())


def _prior(row: StudyRow) -> str:
    return PRIORS.get(row.name, row.name)


def _secrets(case: StudyJudgement) -> list[Block]:
    detail: TablesDetail = case.detail
    known = _known(detail)
    if not detail.trials:
        return [
            Facts([("The attacker knows", known)]),
            table(
                "Share of people whose secret an attacker expects to name, if the prior is true"
                + _may(case),
                case.findings.select(of=EXPECTED),
                {"Attacker holds": _prior, "Expects": "value", "Read": _read},
                percent=("Expects",),
            ),
        ]
    [guess] = case.findings.select(THESE, role="guess")
    [bound] = case.findings.select(THESE, role="bound")
    sure = _one(case, CERTAIN)
    game = [row for row in case.findings.select(GAME) if row.role in SIDES]
    these = [row for row in case.findings.select(THESE, of=SHARE) if row.role == "attack"]
    return [
        Facts(
            [
                ("The attacker knows", known),
                (
                    "People, left out of each table of the game",
                    f"{detail.people:,}, {detail.left_out:,}",
                ),
                ("Tables of the game", f"{detail.trials:,}"),
                ("Most frequent secret", percent(guess.value)),
                (
                    "No doubt is left about",
                    f"{percent(sure.value, 'down')} of people"
                    + ", at least" * (sure.quantity.high != sure.value),
                ),
                ("No attacker with the same columns exceeds", percent(bound.value, "up")),
            ]
        ),
        table(
            f"People whose secret is named from these tables{_may(case) or ', exactly'}",
            these,
            {"Attacker holds": _prior, "Named": "value"},
            percent=("Named",),
        ),
        table(
            f"The same in the game; limits of all attacks hold together{_may(case)}",
            game,
            {
                "Attacker holds": _prior,
                "Of": lambda row: SIDES[row.role],
                "Share": "value",
                "Limits": "limits",
                "Tables read": _read,
            },
            percent=("Share",),
        ),
    ]


def _method(detail: TablesDetail) -> Text:
    game = (
        f"Each table of the game leaves {detail.left_out:,} of {detail.people:,} people out by "
        "chance, and is made by the same rules. Shares are means over who is left out. The limits "
        "are about these people, not about others. All hold together at level "
        f"{detail.confidence:g} (Bonferroni), by betting (Waudby-Smith and Ramdas 2023)."
    )
    return Text(
        [
            "Limits of cells and determined people hold for every data set that is consistent with "
            "all "
            "tables. They are computed in exact arithmetic.",
            "The attacker expects so many people with each secret, among those who have the same "
            "known "
            "columns, as consistent data sets have on average. The likeliest secret is named; ties "
            "are "
            "split. One attacker holds every data set alike, the other every arrangement of "
            "people. A "
            "table is read exactly where all consistent data sets are enumerated, by sampling "
            "where "
            "Markov chains mix, and else by proportional fitting. A data set weighs as much as the "
            "chance that its numbers are perturbed or rounded as they are printed, each cell by "
            "itself. Means, medians and totals are used where all data sets are enumerated; else "
            "the "
            "counts alone are read. How it is read changes how good the attack is, and not how its "
            "success is counted.",
            *([game] if detail.trials else []),
        ]
    )
