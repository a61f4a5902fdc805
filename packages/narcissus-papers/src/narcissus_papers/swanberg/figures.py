"""Figures 1 to 3 of Swanberg et al. 2025.

Figure 1 of Swanberg et al. 2025: bounds on one record against the prior, eps 1, 2, 4.

Figure 2 of Swanberg et al. 2025: advantage against canaries of uneven priors, and what protects.
Over nine digits: uniform canaries, and passwords that follow Zipf's law. The paper says s = 1.1;
its printed numbers belong to s = 1.2 (Narcissus theory 4.11), so both are drawn. Names from a
language model are not published: their likeliest one's prior is fitted to what is printed of it.

Figure 3 of Swanberg et al. 2025: secrets named from n-gram models, and the bounds. The text does
not say what the models start from. Trained from zero logits, argmax succeeds equally often for
every prior (the training treats all characters alike), and the printed rates do not; they are those
of models that start from the prior, as a pretrained one does. So that is drawn as published, and
the others are variants.

Source: Swanberg et al. 2025, Figure 3.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from narcissus._random import child
from narcissus.bounds import advantage, optimum, posterior, threat
from narcissus.bounds.published import BALLE, THEOREM_3_2, THEOREM_3_3, THEOREM_3_5
from narcissus.bounds.theorem import Question, Theorem
from narcissus.extraction import NgramDpSgd, PosteriorGuess, PublishedGuess
from narcissus.game import Game, play
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP
from narcissus.priors import Zipf
from narcissus.priors.secrets import SecretPrior, pii_secret, uniform_secret, zipf_secret
from narcissus.report.panels import Line, Panel
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret
from narcissus_papers.base import Given, Held, Item, Printed, Quote, Reproduced, checked, played

EPSILONS = (1.0, 2.0, 4.0)
DELTA = 1e-5
PRIORS = np.round(np.linspace(0.0, 1.0, 101), 2)
SIZES = (2, 3, 4, 5, 10, 20, 50, 100)
"""Numbers of equally likely values: MMC is about these, not about every prior."""
ROOM = 1e-9


def mmc(values: int, guarantee: Guarantee) -> float:
    """Compute the bound of Mahloujifar et al. 2024 (MMC) on naming one of equally likely values.

    It is the largest ``a`` with ``a + (values - 1) g(a) <= 1``, ``g`` the least false positive rate
    at the power ``a``: their recursion for one canary. At least two ``values``; the guarantee is
    for a replaced record; the bound is at least one over ``values``.
    """
    low, high = 1 / values, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        within = middle + (values - 1) * float(guarantee.least_alpha(middle)) <= 1
        low, high = (middle, high) if within else (low, middle)
    return low


def _curve(theorem: Theorem, guarantee: Guarantee, label: str, style: str) -> Line:
    values = [
        min(1.0, theorem.limit(Question(threat(prior=float(p)), guarantee))) for p in PRIORS[1:-1]
    ]
    return Line(label, PRIORS.tolist(), [0.0, *values, 1.0], style)  # pyright: ignore[reportArgumentType]


def make(_given: Given) -> Reproduced:
    """Draw pure DP in one panel, approximate DP in the other."""
    base = Line("without the release", [0.0, 1.0], [0.0, 1.0], "dotted")
    pure, approximate = [base], [base]
    points: dict[Guarantee, list[float]] = {}
    for epsilon in EPSILONS:
        name = f"epsilon {epsilon:g}"
        pair = ApproximateDP(epsilon, DELTA)
        points |= {g: [mmc(k, g) for k in SIZES] for g in (PureDP(epsilon), pair)}
        pure.append(_curve(THEOREM_3_2, PureDP(epsilon), f"Theorem 3.2, {name}", "line"))
        pure.append(_curve(BALLE, PureDP(epsilon), f"ReRo, {name}", "dashed"))
        pure.append(_points(points[PureDP(epsilon)], name))
        approximate.append(_curve(THEOREM_3_5, pair, f"Theorem 3.5, {name}", "line"))
        approximate.append(_points(points[pair], name))
    return Reproduced(
        panels=(
            Panel("epsilon-DP", "prior", "success", pure),
            Panel(f"(epsilon, {DELTA:g})-DP", "prior", "success", approximate),
        ),
        held=tuple(_held(pure, points)),
        cannot="the paper prints curves and no numbers",
        notes=(
            f"No number of this figure is in print. Ours at the prior .1: {_at_a_tenth()}.",
            "MMC (Mahloujifar et al. 2024, for one canary) is about equally likely values: points "
            "at the priors 1/k, as in the paper.",
        ),
    )


def _at_a_tenth() -> str:
    return "; ".join(
        f"epsilon {e:g}: Theorem 3.2 {float(posterior(0.1, e)):.4f}, MMC for ten values "
        f"{mmc(10, PureDP(e)):.4f}"
        for e in EPSILONS
    )


def _points(values: Sequence[float], name: str) -> Line:
    return Line(f"MMC, {name}", [1 / k for k in SIZES], values, "points")


def _held(pure: Sequence[Line], points: Mapping[Guarantee, Sequence[float]]) -> Iterator[Held]:
    """Check what section 4.4 claims of the curves."""
    lines = {line.label: np.array(line.y) for line in pure}
    below = all(
        (lines[f"Theorem 3.2, epsilon {e:g}"] <= lines[f"ReRo, epsilon {e:g}"] + ROOM).all()
        for e in EPSILONS
    )
    apart = max(
        abs(limit - float(theorem.limit(Question(threat(prior=1 / k), guarantee))))
        for guarantee, limits in points.items()
        for theorem in [THEOREM_3_2 if isinstance(guarantee, PureDP) else THEOREM_3_5]
        for k, limit in zip(SIZES, limits, strict=True)
    )
    yield checked("Theorem 3.2 is nowhere above ReRo (section 4.4)", below)
    yield checked(
        "for equally likely values both theorems are MMC's limit, within delta (section 4.4)",
        apart <= DELTA + ROOM,
    )


FIGURE_1 = Item(
    "001", "figure", "1", "Bounds on one record against the prior, next to earlier ones", 1.0, make
)


VALUES = 10**9
MOST = 0.05  # advantage
EPSILONS_2 = np.linspace(0.0, 20.0, 201)
NAME = 0.00545  # prior of the likeliest name, fitted
LAWS = (1.1, 1.2)

_SECTION = "section 5.3"
_REQUIRE = "numerical passwords and PIIs require ... 0.25 ... 2.37"
PASSWORD = Quote("0.24", "but 0.24 for the most probable canary", _SECTION)
LIKELIEST_NAME = Quote("0.45", "but 0.45 for the most probable canary", _SECTION)
CERTAIN = Quote("1.0", "canary both have advantage bounds of ... 1.0", _SECTION)
UNIFORM_PROTECTED = Quote("17.8", "canary can be protected by ... 17.8", _SECTION)
PASSWORD_PROTECTED = Quote("0.25", _REQUIRE, _SECTION)
NAME_PROTECTED = Quote("2.37", _REQUIRE, _SECTION)
FAR_BELOW = 0.005
"""What "much less than .05" is taken for: a tenth of it."""


def bound_on_advantage(prior: float, epsilon: float) -> float:
    """Compute Corollary 3.4 for one target, as an advantage over the prior."""
    success = min(1.0, float(posterior(prior, epsilon)) + DELTA)
    return advantage(success, prior)


def protecting(prior: float) -> float:
    low, high = 0.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if bound_on_advantage(prior, middle) <= MOST else (low, middle)
    return low


def advantages(canaries: Mapping[str, float], title: str = "Advantage") -> Panel:
    """Draw the advantage against epsilon, for priors of canaries by their names."""
    x = EPSILONS_2.tolist()
    styles: dict[str, Any] = {"median": "dashed", "least likely": "dotted"}
    lines = [
        Line(name, x, [bound_on_advantage(prior, e) for e in x],
             styles.get(name.rsplit(", ", 1)[-1], "line"))
        for name, prior in canaries.items()
    ]  # fmt: skip
    lines.append(Line(f"advantage {MOST:g}", [0.0, 20.0], [MOST, MOST], "dotted"))
    return Panel(title, "epsilon", "bound on the advantage", lines)


def protections(canaries: Mapping[str, float]) -> Panel:
    """Draw the largest epsilon that protects against the prior, and mark canaries."""
    priors = np.logspace(-9, np.log10(0.6), 200).tolist()
    lines = [Line("any canary", priors, [protecting(p) for p in priors])]
    lines += [Line(name, [p], [protecting(p)], "points") for name, p in canaries.items()]
    return Panel("What protects", "prior", "largest epsilon", lines, log_x=True)


def _canaries() -> dict[str, float]:
    found = {"uniform, any": 1 / VALUES}
    for s in LAWS:
        law = Zipf(s, VALUES)
        for which, share in (("likeliest", 1.0), ("median", 0.5), ("least likely", 0.0)):
            found[f"password (s = {s:g}), {which}"] = law.probability(law.percentile(share))
    return {**found, "name, likeliest (fitted)": NAME}


_FITTED_NAME = (
    "its prior is not published: .00545 was chosen so that this and its other numbers agree"
)
_FITTED_LAW = "the text says s = 1.1: s = 1.2 was chosen so that both numbers of passwords agree"
_READING = "the text says s = 1.1, the printed numbers are those of s = 1.2"


def make_a(_given: Given) -> Reproduced:
    """Draw the advantage against epsilon."""
    canaries = _canaries()
    top = {s: canaries[f"password (s = {s:g}), likeliest"] for s in LAWS}
    return Reproduced(
        panels=(advantages(canaries),),
        printed=(
            Printed(
                "likeliest password at epsilon 1, s = 1.1 as the text says", PASSWORD,
                bound_on_advantage(top[1.1], 1.0), _READING,
            ),
            Printed(
                "likeliest password at epsilon 1, s = 1.2", PASSWORD,
                bound_on_advantage(top[1.2], 1.0), fitted=_FITTED_LAW,
            ),
            Printed(
                "likeliest name at epsilon 5", LIKELIEST_NAME, bound_on_advantage(NAME, 5.0),
                fitted=_FITTED_NAME,
            ),
            Printed(
                "likeliest password at epsilon 10, s = 1.1", CERTAIN,
                bound_on_advantage(top[1.1], 10.0),
            ),
            Printed(
                "likeliest name at epsilon 10", CERTAIN, bound_on_advantage(NAME, 10.0),
                fitted=_FITTED_NAME,
            ),
        ),
        held=tuple(_held_2(canaries)),
        notes=(
            "The median canary is the median by count, as the print implies: below the uniform "
            "one. The median by mass would be rank 17 of s = 1.2, prior .00605.",
            "The prior of the likeliest name is fitted: from .00544 to .00545 agrees with both .45 "
            "here and 2.37 of figure 2b.",
        ),
    )  # fmt: skip


def _held_2(canaries: Mapping[str, float]) -> Iterator[Held]:
    """Check what section 5.3 claims of the curves without numbers."""
    rare = [p for name, p in canaries.items() if name.endswith(("median", "least likely"))]
    uniform = 1 / VALUES
    medians = [p for name, p in canaries.items() if name.endswith("median")]
    yield checked(
        "the median and the least likely password are far below .05 at epsilon 1",
        max(bound_on_advantage(p, 1.0) for p in rare) <= FAR_BELOW,
    )
    yield checked(
        "the uniform canary is far below .05 at epsilon 10",
        bound_on_advantage(uniform, 10.0) <= FAR_BELOW,
    )
    yield checked("the median password is below the uniform canary", max(medians) < uniform)


def make_b(_given: Given) -> Reproduced:
    """Draw the largest epsilon that protects, against the prior."""
    top = {name: p for name, p in _canaries().items() if "likeliest" in name or "any" in name}
    return Reproduced(
        panels=(protections(top),),
        printed=(
            Printed("uniform canary", UNIFORM_PROTECTED, protecting(1 / VALUES)),
            Printed(
                "likeliest password, s = 1.1 as the text says", PASSWORD_PROTECTED,
                protecting(top["password (s = 1.1), likeliest"]), _READING,
            ),
            Printed(
                "likeliest password, s = 1.2", PASSWORD_PROTECTED,
                protecting(top["password (s = 1.2), likeliest"]), fitted=_FITTED_LAW,
            ),
            Printed("likeliest name", NAME_PROTECTED, protecting(NAME), fitted=_FITTED_NAME),
        ),
    )  # fmt: skip


FIGURE_2A = Item("001", "figure", "2a", "Advantage against canaries of uneven priors", 1.0, make_a)
FIGURE_2B = Item("001", "figure", "2b", "What epsilon protects a canary of a prior", 1.0, make_b)


MODELS = 2000
EPSILONS_3 = (0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
PRIORS_3: Mapping[str, Callable[[], SecretPrior]] = {
    "uniform": uniform_secret,
    "password": zipf_secret,
    "PII": pii_secret,
}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "published": {},
    "zero start": {"start": "zero"},
    "add/remove": {"neighbours": "add-remove"},
}
"""How models are trained: from the prior with noise for another canary, and two other readings."""
_STEPS = 50
_RATES = "a success rate of 38.0% and 52.5% compared to the uniform random baseline of 10%"
PASSWORD_3, PII, UNIFORM = (Quote(n, _RATES, "section 5.3") for n in ("38.0%", "52.5%", "10%"))
_FITTED_START = "the start from the prior is not in the text, and was chosen so that this agrees"
_FITTED_PII = f"the likeliest value's prior was set to the printed rate; {_FITTED_START}"
# Two shares of 2,000 models each differ by less than this many standard errors in 99% of all cases.
_ERRORS = 2.576


def named(prior: str, epsilon: float, models: int = MODELS) -> dict[str, dict[str, float]]:
    """Train and attack models of each variant.

    Returns by variant the share that ``argmax`` and ``posterior`` named, and the ``mu`` that holds
    about another canary.
    """
    drawn = PRIORS_3[prior]()
    found: dict[str, dict[str, float]] = {}
    for name, options in VARIANTS.items():
        asked = NgramDpSgd(epsilon, DELTA, _STEPS, **options)
        trained = asked.trained_on(drawn.weights)
        game = Game(Secret(drawn.weights), trained, NamesSecret(len(drawn.chances)))
        attacks = {"argmax": PublishedGuess(), "posterior": PosteriorGuess()}
        seed = zlib.crc32(f"{prior}/{epsilon:g}/{name}".encode())
        rng = int(child(seed, 3).integers(2**63))
        played = play(game, attacks, trials=models, stop=False, rng=rng)
        shares = {one.name: one.success.value for one in played.attackers}
        found[name] = {**shares, "mu": trained.training.guarantee.mu}
    return found


def _piece(
    _given: Given, prior: str, epsilon: float, models: int = MODELS
) -> dict[str, dict[str, float]]:
    return named(prior, epsilon, models)


def _name(prior: str, epsilon: float) -> str:
    return f"{prior}-{epsilon:g}"


def _bounds(prior: SecretPrior, mus: Sequence[float]) -> list[Line]:
    """Draw Theorem 3.3 as published, MMC for the uniform prior, and what truly holds."""
    x = list(EPSILONS_3)
    danger = threat(prior=prior.guess)
    published = [
        min(1.0, THEOREM_3_3.limit(Question(danger, ApproximateDP(e, DELTA), 1))) for e in x
    ]
    lines = [
        Line(f"{prior.words}: Theorem 3.3", x, published),
        Line(
            f"{prior.words}: optimum at the mu that holds",
            x,
            [float(optimum(prior.weights, GaussianDP(mu))[0]) for mu in mus],
            "dashed",
        ),
        Line(f"{prior.words}: without the model", [x[0], x[-1]], [prior.guess] * 2, "dotted"),
    ]
    if len(set(prior.chances)) == 1:
        size = len(prior.chances)
        named = [mmc(size, GaussianDP.from_epsilon_delta(e, DELTA)) for e in x]
        lines.append(Line(f"{prior.words}: MMC", x, named, "dashed"))
    return lines


def make_3(given: Given) -> Reproduced:
    """Draw success against epsilon, a panel for each variant."""

    def series(prior: str, variant: str, what: str) -> list[float]:
        return [given.answers[_name(prior, e)][variant][what] for e in EPSILONS_3]

    panels = [
        Panel(
            variant,
            "epsilon",
            "secrets named",
            [
                line
                for key, make_prior in PRIORS_3.items()
                for line in (
                    Line(f"{key}: argmax", EPSILONS_3, series(key, variant, "argmax"), "points"),
                    Line(
                        f"{key}: posterior", EPSILONS_3, series(key, variant, "posterior"), "points"
                    ),
                    *_bounds(make_prior(), series(key, variant, "mu")),
                )
            ],
            log_x=True,
        )
        for variant in VARIANTS
    ]

    def at(prior: str, epsilon: float, variant: str = "published") -> float:
        return float(given.answers[_name(prior, epsilon)][variant]["argmax"])

    return Reproduced(
        panels=tuple(panels),
        printed=(
            Printed("uniform secret, without the model", UNIFORM, uniform_secret().guess),
            _printed("password at epsilon 1", PASSWORD_3, at("password", 1.0), _FITTED_START),
            _printed("PII at epsilon 1", PII, at("PII", 1.0), _FITTED_PII),
        ),
        held=tuple(_held_3(at)),
        notes=(
            f"{MODELS:,} models for each point, as published: a share has a standard error of at "
            f"most {math.sqrt(0.25 / MODELS):.4f}. What is printed is as random: a fitted share "
            f"may be {_ERRORS:g} standard errors of the difference away.",
            "Models start from the logarithm of the prior, learning rates are those with the least "
            "mean loss on simulated canaries, noise is made for a sensitivity of two clipping "
            "norms (clipping norm 1). The text names neither start, network nor accountant.",
            "Noise for two clipping norms is more than gradients of a softmax need: the mu that "
            "holds is smaller by the root of two, and the optimum is drawn there. The paper draws "
            "MMC at the accounted mu.",
            "The prior of ten PII is not printed: its likeliest value is taken from the rate at "
            "epsilon 1, the others are assumed.",
        ),
    )


def _printed(what: str, quote: Quote, ours: float, fitted: str) -> Printed:
    noise = _ERRORS * math.sqrt(2 * quote.value * (1 - quote.value) / MODELS)
    drawn = f"{what} (of {MODELS:,} models each, drawn at random)"
    return Printed(drawn, quote, ours, "further away than chance explains", fitted, noise)


def _held_3(at: Callable[..., float]) -> Iterator[Held]:
    """Check what the text claims without numbers, and that a start from zero cannot explain it."""
    error = math.sqrt(0.25 / MODELS)
    gains = {key: at(key, 10.0) - make_prior().guess for key, make_prior in PRIORS_3.items()}
    zeros = [at(key, 1.0, "zero start") for key in PRIORS_3]
    yield played(
        "at epsilon 10 the attack on PII is barely above the guess (above it, by less than a "
        "third of what uniform canaries lose)",
        -_ERRORS * error < gains["PII"] < gains["uniform"] / 3,
        quote=Quote("", "but barely performs better than the random baseline", "section 5.3"),
    )
    yield played(
        "at epsilon 1 passwords and PII are named more often than the .10 of uniform canaries",
        min(at("password", 1.0), at("PII", 1.0)) > UNIFORM.value + _ERRORS * error,
        quote=UNIFORM,
    )
    yield played(
        "from zero logits argmax is as good for every prior (within 2.6 standard errors), so "
        "the printed rates are not those of such models",
        float(np.ptp(zeros)) < _ERRORS * math.sqrt(2) * error and max(zeros) < PASSWORD_3.value,
        quote=PASSWORD_3,
    )


PIECES: Mapping[str, Callable[[Given], Any]] = {
    _name(prior, epsilon): partial(_piece, prior=prior, epsilon=epsilon)
    for prior in PRIORS_3
    for epsilon in EPSILONS_3
}
FIGURE_3 = Item(
    "001", "figure", "3", "Secrets named from n-gram models, next to the bounds", 40.0, make_3,
    pieces=PIECES, command="narcissus audit examples/secrets.toml", small={"models": 1},
)  # fmt: skip
