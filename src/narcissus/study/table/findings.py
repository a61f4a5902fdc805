"""The statements of one setting's record, each with its grade, ready to be compared.

Statements that limit the same quantity are compared pair by pair before a verdict is given
(`narcissus.findings.contradictions`): attacks with the ceiling and the bounds, the prior's
prediction for guesses with their real score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narcissus.evidence import clopper_pearson
from narcissus.findings import Finding
from narcissus.study.results.table import CountBound, SettingNumbers, ShareBound
from narcissus.study.results.table_attacks import PriorTest

INDEPENDENT = "the secrets of the people are independent given their known columns"


def findings_of(
    numbers: SettingNumbers,
    takes_as_given: Sequence[str],
    joint: float,
    gain: float | None = None,
    *,
    real: bool = False,
) -> list[Finding]:
    """List every statement of one setting that another one could contradict.

    ``takes_as_given`` are the assumptions of baselines and ceiling; bounds carry theirs. At level
    ``joint`` all lower limits of attacks hold at once. ``gain`` is the most that a declared
    guarantee lets a release add, compared with the same attempts on fresh people
    (`narcissus.study.table.bound_summary.gain_if_declared`). ``real`` people are rows of the table,
    which then test the assumptions about them.
    """
    given = tuple(takes_as_given)
    return [
        *_shares(numbers, given, joint),
        *([] if gain is None else _gains(numbers, gain, joint)),
        *_guesses(numbers, given),
        *(_held_out(numbers, given) if real else ()),
        *_counts(numbers, joint),
        *_groups(numbers, given),
    ]


def _shares(numbers: SettingNumbers, given: tuple[str, ...], joint: float) -> Iterator[Finding]:
    quantity = f"mean share recovered at {numbers.label}"
    level = numbers.confidence
    for bound in numbers.bounds:
        if isinstance(bound, ShareBound) and bound.share_of_population is not None:
            played, source = f"{quantity}, of the people played", f"the bound {bound.theorem}"
            rests = bound.takes_as_given
            yield Finding(played, source, high=bound.share_at_most, assumptions=rests)
            high = bound.share_of_population
            yield Finding(quantity, source, None, high, "sampled", rests, level)
    ceiling = numbers.ceiling
    if ceiling is not None:
        # an estimate of it is what one insider recovers: nobody is shown to recover less
        high = None if ceiling.is_estimated else ceiling.high
        yield Finding(quantity, "the ceiling", ceiling.low, high, "sampled", given, level)
    for name, attack in numbers.attacks.items():
        if numbers.everybody and attack.low == attack.high and attack.uses == "prior":
            continue  # a count of all people: the test of the prior says what chance may do
        source, low = f"the attack `{name}`", attack.low_joint
        yield Finding(quantity, source, low, None, "sampled", (), joint)


def _gains(numbers: SettingNumbers, gain: float, joint: float) -> Iterator[Finding]:
    """Compare the release's addition, where a broken declaration of a good guess shows first."""
    quantity, level = f"mean gain over fresh people at {numbers.label}", numbers.confidence
    given = next((bound.takes_as_given for bound in numbers.bounds), ())
    by = "the total variation that was declared"
    yield Finding(quantity, by, None, gain, "sampled", given, level)
    for name, attack in numbers.attacks.items():
        low = attack.gain_low_joint
        yield Finding(quantity, f"the attack `{name}`", low, None, "sampled", (), joint)


def _guesses(numbers: SettingNumbers, given: tuple[str, ...]) -> Iterator[Finding]:
    """Compare the guesses without the release: by the prior, and on the real people."""
    answers: list[tuple[str, PriorTest | None]] = [
        (f"the attack `{name}`", attack.decoy) for name, attack in numbers.attacks.items()
    ]
    answers.append(("the best guess", numbers.guess.by_the_prior))
    for who, said in answers:
        if said is None:
            continue
        quantity = f"what {who} scores without the release at {numbers.label}"
        by_prior, off = said.by_the_prior, said.chance_off or 0.0
        sure = said.confidence if off else None
        yield Finding(quantity, "the prior", by_prior - off, by_prior + off, "proved", given, sure)
        low, high = by_prior + said.off_low, by_prior + said.off_high
        yield Finding(quantity, "the real people", low, high, "sampled", (), said.confidence)


def _held_out(numbers: SettingNumbers, given: tuple[str, ...]) -> Iterator[Finding]:
    """Compare held-out guesses about rows with the prior's upper bound."""
    for one in numbers.guess.held_out or ():
        quantity = f"what {one.by} guesses of other rows of the table at {numbers.label}"
        most, rests = one.at_most, (*given, INDEPENDENT)
        yield Finding(quantity, "the prior", None, most, "proved", rests, one.confidence)
        yield Finding(quantity, "the real people", one.share, one.share, "sampled", ())


def _counts(numbers: SettingNumbers, joint: float) -> Iterator[Finding]:
    """Report how often more than a proved number of targets are recovered."""
    for bound in numbers.bounds:
        if not isinstance(bound, CountBound) or bound.at_most_of_population is None:
            continue
        most = bound.at_most_of_population
        quantity = f"chance that more than {most} targets fall at {numbers.label}"
        rest, source = 1 - bound.confidence, f"the bound {bound.theorem}"
        rests = bound.takes_as_given
        yield Finding(quantity, source, None, rest, "sampled", rests, numbers.confidence)
        for name, attack in numbers.attacks.items():
            counts = attack.distribution
            if counts is None:
                continue
            pairs = zip(counts.targets, counts.trials, strict=True)
            over = sum(trials for v, trials in pairs if v > most)
            low = clopper_pearson(over, attack.trials, confidence=joint).low
            yield Finding(quantity, f"the attack `{name}`", low, None, "sampled", (), joint)


def _groups(numbers: SettingNumbers, given: tuple[str, ...]) -> Iterator[Finding]:
    """Report what is recovered of groups; a ceiling holds if membership is known beforehand."""
    level = numbers.confidence
    for group in numbers.groups:
        if group.by_secret is not False or group.ceiling is None or numbers.is_ceiling_estimated:
            continue
        quantity = f"mean share recovered at {numbers.label} of the group {group.by}: {group.group}"
        high = group.ceiling.high
        yield Finding(quantity, "the ceiling", None, high, "sampled", given, level)
        for name, attack in group.attacks.items():
            source = f"the attack `{name}`"
            yield Finding(quantity, source, attack.low, None, "sampled", (), level)
