"""What the record of one setting states, each statement with its grade, ready to be compared.

Whatever limits the same quantity is compared pair by pair before a verdict is given
(`narcissus.findings.contradictions`): attacks with the ceiling and the bounds, what the prior
says of guesses with what they really score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from narcissus.evidence import clopper_pearson
from narcissus.findings import Finding

Answer = dict[str, Any]


def findings_of(results: Answer, takes_as_given: Sequence[str], joint: float) -> list[Finding]:
    """Give every statement of one setting that another one could contradict.

    Parameters
    ----------
    results
        From `summarise`.
    takes_as_given
        What baselines, ceiling and bounds assume.
    joint
        Level of each lower limit of an attack, which makes them all hold at once.
    """
    given = tuple(takes_as_given)
    return [
        *_shares(results, given, joint),
        *_guesses(results, given),
        *_counts(results, given, joint),
        *_groups(results, given),
    ]


def _shares(results: Answer, given: tuple[str, ...], joint: float) -> Iterator[Finding]:
    quantity = f"mean share recovered at {results['label']}"
    level = results["confidence"]
    for bound in results["bounds"]:
        if "share_of_population" in bound:
            played = f"{quantity}, of the people played"
            source = f"the bound {bound['theorem']}"
            yield Finding(
                played, source, high=bound["share_at_most"], kind="proved", assumptions=given
            )
            yield Finding(
                quantity,
                source,
                high=bound["share_of_population"],
                kind="sampled",
                assumptions=given,
                confidence=level,
            )
    ceiling = results.get("ceiling")
    if ceiling is not None:
        yield Finding(
            quantity,
            "the ceiling",
            low=ceiling["low"],
            high=ceiling["high"],
            kind="sampled",
            assumptions=given,
            confidence=level,
        )
    for name, attack in results["attacks"].items():
        source = f"the attack `{name}`"
        yield Finding(quantity, source, low=attack["low_joint"], kind="sampled", confidence=joint)


def _guesses(results: Answer, given: tuple[str, ...]) -> Iterator[Finding]:
    """Say what guesses score without the release: by the prior, and on the real people."""
    answers = [(f"the attack `{n}`", a.get("decoy")) for n, a in results["attacks"].items()]
    answers.append(("the best guess", results["guess"].get("by_the_prior")))
    for who, said in answers:
        if said is None:
            continue
        quantity = f"what {who} scores without the release at {results['label']}"
        by_prior = said["by_the_prior"]
        yield Finding(quantity, "the prior", by_prior, by_prior, "proved", given)
        low, high = by_prior + said["off_low"], by_prior + said["off_high"]
        yield Finding(quantity, "the real people", low, high, "sampled", (), said["confidence"])


def _counts(results: Answer, given: tuple[str, ...], joint: float) -> Iterator[Finding]:
    """Say how often more than a proved number of targets fall."""
    for bound in results["bounds"]:
        most = bound.get("at_most_of_population")
        if most is None:
            continue
        quantity = f"chance that more than {most} targets fall at {results['label']}"
        rest = 1 - bound["confidence"]
        source = f"the bound {bound['theorem']}"
        level = results["confidence"]
        yield Finding(quantity, source, None, rest, "sampled", given, level)
        for name, attack in results["attacks"].items():
            counts = attack["distribution"]
            pairs = zip(counts["targets"], counts["trials"], strict=True)
            over = sum(trials for v, trials in pairs if v > most)
            low = clopper_pearson(over, attack["trials"], confidence=joint).low
            yield Finding(quantity, f"the attack `{name}`", low, None, "sampled", (), joint)


def _groups(results: Answer, given: tuple[str, ...]) -> Iterator[Finding]:
    """Say what is recovered of groups; a ceiling holds where membership can be told beforehand."""
    level = results["confidence"]
    for group in results["groups"]:
        if group["by_secret"] or "ceiling" not in group:
            continue
        quantity = (
            f"mean share recovered at {results['label']} of the group {group['by']}: "
            f"{group['group']}"
        )
        high = group["ceiling"]["high"]
        yield Finding(quantity, "the ceiling", None, high, "sampled", given, level)
        for name, attack in group["attacks"].items():
            source = f"the attack `{name}`"
            yield Finding(quantity, source, attack["low"], None, "sampled", (), level)
