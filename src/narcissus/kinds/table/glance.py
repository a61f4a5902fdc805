"""An audit of a table on its first screen."""

from __future__ import annotations

from narcissus.game.looks import rounded_trials
from narcissus.kinds.table.judgement import JudgedSetting, TableJudgement
from narcissus.kinds.table.words import best_name, most_vulnerable
from narcissus.report.first_screen import NO_GROUP, NO_GROUPS, Glance, Reach, of_100, placed
from narcissus.rows import Quantity


def glance(case: TableJudgement) -> Glance:
    """Return the numbers of the setting that the status rests on."""
    one = case.decisive
    unit = "answers" if one.detail.share_of_columns else "people"
    at = f" at {one.label}" if len(case.settings) > 1 else ""
    found = " that we found" if one.guess.fact("is_best_found") else ""
    guess = f"Without the release, the best guess{found} gets {{}} {unit} right."
    return Glance(
        unit=unit,
        without=Reach(guess, one.guess.row.quantity),
        with_it=_best(one, at),
        most=_most(one),
        unlimited=f"Any attacker might get all 100 {unit} right: no lower limit is proved.",
        hardest=_hardest(one),
        unseen="what the attacker learns elsewhere, other releases about the same people, side "
        "channels of the computer",
        accepted=_accepted(one),
        where=_where(case),
        undecided=_undecided(one),
        given=() if one.share_bound is None else one.share_bound.takes_as_given,
    )


def _best(one: JudgedSetting, at: str) -> Reach:
    best, head = one.best_attack, f"With the release{at},"
    if best is None:
        return Reach("No attack was run.")
    return Reach(f"{head} {best_name(one)} gets {{}} right.", best.row.quantity)


def _most(one: JudgedSetting) -> Reach | None:
    share, count = one.share_bound, one.count_bound
    if_so = f"if {one.proved_if}, " if one.proved_if else ""
    if share is not None and not one.detail.everybody and share.of_population is not None:
        found = Quantity(value=share.of_population, grade="sampled")
        said = f"{if_so}no attacker gets more than {{}} right on average: a theorem, "
        return Reach(f"{said}estimated from a sample of people.", found)
    if share is not None:
        found = Quantity(value=share.at_most, grade=one.grade_of(share))
        return Reach(f"{if_so}no attacker gets more than {{}} right on average.", found)
    if count is None:
        return None
    found = Quantity(value=count.at_most / count.of, grade=one.grade_of(count))
    times = f"{100 * count.confidence:g} of 100"
    return Reach(f"In {times} releases, {if_so}no attacker gets more than {{}} right.", found)


def _accepted(one: JudgedSetting) -> str:
    threshold = one.threshold
    if threshold is None:
        return ""
    said = {
        "share": "{} of 100 right on average",
        "advantage": "{}% of the gap between guessing and certainty",
        "gain": "{} more of 100 than among people outside the release",
    }
    found = [
        text.format(f"{100 * value:g}")
        for name, text in said.items()
        if (value := getattr(threshold, name)) is not None
    ]
    if threshold.targets is not None:
        found.append(f"{threshold.targets} people in one release")
    if threshold.worst_group is not None:
        found.append(f"{100 * threshold.worst_group:g} of 100 in a group")
    return " and ".join(found)


def _where(case: TableJudgement) -> str:
    deciding = [one for one in case.settings if one.decides] or [*case.settings]
    alike = [one.label for one in deciding if one.status == case.status]
    return placed(alike, len(case.settings))


def _undecided(one: JudgedSetting) -> str:
    judgement = one.judgement
    if judgement.held_back_by is not None:
        return (
            f"{one.label} is not decided: {judgement.held_back_by} has more protection, and "
            "misses the threshold."
        )
    if judgement.status == "too few trials" and judgement.trials_needed:
        needed = rounded_trials(judgement.trials_needed)
        return f"{one.detail.trials:,} trials are too few; about {needed:,} would probably do."
    return ""


def _hardest(one: JudgedSetting) -> str:
    if not one.groups:
        return NO_GROUPS if one.detail.merged is None else (
            "We cannot say who is hit hardest: the groups are too small to show."
        )  # fmt: skip
    if (found := most_vulnerable(one)) is None:
        return NO_GROUP
    group, _, attack = found
    without = max(group.guess.share, attack.chance or 0.0)
    return (
        f"Hit hardest: the group “{group.by}: {group.group}”, {of_100(group.share_of_people)} "
        f"people. The attack gets {of_100(attack.share)} of them right, guessing "
        f"{of_100(without)}."
    )
