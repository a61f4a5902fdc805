"""Our estimate of the Bayes risk beside the rules of F-BLEAU, on the systems of its paper.

Systems and rules are written from the paper (Cherubin, Chatzikokolakis and Palamidessi 2019,
sections V and VI) and the source of the program, which is no package of PyPI. A secret's output is
geometric noise of parameter nu around a place of its own, cut at both ends; "multimodal": one of
two such places, the second 1,000 further on, with equal chances; "spiky": two secrets that share
out 10,000 outputs by turns; "random": rows of uniform numbers. The rules are the frequentist one
and nearest neighbours with k = 1, ln n and log10 n, rounded up to odd numbers, ties at the rim
counted as the program does.

Each rule learns from n samples and is tried on 10,000 fresh ones, which it has for nothing; ours
has n samples in all, for its estimate and both limits. "/best": ours over the smallest mean of the
four. "error": the mean distance to the truth, of the best rule with a fifth of n samples held out,
and ours from the same samples; "/best": their ratio, with its standard error. Systems called "own"
are no systems of the paper: the estimate was not chosen by them.

Run: python benchmarks/channels_fbleau.py [REPEATS] [PART OF A NAME]; 20 repeats take some 8 minutes
for the systems of the paper.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from narcissus import channels as ch

SIZES = (500, 2_000, 10_000, 50_000)
FRESH = 10_000
Codes = NDArray[np.intp]


def geometric(nu: float, secrets: int, outputs: int, shifts: tuple[int, ...] = (0,)) -> np.ndarray:
    """Return the channel, shape (secrets, outputs); what falls beyond an end counts there."""
    matrix, places = np.zeros((secrets, outputs)), np.arange(outputs)
    for shift in shifts:
        centre = np.minimum(np.arange(secrets) * outputs // secrets + shift, outputs - 1)[:, None]
        rows = np.tanh(nu / 2) * np.exp(-nu * abs(places - centre))
        rows[:, 0] = np.exp(-nu * centre[:, 0]) / (1 + np.exp(-nu))
        rows[:, -1] = np.exp(-nu * (outputs - 1 - centre[:, 0])) / (1 + np.exp(-nu))
        matrix += rows / len(shifts)
    return matrix


def systems() -> dict[str, np.ndarray]:
    """Return the channels of the paper, by name."""
    sizes = ((1.0, 10_000), (0.1, 10_000), (0.01, 10_000), (0.2, 1_000), (0.02, 10_000),
             (0.002, 100_000))  # fmt: skip
    found = {f"geometric nu {nu:g}, {of:,}": geometric(nu, 100, of) for nu, of in sizes}
    for nu in (1.0, 0.1, 0.01):
        found[f"multimodal nu {nu:g}"] = geometric(nu, 100, 10_000, (0, 1_000))
    found["spiky"] = np.stack([np.arange(10_000) % 2 == side for side in (0, 1)]) / 5_000
    rest = {"random": np.random.default_rng(7).random((100, 100))} | own()
    return found | {name: rows / rows.sum(axis=1, keepdims=True) for name, rows in rest.items()}


def own() -> dict[str, np.ndarray]:
    """Return weights of channels that no estimate was chosen by."""
    places, rng = np.arange(3_000), np.random.default_rng(2024)
    peaks = ((300, 1500, 2700), (700, 1100, 2200), (200, 1200, 2500), (900, 1900, 2600))
    return {
        "own: normal": np.exp(-(((places[:400] - 20 * np.arange(20)[:, None] - 10) / 25) ** 2) / 2),
        "own: dirichlet": rng.gamma(0.05, size=(10, 2_000)) + 1e-12,
        "own: response": 9 * np.eye(50) + 1,
        "own: poisson": stats.poisson.pmf(places[:120], np.linspace(2, 60, 30)[:, None]),
        "own: three peaks": sum(
            np.exp(-abs(places - np.array(peak)[:, None]) / 150) for peak in np.transpose(peaks)
        ),
    }


def drawn(matrix: np.ndarray, count: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    secret, output = rng.integers(len(matrix), size=count), np.empty(count, dtype=np.intp)
    for one, row in enumerate(matrix):
        mine = secret == one
        output[mine] = np.searchsorted(np.cumsum(row)[:-1], rng.random(mine.sum()), side="right")
    return secret, output


def frequentist(secret: Codes, output: Codes, asked: Codes) -> Codes:
    """Return the commonest secret of each output asked about; unseen: the commonest of all."""
    (of, who), counts = np.unique(np.stack([output, secret]), axis=1, return_counts=True)
    order = np.lexsort((who, -counts, of))
    seen, first = np.unique(of[order], return_index=True)
    at = np.minimum(np.searchsorted(seen, asked), len(seen) - 1)
    return np.where(seen[at] == asked, who[order][first][at], np.bincount(secret).argmax())


def neighbours(secret: Codes, output: Codes, asked: Codes, k: int) -> Codes:
    """Return the commonest secret of the k nearest; those tied at the rim vote for one secret."""
    order = np.argsort(output, kind="stable")
    places, labels, size = output[order], secret[order], int(secret.max()) + 1
    every, back = np.unique(asked, return_inverse=True)
    said = np.empty(len(every), dtype=np.intp)
    for number, one in enumerate(every):
        middle = np.searchsorted(places, one)
        rim = np.sort(abs(places[max(0, middle - k) : middle + k] - one))[k - 1]
        low, high = np.searchsorted(places, one - rim), np.searchsorted(places, one + rim, "right")
        away, who = abs(places[low:high] - one), labels[low:high]
        votes = np.bincount(who[away < rim], minlength=size)
        votes[np.bincount(who[away == rim]).argmax()] += k - int((away < rim).sum())
        said[number] = votes.argmax()
    return said[back]


def rules(n: int) -> list[int]:
    """Return the k of each rule; 0: frequentist."""
    ks = [math.ceil(log(n)) for log in (math.log, math.log10)]
    return [0, 1, *(k + 1 - k % 2 for k in ks)]


def wrong(k: int, known: tuple[Codes, Codes], asked: tuple[Codes, Codes]) -> float:
    said = neighbours(*known, asked[1], k) if k else frequentist(*known, asked[1])
    return float((said != asked[0]).mean())


def ratio(ours: NDArray[np.float64], best: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ratio of two means of the same repeats, and its standard error."""
    if not best.any():
        return math.nan, math.nan
    found = float(ours.mean() / best.mean())
    spread = float((ours - found * best).std() / best.mean())
    return found, spread / math.sqrt(max(1, len(ours) - 1))


def main(repeats: int = 20, part: str = "") -> None:
    print(f"mean of {repeats} repeats; limits of 95%; missed: limits that do not hold the truth\n")
    print(f"{'system':24} {'n':>6} {'truth':>6}  {'freq.':>6} {'k=1':>6} {'ln':>6} {'log10':>6}  "
          f"{'ours':>6} {'/best':>5} {'low':>6} {'high':>6} {'missed':>6}  {'error':>6} "
          f"{'ours':>6} {'/best':>5} {'s.e.':>4}")  # fmt: skip
    for name, matrix in systems().items():
        truth = max(0.0, float(1 - matrix.max(axis=0).sum() / len(matrix)))
        for n in SIZES if part in name else ():
            errors, held, ours, missed = [], [], [], 0
            for repeat in range(repeats):
                rng, cut = np.random.default_rng([repeat, n]), n - n // 5
                known, fresh = drawn(matrix, n, rng), drawn(matrix, FRESH, rng)
                few, rest = ((known[0][i], known[1][i]) for i in (slice(cut), slice(cut, None)))
                errors.append([wrong(k, known, fresh) for k in rules(n)])
                held.append([abs(wrong(k, few, rest) - truth) for k in rules(n)])
                found = ch.estimate(*known, rng=repeat).bayes_risk
                low, high = found.low or 0.0, 1.0 if found.high is None else found.high
                ours.append((found.value, low, high, abs(found.value - truth)))
                missed += not low <= truth <= high
            each, (value, low, high, error) = np.mean(errors, axis=0), np.mean(ours, axis=0)
            shown = " ".join(f"{one:6.3f}" for one in each)
            risks = value / each.min() if each.min() > 0 else math.nan
            best = np.array(held)[:, np.mean(held, axis=0).argmin()]
            more, se = ratio(np.array(ours)[:, 3], best)
            print(f"{name:24} {n:6} {truth:6.3f}  {shown}  {value:6.3f} {risks:5.2f} {low:6.3f} "
                  f"{high:6.3f} {missed:6}  {best.mean():6.4f} {error:6.4f} {more:5.2f} {se:4.2f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:2]), *sys.argv[2:3])
