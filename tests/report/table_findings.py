"""Findings of a table's audit from made-up numbers, by the package's own rows."""

from tests.table_nodes import attack_of, bound_of, excess_of, group_of, guess_of

from narcissus.evidence import each_confidence
from narcissus.kinds.table.found import (
    Accepted,
    CountedAttack,
    NoiseDetail,
    OwnRelease,
    SettingFound,
    TableResult,
)
from narcissus.kinds.table.kind import KIND, criteria_at

PLAIN = (
    *("epsilon", "label", "delta", "mu", "released", "marginals", "cells", "people"),
    *("trials", "confidence", "prior_is_exact", "is_declared", "best"),
)


def findings_of(settings):
    """Turn settings, dictionaries of numbers, into what a kind finds."""
    criteria, details = [], []
    for one in settings:
        limits = one["threshold"]
        accepted = None if limits is None else Accepted(**limits)
        criteria += criteria_at(one["label"], accepted)
        details.append(detail_of(one, accepted, len(settings)))
    first, own = settings[0]["threshold"] or {}, settings[0].get("own_release")
    said = {key: first[key] for key in ("decided_at", "reason", "origin") if key in first}
    if own is not None:
        attacks = tuple(CountedAttack(name=name, **one) for name, one in own["attacks"].items())
        said["own_release"] = OwnRelease(**{**own, "attacks": attacks})
    return KIND.found(criteria, TableResult(settings=tuple(details), **said))


def detail_of(one, accepted, settings):
    level, ceiling = one["confidence"], one["ceiling"]
    return SettingFound(
        **{key: one[key] for key in PLAIN if key in one},
        joint=each_confidence(level, max(1, len(one["attacks"])) * settings),
        noise=None if one["noise"] is None else NoiseDetail(**one["noise"]),
        guess=guess_of(one["guess"], level),
        attacks={name: attack_of(found, level) for name, found in one["attacks"].items()},
        ceiling=None if ceiling is None else attack_of(ceiling, level),
        groups=tuple(group_of(found, level) for found in one["groups"]),
        bounds=tuple(map(bound_of, one["bounds"])),
        excesses=() if accepted is None else tuple(excesses_of(one, accepted)),
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
        yield excess_of("attack", name, of, "", *(found[end] - allowed for end in ends))
    if one["ceiling"] is not None:
        yield excess_of(
            "ceiling", "ceiling", of, "", *(one["ceiling"][end] - allowed for end in ends)
        )
    for bound in proved:
        if bound["limits"] == "share":
            most = bound["share_at_most"] - allowed
            yield excess_of("bound", bound["name"], of, "", most, None, most)


def excesses_of_targets(targets, one, proved):
    counts = [bound for bound in proved if bound["limits"] == "count"]
    level = max((bound["confidence"] for bound in counts), default=1.0)
    for name, found in one["attacks"].items():
        hits = found["distribution"]
        pairs = zip(hits["targets"], hits["trials"], strict=True)
        over = sum(trials for hit, trials in pairs if hit > targets) / found["trials"]
        yield excess_of("attack", name, "targets", "", over + level - 1, None, None)
    for bound in counts:
        if bound["confidence"] == level:
            most = (min(bound["at_most"], one["people"]) - targets) / one["people"]
            yield excess_of("bound", bound["name"], "targets", "", most, None, most)
