"""From trials to results: measurements and bounds at one setting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from narcissus._arrays import Floats
from narcissus.attacks.table import TableAttack
from narcissus.attacks.table.base import MayFallBelow
from narcissus.evidence import (
    PeopleSums,
    clopper_pearson,
    difference_limits,
    each_confidence,
    mean_limits,
    median_limits,
    studentised_limits,
)
from narcissus.kinds.table.bound_summary import bounds_at, gain_if_declared, mean_of_people
from narcissus.kinds.table.envelope import LIKELIEST, Enclosure, Trial
from narcissus.kinds.table.estimates import (
    AttackScores,
    Criterion,
    GroupScores,
    counted,
    enclosure_of_group,
    exactly,
    group_scores,
    guess_of_group,
    has_decoy,
    scores_of,
)
from narcissus.kinds.table.excesses import apart, excesses, family
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import (
    BelowGuess,
    ColumnRecovered,
    Decoy,
    GroupAttack,
    GroupChance,
    GroupFound,
    GuessFound,
    HeldOutGuess,
    HitCounts,
    Limited,
    NoiseDetail,
    PlayedAttack,
    PriorOff,
    SearchLeft,
    SettingFound,
    TableBound,
    known,
)
from narcissus.kinds.table.schema import ThresholdSpec
from narcissus.results import Estimate
from narcissus.rows import Quantity

SURE = 0.99  # least level at which a prior is said to be refuted by what guesses score
# A slope that is fitted to few trials takes more luck out than there is: with 3, 5 and 10 trials
# approximate limits at 95% missed in 21 to 27, 13 and 7 to 9 of 100 repeats.
ENOUGH_FOR_LUCK = 20
STRONGEST = 1e300  # stands for an infinite strength, which a record cannot hold


def _sampled(found: Estimate, level: float, **more: Any) -> Quantity:
    low, high = found.ends
    return Quantity(
        value=found.value, low=low, high=high, grade="sampled", confidence=level, **more
    )


def prior_test(
    experiment: Experiment,
    real: Floats,
    said: Floats,
    people: PeopleSums | None = None,
    *,
    sums: Floats | None = None,
) -> PriorOff:
    """Test the prior: real scores of guesses without the release against its prediction.

    Every attack that is played, and the guess, tests the prior: the limits hold jointly,
    and at no less than 99%, since a right prior called refuted is a headline. ``real`` and ``said``
    are the scores and the predictions of each trial, shape (trials,). ``people`` are sums of their
    difference, if nobody's depends on others; None counts trials. ``sums`` are those of the prior's
    chances and of their squares, if the score counts all people: its error is then a matter of
    their secrets alone (Bernstein 1924).
    """
    sure = max(experiment.confidence, 1 - (1 - SURE) * experiment.spent)
    level = each_confidence(sure, family(experiment) + 1)
    chance_off = None
    if sums is not None:
        off, hurdle = counted(real - said, level), math.log(2 / (1 - level))
        spread = max(0.0, float(sums[0] - sums[1]))
        reach = hurdle / 3 + math.sqrt(hurdle**2 / 9 + 2 * hurdle * spread)
        chance_off = reach / experiment.targets
    else:
        off = difference_limits(real, said, confidence=level, people=experiment.targets)
    if people is not None and not experiment.everybody:
        low, high = people.lower((1 - level) / 2), people.upper((1 - level) / 2)
        off = replace(off, low=min(off.value, low), high=max(off.value, high))
    return PriorOff(
        by_the_prior=float(said.mean()), off=_sampled(off, level), chance_off=chance_off
    )


def attack_result(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    trials: Sequence[Trial],
    *,
    control_variate: Floats,
    bounds: Sequence[TableBound],
    around: Enclosure | None = None,
    number: int = 0,
) -> PlayedAttack:
    """Summarise one attack at one setting, less a control variate of each trial."""
    level, claimed = experiment.confidence, experiment.claimed
    joint = each_confidence(level, family(experiment))
    scores = scores_of(experiment, name, attack, trials, around, number)
    estimate = scores.share(level)
    value, rough = _roughly(scores, control_variate, level)
    narrowest = scores.narrowest(value, level)
    share = _sampled(estimate, claimed, trials=len(trials), approximate=rough)
    share = share.model_copy(update={"value": value})
    low_joint, gain_low = known(scores.share(joint).low), known(scores.gain(joint).low)
    without, gain, advantage = (
        _sampled(found(level), claimed)
        for found in (scores.baseline, scores.gain, scores.advantage)
    )
    low_apart = None
    if gain_low <= 0 < known(gain.value):
        low_apart = apart(experiment, scores, Criterion("gain", 0.0), trials, joint)
    if experiment.prior_is_exact:
        proved = [float(t["bound"][0]) / experiment.targets for t in trials if "bound" in t]
        share = _respected(share, low_joint, bounds, float(np.mean(proved)) if proved else 1.0)
        # what is shown as gained is what is shown as recovered less what is shown as its baseline
        more, left = known(share.value) - known(without.value), 1 - known(without.value)
        gain, gain_low = _around(gain, max(-1.0, more)), min(gain_low, more)
        advantage = _around(advantage, max(-1.0, more / left if left > 0 else 0.0))
    columns = _columns(experiment, name, trials)
    if len(columns) == 1:  # the one column's share is that of the whole
        whole = share.model_copy(update={"trials": None, "approximate": None})
        columns = {c: one.model_copy(update={"quantity": whole}) for c, one in columns.items()}
    scored = "shares of right columns" if experiment.success.by_column else "hits"
    if experiment.knows_chances:
        scored = "the expected success given the release and all other secrets"
    hits = [float(t[f"{name}/hits"]) for t in trials]
    counts = Counter(map(int, sorted(hits)))
    median = median_limits([h / experiment.targets for h in hits], confidence=level)
    return PlayedAttack(
        quantity=share,
        title=attack.title,
        uses=attack.uses,
        method=f"{estimate.method}, on {scored}",
        is_estimated=attack.informed and experiment.estimates_ceiling,
        low_joint=low_joint,
        narrowest=narrowest,
        median=Quantity.of(median),
        without=without,
        baseline_exact=not has_decoy(experiment, attack),
        gain=gain,
        gain_low_joint=gain_low,
        gain_low_apart=low_apart,
        advantage=advantage,
        decoy=_decoy(experiment, name, attack, trials, scores),
        search=_search(name, trials),
        below=_below(experiment, attack, trials, known(share.value)),
        distribution=None
        if experiment.success.by_column
        else HitCounts(targets=tuple(counts), trials=tuple(counts.values())),
        columns=columns,
    )


def _columns(
    experiment: Experiment, name: str, trials: Sequence[Trial]
) -> dict[str, ColumnRecovered]:
    values = np.clip([t[f"{name}/columns"] for t in trials], 0, 1)
    fresh = np.array([t[f"{name}/columns_fresh"] for t in trials])
    columns: dict[str, ColumnRecovered] = {}
    for c, column in enumerate(experiment.queries.unknown):
        around, guesses = Enclosure.of_column(trials, c), experiment.success.guess_shape[c]
        scores = AttackScores(values[:, c], fresh[:, c], experiment.targets, around, guesses)
        share = _sampled(scores.share(experiment.confidence), experiment.claimed)
        columns[experiment.table.names[column]] = ColumnRecovered(
            quantity=share, baseline=float(fresh[:, c].mean())
        )
    return columns


def _search(name: str, trials: Sequence[Trial]) -> SearchLeft | None:
    left = np.array([float(t[f"{name}/residual"]) for t in trials if f"{name}/residual" in t])
    if not left.size:
        return None
    stuck = left > 0
    residual = float(left[stuck].mean()) if stuck.any() else 0.0
    return SearchLeft(stuck=int(stuck.sum()), residual=residual)


def _below(
    experiment: Experiment, attack: TableAttack, trials: Sequence[Trial], share: float
) -> BelowGuess | None:
    if experiment.prior_is_exact:
        guesses = [float(t["guess"][0]) / experiment.targets for t in trials]
    else:
        guesses = [float(t["guessed"]) for t in trials]
    guess = min(1.0, float(np.mean(guesses)))
    if share >= guess or not isinstance(attack, MayFallBelow):
        return None
    return BelowGuess(guess=guess, why=attack.why_below(len(experiment.queries.unknown)))


def _roughly(
    scores: AttackScores, control_variate: Floats, level: float
) -> tuple[float, tuple[float, float] | None]:
    left = scores.shares - control_variate
    rough = None
    if left.size > 1:
        interval = studentised_limits(left, confidence=level)
        rough = max(0.0, interval.low), min(1.0, interval.high)
    return float(np.clip(left.mean(), 0, 1)), rough


def _decoy(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    trials: Sequence[Trial],
    scores: AttackScores,
) -> Decoy | None:
    if not has_decoy(experiment, attack):
        return None
    fresh, predictions = np.clip([t[f"{name}/decoy"] for t in trials], 0, 1).T
    sums = trials[0]["guess"] if scores.exact[1] else None
    return Decoy(
        quantity=_sampled(scores.baseline(experiment.confidence), experiment.claimed),
        test=prior_test(experiment, fresh, predictions, sums=sums),
    )


def _respected(
    share: Quantity, low_joint: float, bounds: Sequence[TableBound], proved: float
) -> Quantity:
    """Keep sampled numbers within the bounds of theorems.

    The people are the same, so an estimate above the bound on them is luck, and so is a lower limit
    above the bound on the population. It may not be luck if the theorem rests on a declaration
    about the release, which attacks may refute. It is none if even the limit that holds for all
    attacks is above, a contradiction: nothing is cut then. Upper limits never are. The bound on
    people who were not played is itself a limit that sampling may miss, and an interval that ends
    at the nearer of two limits misses where either does.
    """
    shares = [b for b in bounds if b.is_share]
    limits = [b.of_population for b in shares if b.of_population is not None]
    above = min(limits, default=1.0)
    if low_joint > above or any(b.takes_as_given for b in shares):
        above = proved = 1.0
    lowered = share.model_copy(update={"low": min(known(share.low), above)})
    return _around(lowered, min(known(share.value), proved))


def _around(found: Quantity, value: float) -> Quantity:
    rough = found.approximate
    ends = {
        "low": min(known(found.low), value),
        "high": max(known(found.high), value),
        "approximate": rough and (min(rough[0], value), max(rough[1], value)),
    }
    return found.model_copy(update={"value": value, **ends})


def group_results(experiment: Experiment, trials: Sequence[Trial]) -> Iterator[GroupFound]:
    """Summarise every attack for every group that had members.

    The share of a group is the mean over trials of its members' share, leaving out trials without
    members. The worst is chosen over groups, attacks and settings, so the limits hold for all of
    these at the same time. ``over_guess`` compares with the best guess without the release *on the
    same
    people*. Of a group chosen by its secrets that guess may get nobody, if it never names a rare
    value. ``by_chance`` is the score of the same attack without this release: on fresh people who
    belong to the group, or shown a release of other secrets.
    """
    people = np.array([t["groups"] for t in trials], dtype=float)
    joint = each_confidence(experiment.confidence, family(experiment, experiment.groups.asked))
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)
    for g, (by, label) in enumerate(experiment.groups.names):
        if not people[:, g].any():
            continue
        around = enclosure_of_group(experiment, trials, g)
        attacks: dict[str, GroupAttack] = {}
        ceiling: GroupAttack | None = None
        for name, attack, count in experiment.attacks:
            member_scores = group_scores(experiment, name, attack, trials[:count], g, around)
            if member_scores is None:
                continue
            chance = (
                _by_chance(experiment, name, trials[:count], g, joint) if by_secret[g] else None
            )
            result = _of_group(experiment, member_scores, joint, chance)
            if attack.informed:
                ceiling = result
            else:
                attacks[name] = result
        guess = guess_of_group(experiment, trials, g, around, joint)
        yield GroupFound(
            by=by,
            group=label,
            by_secret=bool(by_secret[g]),
            share_of_people=float(people[:, g].sum() / (len(trials) * experiment.targets)),
            guess=Limited(quantity=_sampled(guess, experiment.claimed)),
            attacks=attacks,
            ceiling=ceiling,
        )


def _of_group(
    experiment: Experiment, own: GroupScores, joint: float, by_chance: GroupChance | None
) -> GroupAttack:
    return GroupAttack(
        quantity=_sampled(own.scores.share(joint), experiment.claimed),
        baseline=float(own.scores.fresh.mean()),
        over_guess=_sampled(own.scores.above_guess(own.guess, joint), joint),
        people=own.people,
        by_chance=by_chance,
    )


def _by_chance(
    experiment: Experiment, name: str, trials: Sequence[Trial], g: int, joint: float
) -> GroupChance | None:
    if f"{name}/group_decoy" not in trials[0]:
        return None
    members = np.array([[t["groups"][g], t["strangers"][g]] for t in trials], dtype=float)
    hits = [[t[f"{name}/{key}"][g] for key in ("group_share", "group_decoy")] for t in trials]
    # Both or neither: who is true and who is fresh must not decide whether a trial counts.
    some = (members > 0).all(axis=1)
    if not some.any():
        return None
    shares = np.clip(np.array(hits)[some] / members[some], 0, 1)
    over = difference_limits(
        shares[:, 0], shares[:, 1], confidence=joint, people=experiment.targets
    )
    share = float(shares[:, 1].mean())
    return GroupChance(share=share, gain=over.value, gain_low=over.ends[0])


def summarise(
    experiment: Experiment,
    number: int,
    trials: Sequence[Trial],
    *,
    held_out: Sequence[HeldOutGuess] = (),
    threshold: ThresholdSpec | None = None,
) -> SettingFound:
    """Return what was measured and what is proved at one setting, and what a threshold leaves."""
    setting = experiment.settings[number]
    level = experiment.claimed
    noise = setting.mechanism.noise
    bounds = bounds_at(experiment, number, trials)
    control_variate = _control_variate(experiment, trials)
    around = Enclosure.of(trials, experiment.targets)
    attacks: dict[str, PlayedAttack] = {}
    ceiling: PlayedAttack | None = None
    for name, attack, count in experiment.attacks:
        played = attack_result(
            experiment,
            name,
            attack,
            trials[:count],
            control_variate=control_variate[:count],
            bounds=bounds,
            around=around,
            number=number,
        )
        if attack.informed:
            ceiling = played
        else:
            attacks[name] = played
    gain = gain_if_declared(experiment, number, trials)
    return SettingFound(
        epsilon=_finite(setting.epsilon),
        label=setting.label,
        delta=setting.delta,
        mu=_finite(setting.mu),
        released=setting.title,
        strength=None if setting.strength is None else min(setting.strength, STRONGEST),
        noise=None if noise is None else NoiseDetail(kind=noise.kind, scale=noise.scale),
        marginals=experiment.queries.tables,
        cells=experiment.queries.cells,
        people=experiment.targets,
        trials=len(trials),
        confidence=level,
        joint=each_confidence(experiment.confidence, family(experiment)),
        precision=experiment.precision,
        given=experiment.takes_as_given,
        near=experiment.near,
        declared=tuple(setting.mechanism.assumes),
        prior_is_exact=experiment.prior_is_exact,
        everybody=experiment.everybody,
        are_real=experiment.real_rows,
        is_declared=bool(setting.mechanism.assumes),
        share_of_columns=experiment.success.by_column,
        guess=_guess(experiment, trials, around),
        held_out=tuple(held_out),
        best=_best(experiment, attacks, trials),
        attacks=attacks,
        ceiling=ceiling,
        groups=tuple(group_results(experiment, trials)),
        bounds=tuple(bounds),
        declared_gain=None
        if gain is None
        else Quantity(value=gain, grade="sampled", confidence=level),
        excesses=()
        if threshold is None
        else tuple(excesses(experiment, number, trials, threshold)),
        merged=getattr(experiment.groups, "said", None),
    )


def _best(
    experiment: Experiment, attacks: Mapping[str, PlayedAttack], trials: Sequence[Trial]
) -> str | None:
    """Choose the attack with most evidence, not the luckiest of few trials.

    By limits of one kind: those printed are tighter for an attack whose ends are known.
    """
    joint = each_confidence(experiment.confidence, family(experiment))
    evidence: dict[str, tuple[float, float]] = {}
    for name, attack in attacks.items():
        played = trials[: attack.trials]
        shares = np.clip([float(t[f"{name}/share"]) for t in played], 0, 1)
        low = mean_limits(shares, confidence=joint, people=experiment.targets).low
        evidence[name] = (low or 0.0, attack.share)
    return max(evidence, key=evidence.__getitem__, default=None)


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else value


def _control_variate(experiment: Experiment, trials: Sequence[Trial]) -> Floats:
    """Estimate what chance added to the recovered share in each trial.

    The release moves the chance of the guess that ignores it, but not on average; a guess from the
    release shares much of that luck. The amount is fitted to the attacker who sees most. One amount
    is subtracted from all attacks, so that none is moved above another.
    """
    none = np.zeros(len(trials))
    if not experiment.knows_chances:
        return none
    surprises = np.array([float(t["control"]) for t in trials])
    informed = [name for name, attack, _ in experiment.attacks if attack.informed]
    full = [name for name, _, count in experiment.attacks if count == len(trials)]
    names = informed or full
    spread = surprises - surprises.mean()
    if len(trials) < ENOUGH_FOR_LUCK or not names or not spread.any():
        return none
    shares = np.array([float(t[f"{names[0]}/share"]) for t in trials])
    slope = float(spread @ shares) / float(spread @ spread)
    return slope * surprises


def _guess(experiment: Experiment, trials: Sequence[Trial], around: Enclosure | None) -> GuessFound:
    """Limit the share of the best guess: by the prior, or by hits where that may be wrong."""
    sums = np.array([t["guess"] for t in trials])
    level, n = experiment.confidence, experiment.targets
    if experiment.prior_is_exact:
        chance = mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=level)
        if around is not None and (people := around.envelope(LIKELIEST).people) is not None:
            low, high = people.lower((1 - level) / 2), people.upper((1 - level) / 2)
            chance = replace(chance, low=min(chance.value, low), high=max(chance.value, high))
        return _guess_of(experiment, trials, chance, None)
    real = np.array([float(t["guessed"]) for t in trials])
    predictions = np.clip(sums[:, 0] / n, 0, 1)
    right = [float(t["guessed_chance"]) for t in trials]
    moments = np.column_stack(
        [n * real, n * real, sums, right]
    )  # a hit is its own square, a part less
    people = PeopleSums.of_moments(moments, n, less=1.0, allowed=0.0)
    whole = sums[0] if experiment.everybody else None
    test = prior_test(experiment, real, predictions, people, sums=whole)
    return _guess_of(experiment, trials, _hits(experiment, real), test)


def _hits(experiment: Experiment, real: Floats) -> Estimate:
    """Limit the share of hits of the guess, which count person by person.

    Drawn without replacement they are less spread (Hoeffding 1956, Theorem 4).
    """
    level, n = experiment.confidence, experiment.targets
    if experiment.everybody:  # the people played are the population
        return exactly(float(real.mean()), level, len(real))
    if experiment.success.by_column:  # parts of people are not counted
        return mean_limits(real, confidence=level, people=n)
    return clopper_pearson(round(n * real.sum()), n * len(real), confidence=level)


def _guess_of(
    experiment: Experiment, trials: Sequence[Trial], share: Estimate, test: PriorOff | None
) -> GuessFound:
    found = GuessFound(quantity=_sampled(share, experiment.claimed), by_the_prior=test)
    if not experiment.factored:
        return found
    names = [experiment.table.names[c] for c in experiment.queries.unknown]
    each = np.mean([t["guess_columns"] for t in trials], axis=0).clip(0.0, 1.0).tolist()
    limit, unproved = np.mean([t["guess_limit"] for t in trials], axis=0).clip(0.0, 1.0)
    more = {"columns": dict(zip(names, each, strict=True))}
    if unproved > 0:
        more |= {"is_best_found": True, "at_most": float(limit)}
    return found.model_copy(update=more)
