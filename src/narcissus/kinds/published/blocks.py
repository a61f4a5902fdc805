"""Sections on published tables: what is certain, whose secret the tables tell, and the method."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import table
from narcissus.kinds.published.result import (
    EXPECTED,
    GAME,
    SHARE,
    THESE,
    LimitedGroup,
    PlayedTables,
    TablesResult,
)
from narcissus.kinds.published.words import (
    HOLDS,
    are_counts_open,
    describe_determined,
    describe_ignored,
    list_known,
)
from narcissus.report.format import MISSING, percent
from narcissus.report.page import Block, Facts, Items, Text
from narcissus.results import Grade
from narcissus.rows import Quantity, StudyRow

SIDES = {"attack": "people in the tables", "fresh": "people left out", "excess": "gain"}


def describe_certain(result: TablesResult) -> list[Block]:
    """Describe what follows with certainty."""
    hidden = result.hidden
    counted = MISSING if result.data_sets is None else f"{result.data_sets:,}"
    suffix = "" if result.all_counted or result.data_sets is None else " or more"
    prefix = "at least " * are_counts_open(result)
    blocks: list[Block] = [
        Items("How the tables were understood", [line.strip() for line in result.layout]),
        Facts(
            [
                ("Tables, cells", f"{result.tables:,}, {result.cells:,}"),
                (
                    "Hidden cells, of which determined",
                    f"{hidden.total:,}, {prefix}{hidden.determined:,}",
                ),
                ("Data sets consistent with all tables", f"{counted}{suffix}"),
                ("People", describe_determined(result)),
            ]
        ),
    ]
    columns = {"Table": "table", "Labels": "name"}
    limits = {"Least": _least, "Most": _most}
    if hidden.total:
        caption = (
            "Hidden cells, the narrowest first; ? marks limits that may be wider than necessary"
        )
        shown = {**columns, "Printed": "printed", **limits}
        is_long = hidden.total > 12
        blocks.append(
            table(
                caption, hidden.narrowest, shown, graded=_grades(hidden.narrowest), folded=is_long
            )
        )
    if result.groups:
        caption = "Small groups that are known, and that no mark hides"
        grades = _grades(result.groups)
        blocks.append(table(caption, result.groups, {**columns, **limits}, graded=grades))
    return [*blocks, Items("Assumed", result.notes)]


def _grades(groups: Sequence[LimitedGroup]) -> list[Grade]:
    return [group.people.grade for group in groups]


def _least(group: LimitedGroup) -> str:
    return _limit(group, group.people.low)


def _most(group: LimitedGroup) -> str:
    return _limit(group, group.people.high)


def _limit(group: LimitedGroup, limit: float | None) -> str:
    return MISSING if limit is None else f"{limit:,.0f}{' ?' * (group.people.why != '')}"


def _holds(row: StudyRow) -> str:
    return HOLDS[row.about.prior]


def _readings(row: StudyRow) -> str:
    """Return how tables of the game were read, where people in them are attacked."""
    readings = row.about.readings if row.role == "attack" else {}
    return ", ".join(f"{many:,} {how}" for how, many in readings.items())


def _certain_share(certain: Quantity) -> str:
    share = percent(certain.value, "down")
    return share if certain.high == certain.value else f"at least {share}"


def describe_secrets(case: StudyJudgement) -> list[Block]:
    """Describe whose secret attackers name, or expect to name."""
    result: TablesResult = case.result
    game, ignored = result.game, describe_ignored(result)
    known = ("The attacker knows", list_known(result))
    if game is None:
        return [
            Facts([known]),
            table(
                "Share of people whose secret an attacker expects to name, if the prior is true"
                + ignored,
                case.findings.select(of=EXPECTED),
                {"Attacker holds": _holds, "Expects": "value", "Read": lambda row: row.about.read},
                percent=("Expects",),
            ),
        ]
    return [
        Facts(
            [
                known,
                (
                    "People, left out of each table of the game",
                    f"{game.people:,}, {game.left_out:,}",
                ),
                ("Tables of the game", f"{game.trials:,}"),
            ]
        ),
        table(
            "The commonest secret, secrets that are certain, and the limit on every such attacker",
            [
                ("Most frequent secret", percent(game.guess.value)),
                ("No doubt is left about", _certain_share(game.certain)),
                (
                    "No attacker with the same columns exceeds",
                    percent(game.ceiling.value, "up"),
                ),
            ],
            {"What": itemgetter(0), "Share of people": itemgetter(1)},
            graded=[game.guess.grade, game.certain.grade, game.ceiling.grade],
        ),
        table(
            f"People whose secret is named from these tables{ignored or ', exactly'}",
            case.findings.select(THESE, of=SHARE, role="attack"),
            {"Attacker holds": _holds, "Named": "value"},
            percent=("Named",),
        ),
        table(
            f"The same in the game; limits of all attacks hold together{ignored}",
            case.findings.select(GAME),
            {
                "Attacker holds": _holds,
                "Of": lambda row: SIDES[row.role],
                "Share": "value",
                "Limits": "limits",
                "Tables read": _readings,
            },
            percent=("Share",),
        ),
    ]


def describe_method(game: PlayedTables | None) -> Text:
    """Describe how numbers are made."""
    sentences = [
        "Limits of cells and determined people hold for every data set that is consistent with "
        "all tables. They are computed in exact arithmetic.",
        "The attacker expects so many people with each secret, among those who have the same known "
        "columns, as consistent data sets have on average. The likeliest secret is named; ties are "
        "split. One attacker holds every data set alike, the other every arrangement of people. A "
        "table is read exactly where all consistent data sets are enumerated, by sampling where "
        "Markov chains mix, and else by proportional fitting. A data set weighs as much as the "
        "chance that its numbers are perturbed or rounded as they are printed, each cell by "
        "itself. Means, medians and totals are used where all data sets are enumerated; else the "
        "counts alone are read. How it is read changes how good the attack is, and not how its "
        "success is counted.",
    ]
    if game is not None:
        sentences.append(
            f"Each table of the game leaves {game.left_out:,} of {game.people:,} people out "
            "randomly, and is made by the same rules. Shares are means over who is left out. "
            "The "
            "limits are about these people, not about others. All hold together at level "
            f"{game.confidence:g} (Bonferroni), by betting (Waudby-Smith and Ramdas 2023)."
        )
    return Text(sentences)
