"""The first screen of a study of published tables, by what decided."""

from __future__ import annotations

from dataclasses import replace

from narcissus.counts.audit import NOTHING_PRINTED
from narcissus.judgement import StudyJudgement
from narcissus.kinds.published.result import (
    CERTAIN,
    DETERMINED,
    GAIN,
    GROUPS,
    PlayedTables,
    SmallGroups,
    TablesAttack,
    TablesResult,
)
from narcissus.kinds.published.words import (
    describe_determined,
    describe_ignored,
    describe_recovered,
    find_attack,
    list_known,
)
from narcissus.report.first_screen import Glance
from narcissus.report.format import number
from narcissus.report.reach import NUMBER, Reach, of_100

UNSEEN = "attackers who know other columns, other people in the tables, or other releases"


def describe_glance(case: StudyJudgement) -> Glance:
    """Describe people who are determined, whose secret is certain, or whom an attack names."""
    result, of, at_most = case.result, case.worst.criterion.of, case.worst.at_most
    attack = find_attack(case)
    asked = f"Your threshold{' for the gain' * (of == GAIN)}"
    if of == GROUPS and result.small_groups is not None:
        glance = _of_groups(result, result.small_groups)
    elif attack is None or of == DETERMINED:
        glance = _without_attack(result)
    elif of == CERTAIN:
        glance = _of_certain(result, result.game)
    else:
        glance = _of_attack(result, result.game, attack, is_gain=of == GAIN and at_most is not None)
    if attack is not None and of == GAIN:
        low, high = (100 * (limit or 0.0) for limit in (attack.gain.low, attack.gain.high))
        why = f"it is {low:.1f} to {high:.1f} of 100 in the game{describe_ignored(result)}"
        glance = replace(glance, why=why)
    accepted = "" if at_most is None else _accepted(result, of, at_most)
    return replace(
        glance,
        view=NUMBER if of in (DETERMINED, GROUPS) else glance.view,
        accepted=accepted,
        asked=asked,
        declared=result.declared,
        implied=result.implied,
    )


def _accepted(result: TablesResult, of: str, at_most: float) -> str:
    """Describe what is accepted, in people."""
    if of == DETERMINED:
        return f"{at_most:,.0f} people determined"
    if of == GROUPS:
        return f"{at_most:,.0f} small groups known"
    if of == CERTAIN and result.game is not None:
        return f"{at_most * result.game.people:,.0f} people whose {result.secret} is certain"
    return f"{number(100 * at_most)} of 100 people"


def _notes(result: TablesResult) -> list[str]:
    """Say how many people are determined, unless a sentence does."""
    return [describe_determined(result), *_nothing_printed(result)]


def _nothing_printed(result: TablesResult) -> list[str]:
    return [NOTHING_PRINTED] if NOTHING_PRINTED in result.notes else []


def _without_attack(result: TablesResult) -> Glance:
    """Describe what follows with certainty, and what an attacker expects without a game."""
    expected = [share.named.value for share in result.expected if share.named.value is not None]
    with_it, notes = describe_determined(result), _nothing_printed(result)
    if expected:
        # no figure: without a baseline nothing is known to be added
        notes = _notes(result)
        with_it = "The tables have no people: there is no secret to name."
        if expected[0]:
            with_it = (
                "An attacker who thinks all consistent data sets equally likely expects to be "
                f"right for {of_100(expected[0])} people{describe_ignored(result)}."
            )
    unlimited = "This holds for every attacker: it follows from the tables."
    if result.game is None:
        unlimited = "The success of attackers is unknown: it takes the people's records."
    elif result.unaccounted:
        unlimited = "An attacker may get more from what was not accounted for."
    return Glance(
        unit="people",
        without=Reach("These numbers follow from the tables alone."),
        with_it=Reach(with_it),
        most=None,
        unlimited=unlimited,
        hardest=describe_recovered(result),
        unseen=UNSEEN,
        notes=notes,
    )


def _of_groups(result: TablesResult, groups: SmallGroups) -> Glance:
    """Describe the small groups whose size follows from the tables."""
    many = int(groups.known.value or 0)
    least = "at least " * bool(result.unaccounted or groups.known.high is None)
    size = f"{least}{many:,} {'group' if many == 1 else 'groups'} of fewer than {groups.below:,}"
    return Glance(
        unit="people",
        without=Reach("These numbers follow from the tables alone."),
        with_it=Reach(f"The size of {size} people follows from the tables."),
        most=None,
        unlimited="This holds for every attacker: it follows from the tables.",
        hardest=describe_recovered(result),
        unseen=UNSEEN,
        notes=_notes(result),
    )


def _of_certain(result: TablesResult, game: PlayedTables) -> Glance:
    """Describe the people whose secret is certain."""
    certain, most = game.certain, None
    if certain.high is not None and not result.unaccounted:
        most = Reach(
            f"The tables leave a doubt about the {result.secret} of all but {{}} people.",
            certain.model_copy(update={"value": certain.high}),
        )
    more = describe_ignored(result, "find more")
    return Glance(
        unit="people",
        without=Reach(f"From elsewhere, nobody's {result.secret} is certain."),
        with_it=Reach(
            f"The {result.secret} of {{}} people follows from the tables with certainty{more}.",
            certain,
        ),
        most=most,
        unlimited=f"For whom else the {result.secret} is certain was not settled.",
        hardest=describe_recovered(result),
        unseen=UNSEEN,
        notes=_notes(result),
    )


def _of_attack(
    result: TablesResult, game: PlayedTables, attack: TablesAttack, *, is_gain: bool
) -> Glance:
    """Describe the people whose secret an attack names."""
    limit = "No attacker who knows the same columns is right about more than {}."
    known, most = list_known(result), Reach(limit, game.ceiling)
    unlimited = f"No lower limit exists: people who share {known} share {result.secret}."
    named, people = attack.published, "these tables"
    if is_gain:  # the limit is of the published tables, and not of those of the game
        ceiling = of_100(game.ceiling.value or 0.0, "up")
        unlimited = f"With the published tables, n{limit[1:].format(ceiling)}"
        most, named, people = None, attack.members, "the tables of the game"
    return Glance(
        unit="people",
        without=Reach(
            "The attack is right about {} people whom the tables leave out.", attack.left_out
        ),
        with_it=Reach(
            f"It is right about {{}} people in {people}{describe_ignored(result)}.", named
        ),
        most=most,
        unlimited=unlimited,
        hardest=_hardest(result, game),
        unseen=UNSEEN,
        notes=_notes(result),
    )


def _hardest(result: TablesResult, game: PlayedTables) -> str:
    """Describe what is certain of hidden counts, and of people's secrets."""
    text = describe_recovered(result)
    if game.certain.value:
        people = of_100(game.certain.value, "down")
        text += f" The {result.secret} of {people} people follows with certainty."
    elif not result.hidden.determined and not result.unaccounted:
        text += f" Nobody was found whose {result.secret} follows with certainty."
    return f"{text[:-1]}{describe_ignored(result, 'find more')}."
