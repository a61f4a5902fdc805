"""Definitions, theorems, Proposition B.1 and Table 1 of Swanberg et al. 2025.

Definitions of Swanberg et al. 2025: each one's form here, checked on small cases.

Theorems 3.2, 3.3 and 3.5 and Corollary 3.4 of Swanberg et al. 2025, over all mechanisms. In worlds
this small a linear program finds the best of all mechanisms and attackers, so a bound that is too
small is refuted, and a valid one confirmed.

Proposition B.1 of Swanberg et al. 2025: randomized response attains Theorem 3.2. By exact
enumeration: all secrets and all releases of some records, the guess that is likeliest given the
release, and the law of how many of its guesses are right. The theorem's law is that of independent
successes whose chances are the posterior odds at their most.

Table 1 of Swanberg et al. 2025: which threats each framework's bound covers. A mark is not copied:
the theorem, as implemented here, is asked about threats of each kind. It gets the mark if it
answers one of them, under some guarantee, with a limit that holds.

Source: Swanberg et al. 2025, Proposition B.1; Swanberg et al. 2025, Table 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from narcissus.bounds import THEOREMS, PoissonBinomial, exact_optimum, posterior, threat
from narcissus.bounds.theorem import Question
from narcissus.channels import KaryRandomizedResponse, local_dp_delta
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP, RenyiDP
from narcissus.mechanisms import GaussianNoise, MarginalQueries
from narcissus.report.panels import Line, Panel
from narcissus.results import Bound, NotAssessed
from narcissus.success import ColumnsRight
from narcissus_papers.base import (
    Given,
    Held,
    Item,
    Quote,
    Reproduced,
    Statements,
    Told,
    checked,
    yields,
)

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-7  # of the solver
WORLDS = 60
_INDEPENDENT_FAILURES = (
    "its proof takes the failures to be independent of the successes, which mechanisms need not "
    "obey: a mechanism that the program writes out exceeds it"
)


def best_given_output(rows: FloatArray, right: NDArray[np.bool_], v: int, epsilon: float) -> float:
    """Maximise ``Pr[count >= v | output]`` over all pure mechanisms and outputs.

    ``rows`` are the priors of the targets, shape (n, V); ``right`` is whether the attempt is right
    about a target with a value, shape (n, V); ``epsilon`` is that of pure DP, replace-one.

    An output is its likelihood in each world, up to a factor; a mechanism gives it to neighbours
    within ``e^epsilon``, and any such likelihoods are an output of some mechanism. So the ratio of
    the two sums is a linear program once the likelihood of the output is scaled to one.
    """
    worlds = list(product(*[range(row.size) for row in rows]))
    place = {world: i for i, world in enumerate(worlds)}
    weight = np.array([np.prod([rows[i, x] for i, x in enumerate(world)]) for world in worlds])
    hits = np.array([sum(right[i, x] for i, x in enumerate(world)) for world in worlds])
    pairs = [
        (place[world], place[(*world[:i], x, *world[i + 1 :])])
        for world in worlds
        for i in range(len(world))
        for x in range(rows.shape[1])
        if x != world[i]
    ]
    left = np.repeat(np.arange(len(pairs)), 2)
    entries = np.tile([1.0, -np.exp(epsilon)], len(pairs))
    near = sparse.csr_array((entries, (left, np.ravel(pairs))), shape=(len(pairs), len(worlds)))
    solve: Any = optimize.linprog
    found = solve(
        -weight * (hits >= v),
        A_ub=near,
        b_ub=np.zeros(len(pairs)),
        A_eq=weight[None],
        b_eq=[1.0],
        bounds=(0, None),
    )
    return -float(found.fun)


THEOREM_ITEMS = Statements("001", 1.0)


@THEOREM_ITEMS(
    "Theorem 3.2",
    "Pure DP: given any output, the count is dominated by Bernoullis of e^eps times the odds.",
    "narcissus bound --epsilon 1 --prior .1 --targets 100 --at-least 30",
)
def _theorem_3_2(_given: Given) -> Told:
    """Compare Swanberg et al. 2025, Theorem 3.2, with all mechanisms of small worlds."""
    rng = np.random.default_rng(1)
    above, below = -np.inf, -np.inf
    for _ in range(WORLDS):
        n, values = int(rng.integers(1, 4)), int(rng.integers(2, 5))
        rows = rng.dirichlet(np.full(values, 0.7), n)
        right = rng.random((n, values)) < 0.5
        v, epsilon = int(rng.integers(1, n + 1)), float(rng.choice([0.1, 1.0, 3.0]))
        chances = np.minimum((rows * right).sum(axis=1), 1.0)
        bound = PoissonBinomial(np.asarray(posterior(chances, epsilon))).tail(v)
        reached = best_given_output(rows, right, v, epsilon)
        above, below = max(above, reached - bound), max(below, bound - reached)
    yield Held(
        "for all targets, values, success sets and outputs: given the other targets, the "
        "odds of one's success move by at most e^eps (Narcissus theory 4.1); a linear "
        f"program over all mechanisms in {WORLDS} random worlds finds no output above it",
        bool(above <= TOLERANCE),
        "proved",
    )
    yield Held(
        "no smaller bound holds: randomised response about every target's success has an "
        "output that reaches it, as the same programs find",
        bool(below <= TOLERANCE),
        "proved",
    )


def _exceeded(
    name: str,
    cases: list[tuple[list[list[float]], ApproximateDP, int, Any]],
    quote: Quote | None = None,
) -> tuple[Held, ...]:
    """Compare a theorem with the best of all mechanisms in each case."""
    found: list[Held] = []
    for rows, guarantee, v, success in cases:
        of_one = threat(values=rows[0], targets=len(rows), success=success)
        said = THEOREMS[name].bound(of_one, guarantee, v)
        assert not isinstance(said, NotAssessed)
        best = exact_optimum(rows, guarantee, v, success).value
        how = "exact match" if success is None else "guesses that cover two values"
        found.append(
            checked(
                f"{len(rows)} target(s), {len(rows[0])} equal values, {how}, eps "
                f"{guarantee.epsilon:g}, delta {guarantee.delta:g}, at least {v}: it says at most "
                f"{said.value:.6f}, some mechanism reaches {best:.6f}",
                best <= said.value + TOLERANCE, _INDEPENDENT_FAILURES, quote,
            )
        )  # fmt: skip
    return tuple(found)


_COIN, _THIRD = [0.5, 0.5], [1 / 3] * 3
_AT = ApproximateDP(0.1, 0.01)
_CASES: list[Any] = [
    ([_COIN] * 2, _AT, 1, None),
    ([_COIN] * 3, _AT, 1, None),
    ([_THIRD], _AT, 1, 1 - np.eye(3)),
]


def _refuted(name: str, words: str) -> Callable[[Given], Reproduced]:
    def make(_given: Given) -> Reproduced:
        return Reproduced(
            held=_exceeded(name, _CASES, Quote("", words, f"Theorem {name.split('-')[1]}")),
            notes=("what holds instead: `narcissus bound` (Narcissus theory 4.3, 4.4, 4.10)",),
        )

    return make


@THEOREM_ITEMS(
    "Corollary 3.4",
    "Approximate DP: the tail averaged over the attempts, and n delta.",
    "narcissus bound --epsilon 1 --delta 1e-5 --prior .1 --targets 100 --at-least 30",
)
def _corollary_3_4(_given: Given) -> Told:
    """Compare Swanberg et al. 2025, Corollary 3.4, with all mechanisms of small worlds."""
    cases: list[Any] = list(_CASES)
    rng = np.random.default_rng(2)
    for _ in range(20):
        row = rng.dirichlet(np.ones(int(rng.integers(2, 4)))).tolist()
        guarantee = ApproximateDP(float(rng.choice([0.1, 1.0])), float(rng.choice([0.01, 0.1])))
        n = int(rng.integers(1, 3))
        cases.append(([row] * n, guarantee, int(rng.integers(1, n + 1)), None))
    found = _exceeded("swanberg-3.4", cases)
    yield Held(
        "for all targets, values and success sets (Narcissus theory 4.4: a sharper bound "
        f"implies it); in {len(found)} small worlds a linear program over all mechanisms "
        "and attackers finds none above it",
        all(claim.holds for claim in found),
        "proved",
    )


THEOREM_ITEMS(
    "Theorem 3.3",
    "Approximate DP: the same with failures F(a) of mean n delta added. Not valid as stated.",
    "narcissus bound --epsilon .1 --delta .01 --prior .5 --targets 2 --at-least 1",
)(_refuted("swanberg-3.3", "Theorem 3.3 (Extension of Prop 5.7 in [58])."))
THEOREM_ITEMS(
    "Theorem 3.5",
    "Approximate DP from one run, with alpha n delta. Not valid as stated.",
    "narcissus bound --epsilon .1 --delta .01 --prior .5 --targets 2 --at-least 1",
)(_refuted("swanberg-3.5", "Theorem 3.5 (Extension of Theorem 5.2 [58])."))


EXACT = 1e-12


_AUDIT = "narcissus audit STUDY"
DEFINITIONS = Statements("001", 0.3)


@DEFINITIONS(
    "Definition 2.1",
    "Approximate DP: no event grows by more than e^eps, and delta.",
    "narcissus bound --epsilon 1 --delta 1e-5 --prior .1",
)
def _approximate_dp(_given: Given) -> Told:
    worst = 0.0
    for values, epsilon in product((2, 3, 5), (0.3, 1.0, 2.0)):
        matrix = KaryRandomizedResponse(values, epsilon).channel().matrix
        for at in (0.0, epsilon / 2, epsilon, 2 * epsilon):
            events = max(np.maximum(a - np.exp(at) * b, 0.0).sum() for a in matrix for b in matrix)
            worst = max(worst, abs(local_dp_delta(matrix, at) - events))
            worst = max(worst, events - float(PureDP(epsilon).profile(at)))
    yield checked(
        "the least delta of randomised response, over all events, is what is computed, and "
        "within the profile of its guarantee (9 mechanisms, 4 epsilons each)",
        worst <= EXACT,
    )


@DEFINITIONS(
    "Definition 2.2",
    "One random variable stochastically dominates another.",
    "narcissus bound --epsilon 1 --targets 10 --prior .1 --at-least 5",
)
def _dominance(_given: Given) -> Told:
    grid, least = (0.0, 0.2, 0.5, 0.9, 1.0), 1.0
    for chances in product(grid, repeat=3):
        lower = PoissonBinomial(np.array(chances))
        for i, raised in product(range(3), grid):
            higher = np.array(chances)
            higher[i] = max(higher[i], raised)
            upper = PoissonBinomial(higher)
            least = min(least, *(upper.tail(v) - lower.tail(v) for v in range(-1, 5)))
    yield checked(
        "a sum of independent Bernoullis is dominated by one with larger chances: every "
        "tail of 125 sums of three against 15 raised ones each",
        least >= -EXACT,
    )


@DEFINITIONS("Definition 3.1", "A success metric is decomposable: a sum over the people.", _AUDIT)
def _decomposable(_given: Given) -> Told:
    success = ColumnsRight((2, 3), at_least=1)
    pairs = list(product(product(range(2), range(3)), repeat=2))
    truth = np.array([3 * x[0] + x[1] for x, _ in pairs])
    guess = np.array([3 * z[0] + z[1] for _, z in pairs])
    by_hand = [any(a == b for a, b in zip(x, z, strict=True)) for x, z in pairs]
    alone = success.score(truth, guess)
    apart = (
        max(
            abs(int(success.score(truth[[i, j]], guess[[i, j]]).sum()) - by_hand[i] - by_hand[j])
            for i, j in product(range(len(pairs)), repeat=2)
        )
        + np.abs(alone.astype(int) - by_hand).max()
    )
    yield checked(
        "what counts is counted person by person: two people, six values, every world and "
        "every pair of guesses",
        apart == 0,
    )


@DEFINITIONS(
    "Definition 4.1",
    "Narcissus resiliency, whose bound e^eps p + delta is the larger one.",
    "narcissus bound --epsilon 1 --delta 1e-5 --prior .1",
)
def _narcissus(_given: Given) -> Told:
    priors = np.linspace(0.001, 0.999, 999)
    least = np.inf
    for epsilon in (0.01, 0.1, 1.0, 5.0, 20.0):
        least = min(least, float((np.exp(epsilon) * priors - posterior(priors, epsilon)).min()))
    yield Held(
        "e^eps p + delta is strictly above e^eps / (e^eps - 1 + 1/p) + delta for all "
        "0 < p < 1 and eps > 0: their ratio is 1 + p (e^eps - 1)",
        least > 0,
        "proved",
    )
    yield Held(
        "section 4.2 prints the odds as e^eps / (e^eps + 1/p)",
        holds=False,
        shown="proved",
        because="section 4.2 leaves out the -1 of Theorem 3.2: at eps = 0 it would be "
        "below the prior",
        quote=Quote("", r"\frac{e^{\varepsilon}}{e^{\varepsilon}+1/p}", "section 4.2"),
    )
    yield "the definition itself: `narcissus-papers reproduce 003 --statement 1.6`"


@DEFINITIONS("Definition A.1", "A k-way marginal query: shares of the people.", _AUDIT)
def _queries(_given: Given) -> Told:
    sizes, rng = (2, 3, 2), np.random.default_rng(0)
    people = np.array([[rng.integers(s) for s in sizes] for _ in range(40)], dtype=np.int32)
    queries = MarginalQueries(sizes, (0, 1, 2), 2)
    counts = queries.counts(people)
    by_hand = [
        int((people[:, list(columns)] == cell).all(axis=1).sum())
        for columns in combinations(range(3), 2)
        for cell in product(*(range(sizes[c]) for c in columns))
    ]
    same = sorted(by_hand) == sorted(counts.tolist()) and len(by_hand) == queries.cells
    yield checked(
        "the cells of all 2-way tables of three columns are the counts by hand, 40 people", same
    )
    yield "counts here, shares of |X| in the paper: the number of people is public"


@DEFINITIONS("Definition A.2", "The noisy k-way marginal mechanism.", _AUDIT)
def _noisy(_given: Given) -> Told:
    sizes, k, mu = (2, 3, 2), 2, 0.7
    queries = MarginalQueries(sizes, (0, 1, 2), k)
    noise = GaussianNoise.for_mu(mu, queries.tables)
    people = np.array(list(product(*map(range, sizes))), dtype=np.int32)
    each = [queries.counts(person[None]) for person in people]
    move = max(float(np.linalg.norm(a - b)) for a in each for b in each)
    found = noise.guarantee(queries.tables)
    assert isinstance(found, GaussianDP)
    yield checked(
        "the mechanism is mu-GDP with mu = sqrt(2 tables) / sigma, the largest move of all "
        "replaced people over sigma (12 kinds of people, 3 tables)",
        abs(move / noise.scale - found.mu) <= EXACT * 10 and abs(found.mu - mu) <= 1e-9,
    )
    yield "the paper writes 2 sigma^2 for the variance of a share; sigma is a cell's here"


Floats = NDArray[np.float64]

VALUES, EPSILONS, RECORDS = (2, 3, 4), (0.5, 1.0, 2.5), (1, 2, 3)
PRIORS = 6
"""Priors at each: uniform, at the edge of the condition, and drawn within it."""
ROUNDING = 1e-12
DRAWN_AT = 1.0
"""The epsilon of the picture."""


@dataclass(frozen=True)
class Enumerated:
    """Results for one prior, one epsilon and some records."""

    says_what_it_sees: bool  # whether the likeliest value is always the released one
    apart: float  # largest difference of the tails of the count and the theorem's, by release
    beyond: float  # the most by which a tail is above the theorem's


def bayes_guess(prior: Floats, channel: Floats) -> NDArray[np.intp]:
    """Return the likeliest value of each release, of equals the released one."""
    joint = prior[:, None] * channel
    best = joint.max(axis=0)
    return np.where(np.diag(joint) >= best * (1 - ROUNDING), np.arange(len(prior)), joint.argmax(0))


def enumerated(prior: Floats, epsilon: float, records: int) -> Enumerated:
    """Compare every release of ``records`` records with Theorem 3.2."""
    channel = KaryRandomizedResponse(len(prior), epsilon).channel().dense
    guess = bayes_guess(prior, channel)
    apart, beyond = 0.0, -1.0
    secrets = np.array(list(product(range(len(prior)), repeat=records)))
    for release in product(range(len(prior)), repeat=records):
        said = guess[list(release)]
        weights = (prior[secrets] * channel[secrets, list(release)]).prod(axis=1)
        right = (secrets == said).sum(axis=1)
        mass = np.bincount(right, weights / weights.sum(), minlength=records + 1)
        tails = mass[::-1].cumsum()[::-1]
        theorem = PoissonBinomial(posterior(prior[said], epsilon)).tails()[: records + 1]
        apart = max(apart, float(np.abs(tails - theorem).max()))
        beyond = max(beyond, float((tails - theorem).max()))
    return Enumerated(bool((guess == np.arange(len(prior))).all()), apart, beyond)


def success(prior: Floats, epsilon: float) -> tuple[float, float]:
    """Return the chance of the likeliest guess for one record, and the theorem's bound on it."""
    channel = KaryRandomizedResponse(len(prior), epsilon).channel().dense
    guess = bayes_guess(prior, channel)
    joint = prior[:, None] * channel
    theorem = joint.sum(axis=0) @ np.asarray(posterior(prior[guess], epsilon))
    return float(joint[guess, np.arange(len(prior))].sum()), float(theorem)


def certified(prior: list[Fraction], odds: Fraction) -> tuple[Fraction, bool]:
    """Return how far randomized response is below the optimum, and if a dual shows that one.

    ``odds D(z) <= (odds - 1) y_z + sum(y)``, ``y >= 0``, limit all mechanisms by ``sum(y)``.
    """
    top = sorted(prior, reverse=True)
    best = max(odds * sum(top[:k]) / (odds + k - 1) for k in range(1, len(top) + 1))
    dual = [max(Fraction(0), (odds * p - best) / (odds - 1)) for p in prior]
    return best - odds / (odds + len(prior) - 1), sum(dual) == best


def priors(values: int, epsilon: float) -> list[Floats]:
    """Return priors of which no value is more than ``e^epsilon`` times as likely as another."""
    rng = np.random.default_rng(values)
    logs = [np.zeros(values), epsilon * (np.arange(values) == 0)]
    logs += list(rng.uniform(0, epsilon, (PRIORS - 2, values)))
    return [np.exp(log) / np.exp(log).sum() for log in logs]


def _picture() -> Panel:
    grid = np.linspace(0.5, 0.99, 50)
    pairs = [success(np.array([p, 1 - p]), DRAWN_AT) for p in grid]
    attained, theorem = zip(*pairs, strict=True)
    edge = float(np.exp(DRAWN_AT) / (1 + np.exp(DRAWN_AT)))
    return Panel(
        f"Two values, epsilon {DRAWN_AT:g}", "prior of the likelier value", "success on one record",
        (
            Line("randomized response, likeliest guess", grid.tolist(), attained),
            Line("Theorem 3.2 of its guesses", grid.tolist(), theorem, "dashed"),
            Line("without the release", [0.5, 0.99], [0.5, 0.99], "dotted"),
            Line("edge of the condition", [edge, edge], [0.5, 1.0], "dotted"),
        ),
    )  # fmt: skip


@yields
def make(_given: Given) -> Told:
    """Enumerate all cases; show where the condition ends."""
    grid = product(VALUES, EPSILONS)
    cases = [(p, e, records) for v, e in grid for p in priors(v, e) for records in RECORDS]
    found = [enumerated(*case) for case in cases]
    exact = [
        (len({*some}) == 1, *certified([w / sum(some) for w in some], odds))
        for odds in (Fraction(3, 2), Fraction(3), Fraction(12))
        for some in chain(*(product((Fraction(1), odds / 2 + Fraction(1, 2), odds), repeat=m)
        for m in VALUES))
    ]  # fmt: skip
    outside = enumerated(np.array([0.9, 0.1]), 1.0, 2)
    where = (
        f"{len(cases)} cases: {', '.join(map(str, VALUES))} values, epsilon "
        f"{', '.join(f'{e:g}' for e in EPSILONS)}, 1 to {RECORDS[-1]} records, {PRIORS} priors each"
    )
    yield _picture()
    yield checked(
        f"the likeliest value is the released one ({where})",
        all(one.says_what_it_sees for one in found),
    )
    yield checked(
        "given any release the number that is right has the law of Theorem 3.2, so the "
        f"bound is attained (apart by at most {max(one.apart for one in found):.1e})",
        all(one.apart <= ROUNDING for one in found),
    )
    yield Held(
        "among all mechanisms with this guarantee it is the optimum for uniform priors: "
        f"exact dual certificates of {len(exact)} rational priors",
        all(tight and short >= 0 and not (same and short) for same, short, tight in exact),
        "proved",
    )
    yield checked(
        "the condition is needed: at prior .9 and .1, epsilon 1, the bound holds and is "
        f"not attained (apart by {outside.apart:.3f})",
        not outside.says_what_it_sees and outside.apart > 0.01 and outside.beyond <= ROUNDING,
    )
    yield (
        "The law is given the release, and the bound puts in the prior chances of the guesses "
        "that were made. Tight does not mean best: for uneven priors other mechanisms with the "
        f"same guarantee give up to {100 * float(max(one[1] for one in exact)):.1f} of 100 "
        "more on average, by telling the likeliest values alone apart."
    )


PROPOSITION_B1 = Item(
    "001", "statement", "Proposition B.1", "Randomized response attains Theorem 3.2", 1.0, make,
    command="narcissus bound --epsilon 1 --prior 0.5",
)  # fmt: skip


ROWS = {
    "Balle et al. [6]": ("balle",),
    "Stock et al. [59]": ("stock",),
    "Hayes et al. [31]": ("hayes",),
    "Steinke et al. [58]": ("one-run",),
    "Cherubin et al. [12]": ("chatzikokolakis-1",),
    "Cummings et al. [18]": ("distributional",),
    "Mahloujifar et al. [43]": ("f-dp-one-run",),
    "Ours": ("swanberg-3.2", "swanberg-3.4"),
}
"""The rows of the table, and the theorems by which we have them."""
KINDS = {
    "prior knowledge": ("uniform", "non-uniform"),
    "attack goal": ("MI", "AI", "reconstruction"),
    "targets": ("single", "multiple"),
    "success metric": ("simple", "complex"),
}
MARKS = tuple(kind for kinds in KINDS.values() for kind in kinds)
GUARANTEES = (
    PureDP(1.0), ApproximateDP(1.0, 1e-5), GaussianDP(0.5), RenyiDP(2.0, 0.5), BayesSecurity(0.6),
)  # fmt: skip
VALUES_1 = {"MI": 2, "AI": 4, "reconstruction": 200}
"""How many values a secret has: membership, an attribute, a whole record."""
TARGETS, FALL = 20, 18


@dataclass(frozen=True)
class Probe:
    """A threat of one kind of each; see `KINDS`."""

    prior: str
    goal: str
    targets: str
    metric: str

    @property
    def kinds(self) -> frozenset[str]:
        """The columns of the table that it stands for."""
        return frozenset((self.prior, self.goal, self.targets, self.metric))

    def answered_by(self, ids: Iterable[str]) -> bool:
        """Whether one of these theorems bounds it, under some guarantee."""
        weights = np.arange(VALUES_1[self.goal], 0, -1) ** (1.0 if self.prior != "uniform" else 0.0)
        several = self.targets == "multiple"
        asked = threat(
            values=weights / weights.sum(),
            within=1 if self.metric == "complex" else None,
            targets=TARGETS if several else 1,
        )
        questions = [Question(asked, g, FALL if several else None) for g in GUARANTEES]
        if not several:  # one guess is also a count of one
            questions += [Question(asked, g, 1) for g in GUARANTEES]
        answers = (THEOREMS[name].answer(q) for name in ids for q in questions)
        return any(isinstance(one, Bound) and one.valid for one in answers)


PROBES = tuple(
    Probe(prior, goal, targets, metric)
    for prior in KINDS["prior knowledge"]
    for goal in KINDS["attack goal"]
    for targets in KINDS["targets"]
    for metric in KINDS["success metric"]
    if not (goal == "MI" and metric == "complex")  # a bit has no neighbours
)


@cache
def answered(row: str) -> tuple[frozenset[str], ...]:
    """Return the kinds of each probe that a row's theorems bound."""
    return tuple(probe.kinds for probe in PROBES if probe.answered_by(ROWS[row]))


def covers(row: str, *kinds: str) -> bool:
    """Whether a row bounds a threat that is of all these kinds at the same time."""
    return any(set(kinds) <= found for found in answered(row))


def make_1(_given: Given) -> Reproduced:
    """Ask every row about every column; compare the claims of the text with the answers.

    Source: Swanberg et al. 2025, Table 1.
    """
    others = [row for row in ROWS if row != "Ours"]
    hard = [row for row in others if covers(row, "non-uniform", "multiple", "complex")]
    near = {row for row in others if covers(row, "complex", "reconstruction")}
    single = [r for r in ("Balle et al. [6]", "Stock et al. [59]", "Hayes et al. [31]")
              if covers(r, "multiple")]  # fmt: skip
    uneven = [r for r in ("Steinke et al. [58]", "Mahloujifar et al. [43]")
              if covers(r, "non-uniform")]  # fmt: skip
    printed = {"Balle et al. [6]", "Stock et al. [59]", "Hayes et al. [31]"}
    return Reproduced(
        table=(
            ("Reference", *MARKS),
            *((row, *("yes" if covers(row, kind) else "" for kind in MARKS)) for row in ROWS),
        ),
        held=(
            checked("ours has all nine marks", all(covers("Ours", kind) for kind in MARKS)),
            checked(
                "ours is the first to limit approximate reconstruction of several records under a "
                "non-uniform prior (section 1.1)",
                covers("Ours", "non-uniform", "multiple", "complex", "reconstruction") and not hard,
                "" if not hard else f"as we have them, {', '.join(hard)} does too",
            ),
            checked(
                "only [6, 31, 59] limit approximate reconstruction (section 1.1)",
                near == printed,
                f"as we have it, {', '.join(sorted(near ^ printed))} does too: its formula is in "
                "the chance of an attempt, whatever counts as success",
                Quote("", "Only a few works [6, 31, 59] address approximate", "section 1.1"),
            ),
            checked("[6, 31, 59] are about a single target", not single),
            checked(
                "[58, 43] are about uniform priors: fair bits, equally likely canaries",
                not uneven,
                ", ".join(uneven),
            ),
        ),
        notes=(
            "Which cells the paper marks is not in the text that we have: its sentences about "
            "them are compared instead.",
            "A mark here: the theorem, as this project has it, limits some threat of that kind. "
            "[12] stands as the Bayes risk that it builds on (Chatzikokolakis et al., Theorem 1), "
            "[18] as our form of distributional reconstruction.",
            f"Threats asked about: {len(PROBES)}, with 2, 4 and {VALUES_1['reconstruction']} "
            "values, uniform or falling, one target or "
            f"{FALL} of {TARGETS}, exact or within one value.",
        ),
    )


TABLE_1 = Item(
    "001", "table", "1", "Which threats each framework's bound is about", 3.0, make_1,
    command="narcissus bound --epsilon 1 --delta 1e-5 --values 0.4,0.3,0.2,0.1",
)  # fmt: skip
