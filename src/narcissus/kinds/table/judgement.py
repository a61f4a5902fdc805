"""The judgement on an audit of a table: each setting by its excesses, then the sweep.

A status follows from the excesses alone, and the worse end always counts. Where people are drawn
from a prior that the table refutes, every number is void, also one that exceeds. A threshold is
exceeded when a lower limit of an attack is above it. It is met when the upper limit of a bound, or
of the ceiling, keeps it; the status then has the grade and the assumptions of that finding. "Too
few trials" is what more trials would settle; anything else is inconclusive. An attack that fails
proves nothing.

Statements that limit the same quantity are compared pair by pair
(`narcissus.findings.contradictions`): attacks with the ceiling and the bounds, the prior's
prediction for guesses with their real score. If two contradict each other, that is the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from narcissus.evidence import clopper_pearson
from narcissus.findings import Finding
from narcissus.judgement import Case, Decision, StudyJudgement
from narcissus.kinds.table.found import (
    DECLARED,
    GUESS,
    INDEPENDENT,
    LIMITS,
    OF_TABLE,
    Accepted,
    Excess,
    SettingFound,
    TableBound,
    TableResult,
)
from narcissus.results import Grade, Status
from narcissus.rows import Findings, StudyRow


def statements(found: SettingFound) -> list[Finding]:
    """List every statement of one setting that another one could contradict."""
    return [
        *_of_shares(found),
        *_of_gains(found),
        *_of_guesses(found),
        *_of_held_out(found),
        *_of_counts(found),
        *_of_groups(found),
    ]


def _of_shares(found: SettingFound) -> Iterator[Finding]:
    quantity = f"mean share recovered at {found.label}"
    level, joint = found.confidence, found.joint
    for bound in found.bounds:
        if bound.is_share and bound.of_population is not None:
            played, source = f"{quantity}, of the people played", f"the bound {bound.theorem}"
            rests = bound.takes_as_given
            yield Finding(played, source, high=bound.at_most, assumptions=rests)
            yield Finding(quantity, source, None, bound.of_population, "sampled", rests, level)
    ceiling = found.ceiling
    if ceiling is not None:
        # an estimate of it is what one insider recovers: nobody is shown to recover less
        high = None if ceiling.is_estimated else ceiling.high
        yield Finding(quantity, "the ceiling", ceiling.low, high, "sampled", found.given, level)
    for name, attack in found.attacks.items():
        if found.everybody and attack.low == attack.high and attack.uses == "prior":
            continue  # a count of all people: the test of the prior says what chance may do
        source, low = f"the attack `{name}`", attack.low_joint
        yield Finding(quantity, source, low, None, "sampled", (), joint)


def _of_gains(found: SettingFound) -> Iterator[Finding]:
    """Compare the release's addition, where a broken declaration of a good guess shows first."""
    if (gain := found.declared_gain) is None:
        return
    quantity, joint = f"mean gain over fresh people at {found.label}", found.joint
    premises = next((bound.takes_as_given for bound in found.bounds), ())
    yield Finding(quantity, DECLARED, None, gain.value, "sampled", premises, found.confidence)
    for name, attack in found.attacks.items():
        low = attack.gain_low_joint
        yield Finding(quantity, f"the attack `{name}`", low, None, "sampled", (), joint)


def _of_guesses(found: SettingFound) -> Iterator[Finding]:
    premises = found.given
    who = {name: f"the attack `{name}`" for name in found.attacks} | {GUESS: "the best guess"}
    for name, words in who.items():
        if (test := found.prior_tests.get(name)) is None:
            continue
        quantity = f"what {words} scores without the release at {found.label}"
        by_prior, off = test.by_the_prior, test.chance_off or 0.0
        level, limits = test.off.confidence, (test.off.low, test.off.high)
        sure = level if off else None
        yield Finding(
            quantity, "the prior", by_prior - off, by_prior + off, "proved", premises, sure
        )
        low, high = (None if limit is None else by_prior + limit for limit in limits)
        yield Finding(quantity, "the real people", low, high, "sampled", (), level)


def _of_held_out(found: SettingFound) -> Iterator[Finding]:
    """Compare guesses of rows with what the prior allows: also where people are drawn from it.

    What is found of people of a prior is told of those of the table.
    """
    for guess in found.held_out:
        rows = f"other rows of the table{guess.of_group}"
        quantity = f"what {guess.by} guesses of {rows} at {found.label}"
        limit, rests = guess.at_most, (*(found.near or found.given or (OF_TABLE,)), INDEPENDENT)
        yield Finding(quantity, "the prior", None, limit, "proved", rests, guess.confidence)
        yield Finding(quantity, "the real people", guess.share, guess.share, "sampled", ())


def _of_counts(found: SettingFound) -> Iterator[Finding]:
    for bound in found.bounds:
        limit = bound.of_population
        if bound.is_share or limit is None:
            continue
        quantity = f"chance that more than {limit} targets are reconstructed at {found.label}"
        rest, source = 1 - bound.confidence, f"the bound {bound.theorem}"
        rests = bound.takes_as_given
        yield Finding(quantity, source, None, rest, "sampled", rests, found.confidence)
        for name, attack in found.attacks.items():
            counts = attack.distribution
            if counts is None:
                continue
            pairs = zip(counts.targets, counts.trials, strict=True)
            over = sum(trials for v, trials in pairs if v > limit)
            low = clopper_pearson(over, attack.trials, confidence=found.joint).low
            yield Finding(quantity, f"the attack `{name}`", low, None, "sampled", (), found.joint)


def _of_groups(found: SettingFound) -> Iterator[Finding]:
    """Report what is recovered of groups; a ceiling holds if membership is known beforehand."""
    for group in found.groups:
        if group.by_secret is not False or group.ceiling is None or found.is_ceiling_estimated:
            continue
        quantity = f"mean share recovered at {found.label} of the group {group.by}: {group.group}"
        high = group.ceiling.high
        yield Finding(quantity, "the ceiling", None, high, "sampled", found.given, found.confidence)
        for name, attack in group.attacks.items():
            source, low = f"the attack `{name}`", attack.low
            yield Finding(quantity, source, low, None, "sampled", (), found.confidence)


def weigh(excesses: Sequence[Excess]) -> tuple[Status, list[Excess], int | None]:
    """Return the status by excesses alone, those it rests on, the trials that would decide it."""
    attacks = [e for e in excesses if e.role == "attack"]
    beyond = [e for e in attacks if (e.at_least or 0.0) > 0]
    if beyond:
        return "exceeded", [max(beyond, key=lambda e: e.at_least or 0.0)], None
    keepers, open_ = _keepers(excesses)
    if keepers is not None:
        return "met", keepers, None
    seems_beyond = [e for e in attacks if e.value > 0 and e.trials is not None]
    undecided = seems_beyond or open_
    if undecided:
        return "too few trials", undecided, max(e.trials or 0 for e in undecided)
    return "inconclusive", list(excesses), None


def _keepers(excesses: Sequence[Excess]) -> tuple[list[Excess] | None, list[Excess]]:
    """Return what keeps each limit, a bound before the ceiling, or what nearly does."""
    limits = [e for e in excesses if e.role != "attack"]
    keepers: list[Excess] = []
    nearly: list[Excess] = []
    holds = True
    for about in dict.fromkeys((e.of, e.group) for e in excesses):
        candidates = [e for e in limits if (e.of, e.group) == about]
        candidates.sort(key=lambda e: e.role != "bound")
        below = [e for e in candidates if e.high is not None and e.high <= 0]
        if below:
            keepers.append(below[0])
            continue
        holds = False
        almost = [e for e in candidates if e.value <= 0 and e.trials is not None]
        if not almost:
            return None, []
        nearly.append(min(almost, key=lambda e: e.trials or 0))
    return (keepers if holds and keepers else None), nearly


def _nearest(status: Status, rests_on: Sequence[Excess], every: Sequence[Excess]) -> Excess:
    """Return what exceeds most; of limits the one that keeps least; else what may exceed most."""
    if status == "exceeded":
        return rests_on[0]
    if status == "met":
        return max(
            rests_on, key=lambda excess: excess.value if excess.high is None else excess.high
        )
    if status == "too few trials":
        return max(rests_on, key=lambda excess: excess.value)
    attacks = [excess for excess in every if excess.role == "attack"]
    return max(attacks or every, key=lambda excess: excess.value)


@dataclass(frozen=True, eq=False)
class JudgedSetting(Case):
    """One setting, and the verdict on it."""

    result: SettingFound
    threshold: Accepted | None = None

    @property
    def label(self) -> str:
        return self.result.label

    @property
    def given(self) -> tuple[str, ...]:
        return (*(self.result.near or self.result.given), *self.result.declared)

    @property
    def protection(self) -> float:
        return self.result.protection

    @property
    def decides(self) -> bool:
        return self.threshold is None or self.threshold.decided_at in (None, self.label)

    def claims(self) -> list[Finding]:
        return statements(self.result)

    @cached_property
    def _weighed(self) -> tuple[Status, list[Excess], int | None]:
        """What excesses show; where people are those of a prior that is refuted, none counts."""
        if self.threshold is None:
            return "no threshold", [], None
        is_void = self.result.is_prior_refuted and not self.result.are_real
        return weigh(() if is_void else self.result.excesses)

    @property
    def status_alone(self) -> Status:
        return self._weighed[0]

    @cached_property
    def seen(self) -> tuple[StudyRow, ...]:
        return self.rests_on if self.status_alone == "exceeded" else ()

    @property
    def rank(self) -> tuple[float, ...]:
        """The one with least noise that is noise at all."""
        return self.result.noiseless, self.protection

    @property
    def basis(self) -> tuple[Excess, ...]:
        """What the status rests on, compared with the threshold; empty without a threshold."""
        return () if self.status == "contradicted" else tuple(self._weighed[1])

    @property
    def rests_on(self) -> tuple[StudyRow, ...]:
        return tuple(excess.row(self.label) for excess in self._weighed[1])

    @property
    def trials_needed(self) -> int | None:
        """Rough number of trials that would settle what is open; None if none would."""
        return self._weighed[2] if self.status == "too few trials" else None

    @property
    def grade_alone(self) -> Grade:
        """Without a threshold nothing is claimed but what was measured and what is proved."""
        return "sampled" if self.threshold is None else super().grade_alone

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the evidence assumes besides the guarantee and the game; an attack, nothing."""
        rests_on_limits = self.threshold is None or any(e.role != "attack" for e in self.basis)
        return self.given if rests_on_limits and not self.contradictions else ()

    @property
    def decision(self) -> Decision | None:
        """The excess that decided, or is nearest to deciding; without a threshold, an attack."""
        if self.threshold is None or not self.result.excesses:
            name, best = self.result.best, self.result.best_attack
            if name is None or best is None:
                return None
            return Decision(best.row(self.label, "attack", name), label=self.label)
        excess = _nearest(self.status, self.basis, self.result.excesses)
        return Decision(excess.row(self.label), at_most=0.0, label=self.label)

    def check(self) -> None:
        """Refuse a setting of which not every attack is compared with what is accepted."""
        for of in LIMITS:
            compared = {
                excess.name
                for excess in self.result.excesses
                if (excess.role, excess.of, excess.group) == ("attack", of, "")
            }
            is_asked = getattr(self.threshold, of, None) is not None
            if is_asked and compared != {*self.result.attacks}:
                raise ValueError(f"at {self.label} some attack is not compared")

    def grade_of(self, bound: TableBound) -> Grade:
        """Return the grade of a bound here: what is contradicted proves nothing."""
        return "not assessed" if self.contradictions else bound.grade

    def is_edge(self, bound: TableBound) -> bool:
        """Return whether a bound is a place where no attacker is: proved, and no if."""
        return self.grade_of(bound) == "proved"


TableJudgement = StudyJudgement[JudgedSetting]
"""What follows from an audit of a table: of each setting, and of all that decide together."""


def of_table(case: StudyJudgement) -> TableJudgement:
    return cast("TableJudgement", case)


def setting_cases(findings: Findings) -> Iterator[JudgedSetting]:
    """Yield each setting with its rows and what it is held to."""
    result: TableResult = findings.result
    for setting in result.settings:
        criteria = [c for c in findings.criteria if c.at.get("setting") == setting.label]
        yield JudgedSetting(setting, Accepted.of(criteria, result))
