"""What the results of a table's audit say, looked up for the page and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from narcissus.report.format import NO_BREAK, number
from narcissus.results import Grade
from narcissus.study.record import Record

Answer = dict[str, Any]

_NAMES = {
    "prior": "prior alone",
    "posterior": "posterior, mean field",
    "gibbs": "posterior, Gibbs",
    "rap": "RAP, as published",
    "rap_from_prior": "RAP from the prior",
    "ceiling": "ceiling",
}


def attack_name(name: str) -> str:
    """Give the name of an attack in words."""
    return _NAMES.get(name.replace("-", "_"), name.replace("_", " "))


def settings_of(record: Record) -> list[Answer]:
    """Give the results as a list, a single one too."""
    results = record.results
    return list(results) if isinstance(results, list) else [results]


def is_noiseless(result: Answer) -> bool:
    """Tell whether a setting adds no noise."""
    noise = result.get("noise") or {}
    return not noise.get("scale")


def label_of(result: Answer) -> str:
    """Give the name of a setting, in one piece."""
    if label := result.get("label"):
        text = str(label)
    elif result.get("epsilon") is not None:
        text = f"ε = {number(result['epsilon'])}"
    elif is_noiseless(result):
        text = "no noise"
    else:
        text = f"noise {number(result['noise']['scale'])}"
    return text.replace(" ", NO_BREAK) if len(text) < 16 else text


def threshold_of(record: Record) -> Answer | None:
    """Give the threshold: what it limits, its reason and its origin; None where there is none.

    It is the study's own, or that of a policy, which the results then carry.
    """
    places: list[Any] = [record.study.get("threshold")]
    places += [result.get("threshold") for result in settings_of(record)]
    for threshold in places:
        if isinstance(threshold, dict):
            found = {k: v for k, v in cast(Answer, threshold).items() if v not in (None, "")}
            if found:
                return found
    return None


def share_allowed(record: Record, result: Answer) -> float | None:
    """Give the threshold as a share recovered, where it is one on a mean."""
    threshold = threshold_of(record) or {}
    if "advantage" in threshold:
        without = without_release(result)
        if without is None:
            return None
        # an advantage is the part of what could not be guessed that is recovered
        return without["share"] + threshold["advantage"] * (1 - without["share"])
    return threshold.get("share")


def level_of(record: Record, result: Answer) -> str:
    """Name the level of the sampled limits: ``"95% limits"``."""
    level = result.get("confidence")
    return "limits" if level is None else f"{100 * level:g}% limits"


def most_relevant(results: Sequence[Answer], *, threshold: bool) -> Answer:
    """Give the setting that the verdict names.

    The one that decides, where one does. Else with a threshold: the least noise that meets it, or
    the most noise where none does. Without one: the least noise that is noise at all, so that
    nothing looks better than it is.
    """
    deciding = [r for r in results if r.get("decides")]
    if len(deciding) == 1:
        return deciding[0]
    noisy = [r for r in results if not is_noiseless(r)] or list(results)
    met = [r for r in results if r.get("status") == "met"]
    if met:
        return min(met, key=_noise)
    return max(noisy, key=_noise) if threshold else min(noisy, key=_noise)


def _noise(result: Answer) -> float:
    return float((result.get("noise") or {}).get("scale") or 0.0)


def without_release(result: Answer) -> Answer | None:
    """Give what is guessed right without the release.

    The best guesses from the prior; where they are not given, the prior played as an attack, or
    else the best attack's own baseline.
    """
    if result.get("guess") is not None:
        return result["guess"]
    attacks: dict[str, Answer] = result.get("attacks", {})
    if "prior" in attacks:
        return attacks["prior"]
    best = attacks.get(str(result.get("best")))
    if best is None or best.get("baseline") is None:
        return None
    return {
        "share": best["baseline"],
        "low": best.get("baseline_low"),
        "high": best.get("baseline_high"),
    }


def best_of(result: Answer) -> Answer | None:
    """Give the answer of the best attack."""
    return result.get("attacks", {}).get(result.get("best"))


def gain_of(result: Answer, attack: Answer) -> float | None:
    """Give how much more an attack recovers than can be guessed without the release."""
    without = without_release(result)
    return None if without is None else attack["share"] - without["share"]


def proved_bounds(result: Answer) -> list[Answer]:
    """Give the bounds that the report leans on: not trivial, and not for comparison only."""
    return [
        b
        for b in result.get("bounds", [])
        if b.get("proved") and not b.get("for_comparison") and not is_trivial(b)
    ]


def is_trivial(bound: Answer) -> bool:
    """Tell whether a limit follows from no guarantee: that all is all is no finding."""
    return bound.get("guarantee") in (None, "", "none")


def share_proved(result: Answer) -> Answer | None:
    """Give the lowest proved limit on the mean share."""
    found = [b for b in proved_bounds(result) if b.get("share_at_most") is not None]
    return min(found, key=lambda b: b["share_at_most"], default=None)


def counts_proved(result: Answer) -> list[Answer]:
    """Give the proved limits on the number of targets in one release."""
    return [b for b in proved_bounds(result) if b.get("at_most") is not None]


def best_count(result: Answer) -> Answer | None:
    """Give the lowest proved number of targets at the highest level."""
    ordered = sorted(counts_proved(result), key=lambda b: (-b["confidence"], b["at_most"]))
    return ordered[0] if ordered else None


def grade_of(bound: Answer, result: Answer) -> Grade:
    """Give the grade of a bound: what it takes as given, and whether that is contradicted."""
    if is_trivial(bound) or not bound.get("proved") or result.get("contradictions"):
        return "not assessed"
    return "proved if" if bound.get("takes_as_given") else "proved"


def edge_of(bound: Answer | None, result: Answer) -> Answer | None:
    """Give the bound if it may be drawn as a place where no attacker is: proved, and no if."""
    return bound if bound is not None and grade_of(bound, result) == "proved" else None
