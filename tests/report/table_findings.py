"""Findings of a table's audit from made-up numbers, by the package's own rows."""

from narcissus.evidence import each_confidence
from narcissus.kinds.table.found import (
    Accepted,
    CountedAttack,
    Excess,
    NoiseDetail,
    OwnRelease,
    SettingDetail,
    TableDetail,
    attack_detail,
    attack_rows,
    bound_row,
    column_rows,
    group_rows,
    guess_rows,
)
from narcissus.kinds.table.kind import KIND, criteria_at

PLAIN = (
    *("epsilon", "label", "delta", "mu", "released", "marginals", "cells", "people"),
    *("trials", "confidence", "prior_is_exact", "is_declared", "best"),
)


def findings_of(settings):
    """Turn settings, dictionaries of numbers, into what a kind finds."""
    criteria, rows, details = [], [], []
    for one in settings:
        limits = one["threshold"]
        accepted = None if limits is None else Accepted(**limits)
        criteria += criteria_at(one["label"], accepted)
        rows += rows_of(one, accepted)
        details.append(detail_of(one, len(settings)))
    first, own = settings[0]["threshold"] or {}, settings[0].get("own_release")
    said = {key: first[key] for key in ("decided_at", "reason", "origin") if key in first}
    if own is not None:
        attacks = tuple(CountedAttack(name=name, **one) for name, one in own["attacks"].items())
        said["own_release"] = OwnRelease(**{**own, "attacks": attacks})
    return KIND.found(criteria, rows, TableDetail(settings=tuple(details), **said))


def rows_of(one, accepted):
    """Yield the rows of a setting."""
    label, level, attacks, ceiling = one["label"], one["confidence"], one["attacks"], one["ceiling"]
    yield from guess_rows(label, one["guess"], level)
    for name, found in attacks.items():
        yield from attack_rows(label, "attack", name, found, level)
    if ceiling is not None:
        yield from attack_rows(label, "ceiling", "ceiling", ceiling, level)
    yield from column_rows(label, attacks, ceiling, one["best"], level)
    for group in one["groups"]:
        yield from group_rows(label, group, level)
    for bound in one["bounds"]:
        yield bound_row(label, bound)
    if accepted is not None:
        yield from (excess.row(label) for excess in excesses_of(one, accepted))


def detail_of(one, settings):
    return SettingDetail(
        **{key: one[key] for key in PLAIN if key in one},
        joint=each_confidence(one["confidence"], max(1, len(one["attacks"])) * settings),
        noise=None if one["noise"] is None else NoiseDetail(**one["noise"]),
        attacks=tuple(attack_detail(name, found) for name, found in one["attacks"].items()),
        ceiling=None if one["ceiling"] is None else attack_detail("ceiling", one["ceiling"]),
    )


def excesses_of(one, accepted):
    """Yield each number less what is accepted."""
    proved = [bound for bound in one["bounds"] if not bound["for_comparison"]]
    proved = [bound for bound in proved if bound["grade"] != "not assessed"]
    guess = one["guess"]["share"]
    means = {"share": accepted.share}
    if accepted.advantage is not None:
        means["advantage"] = guess + accepted.advantage * (1 - guess)
    for of, allowed in means.items():
        if allowed is not None:
            yield from excesses_of_shares(of, allowed, one, proved)
    if accepted.targets is not None:
        yield from excesses_of_targets(accepted.targets, one, proved)


def excesses_of_shares(of, allowed, one, proved):
    ends = ("share", "low", "high")
    for name, found in one["attacks"].items():
        yield Excess("attack", name, of, "", *(found[end] - allowed for end in ends))
    if one["ceiling"] is not None:
        yield Excess("ceiling", "ceiling", of, "", *(one["ceiling"][end] - allowed for end in ends))
    for bound in proved:
        if bound["limits"] == "share":
            most = bound["share_at_most"] - allowed
            yield Excess("bound", bound["name"], of, "", most, None, most)


def excesses_of_targets(targets, one, proved):
    counts = [bound for bound in proved if bound["limits"] == "count"]
    level = max((bound["confidence"] for bound in counts), default=1.0)
    for name, found in one["attacks"].items():
        hits = found["distribution"]
        pairs = zip(hits["targets"], hits["trials"], strict=True)
        over = sum(trials for hit, trials in pairs if hit > targets) / found["trials"]
        yield Excess("attack", name, "targets", "", over + level - 1, None, None)
    for bound in counts:
        if bound["confidence"] == level:
            most = (min(bound["at_most"], one["people"]) - targets) / one["people"]
            yield Excess("bound", bound["name"], "targets", "", most, None, most)
