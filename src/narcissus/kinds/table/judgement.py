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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from narcissus.evidence import clopper_pearson, first_in_sequence
from narcissus.findings import Contradiction, Finding, contradictions, weakest
from narcissus.kinds.table.found import (
    DECLARED,
    GUESS,
    INDEPENDENT,
    OF_TABLE,
    Accepted,
    Excess,
    SettingFound,
    TableBound,
    TableDetail,
)
from narcissus.results import Grade, Status
from narcissus.rows import Decision, Findings, StudyJudgement, StudyRow


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
    detail = found.detail
    quantity = f"mean share recovered at {found.label}"
    level, joint = detail.confidence, detail.joint
    for bound in found.bounds:
        if bound.is_share and bound.of_population is not None:
            played, source = f"{quantity}, of the people played", f"the bound {bound.theorem}"
            rests = bound.takes_as_given
            yield Finding(played, source, high=bound.at_most, assumptions=rests)
            yield Finding(quantity, source, None, bound.of_population, "sampled", rests, level)
    ceiling = found.ceiling
    if ceiling is not None:
        # an estimate of it is what one insider recovers: nobody is shown to recover less
        high = None if ceiling.about.is_estimated else ceiling.high
        yield Finding(quantity, "the ceiling", ceiling.low, high, "sampled", detail.given, level)
    for name, attack in found.attacks.items():
        if detail.everybody and attack.low == attack.high and attack.about.uses == "prior":
            continue  # a count of all people: the test of the prior says what chance may do
        source, low = f"the attack `{name}`", attack.low_joint
        yield Finding(quantity, source, low, None, "sampled", (), joint)


def _of_gains(found: SettingFound) -> Iterator[Finding]:
    """Compare the release's addition, where a broken declaration of a good guess shows first."""
    if (gain := found.declared_gain) is None:
        return
    detail = found.detail
    quantity, joint = f"mean gain over fresh people at {found.label}", detail.joint
    premises = next((bound.takes_as_given for bound in found.bounds), ())
    yield Finding(quantity, DECLARED, None, gain, "sampled", premises, detail.confidence)
    for name, attack in found.attacks.items():
        low = attack.gain_low_joint
        yield Finding(quantity, f"the attack `{name}`", low, None, "sampled", (), joint)


def _of_guesses(found: SettingFound) -> Iterator[Finding]:
    premises = found.detail.given
    who = {name: f"the attack `{name}`" for name in found.attacks} | {GUESS: "the best guess"}
    for name, words in who.items():
        if (test := found.prior_tests.get(name)) is None:
            continue
        quantity = f"what {words} scores without the release at {found.label}"
        by_prior, off = float(test.facts["by_the_prior"]), float(test.facts.get("chance_off", 0.0))
        level, limits = test.quantity.confidence, (test.quantity.low, test.quantity.high)
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
    detail = found.detail
    for guess in found.held_out:
        quantity = f"what {guess.by} guesses of other rows of the table at {found.label}"
        limit, rests = guess.at_most, (*(detail.near or detail.given or (OF_TABLE,)), INDEPENDENT)
        yield Finding(quantity, "the prior", None, limit, "proved", rests, guess.confidence)
        yield Finding(quantity, "the real people", guess.share, guess.share, "sampled", ())


def _of_counts(found: SettingFound) -> Iterator[Finding]:
    detail = found.detail
    for bound in found.bounds:
        limit = bound.of_population
        if bound.is_share or limit is None:
            continue
        quantity = f"chance that more than {limit} targets are reconstructed at {found.label}"
        rest, source = 1 - bound.confidence, f"the bound {bound.theorem}"
        rests = bound.takes_as_given
        yield Finding(quantity, source, None, rest, "sampled", rests, detail.confidence)
        for name, attack in found.attacks.items():
            counts = attack.about.distribution
            if counts is None:
                continue
            pairs = zip(counts.targets, counts.trials, strict=True)
            over = sum(trials for v, trials in pairs if v > limit)
            low = clopper_pearson(over, attack.trials, confidence=detail.joint).low
            yield Finding(quantity, f"the attack `{name}`", low, None, "sampled", (), detail.joint)


def _of_groups(found: SettingFound) -> Iterator[Finding]:
    """Report what is recovered of groups; a ceiling holds if membership is known beforehand."""
    detail = found.detail
    for group in found.groups:
        if group.by_secret is not False or group.ceiling is None or found.is_ceiling_estimated:
            continue
        quantity = f"mean share recovered at {found.label} of the group {group.by}: {group.group}"
        high = group.ceiling.high
        yield Finding(
            quantity, "the ceiling", None, high, "sampled", detail.given, detail.confidence
        )
        for name, attack in group.attacks.items():
            source, low = f"the attack `{name}`", attack.low
            yield Finding(quantity, source, low, None, "sampled", (), detail.confidence)


@dataclass(frozen=True)
class Judgement:
    """The conclusion on one setting."""

    status: Status
    grade: Grade
    """The weakest grade of its evidence."""
    rests_on: tuple[Excess, ...]
    """Its evidence, compared with the threshold; empty without a threshold."""
    assumptions: tuple[str, ...]
    """Assumptions of the evidence besides the guarantee and the game."""
    contradictions: tuple[Contradiction, ...]
    trials_needed: int | None
    """Rough number of trials that would settle what is open; None if none would."""
    held_back_by: str | None = None
    """Label of the earlier setting at which a sweep lost its claim, if it would be met here."""


def judge(
    threshold: Accepted | None,
    excesses: Sequence[Excess],
    contradictions: Sequence[Contradiction],
    takes_as_given: Sequence[str],
    *,
    is_void: bool = False,
) -> Judgement:
    """Judge one setting; ``is_void``: its people are those of a prior that is refuted."""
    status, rests_on, needed = _status(threshold, [] if is_void else excesses, contradictions)
    premises = tuple(takes_as_given) if any(e.role != "attack" for e in rests_on) else ()
    if contradictions:
        grade, premises = weakest(c.grade for c in contradictions), ()
    elif threshold is None:
        # nothing is claimed but what was measured and what is proved
        grade, premises = "sampled", tuple(takes_as_given)
    else:
        grade = weakest(e.kind for e in rests_on)
    return Judgement(status, grade, tuple(rests_on), premises, tuple(contradictions), needed)


def _status(
    threshold: Accepted | None, excesses: Sequence[Excess], contradictions: Sequence[Contradiction]
) -> tuple[Status, list[Excess], int | None]:
    if threshold is None:
        return ("contradicted" if contradictions else "no threshold"), [], None
    attacks = [e for e in excesses if e.role == "attack"]
    beyond = [e for e in attacks if (e.at_least or 0.0) > 0]
    if beyond:
        return "exceeded", [max(beyond, key=lambda e: e.at_least or 0.0)], None
    if contradictions:
        return "contradicted", [], None
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


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedSetting(SettingFound):
    """One setting, and the verdict on it."""

    statements: Sequence[Finding]
    judgement: Judgement
    decides: bool
    """Whether the verdict on a sweep is about this setting."""

    @property
    def status(self) -> Status:
        return self.judgement.status

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        return self.judgement.contradictions

    @property
    def decision(self) -> Decision | None:
        """The excess that decided, or is nearest to deciding; without a threshold, an attack."""
        if self.threshold is None or not self.excesses:
            best = self.best_attack
            return None if best is None else Decision(best.row, label=self.label)
        excess = _nearest(self.status, self.judgement.rests_on, self.excesses)
        row = next(
            row for row in self.rows if row.role == "excess" and Excess.of_row(row) == excess
        )
        return Decision(row, at_most=0.0, label=self.label)

    def grade_of(self, bound: TableBound) -> Grade:
        """Return the grade of a bound here: what is contradicted proves nothing."""
        return "not assessed" if self.contradictions else bound.grade

    def is_edge(self, bound: TableBound) -> bool:
        """Return whether a bound is a place where no attacker is: proved, and no if."""
        return self.grade_of(bound) == "proved"


WORST: tuple[Status, ...] = (
    *("exceeded", "contradicted", "not assessed", "too few trials", "inconclusive"),
    *("undeclared", "met", "no threshold"),
)
"""A sweep has the status of the setting that is worst, in this order."""


@dataclass(frozen=True)
class TableJudgement(StudyJudgement):
    """What follows from an audit of a table: of each setting, and of all that decide together."""

    settings: tuple[JudgedSetting, ...] = ()

    @cached_property
    def decisive(self) -> JudgedSetting:
        """The setting that a verdict on a sweep rests on, whose numbers stand for it.

        The worst of those that decide, and of these the one with least noise that is noise at all.
        """
        settings = [setting for setting in self.settings if setting.decides] or self.settings
        status = min((setting.status for setting in settings), key=WORST.index)
        worst = [setting for setting in settings if setting.status == status]
        noisy = [setting for setting in worst if not setting.noiseless]
        return min(noisy or worst, key=lambda setting: setting.protection)

    @property
    def decision(self) -> Decision | None:
        return self.decisive.decision

    @property
    def alone(self) -> Self:
        return replace(self, settings=(self.decisive,))

    def at(self, row: StudyRow) -> JudgedSetting:
        return next(setting for setting in self.settings if setting.label == row.at["setting"])

    @cached_property
    def _overall(self) -> tuple[Status, Sequence[JudgedSetting]]:
        settings = [setting for setting in self.settings if setting.decides] or self.settings
        status = WORST[min(WORST.index(setting.status) for setting in settings)]
        if self.contradictions and status != "exceeded":
            # what is refuted at one level is assumed at all of them
            return "contradicted", [setting for setting in self.settings if setting.contradictions]
        return status, [setting for setting in settings if setting.status == status]

    @property
    def status_by_rows(self) -> Status:
        return self._overall[0]

    @property
    def grade(self) -> Grade:
        return weakest(setting.judgement.grade for setting in self._overall[1])

    @property
    def assumptions(self) -> tuple[str, ...]:
        if self.contradictions:
            return ()
        worst = self._overall[1]
        return tuple(dict.fromkeys(a for setting in worst for a in setting.judgement.assumptions))

    @property
    def contradictions(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(str(c) for setting in self.settings for c in setting.contradictions)
        )


def judged(findings: Findings) -> TableJudgement:
    """Judge each setting, and all of them together.

    The assumptions of one setting belong together with those of the others (the same prior,
    declarations by the same hand): refuted at one, none of them counts at another. A setting
    without assumptions is judged by itself.
    """
    detail: TableDetail = findings.detail
    sweep: list[SettingFound] = []
    for setting_detail in detail.settings:
        at = {"setting": setting_detail.label}
        criteria = [
            criterion
            for criterion in findings.criteria
            if criterion.at.get("setting") == setting_detail.label
        ]
        sweep.append(
            SettingFound(setting_detail, findings.select(at), Accepted.of(criteria, detail))
        )
    claims = [statements(setting) for setting in sweep]
    clashes = [contradictions(claim) for claim in claims]
    refuting = [clash for each in clashes for clash in each if clash.refuted]
    judgements: list[Judgement] = []
    for setting, own_clashes in zip(sweep, clashes, strict=True):
        elsewhere = [clash for clash in refuting if setting.given and clash not in own_clashes]
        all_ = [*own_clashes, *elsewhere]
        is_void = setting.is_prior_refuted and not setting.detail.are_real
        judgements.append(
            judge(setting.threshold, setting.excesses, all_, setting.given, is_void=is_void)
        )
    judgements = in_sequence(sweep, judgements, detail.decided_at)
    settings = tuple(
        JudgedSetting(
            setting.detail,
            setting.rows,
            setting.threshold,
            statements=each,
            judgement=judgement,
            decides=detail.decided_at in (None, setting.label),
        )
        for setting, each, judgement in zip(sweep, claims, judgements, strict=True)
    )
    return TableJudgement(findings, (), settings)


def in_sequence(
    settings: Sequence[SettingFound], judgements: Sequence[Judgement], decided_at: str | None
) -> list[Judgement]:
    """Take back "met" after the first setting, from most protection to least, that is not met.

    Each setting is compared with the threshold at the full level. "Met" is claimed of the settings
    in an order fixed beforehand, up to the first failure: so all claims together have the level of
    one. The setting that the threshold names beforehand stands by itself.
    """
    verdicts = list(judgements)
    order = sorted(range(len(verdicts)), key=lambda number: -settings[number].protection)
    first_failure = first_in_sequence(verdicts[number].status == "met" for number in order)
    for number in order[first_failure:]:
        if verdicts[number].status == "met" and settings[number].label != decided_at:
            verdicts[number] = replace(
                verdicts[number],
                status="inconclusive",
                trials_needed=None,
                held_back_by=settings[order[first_failure]].label,
            )
    return verdicts
