"""Section V of Chatzikokolakis et al. 2023, A to C, with appendix E: local privacy.

Section V-D of Chatzikokolakis et al. 2023: differential privacy of databases.

Section VI of Chatzikokolakis et al. 2023, with appendix G: three mechanisms in closed form.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, optimize, sparse, stats

from narcissus import channels as ch
from narcissus_papers.base import Given, Quote, Statements, Told, checked
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    NAMED,
    ROOM,
    WITH_PRIOR,
    Matrix,
    channels,
    priors,
    proved,
    systems,
)
from narcissus_papers.chatzikokolakis.figures import mended, reaches

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
_PROOF = "proof of Theorem 5"
LOOSE = 1e-7
"""How far linear programs may be off."""


def ldp_rows(outputs: int, epsilon: float) -> float:
    """Minimise the overlap of two rows under epsilon-LDP over all such rows: linear programs.

    The first row is the likelier one on the first ``k`` outputs, for some ``k``.
    """
    m, ratio = outputs, math.exp(epsilon)
    one, other = np.eye(2 * m)[:m], np.eye(2 * m)[m:]
    limits = np.vstack([one - ratio * other, other - ratio * one])
    sums = np.vstack([one.sum(axis=0), other.sum(axis=0)])
    best = 1.0
    for k in range(1, m):
        gain = (one - other)[:k].sum(axis=0)
        found = optimize.linprog(-gain, limits, np.zeros(2 * m), sums, np.ones(2))
        assert found.fun is not None
        best = min(best, 1 + float(found.fun))
    return best


LOCAL_PRIVACY = Statements("002", 0.2, CHANNEL)


@LOCAL_PRIVACY("Equation 1", "For two secrets alike, beta is one minus the advantage.")
def equation_1(_given: Given) -> Told:
    right: list[bool] = []
    for rows in channels(40, secrets=2):
        tests = np.array(list(itertools.product((0, 1), repeat=rows.shape[1])))
        best = float(np.abs(tests @ rows[1] - tests @ rows[0]).max())
        right.append(
            abs(ch.beta(rows) - (1 - best)) <= ROOM
            and abs(ch.beta(rows) - (1 - 2 * abs(ch.bayes_risk(rows) - 0.5))) <= ROOM
        )
    yield proved(
        "for two secrets alike beta is one minus the advantage of the best test: all "
        f"tests, {len(right)} channels from two secrets",
        all(right),
    )


@LOCAL_PRIVACY("Equation 2", "Local DP: no output is e^epsilon times likelier.")
def equation_2(_given: Given) -> Told:
    right: list[bool] = []
    for rows in channels():
        worst = 0.0
        for a, b in itertools.permutations(rows, 2):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(a > 0, np.log(a) - np.log(b), -np.inf)
            worst = max(worst, float(ratio.max()))
        found = ch.local_dp_epsilon(rows)
        right.append(found == worst if math.isinf(worst) else abs(found - worst) <= ROOM)
    yield checked(
        "the epsilon that is given is the least with C_so <= e^epsilon C_to for all "
        f"secrets and outputs, none where an entry is 0 and another is not: {NAMED}",
        all(right),
    )


@LOCAL_PRIVACY("Equation 3", "Approximate local DP: but for delta.")
def equation_3(_given: Given) -> Told:
    right: list[bool] = []
    for rows, epsilon in itertools.product(channels(20), (0.0, 0.5, 2.0)):
        sets = np.array(list(itertools.product((0, 1), repeat=rows.shape[1])))
        worst = max(
            float((sets @ (a - math.exp(epsilon) * b)).max())
            for a, b in itertools.permutations(rows, 2)
        )
        right.append(abs(ch.local_dp_delta(rows, epsilon) - worst) <= ROOM)
    yield checked(
        "the delta that is given is the least over all sets of outputs and pairs of "
        "secrets: 20 channels at epsilon 0, .5 and 2",
        all(right),
    )


@LOCAL_PRIVACY("section V-B", "beta is 0 where every output tells the secret.", WITH_PRIOR)
def section_5b(_given: Given) -> Told:
    full = [
        (ch.beta(rows, prior) == 0) == bool(((rows > 0).sum(axis=0) <= 1).all())
        for rows, prior in [*systems(), *((np.eye(n), p) for n in (2, 3, 4) for p in priors(n))]
        if (prior > 0).all()
    ]
    told, shared = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), [[0.6, 0.4], [0.3, 0.7]]
    sparse_prior = [0.5, 0.5, 0.0]
    nearly = [1 - 1e-9, 1e-9]
    yield proved(
        "where every secret has some mass, beta is 0 exactly if no output is possible for "
        f"two secrets: {len(full)} priors",
        all(full),
    )
    yield checked(
        "the same for every prior with two secrets or more (as printed)",
        (ch.beta(told, sparse_prior) == 0) == bool(((told > 0).sum(axis=0) <= 1).all()),
        "[[1, 0], [0, 1], [.5, .5]] has beta 0 at the prior (.5, .5, 0): only the secrets "
        "that have mass count",
        Quote("", "if and only if the channel contains at most one", "section V-B"),
    )
    yield checked(
        "as a prior comes near a single secret, beta tends to 1 (footnote 3), for "
        "[[.6, .4], [.3, .7]]",
        ch.beta(shared, nearly) > 1 - 1e-6,
    )
    yield checked(
        "the same for every channel (footnote 3)",
        ch.beta(np.eye(2), nearly) > 1 - 1e-6,
        "it tends to 1 only where that secret can give every output: for the identity it "
        "is 0 all the way",
        Quote("", "is undefined. However also", "footnote 3"),
    )


@LOCAL_PRIVACY("Theorem 5", "epsilon-LDP gives beta of at least 2 / (1 + e^epsilon).")
def theorem_5(_given: Given) -> Told:
    holds: list[bool] = []
    for rows, prior in systems():
        epsilon = ch.local_dp_epsilon(rows)
        if math.isfinite(epsilon):
            holds.append(ch.beta(rows, prior) >= ch.from_local_dp(epsilon).value - ROOM)
    programs = [
        abs(ldp_rows(m, e) - ch.from_local_dp(e).value) <= LOOSE
        for m in (2, 3, 4)
        for e in EPSILONS
    ]
    reached = [
        reaches(mended(n, m, e), e) for n in (2, 3, 4, 6) for m in (2, 3, 5) for e in EPSILONS
    ]
    yield proved(
        "epsilon-LDP gives beta of at least 2 / (1 + e^epsilon) for every prior: "
        f"{len(holds)} priors and channels",
        all(holds),
    )
    yield checked(
        "it is the least over all epsilon-LDP channels with 2 to 4 outputs, by linear "
        "programs, at epsilon .1, .5, 1, 2, 4",
        all(programs),
    )
    yield proved(
        "for every n and m a channel reaches it: randomized response on two outputs for "
        f"two secrets, halves for the others; {len(reached)} sizes",
        all(reached),
    )
    yield "The examples of Figure 3 do not reach it in general: see there."


RATIOS = [(x, y) for x in (1.0, 1.5, 2.0, 7.0) for y in (1.2, 2.0, 5.0)]
"""Of the larger to the smaller mass on either side, in the proof of Theorem 5."""
AT_RATIOS = "x = 1, 1.5, 2, 7 and y = 1.2, 2, 5"


def masses(x: float, y: float) -> tuple[float, float]:
    """Return ``a`` and ``b`` of the proof from their ratios to the other secret's masses."""
    return (x * y - x) / (x * y - 1), (x * y - y) / (x * y - 1)


@LOCAL_PRIVACY("Equation 16", "Two masses from their ratios, in the proof of Theorem 5.")
def equation_16(_given: Given) -> Told:
    found = [(x, y, *masses(x, y)) for x, y in RATIOS]
    yield proved(
        f"a and b solve a = x (1 - b), b = y (1 - a): {AT_RATIOS}",
        all(abs(a - x * (1 - b)) <= ROOM and abs(b - y * (1 - a)) <= ROOM for x, y, a, b in found),
    )


@LOCAL_PRIVACY("Equation 20", "The risk from these ratios, in the same proof.")
def equation_20(_given: Given) -> Told:
    risks, slopes = [], []
    for x, y in RATIOS:
        a, b = masses(x, y)
        risk = ch.bayes_risk([[a, 1 - a], [1 - b, b]])
        risks.append(abs(risk - ((x + y) / 2 - 1) / (x * y - 1)) <= ROOM)
        slopes.append((-((y - 1) ** 2) / 2, -((x - 1) ** 2) / 2))
    yield proved(
        f"the Bayes risk is ((x + y) / 2 - 1) / (x y - 1), from Equation 17: {AT_RATIOS}",
        all(risks),
    )
    yield checked(
        f"both its partial derivatives are negative (as printed): {AT_RATIOS}",
        all(max(slope) < 0 for slope in slopes),
        "at x = 1 that by y is 0; neither is ever positive, which is enough",
        Quote("", "we can easily see that both partial derivatives are negative", _PROOF),
    )


@LOCAL_PRIVACY("Equation 21", "The least risk of two secrets under epsilon-LDP.")
def equation_21(_given: Given) -> Told:
    risks = [ch.bayes_risk(mended(2, 2, e)) for e in EPSILONS]
    program = [ldp_rows(2, e) / 2 for e in EPSILONS]
    exact = [1 / (math.exp(e) + 1) for e in EPSILONS]
    printed = [1 / (math.exp(e) - 1) for e in EPSILONS]
    yield proved(
        "the least Bayes risk of two secrets alike is 1 / (e^epsilon + 1), at epsilon .1, "
        ".5, 1, 2, 4, by linear programs as well",
        np.allclose(risks, exact, rtol=0, atol=ROOM)
        and np.allclose(program, exact, rtol=0, atol=LOOSE),
    )
    yield checked(
        "it is 1 / (e^epsilon - 1) (as printed), at epsilon .1, .5, 1, 2, 4",
        np.allclose(risks, printed, rtol=0, atol=ROOM),
        "(e^eps - 1) / (e^(2 eps) - 1) is 1 / (e^eps + 1), from which the text goes on; "
        "the printed value is above 1 for epsilon below ln 2",
        Quote("", r"\frac{1}{\exp(\epsilon)-1}", _PROOF),
    )


@LOCAL_PRIVACY("Proposition 2", "beta* is (0, 1 - beta*)-LDP.")
def proposition_2(_given: Given) -> Told:
    apart = [
        abs(ch.local_dp_delta(rows, 0.0) - ch.to_approximate_dp(ch.beta_star(rows).value)[1])
        for rows in channels()
    ]
    yield proved(f"the least delta at epsilon 0 is 1 - beta*: {NAMED}", max(apart) <= ROOM)


BOUND = "narcissus bound --epsilon 1 --prior 0.5 --success exact"


def most_capacity(records: int, values: int, epsilon: float) -> float:
    """Compute the largest capacity of an epsilon-DP mechanism on databases, by a linear program.

    Outputs that the same database makes likeliest can be merged without loss, so one output for
    each database is enough; the capacity is then the sum of the diagonal.
    """
    bases = list(itertools.product(range(values), repeat=records))
    n, ratio = len(bases), math.exp(epsilon)
    near = [
        (i, j)
        for i, a in enumerate(bases)
        for j, b in enumerate(bases)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    ]
    below = sparse.lil_array((len(near) * n, n * n))
    for place, ((i, j), o) in enumerate(itertools.product(near, range(n))):
        below[place, i * n + o], below[place, j * n + o] = 1.0, -ratio
    sums: Any = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    limits: Any = sparse.csr_array(below)
    gain = -np.eye(n).ravel()
    found = optimize.linprog(gain, limits, np.zeros(len(near) * n), sums, np.ones(n))
    assert found.fun is not None
    return -float(found.fun)


def whole(records: int, values: int, epsilon: float) -> Matrix:
    """Return randomized response on each record, as a channel of whole databases."""
    one = ch.KaryRandomizedResponse(values, epsilon).channel().dense
    made = one
    for _ in range(records - 1):
        made = np.asarray(np.kron(made, one), dtype=np.float64)
    return made


DATABASES = Statements("002", 0.2, CHANNEL)


@DATABASES("Equation 4", "beta from the leakage and the prior.", WITH_PRIOR)
def equation_4(_given: Given) -> Told:
    apart = [
        abs(
            ch.beta(rows, prior)
            - (1 - prior.max() * ch.multiplicative_leakage(rows, prior)) / (1 - prior.max())
        )
        for rows, prior in systems()
    ]
    yield proved(
        "beta is (1 - top leakage) / (1 - top), top the largest mass of the prior: "
        f"{len(apart)} priors",
        max(apart) <= 1e-10,
    )


SIZES = ((1, 2), (1, 4), (2, 2), (2, 3), (3, 2))
"""Numbers of records, and of values of each, of the databases that are written out."""


@DATABASES("Theorem 6", "epsilon-DP limits the leakage of whole databases.", WITH_PRIOR)
def theorem_6(_given: Given) -> Told:
    programs, reached = [], []
    for (n, v), epsilon in itertools.product(SIZES, (0.5, 1.5)):
        limit = ch.database_capacity(epsilon, n, v).value
        programs.append(abs(most_capacity(n, v, epsilon) - limit) <= LOOSE * limit)
        leakage = ch.multiplicative_leakage(whole(n, v, epsilon))
        reached.append(abs(leakage - limit) <= 1e-10 * limit)
    sizes = "1 to 3 records of 2 to 4 values, epsilon .5 and 1.5"
    yield proved(
        "epsilon-DP limits the leakage by (v e^epsilon / (v - 1 + e^epsilon))^n; linear "
        f"programs over all mechanisms find this limit: {sizes}",
        all(programs),
    )
    yield proved(
        f"randomized response of each record reaches it at the uniform prior: {sizes}", all(reached)
    )


@DATABASES("Corollary 1", "epsilon-DP limits beta of whole databases.", WITH_PRIOR)
def corollary_1(_given: Given) -> Told:
    holds, reached = [], []
    for (n, v), epsilon in itertools.product(SIZES, (0.5, 1.5)):
        rows = whole(n, v, epsilon)
        bound = ch.from_database_dp(epsilon, n, v, prior="uniform").value
        reached.append(abs(ch.beta(rows) - bound) <= 1e-10)
        for prior in priors(len(rows)):
            found = ch.from_database_dp(epsilon, n, v, prior=float(prior.max()))
            holds.append(ch.beta(rows, prior) >= found.value - ROOM)
    yield proved(
        "epsilon-DP limits beta of whole databases from below, by the largest mass of the "
        f"prior: {len(holds)} priors",
        all(holds),
    )
    yield proved(
        f"randomized response of each record reaches it at the uniform prior: {len(reached)} sizes",
        all(reached),
    )
    yield "For beta* itself another limit says more: Narcissus theory 6.1."


@DATABASES(
    "Corollary 2", "epsilon-DP gives beta of at least 2 / (1 + e^epsilon) for neighbours.", BOUND
)
def corollary_2(_given: Given) -> Told:
    holds = [
        ch.beta(rows, prior) >= ch.from_local_dp(ch.local_dp_epsilon(rows)).value - ROOM
        for rows in channels(40, secrets=2)
        if math.isfinite(ch.local_dp_epsilon(rows))
        for prior in priors(2)
    ]
    programs = [abs(ldp_rows(3, e) - ch.from_local_dp(e).value) <= LOOSE for e in EPSILONS]
    reached = [
        abs(ch.KaryRandomizedResponse(2, e).beta_star - ch.from_local_dp(e).value) <= ROOM
        for e in EPSILONS
    ]
    yield proved(
        "of two neighbouring databases beta is at least 2 / (1 + e^epsilon) for every "
        f"prior: {len(holds)} priors and channels",
        all(holds),
    )
    yield checked(
        "no epsilon-DP mechanism with three outputs is below it (linear programs), at "
        "epsilon .1, .5, 1, 2, 4",
        all(programs),
    )
    yield proved("randomized response reaches it, at the same", all(reached))


@DATABASES("Equation 6", "So beta is at least 2 - e^epsilon.", BOUND)
@DATABASES("Equation 5", "Yeom et al.: the advantage is at most e^epsilon - 1.", BOUND)
def yeom(_given: Given) -> Told:
    grid = np.linspace(0.0, 5.0, 101)
    ours = np.array([1 - ldp_rows(2, float(e)) for e in EPSILONS])
    by_yeom = np.array([ch.yeom_bound(float(e)).value for e in grid])
    sharp = np.array([ch.from_local_dp(float(e)).value for e in grid])
    yield proved(
        "the advantage is at most e^epsilon - 1 (Equation 5): the largest of all "
        "mechanisms with two outputs, by linear programs, is below",
        bool((ours <= np.expm1(EPSILONS) + LOOSE).all()),
    )
    yield proved(
        "so beta is at least 2 - e^epsilon (Equation 6), and never better than Corollary 2",
        bool((by_yeom <= sharp + ROOM).all())
        and np.allclose(by_yeom, np.maximum(0.0, 2 - np.exp(grid)), atol=ROOM),
    )


@DATABASES("section V-D", "The advantage is at most (e^epsilon - 1) / (e^epsilon + 1).", BOUND)
def section_5d(_given: Given) -> Told:
    most = [1 - ldp_rows(2, e) for e in EPSILONS]
    exact = np.tanh(np.array(EPSILONS) / 2)
    rows = [[0.999, 0.001], [1.0, 0.0]]
    yield proved(
        "the advantage is at most (e^epsilon - 1) / (e^epsilon + 1), and linear programs "
        "reach it: epsilon .1, .5, 1, 2, 4",
        np.allclose(most, exact, rtol=0, atol=LOOSE),
    )
    yield checked(
        "no beta* below 1 implies an epsilon: [[.999, .001], [1, 0]] has beta* .999 and no epsilon",
        abs(ch.beta_star(rows).value - 0.999) <= ROOM and math.isinf(ch.local_dp_epsilon(rows)),
    )


APART = (0.1, 0.5, 1.0, 3.0)
SCALES = (0.5, 1.0, 2.0)
INTEGRATED = "distances .1, .5, 1, 3 and scales .5, 1, 2, by integration"


def overlap(density: Callable[[float], float], distance: float) -> float:
    """Integrate the smaller of two densities at a distance."""

    def smaller(x: float) -> float:
        return min(density(x), density(x - distance))

    middle, far = distance / 2, 80.0
    points = sorted((-far, 0.0, middle, distance, distance + far))
    parts = [integrate.quad(smaller, a, b, epsabs=1e-13) for a, b in itertools.pairwise(points)]
    return math.fsum(float(part[0]) for part in parts)


MECHANISMS = Statements("002", 0.2, CHANNEL)


@MECHANISMS(
    "Equation 7",
    "beta* of randomized response is n / (e^epsilon + n - 1).",
    "narcissus channel --mechanism randomized-response:values=10,epsilon=1",
)
def equation_7(_given: Given) -> Told:
    right, alike = [], []
    for n, epsilon in itertools.product(range(2, 13), (0.1, 1.0, 4.0)):
        matrix = ch.KaryRandomizedResponse(n, epsilon).channel()
        exact = n / (math.exp(epsilon) + n - 1)
        pair = matrix.rows([0, n - 1])
        right.append(
            abs(ch.KaryRandomizedResponse(n, epsilon).beta_star - exact) <= ROOM
            and abs(ch.beta_star(matrix).value - exact) <= ROOM
            and abs(ch.bayes_risk(pair) - exact / 2) <= ROOM
        )
        alike.append(len(ch.tied_pairs(matrix)) == n * (n - 1) // 2)
    sizes = "2 to 12 values at epsilon .1, 1, 4"
    yield proved(
        "beta* of randomized response is n / (e^epsilon + n - 1), the Bayes risk of any "
        f"two values half of it: {sizes}",
        all(right),
    )
    yield proved(f"all pairs of values are told apart equally well: {sizes}", all(alike))
    yield "n is the number of values of a record; see Figure 7 for the numbers printed."


@MECHANISMS(
    "Lemma 4",
    "The distance of two Gaussians is Phi(a) - Phi(-a).",
    "narcissus channel --mechanism gaussian:epsilon=1,delta=1e-6",
)
def gaussians(_given: Given) -> Told:
    right: list[bool] = []
    for distance, sigma in itertools.product(APART, SCALES):
        half = distance / (2 * sigma)
        printed = float(stats.norm.cdf(half) - stats.norm.cdf(-half))
        exact = overlap(lambda x, s=sigma: float(stats.norm.pdf(x, scale=s)), distance)
        form = ch.Gaussian(distance, sigma).beta_star
        right.append(abs(1 - printed - exact) <= 1e-9 and abs(form - (1 - printed)) <= ROOM)
    yield proved(
        "the total variation distance of two Gaussians is Phi(a) - Phi(-a), a their "
        f"distance over two deviations: {INTEGRATED}",
        all(right),
    )


def ends(made: Callable[[float], ch.ClosedForm]) -> bool:
    """Whether the ends of a line are the easiest pair to distinguish, and give beta*."""
    values = [made(distance).beta_star for distance in APART]
    return bool((np.diff(values) < 0).all())


@MECHANISMS(
    "Proposition 4",
    "beta* of Gaussian noise is 1 - (Phi(a) - Phi(-a)).",
    "narcissus channel --mechanism gaussian:epsilon=1,delta=1e-6",
)
def proposition_4(_given: Given) -> Told:
    apart = [
        abs(
            ch.Gaussian(d, s, 5).beta_star
            - overlap(lambda x, s=s: float(stats.norm.pdf(x, scale=s)), d)
        )
        for d, s in itertools.product(APART, SCALES)
    ]
    free = [
        abs(ch.Gaussian(d, d * s).beta_star - ch.Gaussian(1.0, s).beta_star)
        for d, s in itertools.product(APART, SCALES)
    ]
    yield proved(
        "beta* of Gaussian noise is 1 - (Phi(a) - Phi(-a)), a the largest distance of two "
        f"secrets over two deviations: {INTEGRATED}",
        max(apart) <= 1e-9,
    )
    yield proved(
        "secrets farther apart are told apart better, so that the ends of a line decide",
        ends(ch.Gaussian),
    )
    yield proved("it does not depend on the sensitivity at a given epsilon", max(free) <= ROOM)


@MECHANISMS(
    "Proposition 3",
    "beta* of Laplace noise is exp(-d / (2 scale)).",
    "narcissus channel --mechanism laplace:epsilon=0.1",
)
def proposition_3(_given: Given) -> Told:
    apart, formed = [], []
    for distance, scale in itertools.product(APART, SCALES):
        found = ch.Laplace(distance, scale, 5).beta_star
        exact = overlap(lambda x, s=scale: math.exp(-abs(x) / s) / (2 * s), distance)
        apart.append(abs(found - exact))
        formed.append(abs(found - math.exp(-distance / (2 * scale))))
    half = [abs(ch.Laplace(2.0, 2.0 / e).beta_star - math.exp(-e / 2)) for e in (0.1, 1.0, 5.0)]
    yield proved(
        "beta* of Laplace noise is exp(-d / (2 scale)), d the largest distance of two "
        f"secrets: {INTEGRATED}",
        max(apart) <= 1e-9 and max(formed) <= ROOM,
    )
    yield proved(
        "secrets farther apart are told apart better, so that the ends of a line decide",
        ends(ch.Laplace),
    )
    yield checked(
        "at the scale of epsilon-DP it is exp(-epsilon / 2): epsilon .1, 1, 5", max(half) <= ROOM
    )
