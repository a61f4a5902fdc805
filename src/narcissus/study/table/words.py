"""What was found at one setting, in sentences: odds, evidence for the release and against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from narcissus.findings import Contradiction
from narcissus.study.table.excess import Excess
from narcissus.study.table.schema import ThresholdSpec

Answer = dict[str, Any]


def percent(share: float | None) -> str:
    """Give a share as a percentage with one digit."""
    return "not known" if share is None else f"{100 * share:.1f}%"


def percent_up(share: float) -> str:
    """Give an upper limit as a percentage, never rounded below itself."""
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}%"


def percent_down(share: float) -> str:
    """Give a lower limit as a percentage, never rounded above itself."""
    return f"{math.floor(1000 * share + 1e-9) / 10:.1f}%"


def points(difference: float) -> str:
    """Give a difference of shares in percentage points."""
    return f"{100 * difference:.1f} points"


def share_bound(results: Answer) -> float:
    """Give what is proved of the mean share of the people played."""
    return min(b["share_at_most"] for b in results["bounds"] if "share_at_most" in b)


def population_bound(results: Answer) -> float:
    """Give the limit of the mean share of all people like those played."""
    found = [b.get("share_of_population", b.get("share_at_most")) for b in results["bounds"]]
    return min((share for share in found if share is not None), default=1.0)


def limits_anything(results: Answer) -> bool:
    """Tell whether there is a guarantee that could limit an attacker: noise was added."""
    return any(b.get("guarantee") != "none" for b in results["bounds"])


def count_bound(results: Answer) -> Answer:
    """Give the bound on the count at the highest level, the least if there are several."""
    counts = [b for b in results["bounds"] if "at_most" in b]
    return min(counts, key=lambda b: (-b["confidence"], b["at_most"]))


def threshold_text(threshold: ThresholdSpec) -> str:
    """Say a threshold in words."""
    group = (
        "" if threshold.worst_group is None else f", {percent(threshold.worst_group)} in a group"
    )
    if threshold.share is not None:
        return f"a mean share of at most {percent(threshold.share)}{group}"
    if threshold.advantage is not None:
        return f"a mean advantage of at most {percent(threshold.advantage)}{group}"
    return f"at most {threshold.targets} targets recovered"


def odds(results: Answer, contradictions: Sequence[Contradiction]) -> str:
    """Say the headline numbers per 100 people."""
    guess, proved = results["guess"]["share"], population_bound(results)
    best = results["attacks"][results["best"]]["share"] if results["best"] else None
    text = f"Of 100 people like these, {100 * guess:.0f} are guessed right without the release"
    if best is not None:
        text += f", {100 * best:.0f} with it"
    if not limits_anything(results):
        return f"{text}; without noise nothing keeps an attacker from all 100."
    if contradictions:
        return f"{text}; what would limit every attacker is contradicted."
    if_right = "" if results["prior_is_exact"] else "if the prior is right, "
    # Rounded up: a limit must not be rounded below itself.
    most = math.ceil(100 * proved - 1e-9)
    if most >= 100:
        return f"{text}; with these trials nothing below 100 is shown to limit every attacker."
    if max(guess, best or 0.0) > proved:
        # people of the trials of one attack alone, or real people: not held below the bound
        if_right = f"within sampling limits, {if_right}"
    return f"{text}; {if_right}no attacker gets above {most} on average."


def words(results: Answer, contradictions: Sequence[Contradiction]) -> list[str]:
    """Say the ceiling, the count that is proved, and the group that is hardest hit."""
    parts: list[str] = []
    ceiling = results.get("ceiling")
    if ceiling is not None and not contradictions:
        if_right = "" if results["prior_is_exact"] else ", if the prior is right"
        best = results["attacks"].get(results["best"])
        beaten = best is not None and best["share"] > ceiling["share"]
        parts.append(
            ("An" if beaten else "Even an")
            + " attacker who is told everybody else's secrets "
            + ("recovered by chance no more than " if beaten else "recovers ")
            + f"{percent(ceiling['share'])} (sampled, limits {percent_down(ceiling['low'])} to "
            f"{percent_up(ceiling['high'])}{if_right})."
        )
    if share_bound(results) < 1 and not contradictions:
        bound, people = count_bound(results), results["people"]
        head = "Proved" if results["prior_is_exact"] else "Proved if the prior is right"
        if bound["at_most"] < people:
            whole = bound["at_most_of_population"]
            like = f"at most {whole}" if whole < people else "no limit is shown"
            parts.append(
                f"{head}: with confidence {100 * bound['confidence']:g}%, no attacker gets more "
                f"than {bound['at_most']} of these {people} (of any {people} like them, within "
                f"sampling limits, {like})."
            )
        else:
            level = f"{100 * bound['confidence']:g}%"
            parts.append(f"Nothing below all {people} is proved with confidence {level}.")
    worst = most_vulnerable(results)
    if worst is not None:
        group, numbers = worst
        parts.append(
            f"Hardest hit by {group['by']}: {group['group']}, from "
            f"{percent(group['guess']['share'])} guessed to {percent(numbers['share'])} recovered."
        )
    return parts


def in_favour(
    results: Answer,
    threshold: ThresholdSpec | None,
    excesses: Sequence[Excess],
    contradictions: Sequence[Contradiction],
    given: Sequence[str],
) -> list[str]:
    """List what is proved, or limited, below the threshold; nothing else speaks for a release."""
    if contradictions:
        return []
    given_text = f", if {' and '.join(given)}" if given else ""
    items: list[str] = []
    below = [e for e in excesses if e.role != "attack" and e.high is not None and e.high <= 0]
    if threshold is not None and threshold.targets is not None:
        bound = count_bound(results)
        return [
            f"{'Proved if ' + ' and '.join(given) if given else 'Proved'}: with confidence "
            f"{100 * bound['confidence']:g}%, no attacker gets more than {bound['at_most']} of "
            f"these {results['people']} (of any {results['people']} like them, within sampling "
            f"limits, {bound['at_most_of_population']})."
            for _ in below[:1]
        ]
    if threshold is None or any(e.role == "bound" and not e.group for e in below):
        proved = share_bound(results)
        if proved < 1:
            grade = "Proved if" if given else "Proved"
            items.append(
                f"{grade}{': ' + ' and '.join(given) if given else ''}: no attacker recovers more "
                f"than {percent_up(proved)} of these people on average, "
                f"{points(max(0.0, proved - results['guess']['share']))} above the best guess."
            )
    ceiling = results.get("ceiling")
    if ceiling is not None and any(e.role == "ceiling" and not e.group for e in below):
        items.append(
            "Sampled: told everybody else's secrets, an attacker recovers "
            f"{percent(ceiling['share'])}, at most {percent_up(ceiling['high'])} within limits"
            f"{given_text}."
        )
    groups = [e for e in below if e.group]
    if groups:
        worst = max(groups, key=lambda e: e.high or 0.0)
        items.append(
            f"Sampled: in {len({e.group for e in groups})} groups the limits stay below the "
            f"threshold, nearest in {worst.group}{given_text}."
        )
    return items


def against(
    results: Answer, excesses: Sequence[Excess], contradictions: Sequence[Contradiction]
) -> list[str]:
    """List what speaks against the release, and what the trials leave open."""
    items = [str(contradictions[0])] if contradictions else []
    if not limits_anything(results):
        items.append("Nothing is proved: exact counts give no guarantee.")
    elif share_bound(results) >= 1:
        items.append("Nothing is proved of the mean share: there is too little noise.")
    for excess in excesses:
        if excess.role == "attack" and excess.low is not None and excess.low > 0:
            who = f" of {excess.group}" if excess.group else ""
            items.append(
                f"Sampled: the attack `{excess.name}` is {points(excess.value)}{who} above what "
                f"the threshold allows (at least {points(excess.low)})."
            )
    if results["best"]:
        items += _best_attack(results)
        worst = most_vulnerable(results)
        if worst is not None:
            group, numbers = worst
            items.append(
                f"Sampled: hardest hit by {group['by']}: {group['group']} "
                f"({percent(group['share_of_people'])} of the people). The attack "
                f"`{numbers['attack']}` recovers {percent(numbers['share'])} of them; without the "
                f"release {percent(group['guess']['share'])} of the same people are guessed "
                "(beyond limits that hold for all groups, attacks and settings at once)."
            )
    return items


def _best_attack(results: Answer) -> list[str]:
    """Say what the best attack gains on itself, or that the trials do not tell."""
    name = results["best"]
    best = results["attacks"][name]
    limits = f"limits {points(best['gain_low_joint'])} to {points(best['gain_high'])}"
    against_what = (
        "the same attempts on fresh people"
        if best["baseline_exact"]
        else "the same attack shown a release of other secrets"
    )
    if best["gain_low_joint"] > 0:
        return [
            f"Sampled: the attack `{name}` recovers {percent(best['share'])}, "
            f"{points(best['gain'])} more than {against_what} ({limits})."
        ]
    rough = best.get("approximate")
    if best["gain"] > 0 and rough is not None and rough["low"] > best["baseline"]:
        return [
            f"Open: the attack `{name}` seems to gain {points(best['gain'])} on {against_what}, "
            f"but its {limits} leave that open: too few trials."
        ]
    if best["gain_high"] > 0.01:
        return [
            f"Open: whether the attack `{name}` gains on {against_what} is not settled "
            f"({points(best['gain'])}, {limits})."
        ]
    return []


def most_vulnerable(results: Answer) -> tuple[Answer, Answer] | None:
    """Give the group, and the attack on it, that gains most on the guesser beyond its limits.

    The limits hold for all groups, attacks and settings at once, which is what is chosen from.
    """
    found: tuple[Answer, Answer] | None = None
    for group in results["groups"]:
        for name, numbers in group["attacks"].items():
            if numbers["over_guess_low"] <= 0:
                continue
            if found is None or numbers["over_guess_low"] > found[1]["over_guess_low"]:
                found = (group, {**numbers, "attack": name})
    return found
