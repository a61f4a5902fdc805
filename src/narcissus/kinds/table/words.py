"""The findings at one setting in sentences: odds, evidence for the release and against it."""

from __future__ import annotations

import math

from narcissus._outwards import lower, upper
from narcissus.kinds.table.estimates import criteria
from narcissus.kinds.table.found import Accepted, GroupAttack, GroupFound, PlayedAttack
from narcissus.kinds.table.judgement import WORST, JudgedSetting, TableJudgement
from narcissus.report.format import NO_BREAK

SAMPLED_TOO = "the people played and within sampling limits for all people like them."


def percent(share: float | None) -> str:
    return "not known" if share is None else f"{100 * share:.1f}%"


def points(difference: float) -> str:
    return f"{round(100 * difference, 1) + 0.0:.1f} points"


def threshold_text(threshold: Accepted) -> str:
    worst = threshold.worst_group
    group = "" if worst is None else f", {percent(worst)} in a group"
    names = {"share": "share", "advantage": "advantage", "gain": "gain over fresh people"}
    limits = [
        f"a mean {names[one.name]} of at most {percent(one.limit)}{group}"
        for one in criteria(threshold)
    ]
    if threshold.targets is not None:
        limits.append(f"at most {threshold.targets} targets recovered")
    return " and ".join(limits)


def odds(numbers: JudgedSetting) -> str:
    """Describe the headline numbers per 100 people."""
    guess, best = numbers.guess.share, numbers.best_attack
    whom = "people like these"
    if numbers.detail.share_of_columns:
        whom = f"unknown columns of {whom}"
    text = f"Of 100 {whom}, {100 * guess:.0f} are guessed right without the release"
    if best is not None:
        text += _with_it(numbers, best)
    if not numbers.is_limited:
        return f"{text}; nothing is proved to keep an attacker from all 100."
    if numbers.contradictions:
        return f"{text}; what would limit every attacker is contradicted."
    if_right = f"if {numbers.proved_if}, " if numbers.proved_if else ""
    most = int(upper(100 * numbers.population_share, places=0))
    if most >= 100:
        return f"{text}; with these trials nothing below 100 is shown to limit every attacker."
    if max(guess, 0.0 if best is None else best.share) > numbers.population_share:
        # people of the trials of one attack alone, or real people: not held below the bound
        if_right = f"within sampling limits, {if_right}"
    return f"{text}; {if_right}no attacker gets above {most} on average."


def _with_it(numbers: JudgedSetting, best: PlayedAttack) -> str:
    """Describe what is right with the release; fewer than without are no news of it."""
    guess = numbers.guess.share
    if round(100 * best.share) < round(100 * guess) and all(
        (one.low_joint or 0.0) <= guess for one in numbers.attacks.values()
    ):
        return ", and no attack that was tried is shown to get more right with it"
    return f", {100 * best.share:.0f} with it"


def verdict(case: TableJudgement) -> str:
    """Describe the verdict on a study: on its one setting, or where it is met and where not."""
    settings, threshold, status = case.settings, case.settings[0].threshold, case.status
    if len(settings) == 1:
        return verdict_words(settings[0])
    if threshold is None:
        return " ".join(f"{s.label}: {odds(s)}" for s in settings)
    text = f"The threshold ({threshold_text(threshold)})"
    of = {s: [r.label for r in settings if r.status == s] for s in WORST}
    where = [
        f"{words} at {', '.join(of[s])}"
        for s, words in (
            ("met", "met by itself" if status == "contradicted" else "met"),
            ("exceeded", "exceeded"),
            ("contradicted", "contradicted"),
            ("too few trials", "open for want of trials"),
            ("inconclusive", "neither shown to be met nor exceeded"),
        )
        if of[s]
    ]
    head = f"{text} is {'; '.join(where)}."
    deciding = [s for s in settings if s.decides]
    one = deciding[0] if len(deciding) == 1 else None
    if one is not None and status != one.status:
        refuted = ", ".join(s.label for s in settings if s.contradictions)
        why = f"what is refuted at {refuted} is assumed at every level."
        return f"{head} {one.label} decides, and nothing is claimed there: {why}"
    if one is not None:
        return f"{head} {one.label} decides. At {one.label}: {verdict_words(one)}"
    if status != "met":
        head += " Every level must meet it, since the threshold names none (`at`)."
    return f"{head} At {case.decisive.label}: {verdict_words(case.decisive)}"


def verdict_words(numbers: JudgedSetting) -> str:
    """Describe the verdict on one setting: the odds, the bounds, the threshold."""
    parts = [odds(numbers)]
    parts += [] if numbers.contradictions else [*_ceiling_words(numbers), *_count_words(numbers)]
    if (worst := most_vulnerable(numbers)) is not None:
        group, _, attack = worst
        parts.append(
            f"Hardest hit by {group.by}: {group.group}, from {' '.join(without(group, attack))} "
            f"to {percent(attack.share)} recovered."
        )
    if numbers.threshold is not None:
        parts.append(_threshold_words(numbers, numbers.threshold))
    return " ".join(parts)


def _ceiling_words(numbers: JudgedSetting) -> list[str]:
    ceiling, best = numbers.ceiling, numbers.best_attack
    if ceiling is None:
        return []
    if_right = "" if numbers.detail.prior_is_exact else ", if the prior is right"
    beaten = best is not None and best.share > ceiling.share
    if ceiling.about.is_estimated:
        return [
            "Told everybody else's secrets, an attacker who samples the posterior recovers "
            f"{percent(ceiling.share)} (approximate: the exact posterior of so many columns is not "
            f"at hand, so nobody is shown to stay below; sampled, limits "
            f"{lower(100 * ceiling.low, places=1)}% to {upper(100 * ceiling.high, places=1)}%"
            f"{if_right})."
        ]
    return [
        ("An" if beaten else "Even an")
        + " attacker who is told everybody else's secrets "
        + ("recovered by chance no more than " if beaten else "recovers ")
        + f"{percent(ceiling.share)} (sampled, limits {lower(100 * ceiling.low, places=1)}% to "
        f"{upper(100 * ceiling.high, places=1)}%{if_right})."
    ]


def _count_words(numbers: JudgedSetting) -> list[str]:
    share, bound, people = numbers.share_bound, numbers.count_bound, numbers.detail.people
    if share is None or share.at_most >= 1 or bound is None:
        return []
    level = f"{100 * bound.confidence:g}%"
    if bound.at_most >= people:
        return [f"Nothing below all {people} is proved with confidence {level}."]
    head = f"Proved if {numbers.proved_if}" if numbers.proved_if else "Proved"
    whole = numbers.count_of_population(bound.confidence)
    like = "no limit is shown" if whole is None or whole >= people else f"at most {whole}"
    others = f" (of any {people} like them, within sampling limits, {like})"
    reached = f"; some mechanism with this guarantee reaches {bound.reached}"
    return [
        f"{head}: with confidence {level}, no attacker gets more than {bound.at_most} of these "
        f"{people}{'' if numbers.detail.everybody else others}"
        f"{'' if bound.reached is None else reached}."
    ]


def _threshold_words(numbers: JudgedSetting, threshold: Accepted) -> str:
    judgement, held_back = numbers.judgement, numbers.judgement.held_back_by
    text, rests_on = f"The threshold ({threshold_text(threshold)})", judgement.rests_on
    if judgement.status == "met" or held_back is not None:
        met, after = "is met", ""
        if held_back is not None:
            met = "would be met by itself"
            after = (
                f" Not claimed in the sweep: at {held_back}, with more protection, the threshold "
                "is not met, and levels are taken in order, the most protected first."
            )
        if all(e.role == "bound" for e in rests_on):
            for_whom = "all people of the table." if numbers.detail.everybody else SAMPLED_TOO
            return f"{text} {met}: a theorem keeps every attacker below it, for {for_whom}{after}"
        return f"{text} {met} by measurement: the ceiling stays below it, within its limits.{after}"
    if judgement.status == "exceeded":
        return (
            f"{text} is exceeded: the attack `{rests_on[0].name}` gets above it, beyond limits "
            "that hold for all attacks and settings at once."
        )
    if judgement.status == "contradicted":
        return f"{text} cannot be judged while what it would rest on is contradicted."
    if judgement.status == "too few trials":
        about = (f"`{e.name}`" + (f" ({e.group})" if e.group else "") for e in rests_on)
        who = ", ".join(dict.fromkeys(about))
        return (
            f"{text} is open: too few trials for the limits of {who} to tell. About "
            f"{_rounded(judgement.trials_needed or 0):,} trials would."
        )
    return (
        f"{text} is neither proved nor refuted: no attack tried gets above it, but nothing shows "
        "that none can. More trials would not change that."
    )


def _rounded(count: int) -> int:
    step = 10 ** max(0, int(math.log10(max(count, 1))) - 1)
    return -(-count // step) * step


def in_favour(numbers: JudgedSetting) -> list[str]:
    """List bounds and limits below the threshold; nothing else is evidence for a release."""
    if numbers.contradictions or numbers.judgement.held_back_by is not None:
        return []
    threshold, excesses, given = numbers.threshold, numbers.excesses, numbers.given
    given_text = f", if {' and '.join(given)}" if given else ""
    proved_if = f"Proved if {' and '.join(given)}" if given else "Proved"
    below = [e for e in excesses if e.role != "attack" and e.high is not None and e.high <= 0]
    count, share = numbers.count_bound, numbers.share_bound
    if threshold is not None and threshold.targets is not None and not criteria(threshold):
        if count is None or not below:
            return []
        people, whole = numbers.detail.people, numbers.count_of_population(count.confidence)
        like = "no limit is shown" if whole is None else whole
        others = f" (of any {people} like them, within sampling limits, {like})"
        return [
            f"{proved_if}: with confidence {100 * count.confidence:g}%, no attacker gets more "
            f"than {count.at_most} of these {people}{'' if numbers.detail.everybody else others}."
        ]
    items: list[str] = []
    if threshold is None or any(
        e.role == "bound" and e.of != "gain" and not e.group for e in below
    ):
        proved = 1.0 if share is None else share.at_most
        if proved < 1:
            head = f"Proved if: {' and '.join(given)}" if given else "Proved"
            above = proved - numbers.guess.share
            items.append(
                f"{head}: no attacker recovers more than {upper(100 * proved, places=1)}% of these "
                f"{numbers.whose} on average"
                + (
                    f", {upper(100 * above, places=1)} points above the best guess."
                    if above >= 0
                    else f" over secrets that are as likely; of their own, {percent(-above)} more "
                    "are guessed right without the release, which chance explains."
                )
            )
    gains = [e for e in below if e.role == "bound" and e.of == "gain" and not e.group]
    if gains and threshold is not None and threshold.gain is not None:
        gain = 100 * (threshold.gain + gains[0].value)
        items.append(
            f"{proved_if}: no attempts recover more than {upper(gain, places=1)} points "
            "above what the same attempts score on fresh people, on average."
        )
    ceiling = numbers.ceiling
    if ceiling is not None and any(e.role == "ceiling" and not e.group for e in below):
        items.append(
            "Sampled: told everybody else's secrets, an attacker recovers "
            f"{percent(ceiling.share)}, at most {upper(100 * ceiling.high, places=1)}% within "
            f"limits{given_text}."
        )
    groups = [e for e in below if e.group]
    if groups:
        worst = max(groups, key=lambda e: e.high or 0.0)
        items.append(
            f"Sampled: in {len({e.group for e in groups})} groups the limits stay below the "
            f"threshold, nearest in {worst.group}{given_text}."
        )
    return items


def against(numbers: JudgedSetting) -> list[str]:
    items = [str(one) for one in numbers.contradictions[:1]]
    share, best = numbers.share_bound, numbers.best_attack
    if not numbers.is_limited:
        items.append("Nothing is proved: the release guarantees nothing.")
    elif share is None or share.at_most >= 1:
        why = (
            "the guarantee is too weak"
            if numbers.detail.noise is None
            else "there is too little noise"
        )
        items.append(f"Nothing is proved of the mean share: {why}.")
    items += [
        f"The prior's guess falls short: {one.by} gets {percent(one.share)} of {one.people:,} rows "
        f"of the table, the prior {percent(one.prior_share)} of them, "
        f"{points(one.share - one.prior_share)} less."
        for one in numbers.held_out
        if one.refutes
    ]
    precision = numbers.detail.precision
    if precision is not None and not precision.is_reached:
        items.append(
            f"The precision of {100 * precision.aimed:.3g} points is not reached: half the "
            f"distance between limits is {100 * precision.reached:.3g} points at the widest, after "
            f"{numbers.detail.trials:,} trials, the most that were to be played."
        )
    for excess in numbers.excesses:
        least = excess.at_least
        if excess.role == "attack" and least is not None and least > 0:
            who = f" of {excess.group}" if excess.group else ""
            items.append(
                f"Sampled: the attack `{excess.name}` is {points(excess.value)}{who} above what "
                f"the threshold allows (at least {lower(100 * least, places=1)} points)."
            )
    if numbers.best is not None and best is not None:
        items += _best_attack(numbers.best, best)
        items += [
            said
            for name, one in numbers.attacks.items()
            if name != numbers.best and one.sure_gain > 0 >= best.sure_gain
            for said in _best_attack(name, one)
        ]
    worst = most_vulnerable(numbers)
    if worst is not None:
        group, name, found = worst
        share, how = without(group, found)
        items.append(
            f"Sampled: hardest hit by {group.by}: {group.group} "
            f"({percent(group.share_of_people)} of the people). The attack "
            f"`{name}` recovers {percent(found.share)} of them; {share} are {how} without the "
            "release (beyond limits that hold for all groups, attacks and settings at once)."
        )
    return items


def _best_attack(name: str, best: PlayedAttack) -> list[str]:
    """Describe whether the best attack owes anything to the release, or that trials cannot tell."""
    if best.about.uses == "prior":  # it does not look
        return []
    low = best.sure_gain
    chance = percent(best.baseline)
    both = (
        f"it recovers {percent(best.share)}, and the same "
        + (
            f"attempts {chance} of fresh people"
            if best.fact("baseline_exact")
            else f"attack {chance} if it is shown a release of other secrets"
        )
        + f" (apart by {lower(100 * low, places=1)} points to "
        f"{upper(100 * best.gain_high, places=1)} points, within limits)"
    )
    if low > 0:
        return [f"Sampled: the attack `{name}` learns from the release: {both}."]
    rough = best.approximate
    if best.gain > 0 and rough is not None and rough[0] > best.baseline:
        return [
            f"Open: the attack `{name}` seems to learn from the release: {both}, but the limits "
            "leave that open: too few trials."
        ]
    if best.gain_high > 0.01:
        return [f"Open: whether the attack `{name}` learns from the release: {both}."]
    return []


def most_vulnerable(numbers: JudgedSetting) -> tuple[GroupFound, str, GroupAttack] | None:
    """Return the group, and the attack on it, that gains most beyond its limits.

    Gains are over the best guess, and for a group defined by the secrets also over the attack
    itself. The limits hold for all groups, attacks and settings at once, which is what is chosen
    from.
    """
    found = [
        (group, name, attack)
        for group in numbers.groups
        for name, attack in group.attacks.items()
        if attack.sure_gain > 0
    ]
    return max(found, key=lambda one: one[2].sure_gain, default=None)


def without(group: GroupFound, attack: GroupAttack) -> tuple[str, str]:
    """Describe a group's score without the release: by the guess, or by chance."""
    if attack.chance is not None and attack.chance > group.guess.share:
        return percent(attack.chance), "hit by chance"
    return percent(group.guess.share), "guessed"


_NAMES = {
    "prior": "prior alone",
    "posterior": "posterior, mean field",
    "gibbs": "posterior, Gibbs",
    "rap": "RAP, as published",
    "rap_from_prior": "RAP from the prior",
    "ceiling": "ceiling",
}


def attack_name(name: str) -> str:
    return _NAMES.get(name.replace("-", "_"), name.replace("_", " "))


def label_of(setting: JudgedSetting) -> str:
    text = setting.label
    return text.replace(" ", NO_BREAK) if len(text) < 16 else text


def level_of(setting: JudgedSetting) -> str:
    """Name the level of the sampled limits: ``"95% limits"``."""
    return f"{100 * setting.detail.confidence:g}% limits"


def share_allowed(setting: JudgedSetting) -> float | None:
    """Return the threshold as a share recovered, where it is one on a mean."""
    threshold = setting.threshold
    if threshold is None:
        return None
    if threshold.advantage is not None:
        # an advantage is the part of what could not be guessed that is recovered
        return setting.guess.share + threshold.advantage * (1 - setting.guess.share)
    return threshold.share


def best_name(setting: JudgedSetting) -> str:
    """Name the attack whose numbers are quoted: one with less evidence may have a larger share."""
    best = setting.best_attack
    if setting.best is None or best is None:
        return "the best attack"
    if all(one.share <= best.share for one in setting.attacks.values()):
        return "the best attack"
    return f"the attack with most evidence ({attack_name(setting.best)})"


def above_guess(setting: JudgedSetting) -> float | None:
    """Return how much more the best attack recovers than can be guessed without the release."""
    best = setting.best_attack
    return None if best is None else best.share - setting.guess.share
