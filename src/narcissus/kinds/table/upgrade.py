"""Results of formats 1 and 2 as rows; what the first records do not hold is null or derived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from narcissus.evidence import each_confidence
from narcissus.kinds.table.found import (
    DECLARED,
    LIMITS,
    Accepted,
    CountedAttack,
    Excess,
    Found,
    NoiseDetail,
    OwnRelease,
    PrecisionDetail,
    SettingDetail,
    TableDetail,
    attack_detail,
    attack_rows,
    bound_row,
    column_rows,
    declared_row,
    distinct_labels,
    group_rows,
    guess_rows,
)
from narcissus.rows import StudyCriterion, StudyRow
from narcissus.study.merging import MergedGroups

PRIOR_IS_RIGHT = "the fitted prior is right about these real people"
_PLAIN = (
    *("epsilon", "label", "delta", "mu", "released", "strength", "marginals", "cells", "people"),
    *("trials", "confidence", "everybody", "is_declared", "share_of_columns", "best"),
)

Upgraded = tuple[tuple[StudyCriterion, ...], tuple[StudyRow, ...], TableDetail]


def upgraded(results: Any, study: Found) -> Upgraded:
    found: Sequence[Found] = results if isinstance(results, list) else [results]
    labels = distinct_labels([one["label"] for one in found])
    found = [{**one, "label": label} for one, label in zip(found, labels, strict=True)]
    criteria: list[StudyCriterion] = []
    rows: list[StudyRow] = []
    settings: list[SettingDetail] = []
    accepted = [_accepted(one, study) for one in found]
    for old, limits in zip(found, accepted, strict=True):
        detail, own = _setting(old, study, limits, len(found))
        settings.append(detail)
        rows += own
        criteria += criteria_at(old["label"], limits)
    first = next((one for one in accepted if one is not None), Accepted())
    detail = TableDetail(
        settings=tuple(settings),
        decided_at=first.decided_at,
        reason=first.reason,
        origin=first.origin,
        own_release=_own(found[0].get("own_release")),
    )
    return tuple(criteria), tuple(rows), detail


def criteria_at(label: str, accepted: Accepted | None) -> list[StudyCriterion]:
    """Return what a setting is held to; without a threshold it is only looked at."""
    if accepted is None:
        return [StudyCriterion(of="share", label=label, at={"setting": label})]
    return list(accepted.criteria(label))


def _accepted(old: Found, study: Found) -> Accepted | None:
    found = old.get("threshold", study.get("threshold"))
    if found is None:
        return None
    decided = found.get("decided_at")
    if (at := found.get("at")) is not None:  # format 1
        decided = old["label"] if old.get("decides", True) else f"{at:g}"
    limits: Any = {key: found.get(key) for key in (*LIMITS, "worst_group")}
    return Accepted(**limits, decided_at=decided, reason=found.get("reason", ""),
                    origin=found.get("origin", ""))  # fmt: skip


def _setting(
    old: Found, study: Found, accepted: Accepted | None, settings: int
) -> tuple[SettingDetail, list[StudyRow]]:
    label, level, findings = old["label"], old["confidence"], old.get("findings", [])
    real = study["threat"]["people"] != "prior"
    exact = old.get("prior_is_exact", not real)
    said = [f["assumptions"] for f in findings if f["source"] in ("the prior", "the ceiling")]
    given = tuple(said[0]) if said else () if exact else (PRIOR_IS_RIGHT,)
    bounds = [_bound(one, given) for one in old["bounds"]]
    declared = [
        one["takes_as_given"][len(given) :] for one in bounds if one["grade"] != "not assessed"
    ]
    about = f"mean share recovered at {label}"
    by_attacks = [f["confidence"] for f in findings
                  if f["quantity"] == about and f["source"].startswith("the attack")]  # fmt: skip
    joint = each_confidence(level, max(1, len(old["attacks"])) * settings)
    attacks = {name: _attack(one) for name, one in old["attacks"].items()}
    ceiling = None if old.get("ceiling") is None else _attack(old["ceiling"])
    excesses = [Excess(**_of(one, accepted)) for one in old.get("excesses", [])]
    if not excesses and accepted is not None:
        excesses = list(_differences(accepted, old, attacks, ceiling, bounds))
    gains = [f["high"] for f in findings if f["source"] == DECLARED]
    rows = [
        *guess_rows(label, {"by_the_prior": None, **old["guess"]}, level),
        *(row for name, one in attacks.items()
          for row in attack_rows(label, "attack", name, one, level)),
        *([] if ceiling is None else attack_rows(label, "ceiling", "ceiling", ceiling, level)),
        *column_rows(label, attacks, ceiling, old["best"], level),
        *(row for one in old["groups"]
          for row in group_rows(label, {"by_secret": None, "ceiling": None, **one}, level)),
        *(bound_row(label, one) for one in bounds),
        *(declared_row(label, gain, level) for gain in gains),
        *(one.row(label) for one in excesses),
    ]  # fmt: skip
    noise, precision, merged = (old.get(key) for key in ("noise", "precision", "merged"))
    detail = SettingDetail(
        **{key: old[key] for key in _PLAIN if key in old},
        joint=by_attacks[0] if by_attacks else joint,
        noise=None if noise is None else NoiseDetail(**noise),
        precision=None if precision is None else PrecisionDetail(**precision),
        given=given,
        declared=tuple(declared[0]) if declared else (),
        prior_is_exact=exact,
        are_real=real,
        attacks=tuple(attack_detail(name, one) for name, one in attacks.items()),
        ceiling=None if ceiling is None else attack_detail("ceiling", ceiling),
        merged=None if merged is None else MergedGroups.model_validate(
            {**merged, "left_out": tuple(merged["left_out"])}
        ),
    )  # fmt: skip
    return detail, rows


def _attack(old: Found) -> Found:
    missing = dict.fromkeys(("low_joint", "gain_low_joint", "approximate", "narrowest", "decoy"))
    return {**missing, **old}


def _bound(old: Found, given: tuple[str, ...]) -> Found:
    is_share = "share_at_most" in old
    whole = {"share_of_population" if is_share else "at_most_of_population": None}
    found = {"takes_as_given": given, "for_comparison": False, "name": "", **whole, **old}
    grade = "proved if" if found["takes_as_given"] else "proved"
    if found["guarantee"] in (None, "", "none"):
        grade = "not assessed"
    found["guarantee"] = found["guarantee"] or ""
    return {"limits": "share" if is_share else "count", "grade": grade, **found}


def _of(old: Found, accepted: Accepted | None) -> dict[str, Any]:
    """Name the limit of an excess; the first records have one only."""
    own = next((name for name in LIMITS if getattr(accepted, name, None) is not None), "share")
    return {**old, "of": old.get("of") or own}


def _differences(
    accepted: Accepted, old: Found, attacks: Found, ceiling: Found | None, bounds: Sequence[Found]
) -> Iterator[Excess]:
    """Derive what the first records do not hold: each number less what is accepted."""
    proved = [one for one in bounds if one["grade"] != "not assessed" and not one["for_comparison"]]
    guess = old["guess"]["share"]
    means = {"share": accepted.share}
    if accepted.advantage is not None:
        means["advantage"] = guess + accepted.advantage * (1 - guess)
    for of, allowed in means.items():
        if allowed is not None:
            yield from _of_shares(of, allowed, attacks, ceiling, proved)
    if accepted.targets is not None:
        yield from _of_targets(accepted.targets, old["people"], attacks, proved)


def _of_shares(
    of: str, allowed: float, attacks: Found, ceiling: Found | None, proved: Sequence[Found]
) -> Iterator[Excess]:
    for name, one in attacks.items():
        yield Excess("attack", name, of, "", *(one[k] - allowed for k in ("share", "low", "high")))
    if ceiling is not None:
        limits = (ceiling[key] - allowed for key in ("share", "low", "high"))
        yield Excess("ceiling", "ceiling", of, "", *limits)
    for one in proved:
        if one["limits"] == "share":
            most = one["share_at_most"] - allowed
            yield Excess("bound", one["name"], of, "", most, None, most)


def _of_targets(
    targets: int, people: int, attacks: Found, proved: Sequence[Found]
) -> Iterator[Excess]:
    counts = [one for one in proved if one["limits"] == "count"]
    level = max((one["confidence"] for one in counts), default=1.0)
    for name, one in attacks.items():
        hits = one["distribution"]
        pairs = zip(hits["targets"], hits["trials"], strict=True)
        over = sum(trials for hit, trials in pairs if hit > targets) / one["trials"]
        yield Excess("attack", name, "targets", "", over + level - 1, None, None)
    for one in counts:
        if one["confidence"] == level:
            most = (min(one["at_most"], people) - targets) / people
            yield Excess("bound", one["name"], "targets", "", most, None, most)


def _own(old: Found | None) -> OwnRelease | None:
    if old is None:
        return None
    attacks = tuple(CountedAttack(name=name, **one) for name, one in old["attacks"].items())
    return OwnRelease.model_validate({**old, "attacks": attacks})
