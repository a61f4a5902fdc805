"""What is said of published tables in several places: hidden counts, people, attackers."""

from __future__ import annotations

from narcissus.counts.posterior import Prior
from narcissus.judgement import StudyJudgement
from narcissus.kinds.published.result import (
    GAIN,
    SHARE,
    TablesAttack,
    TablesResult,
)

HOLDS: dict[Prior, str] = {"uniform": "every data set alike", "people": "every person alike"}
"""What the attacker believes, by prior."""


def find_attack(case: StudyJudgement) -> TablesAttack | None:
    """Return the attack that decided, else the one that gains most; None: no game was played."""
    game, worst = case.result.game, case.worst
    if worst.criterion.of in (GAIN, SHARE) and worst.attacks:
        return (worst.surest if worst.criterion.of == GAIN else worst.best).about
    return game and max(game.attacks, key=lambda attack: attack.gain.value or 0.0)


def list_known(result: TablesResult) -> str:
    return ", ".join(result.known) or "nothing"


def may_be_more(result: TablesResult) -> bool:
    """Check whether more people may be determined, by limits or by what was not accounted for."""
    return result.determined.high is None or bool(result.unaccounted)


def are_counts_open(result: TablesResult) -> bool:
    """Check whether more hidden counts may follow from the tables."""
    return result.hidden.undecided > 0 or bool(result.unaccounted)


def describe_ignored(result: TablesResult, more: str = "do better") -> str:
    """Return what follows a sentence about an attack that did not use all statistics."""
    words = f". An attacker who uses all means, medians and totals may {more}"
    return words * result.leaves_statistics_out


def describe_recovered(result: TablesResult) -> str:
    """Describe how many hidden counts follow with certainty."""
    hidden = result.hidden
    if not hidden.total:
        return "No count is hidden."
    if hidden.determined == hidden.total:
        return f"All {hidden.total:,} hidden counts can be recomputed exactly."
    if hidden.determined:
        prefix = "At least " * are_counts_open(result)
        many = f"{prefix}{hidden.determined:,} of {hidden.total:,}"
        return f"{many} hidden counts can be recomputed exactly."
    if are_counts_open(result):
        return "Whether hidden counts can be recomputed exactly is not decided."
    return "No hidden count can be recomputed exactly."


def describe_determined(result: TablesResult) -> str:
    """Describe the number of people who are determined."""
    if result.determined.value is None:
        return "Whether the tables determine people with all labels was not settled."
    many = int(result.determined.value)
    people = f"{'at least ' * may_be_more(result)}{many:,} {'person' if many == 1 else 'people'}"
    return f"All labels of {people} follow from the tables: how many, not who."
