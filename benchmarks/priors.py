"""Fitting priors and asking them: times, and ratios to what a user would write or install.

Run ``python benchmarks/priors.py [TABLE.csv]``. Without a table it takes Fair's survey. The peer
pyAgrum is measured where it is installed; it is no dependency of ours. All ratios are of one run on
one thread: set OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import importlib
import sys
import time

import numpy as np
import pandas as pd

from narcissus.priors import fit_bayesian_network, fit_empirical
from narcissus.priors.bayesian_network import _Families
from narcissus.tables import Bins, Table, read_table

PEOPLE = 10_000


def clock(work, repeats=3):
    """Give the result of ``work`` and the best of its times, in seconds."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return result, best


def load() -> Table:
    if len(sys.argv) < 2:
        return read_table("statsmodels:fair", bins={"affairs": Bins(above=0)})
    if "acs" in sys.argv[1]:
        return read_table(sys.argv[1], drop=["ESR"], bins={"AGEP": Bins(width=10)})
    return read_table(sys.argv[1])


def by_enumeration(prior, codes, unknown):
    """What a user would write: the probability of every completed record, normalised."""
    sizes = [prior.sizes[u] for u in unknown]
    values = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)
    whole = np.repeat(codes, len(values), axis=0)
    whole[:, unknown] = np.tile(values, (len(codes), 1))
    weights = np.exp(prior.log_probability(whole)).reshape(len(codes), -1)
    return weights / weights.sum(axis=1, keepdims=True)


def by_groupby(table, codes, unknown):
    """The frequency table that pandas gives, which can answer only for people it has seen."""
    frame = pd.DataFrame(table.codes, columns=list(table.names))
    known = [n for j, n in enumerate(table.names) if j not in unknown]
    secret = frame.iloc[:, unknown[0]]
    frequencies = pd.crosstab([frame[n] for n in known], secret, normalize="index")
    index = pd.MultiIndex.from_frame(pd.DataFrame(codes, columns=list(table.names))[known])
    return frequencies.reindex(index).to_numpy()


def main() -> None:
    table = load()
    print(f"{table}, {np.prod(table.sizes, dtype=float):.1e} possible records")
    prior, fit = clock(lambda: fit_bayesian_network(table))
    print(f"fit Bayesian network       {fit:8.3f} s, {prior}")
    people, drawn = clock(lambda: prior.sample(PEOPLE, rng=1))
    print(f"sample {PEOPLE:,} people      {drawn:8.4f} s")
    one = [table.columns - 1]
    for unknown in (one, list(range(table.columns - 3, table.columns))):
        answer, ours = clock(lambda u=unknown: prior.conditional(people, u))
        some = people[: max(1, min(PEOPLE, 2_000_000 // answer.shape[1]))]
        naive, theirs = clock(lambda u=unknown, s=some: by_enumeration(prior, s, u), 1)
        assert np.allclose(naive, answer[: len(some)], atol=1e-12)
        ratio = theirs / len(some) * PEOPLE / ours
        print(
            f"conditional of {len(unknown)} columns   {ours:8.4f} s for {PEOPLE:,} people x "
            f"{answer.shape[1]:,} values; enumeration takes {ratio:.1f} times as long"
        )
    rows = table.codes[:PEOPLE]
    empirical = fit_empirical(table, smoothing=0)
    answer, ours = clock(lambda: empirical.conditional(rows, one))
    frequencies, theirs = clock(lambda: by_groupby(table, rows, one), 1)
    assert np.allclose(frequencies, answer, atol=1e-12)
    print(
        f"empirical conditional      {ours:8.4f} s; pandas takes {theirs / ours:.1f} times as long"
    )
    try:
        gum = importlib.import_module("pyagrum")
    except ImportError:
        print("pyAgrum is not installed: not compared")
        return
    against_pyagrum(gum, table, prior, people, fit)


def against_pyagrum(gum, table, prior, people, fit):
    # A letter before each code: pyAgrum takes numbers for continuous columns.
    labels = {n: [f"v{c}" for c in table.codes[:, j]] for j, n in enumerate(table.names)}
    learner = gum.BNLearner(pd.DataFrame(labels))
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.setMaxIndegree(2)
    learner.useGreedyHillClimbing()
    graph, theirs = clock(learner.learnDAG)
    scores = _Families(table.codes, table.sizes, "bic")
    found = [
        tuple(sorted(table.index(learner.nameFromId(p)) for p in graph.parents(node)))
        for node in map(learner.idFromName, table.names)
    ]
    gain = sum(scores.score(j, own) for j, own in enumerate(prior.parents)) - sum(
        scores.score(j, own) for j, own in enumerate(found)
    )
    print(
        f"pyAgrum climbs to a structure in {theirs / fit:.2f} times our time; "
        f"our network's BIC is {gain:+,.1f} above its own (log units)"
    )
    same = gum.BayesNet()
    for name, size in zip(prior.names, prior.sizes, strict=True):
        same.add(gum.LabelizedVariable(name, name, size))
    for j, own in enumerate(prior.parents):
        for p in own:
            same.addArc(prior.names[p], prior.names[j])
    for j, own in enumerate(prior.parents):
        for place in np.ndindex(*(prior.sizes[p] for p in own)):
            given = {prior.names[p]: int(v) for p, v in zip(own, place, strict=True)}
            same.cpt(prior.names[j])[given if given else slice(None)] = prior.tables[j][place]
    target = prior.names[-1]
    some = people[:300]
    engine = gum.LazyPropagation(same)
    engine.addTarget(target)

    def ask():
        answers = []
        for row in some.tolist():
            engine.setEvidence(dict(zip(prior.names[:-1], row[:-1], strict=True)))
            engine.makeInference()
            answers.append(engine.posterior(target).toarray())
        return np.array(answers)

    theirs_answer, theirs = clock(ask, 1)
    ours_answer, ours = clock(lambda: prior.conditional(people, [len(prior.names) - 1]))
    difference = np.abs(theirs_answer - ours_answer[: len(some)]).max()
    ratio = theirs / len(some) * len(people) / ours
    print(
        f"pyAgrum's conditionals take {ratio:,.0f} times as long; "
        f"largest difference {difference:.1e}"
    )


if __name__ == "__main__":
    main()
