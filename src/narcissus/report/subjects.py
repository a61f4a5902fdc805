"""What those who decide ask of a record: what was released, who is hurt most, limits.

A kind whose records are rows answers itself; one that is not here says no more than its page does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from narcissus.report.about import EveryAttacker, Subject, shown
from narcissus.report.format import number, percent
from narcissus.report.kinds.table_names import label_of
from narcissus.study.record import Record
from narcissus.study.results.table import SettingResult, TableResults
from narcissus.study.results.table_attacks import GroupAttack, GroupResult
from narcissus.study.table.words import most_vulnerable


def subject_of(record: Record) -> Subject | None:
    """Return what a record is about; None for a kind that says nothing of it."""
    describe = _KINDS.get(type(record.results))
    if (layout := shown(record)) is not None:
        found = layout[0].subject(record, layout[1])
    elif describe is not None:
        found = describe(record.results, record)
    else:
        return None
    if record.contradictions:  # what rests on something that is refuted limits nobody
        limits = tuple(replace(one, grade="not assessed") for one in found.limits)
        return replace(found, limits=limits)
    return found


def _table(results: TableResults, record: Record) -> Subject:
    one = results.decisive
    what = one.released
    if one.noise is not None or not what:
        exact = "exact" if one.noiseless else "noisy"
        what = f"{number(one.marginals)} {exact} tables of counts ({label_of(one)})"
    threat = record.study.get("threat") or {}
    secret = ", ".join(threat.get("unknown") or []) or "all that is not known"
    text = f"{what}, about {number(one.people)} people. The attacker is after: {secret}."
    if len(results.settings) > 1:
        text += f" {len(results.settings)} levels of protection were compared."
    return Subject(text, _worst_group(one), bool(one.groups or one.merged), _table_limits(one))


def _worst_group(one: SettingResult) -> str:
    if not one.groups:
        return "" if one.merged is None else "Groups are of too few people to be shown."
    found = most_vulnerable(one)
    if found is not None:
        return f"Hardest hit: {_recovered(*found)} (sampled)."
    tried = [(group, name, a) for group in one.groups for name, a in group.attacks.items()]
    nearest = max(tried, key=lambda row: row[2].sure_gain, default=None)
    near = f" The nearest: {_recovered(*nearest)} (sampled)." if nearest is not None else ""
    return (
        f"Of {len(one.groups)} groups none is shown to be hurt more than guessing hurts it, "
        f"which does not prove that none is.{near}"
    )


def _recovered(group: GroupResult, _: str, attack: GroupAttack) -> str:
    """Describe what is recovered of a group, beside what is got without the release."""
    chance = 0.0 if attack.by_chance is None else attack.by_chance.share
    return (
        f"{group.by}, {group.group} ({percent(group.share_of_people)} of the people): "
        f"{percent(attack.share)} of them are recovered with the release, "
        f"{percent(max(group.guess.share, chance))} without it"
    )


def _table_limits(one: SettingResult) -> tuple[EveryAttacker, ...]:
    share, count = one.share_bound, one.count_bound
    found: list[EveryAttacker] = []
    if share is not None and share.share_at_most < 1:
        text = f"At most {percent(share.share_at_most, 'up')} of these {one.whose} on average"
        if share.share_of_population is not None and not one.everybody:
            text += f"; of all like them {percent(share.share_of_population, 'up')} (sampled)"
        given = share.assumptions + share.takes_as_given
        found.append(EveryAttacker(f"{text}.", one.grade_of(share), given))
    if count is not None and count.at_most < count.of:
        text = f"In one release at most {number(count.at_most)} of {number(count.of)}"
        text += f", with {100 * count.confidence:g}% confidence."
        given = count.assumptions + count.takes_as_given
        found.append(EveryAttacker(text, one.grade_of(count), given))
    return tuple(found)


_KINDS: dict[type, Callable[..., Subject]] = {
    TableResults: _table,
}
