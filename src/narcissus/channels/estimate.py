"""Leakage from samples: point estimates, and limits that hold at every sample size.

Source: Narcissus theory 6.2, limits 1 to 4; Bayes Security, section VII-D.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from narcissus._random import RandomSource, generator
from narcissus._validation import between, integer
from narcissus.channels._search import least_overlap
from narcissus.channels.estimators import Estimator, Guess, Scorer, portfolio
from narcissus.channels.samples import Codes, Matrix, Samples, samples
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate, Grade, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Sampler = Callable[[int, np.random.Generator], tuple[Any, Any]]
"""Asked for a number of samples, gives as many fresh secrets and outputs."""

CHOOSE_FROM = 20_000
"""Samples used to choose among estimators and pairs; more would not change the choice."""
CERTIFY_ON = 250_000
"""Held-out samples of continuous outputs that are classified; each costs a search of neighbours."""
MOST_CANDIDATES = 1_000
"""Secrets compared pair by pair; of more, those farthest from the average are taken."""

NO_LOWER_RISK = (
    "outputs are continuous (they hardly repeat): without assumptions no finite sample rules out "
    "that the secret can be read off them, so there is no lower limit"
)


@dataclass(frozen=True)
class Look:
    """The state after some samples: both quantities with their limits."""

    samples: int
    beta_star: Estimate
    bayes_risk: Estimate


@dataclass(frozen=True)
class LeakageEstimate(Result):
    """What samples say about a channel.

    Attributes
    ----------
    beta_star
        Bayes security; ``high`` is certified at ``pair``.
    bayes_risk
        Error of the best attacker, for the prior from which secrets were drawn.
    pair
        The two secrets that seem easiest to tell apart.
    secrets, samples
        How many.
    confidence
        Of each interval: each side misses with probability at most half of what is left.
    estimators
        Error of each estimator on the samples set aside for choosing.
    chosen
        The estimator that the limits of the Bayes risk are about.
    continuous
        Whether outputs were taken as continuous.
    history
        One look, or several of a run that was continued until it was precise enough.
    """

    beta_star: Estimate
    bayes_risk: Estimate
    pair: tuple[str, str]
    secrets: int
    samples: int
    confidence: float
    estimators: dict[str, float]
    chosen: str
    continuous: bool
    history: tuple[Look, ...] = field(repr=False)

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"

    def to_dict(self) -> dict[str, Any]:
        """Give the numbers of the command line, under its keys."""
        return {
            "beta_star": _limits(self.beta_star),
            "bayes_risk": _limits(self.bayes_risk),
            "pair": list(self.pair),
            "secrets": self.secrets,
            "samples": self.samples,
            "confidence": self.confidence,
            "estimator": self.chosen,
        }

    def to_frame(self) -> pd.DataFrame:
        """Give the history: a row per look, with both estimates and their limits."""
        rows: list[dict[str, Any]] = []
        for look in self.history:
            row: dict[str, Any] = {"samples": look.samples}
            for name in ("beta_star", "bayes_risk"):
                e: Estimate = getattr(look, name)
                row |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}
            rows.append(row)
        return pd.DataFrame(rows)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw both estimates with their bands against the number of samples."""
        from matplotlib import pyplot as plt

        axes: Axes = ax if ax is not None else plt.subplots(layout="constrained")[1]
        frame = self.to_frame()
        for name, label in (("beta_star", "Bayes security"), ("bayes_risk", "Bayes risk")):
            low = frame[f"{name}_low"].astype(float).fillna(0.0)
            high = frame[f"{name}_high"].astype(float).fillna(1.0)
            (line,) = axes.plot(frame["samples"], frame[name], marker="o", label=label)
            axes.fill_between(frame["samples"], low, high, alpha=0.2, color=line.get_color())
        axes.set_xscale("log")
        axes.set_ylim(0, 1)
        axes.set_xlabel("samples")
        axes.set_ylabel(f"estimate and {100 * self.confidence:g}% limits")
        axes.legend()
        return axes

    def __str__(self) -> str:
        def limits(e: Estimate) -> str:
            low = "no limit" if e.low is None else f"{e.low:.4f}"
            high = "no limit" if e.high is None else f"{e.high:.4f}"
            return f"{e.value:.4f}   limits {low} to {high}"

        worst = self.beta_star.high if self.beta_star.high is not None else 1.0
        lines = [
            f"{self.samples} samples of {self.secrets} secrets, {100 * self.confidence:g}% limits",
            "",
            f"  Bayes security (worst pair)  {limits(self.beta_star)}",
            f"    told apart best: {self.pair[0]!r} and {self.pair[1]!r}, right in at least "
            f"{100 - 50 * worst:.1f} of 100 attempts (50 by guessing)",
            f"  Bayes risk                   {limits(self.bayes_risk)}",
            f"    by the estimator {self.chosen!r}; the best attacker is wrong no more often "
            "than the upper limit",
        ]
        lines += [
            f"  note: {why}"
            for why in dict.fromkeys([self.beta_star.why, self.bayes_risk.why])
            if why
        ]
        lines += [
            "",
            "  Sampled: the estimates are as good as the samples and estimators; the limits hold.",
        ]
        return "\n".join(lines)


def _limits(e: Estimate) -> dict[str, Any]:
    out: dict[str, Any] = {"estimate": e.value, "low": e.low, "high": e.high}
    return out | ({"why": e.why} if e.low is None or e.high is None else {})


def estimate(
    source: Any,
    outputs: Any = None,
    *,
    confidence: float = 0.95,
    estimators: Any = None,
    kind: str = "auto",
    until: float | None = None,
    first: int = 1_000,
    most: int = 1_000_000,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> LeakageEstimate:
    """Estimate ``beta*`` and the Bayes risk of a channel known only by samples.

    Parameters
    ----------
    source
        The secret of each sample, shape (samples,); or a sampler: a function of a number and a
        generator that gives that many fresh secrets and outputs.
    outputs
        The output of each sample, shape (samples,) or (samples, columns), discrete or continuous;
        None with a sampler.
    confidence
        Level in (0, 1) of each of the two intervals; half of the rest on each side.
    estimators
        Names, or classifiers in scikit-learn's style; None takes those that suit the samples.
    kind
        "discrete", "continuous", or "auto": continuous where fewer than half of the samples share
        their output with another. It decides only whether a lower limit is worth stating.
    until
        With a sampler: ask for more until every limit is this near its estimate (or the interval
        this narrow), or ``most`` samples are drawn. The limits stay valid: look ``t`` spends
        ``(1 - confidence) / (t (t + 1))``.
    first, most
        With a sampler: samples at the first look, and at most. Each look doubles them.
    rng
        Splits the samples; with a sampler also its randomness.
    observer
        Hears of progress.

    Returns
    -------
    LeakageEstimate
        Limits hold for independent samples: for the Bayes risk drawn from the prior of interest,
        for ``beta*`` also with numbers per secret that were fixed beforehand.

    Raises
    ------
    InputError
        One secret only, a secret with too few samples (named), missing values.

    Source: Narcissus theory 6.2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> secret = rng.integers(2, size=4000)
    >>> shown = np.where(rng.random(4000) < 0.75, secret, 1 - secret)  # beta* = 0.5
    >>> found = estimate(secret, shown, rng=1).beta_star
    >>> found.low < 0.5 < found.high
    True
    """
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    if kind not in ("auto", "discrete", "continuous"):
        raise InputError(f"`kind` must be 'auto', 'discrete' or 'continuous', got {kind!r}")
    random = generator(rng)
    if not callable(source):
        if until is not None:
            raise InputError("`until` needs a sampler that can be asked for more samples")
        if outputs is None:
            raise InputError("`outputs` is missing: the output of each sample")
        data = samples(source, outputs)
        return _assess(
            data,
            level=level,
            alpha=1 - level,
            wanted=estimators,
            kind=kind,
            random=random,
            observer=observer,
            history=(),
        )
    if until is None:
        raise InputError("with a sampler give `until`: how narrow the limits must get")
    width = between("until", until, 0, 1, open_low=True)
    size = integer("first", first, low=40)
    most = integer("most", most, low=size)
    drawn: list[tuple[pd.Series[Any], pd.DataFrame]] = []
    total, look, history = 0, 0, ()
    while True:
        secret, output = cast(Sampler, source)(size - total, random)
        drawn.append((pd.Series(np.asarray(secret).ravel()), _as_frame(output)))
        total, look = size, look + 1
        data = samples(pd.concat([d[0] for d in drawn]), pd.concat([d[1] for d in drawn]))
        # Sum over all looks of 1 / (t (t + 1)) is one, so all of them hold together.
        alpha = (1 - level) / (look * (look + 1))
        result = _assess(
            data,
            level=level,
            alpha=alpha,
            wanted=estimators,
            kind=kind,
            random=random,
            observer=observer,
            history=history,
        )
        history = result.history
        if size >= most or max(_slack(result.beta_star), _slack(result.bayes_risk)) <= width:
            return result
        size = min(most, 2 * size)


def _as_frame(output: Any) -> pd.DataFrame:
    array = np.asarray(output)
    return pd.DataFrame(array.reshape(len(array), -1))


def _slack(e: Estimate) -> float:
    """Give how far the limits leave the quantity open."""
    if e.high is None:
        return 1.0
    return e.high - (e.value if e.low is None else e.low)


def _upper(hits: float, trials: float, alpha: float) -> float:
    """Give the one-sided Clopper-Pearson upper limit."""
    return 1.0 if hits >= trials else float(special.betainccinv(hits + 1, trials - hits, alpha))


def _assess(
    data: Samples,
    *,
    level: float,
    alpha: float,
    wanted: Any,
    kind: str,
    random: np.random.Generator,
    observer: Observer,
    history: tuple[Look, ...],
) -> LeakageEstimate:
    """Split the samples at random, choose on one half, certify on the other."""
    side = alpha / 2
    order = random.permutation(data.size)
    half = data.size // 2
    third = min(half // 3, CHOOSE_FROM)
    choose, learn, train, test = order[:third], order[third:half], order[:half], order[half:]
    if data.continuous:
        test = test[:CERTIFY_ON]
    tried = portfolio(wanted, data)
    candidates = _candidates(data, learn)
    observer.start("estimators", len(tried) + 2)
    errors: dict[str, float] = {}
    best_pair: tuple[float, Estimator, tuple[int, int]] | None = None
    held = data.counts(choose)
    for one in tried:
        scorer = one.fit(data, learn)
        errors[one.name], confusion = _try(data, scorer, learn, held, candidates)
        value, pair = _best_pair(data, confusion, held, test, candidates)
        if best_pair is None or value < best_pair[0]:
            best_pair = value, one, pair
        observer.advance()
    assert best_pair is not None
    winner = min(tried, key=lambda e: errors[e.name])
    risk = _risk(data, winner, train, test, side)
    observer.advance()
    security = _security(data, best_pair[1], best_pair[2], train=train, test=test, side=side)
    continuous = data.continuous if kind == "auto" else kind == "continuous"
    risk = _with_low(risk, None if continuous else _risk_low(data, side), level, data.size)
    low = None if continuous else _security_low(data, side, observer)
    security = _with_low(security, low, level, data.size)
    observer.advance()
    observer.finish()
    a, b = best_pair[2]
    return LeakageEstimate(
        beta_star=security,
        bayes_risk=risk,
        pair=(data.names[a], data.names[b]),
        secrets=len(data.names),
        samples=data.size,
        confidence=level,
        estimators=errors,
        chosen=winner.name,
        continuous=continuous,
        history=(*history, Look(data.size, security, risk)),
    )


def _candidates(data: Samples, learn: Codes) -> Codes:
    """Give the secrets whose pairs are compared: all, or those farthest from the average."""
    size = len(data.names)
    if size <= MOST_CANDIDATES:
        return np.arange(size)
    counts = data.counts(learn).tocsc()
    each = np.maximum(1.0, np.asarray(counts.sum(axis=0)).ravel())
    average = np.asarray(counts.sum(axis=1)).ravel() / len(learn)
    columns = counts.tocoo()
    o, s = columns.coords
    overlap = np.bincount(s, weights=np.minimum(columns.data / each[s], average[o]), minlength=size)
    return np.sort(np.argsort(overlap + 1 / np.sqrt(each), kind="stable")[:MOST_CANDIDATES])


def _chunks(held: Any, secrets: int) -> Any:
    """Yield slices of the distinct outputs that occur among the held-out samples."""
    seen = np.flatnonzero(np.diff(held.indptr))
    step = max(1, 2**21 // secrets)
    for low in range(0, len(seen), step):
        outputs = seen[low : low + step]
        yield outputs, held[outputs]


def _try(
    data: Samples, scorer: Scorer, learn: Codes, held: Any, candidates: Codes
) -> tuple[float, Matrix]:
    """Give a scorer's error, and for pairs how often each secret loses to each other.

    One pass over the held-out samples serves all pairs: the secret ``a`` of a sample loses to
    ``b`` if ``b`` would have given the output with the higher estimated probability.
    """
    each = np.maximum(1, np.bincount(data.secret[learn], minlength=len(data.names)))
    place = np.full(len(data.names), -1)
    place[candidates] = np.arange(len(candidates))
    right, total = 0.0, 0.0
    lost = np.zeros((len(candidates), len(candidates)))
    for outputs, counts in _chunks(held, len(data.names)):
        scores = scorer(outputs)
        guess = scores.argmax(axis=1)
        entries = counts.tocoo()
        row, secret = entries.coords
        right += float(entries.data[guess[row] == secret].sum())
        total += float(entries.data.sum())
        likely = (scores / each)[:, candidates]
        ours = place[secret] >= 0
        row, own, weight = row[ours], place[secret[ours]], entries.data[ours]
        order = np.argsort(own, kind="stable")
        step = max(1, 2**22 // len(candidates))
        for low in range(0, len(order), step):
            part = order[low : low + step]
            mine = likely[row[part], own[part]][:, None]
            others = likely[row[part]]
            loses = ((others > mine) + 0.5 * (others == mine)) * weight[part, None]
            starts = np.flatnonzero(np.r_[True, np.diff(own[part]) > 0])
            lost[own[part][starts]] += np.add.reduceat(loses, starts, axis=0)
    return 1 - right / max(total, 1.0), lost


def _best_pair(
    data: Samples, lost: Matrix, held: Any, test: Codes, candidates: Codes
) -> tuple[float, tuple[int, int]]:
    """Choose the pair whose certificate on the test samples promises to be lowest."""
    tried = np.asarray(held.sum(axis=0)).ravel()[candidates]
    later = np.bincount(data.secret[test], minlength=len(data.names))[candidates]
    rate = (lost + 0.5) / (tried[:, None] + 1)
    # Leave room for the limits, or rare secrets would win by chance.
    room = 2 * np.sqrt(rate * (1 - rate) / np.maximum(later, 1)[:, None])
    promise = np.where((later > 0)[:, None], rate + room, 1.0)
    both = promise + promise.T
    np.fill_diagonal(both, np.inf)
    i, j = np.unravel_index(int(np.argmin(both)), both.shape)
    a, b = sorted((int(candidates[i]), int(candidates[j])))
    return float(both[i, j]), (a, b)


def _risk(data: Samples, winner: Estimator, train: Codes, test: Codes, side: float) -> Estimate:
    """Limit 1: the chosen classifier's error on samples it has not seen is at least ``R*``."""
    scorer = winner.fit(data, train)
    right = 0.0
    for outputs, counts in _chunks(data.counts(test), len(data.names)):
        guess = scorer(outputs).argmax(axis=1)
        entries = counts.tocoo()
        right += float(entries.data[guess[entries.coords[0]] == entries.coords[1]].sum())
    wrong = len(test) - right
    return Estimate(
        wrong / len(test),
        None,
        _upper(wrong, len(test), side),
        0.0,
        data.size,
        "Bayes risk",
        f"Clopper-Pearson on {len(test)} held-out samples",
    )


def _security(
    data: Samples, one: Estimator, pair: tuple[int, int], *, train: Codes, test: Codes, side: float
) -> Estimate:
    """Limit 4: on fresh samples, how often the chosen event misses ``a`` and hits ``b``."""
    a, b = pair
    if isinstance(one, Guess):
        return Estimate(1.0, None, 1.0, 0.0, data.size, "Bayes security", "no pair told apart")
    scorer = one.fit(data, train)
    each = np.maximum(1, np.bincount(data.secret[train], minlength=len(data.names)))
    mine = test[(data.secret[test] == a) | (data.secret[test] == b)]
    outputs, place = np.unique(data.output[mine], return_inverse=True)
    names_a: NDArray[np.bool_] = np.zeros(len(outputs), dtype=bool)
    step = max(1, 2**21 // len(data.names))
    for low in range(0, len(outputs), step):
        scores = scorer(outputs[low : low + step])
        names_a[low : low + step] = scores[:, a] / each[a] >= scores[:, b] / each[b]
    event = names_a[place.ravel()]
    of_a = data.secret[mine] == a
    n_a, n_b = int(of_a.sum()), int((~of_a).sum())
    misses, hits = int((~event & of_a).sum()), int((event & ~of_a).sum())
    if not n_a or not n_b:
        return Estimate(1.0, None, 1.0, 0.0, data.size, "Bayes security", "no held-out samples")
    high = min(1.0, _upper(misses, n_a, side / 2) + _upper(hits, n_b, side / 2))
    return Estimate(
        min(1.0, misses / n_a + hits / n_b),
        None,
        high,
        0.0,
        data.size,
        "Bayes security",
        f"two Clopper-Pearson limits on {n_a} and {n_b} held-out samples",
    )


def _risk_low(data: Samples, side: float) -> float:
    """Limit 2: the training error of the best function of the output, less McDiarmid's room."""
    best = data.counts().max(axis=1).toarray().ravel()
    resubstitution = 1 - float(best.sum()) / data.size
    return max(0.0, resubstitution - math.sqrt(math.log(1 / side) / (2 * data.size)))


def _security_low(data: Samples, side: float, observer: Observer) -> float:
    """Limit 3: no pair is farther apart than it looks, less McDiarmid's room for that pair."""
    counts = data.counts().T.tocsr()
    each = np.asarray(counts.sum(axis=1)).ravel()
    counts.data /= np.repeat(each, np.diff(counts.indptr))
    spread = math.log(1 / side) / 2 / each
    return max(0.0, least_overlap(counts, spread=spread, observer=observer)[0])


def _with_low(e: Estimate, low: float | None, level: float, size: int) -> Estimate:
    """Put a lower limit, or the reason why there is none, beside an upper one."""
    value = e.value if low is None else max(e.value, min(low, e.high if e.high is not None else 1))
    return Estimate(
        value, low, e.high, level, size, e.quantity, e.method, NO_LOWER_RISK if low is None else ""
    )
