"""The verdict in words: from results to a status, plain odds, and evidence for and against.

What counts is always the worse end: a threshold is met when it is proved so or when even the
upper limit of the ceiling keeps it; it is exceeded when the lower limit of an attack is above
it; anything else is inconclusive. An attack that fails proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from narcissus.evidence import clopper_pearson
from narcissus.study.record import Status
from narcissus.study.table.schema import ThresholdSpec


@dataclass(frozen=True)
class Judgement:
    """What is concluded about one setting."""

    status: Status
    verdict: str
    odds: str
    evidence_for: list[str]
    evidence_against: list[str]


def percent(share: float | None) -> str:
    """Give a share as a percentage with one digit."""
    return "not known" if share is None else f"{100 * share:.1f}%"


def percent_up(share: float) -> str:
    """Give a proved limit as a percentage, never rounded below itself."""
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}%"


def percent_down(share: float) -> str:
    """Give a lower limit as a percentage, never rounded above itself."""
    return f"{math.floor(1000 * share + 1e-9) / 10:.1f}%"


def points(difference: float) -> str:
    """Give a difference of shares in percentage points."""
    return f"{100 * difference:.1f} points"


def share_bound(results: dict[str, Any]) -> float:
    """Give the proved limit of the mean share."""
    return min(b["share_at_most"] for b in results["bounds"] if "share_at_most" in b)


def count_bound(results: dict[str, Any]) -> int:
    """Give the proved number of targets at the reported confidence."""
    return min(
        b["at_most"]
        for b in results["bounds"]
        if "at_most" in b and b["confidence"] == results["confidence"]
    )


def judge(results: dict[str, Any], threshold: ThresholdSpec | None) -> Judgement:
    """Judge one setting."""
    status = _status(results, threshold)
    return Judgement(
        status=status,
        verdict=_words(results, threshold, status),
        odds=_odds(results),
        evidence_for=_for(results),
        evidence_against=_against(results),
    )


def _limit(results: dict[str, Any], threshold: ThresholdSpec, end: str) -> float:
    """Give the threshold as a mean share; an advantage is turned into the share that it allows.

    ``end`` chooses the guess without the release: "share" beside what is proved for the people
    played, whose guess is known exactly; "low" or "high" beside what is sampled, the worse end.
    """
    if threshold.share is not None:
        return threshold.share
    assert threshold.advantage is not None
    guess = results["guess"][end]
    return guess + threshold.advantage * (1 - guess)


def _proved(results: dict[str, Any], threshold: ThresholdSpec) -> bool:
    """Tell whether the bound on the mean share keeps the threshold."""
    return share_bound(results) <= _limit(results, threshold, "share")


def _status(results: dict[str, Any], threshold: ThresholdSpec | None) -> Status:
    if threshold is None:
        return "no threshold"
    if threshold.targets is not None:
        return _status_of_count(results, threshold.targets)
    if _proved(results, threshold):
        return "met"
    lows = [a["low_joint"] for a in results["attacks"].values()]
    if max(lows, default=0.0) > _limit(results, threshold, "high"):
        return "exceeded"
    ceiling = results.get("ceiling")
    if ceiling is not None and ceiling["high"] <= _limit(results, threshold, "low"):
        return "met"
    return "inconclusive"


def _status_of_count(results: dict[str, Any], limit: int) -> Status:
    """Judge 'more than so many targets fall with probability at most 1 - confidence'."""
    alpha = 1 - results["confidence"]
    if count_bound(results) <= limit:
        return "met"

    def above(attack: dict[str, Any]) -> float:
        counts = attack["distribution"]
        over = sum(t for v, t in zip(counts["targets"], counts["trials"], strict=True) if v > limit)
        joint = 1 - alpha / len(results["attacks"])
        return clopper_pearson(over, attack["trials"], confidence=joint).low or 0.0

    if any(above(attack) > alpha for attack in results["attacks"].values()):
        return "exceeded"
    # No other attacker has a stochastically larger count than the ceiling in general: only its
    # mean is larger. A count threshold can therefore not be met by the ceiling alone.
    return "inconclusive"


def _odds(results: dict[str, Any]) -> str:
    guess, proved = results["guess"]["share"], share_bound(results)
    best = results["attacks"][results["best"]]["share"] if results["best"] else None
    text = f"Of 100 people like these, {100 * guess:.0f} are guessed right without the release"
    if best is not None:
        text += f", {100 * best:.0f} with it"
    if proved >= 1:
        return f"{text}; without noise nothing keeps an attacker from all 100."
    # Rounded up: a limit must not be rounded below itself.
    return f"{text}; no attacker gets above {math.ceil(100 * proved - 1e-9)} on average."


def _words(results: dict[str, Any], threshold: ThresholdSpec | None, status: Status) -> str:
    parts = [_odds(results)]
    ceiling = results.get("ceiling")
    if ceiling is not None:
        parts.append(
            f"Even an attacker who is told everybody else's secrets recovers "
            f"{percent(ceiling['share'])} (sampled, limits {percent_down(ceiling['low'])} to "
            f"{percent_up(ceiling['high'])})."
        )
    if share_bound(results) < 1:
        parts.append(
            f"Proved: with confidence {100 * results['confidence']:g}%, no attacker gets more "
            f"than {count_bound(results)} of {results['people']}."
        )
    if threshold is not None:
        parts.append(_threshold_words(results, threshold, status))
    return " ".join(parts)


def threshold_text(threshold: ThresholdSpec) -> str:
    """Say a threshold in words."""
    if threshold.share is not None:
        return f"a mean share of at most {percent(threshold.share)}"
    if threshold.advantage is not None:
        return f"a mean advantage of at most {percent(threshold.advantage)}"
    return f"at most {threshold.targets} targets recovered"


def _threshold_words(results: dict[str, Any], threshold: ThresholdSpec, status: Status) -> str:
    text = f"The threshold ({threshold_text(threshold)})"
    if status == "met":
        if threshold.targets is not None or _proved(results, threshold):
            return f"{text} is met: proved."
        return f"{text} is met by measurement: the ceiling stays below it, within its limits."
    if status == "exceeded":
        return f"{text} is exceeded: an attack gets above it, beyond its confidence limits."
    return (
        f"{text} is neither proved nor refuted: no attack tried gets above it, "
        "but nothing shows that none can."
    )


def _for(results: dict[str, Any]) -> list[str]:
    items: list[str] = []
    proved = share_bound(results)
    if proved < 1:
        items.append(
            f"Proved: no attacker recovers more than {percent_up(proved)} on average, "
            f"{points(max(0.0, proved - results['guess']['share']))} above the best guess."
        )
    ceiling = results.get("ceiling")
    if ceiling is not None and ceiling["high"] < 1:
        items.append(
            f"Sampled: told everybody else's secrets, an attacker recovers "
            f"{percent(ceiling['share'])}, at most {percent_up(ceiling['high'])} within limits."
        )
    if results["best"]:
        best = results["attacks"][results["best"]]
        if best["gain_low_joint"] <= 0:
            items.append(
                f"No attack tried gains measurably on its own baseline (best: {results['best']}, "
                f"{points(best['gain'])}, limits {points(best['gain_low_joint'])} to "
                f"{points(best['gain_high'])}). A failed attack proves nothing."
            )
    return items


def _against(results: dict[str, Any]) -> list[str]:
    items: list[str] = []
    if share_bound(results) >= 1:
        items.append("Nothing is proved: exact counts give no guarantee.")
    if results["best"]:
        name = results["best"]
        best = results["attacks"][name]
        if best["gain_low_joint"] > 0:
            items.append(
                f"Sampled: the attack `{name}` recovers {percent(best['share'])}, "
                f"{points(best['gain'])} more than the same attempts on fresh data "
                f"(limits {points(best['gain_low_joint'])} to {points(best['gain_high'])})."
            )
        worst = most_vulnerable(results)
        if worst is not None:
            group, numbers = worst
            items.append(
                f"Sampled: hardest hit by {group['by']}: {group['group']} "
                f"({percent(group['share_of_people'])} of the people). The attack `{name}` "
                f"recovers {percent(numbers['share'])} of them; without the release "
                f"{percent(group['guess']['share'])} of the same people are guessed."
            )
    return items


def most_vulnerable(results: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Give the group where the best attack gains most on the guesser, beyond its limits."""
    name = results["best"]
    found: tuple[dict[str, Any], dict[str, Any]] | None = None
    for group in results["groups"]:
        numbers = group["attacks"].get(name)
        if numbers is None or numbers["over_guess_low"] <= 0:
            continue
        if found is None or numbers["over_guess"] > found[1]["over_guess"]:
            found = (group, numbers)
    return found


def overall(settings: list[dict[str, Any]], threshold: ThresholdSpec | None) -> tuple[Status, str]:
    """Judge a whole sweep: name the largest level that meets the threshold."""
    if len(settings) == 1:
        return settings[0]["status"], settings[0]["verdict"]
    lines = [f"{s['label']}: {s['odds']}" for s in settings]
    if threshold is None:
        return "no threshold", " ".join(lines)
    text = threshold_text(threshold)
    met = [s for s in settings if s["status"] == "met"]
    if met:
        best = min(met, key=lambda s: s["noise"]["scale"])
        words = f"The threshold ({text}) is met up to {best['label']}"
        over = [s["label"] for s in settings if s["status"] == "exceeded"]
        unclear = [s["label"] for s in settings if s["status"] == "inconclusive"]
        words += f"; exceeded at {', '.join(over)}" if over else ""
        words += f"; neither proved nor refuted at {', '.join(unclear)}" if unclear else ""
        return "met", f"{words}. At {best['label']}: {best['verdict']}"
    if all(s["status"] == "exceeded" for s in settings):
        return "exceeded", f"The threshold ({text}) is exceeded at every level. " + " ".join(lines)
    return (
        "inconclusive",
        f"The threshold ({text}) is met at no level, and refuted only at some. " + " ".join(lines),
    )
