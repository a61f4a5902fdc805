"""A study of secrets in trained models, as a page: success, guess and bound against epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from narcissus._outwards import lower
from narcissus.report.format import MISSING, limits, number, percent, theorem_of
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Page, Section, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.secrets import RecoveredSecrets, SecretResult, SecretsResults
from narcissus.study.secrets.words import refuted_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from narcissus.report.charts import Range

_NEIGHBOURS = {
    "replace-one": "another canary in its place",
    "add-remove": "one canary more or less",
}
_STARTS = {
    "prior": "the logarithm of the prior, as a model that was pretrained on public text",
    "public": "a model that counted public canaries",
    "zero": "nothing",
    "network": "a network with one hidden layer, its output bias the logarithm of the prior",
}


def page(record: Record) -> Page:
    """Turn the record of a study of secrets into a page."""
    results = cast("SecretsResults", record.results)
    priors = list(dict.fromkeys(one.prior for one in results.settings))
    return Page(
        title=record.title,
        subtitle="How often is a secret named from the model that was trained on it?",
        verdict=_verdict(record, results),
        sections=[
            Section("What was trained, and who attacks", _threat(results)),
            *(
                Section(
                    f"Secrets: {prior}", _prior([s for s in results.settings if s.prior == prior])
                )
                for prior in priors
            ),
            Section("What is refuted", _refuted(results)),
            Section("Method", [_method(results)]),
        ],
    )


def _verdict(record: Record, results: SecretsResults) -> Verdict:
    worst = results.headline
    best, bound = worst.best, worst.bound
    numbers: list[tuple[str, str, str, Grade]] = [
        ("Guessed without the model", percent(worst.guess), "exact", "proved"),
        (
            f"Named with it, by {best.name}",
            percent(best.success.value),
            f"limits {limits(best.success.low, best.success.high)}",
            "sampled",
        ),
        (
            "Named by any attacker",
            MISSING if bound is None else percent(bound.value, "up"),
            "no noise: nothing is proved" if bound is None else "at most",
            "not assessed" if bound is None or record.contradictions else "proved",
        ),
        (
            "Epsilon refuted by the run",
            lower(worst.most_refuting.refuted_epsilon, places=2),
            "no noise was asked for"
            if worst.training.kept_epsilon is None
            else f"the training keeps {number(worst.training.kept_epsilon)}",
            "sampled",
        ),
    ]
    against = [s.verdict for s in results.deciding if s.status == "exceeded"]
    kept = [s for s in results.deciding if s.status == "met"]
    return Verdict(
        status=record.status,
        headline=record.verdict,
        worst=(
            f"{worst.label}. {best.name} names {percent(best.success.value)} of these secrets; "
            f"{percent(worst.guess)} are guessed without the model.",
            "sampled",
        ),
        evidence_against=[
            f"{s.label}: {s.verdict}" for s in results.deciding if s.verdict in against
        ],
        evidence_for=[] if record.contradictions else [f"{s.label}: {s.verdict}" for s in kept],
        numbers=numbers,
        setting=worst.label if len(results.settings) > 1 else "",
        where=f"at {worst.label}" if 0 < len(kept) < len(results.settings) else "",
    )


def _threat(results: SecretsResults) -> list[Block]:
    one = results.settings[0].training
    rows = [
        (
            "Trained",
            f"{number(results.models)} models for each setting, each on a secret of its own",
        ),
        ("Secret", "what follows a known context; all other documents are known"),
        ("Release", "the model after its last step, with a logit for each value of the secret"),
        (
            "The attacker knows",
            "how secrets are drawn, how models are trained, what they start from",
        ),
        ("Models start from", _STARTS[one.start]),
        ("Asked", "what value a canary has, another one being in its place"),
        ("Epsilon is about", _NEIGHBOURS[one.neighbours]),
        ("Steps, clipping norm", f"{one.steps:,}, {number(one.clip)}"),
    ]
    return [Facts(rows), _trainings(results.settings)]


def _trainings(settings: Sequence[SecretResult]) -> Grid:
    rows: list[list[Cell]] = [
        [
            one.label,
            "none" if one.training.noise == 0 else number(one.training.noise),
            number(one.training.learning_rate),
            _or_none(one.training.accounted_mu),
            _or_none(one.training.mu),
            _or_none(one.training.kept_epsilon),
        ]
        for one in settings
    ]
    return Grid(
        "Each training, and what it guarantees; the last two columns hold about another canary in "
        "the place of this one, which is what a bound on naming it needs",
        (
            *("Setting", "Noise, in clipping norms", "Learning rate", "mu accounted"),
            *("mu that holds", "epsilon that holds, at delta"),
        ),
        rows,
        folded=True,
    )


def _or_none(value: float | None) -> str:
    return MISSING if value is None else number(value)


def _prior(settings: Sequence[SecretResult]) -> list[Block]:
    first = settings[0]
    return [
        Facts(
            [
                ("Values", number(first.values)),
                ("Guessed without a model", f"{first.likeliest}: {percent(first.guess)} right"),
            ]
        ),
        _picture(settings),
        _attacks(settings),
    ]


def _range(found: RecoveredSecrets) -> Range:
    from narcissus.report.charts import Range

    success = found.success
    return Range(success.value, success.low, success.high)


def _picture(settings: Sequence[SecretResult]) -> Figure:
    """Draw success, guess and bound against epsilon."""
    order = sorted(settings, key=lambda one: one.training.epsilon or math.inf)
    names = [one.name for one in order[0].attacks]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import CEILING, WITH, WITHOUT, Range
        from narcissus.report.curves import Curve, curves

        looks = (WITH, {**CEILING, "marker": "D"}, {**WITH, "marker": "v", "markersize": 6})
        lines = [
            Curve(
                name,
                [_range(one.attacks[place]) for one in order],
                looks[place % len(looks)],
                ("-", "-.", ":")[place % 3],
            )
            for place, name in enumerate(names)
        ]
        guess = [Range(one.guess) for one in order]
        finite = [math.log10(e) for one in order if (e := one.training.epsilon)]
        apart = next((i for i, one in enumerate(order) if one.training.epsilon is None), None)
        last = max(finite, default=0.0) + 0.4
        places = [math.log10(e) if (e := one.training.epsilon) else last for one in order]
        curves(
            figure,
            [*lines, Curve("guess without the model", guess, WITHOUT, "--")],
            places=places,
            labels=[
                "no\nnoise" if one.training.epsilon is None else number(one.training.epsilon)
                for one in order
            ],
            apart=apart,
            axis="epsilon (log scale); less noise to the right",
            proved=[None if one.bound is None else one.bound.value for one in order],
            threshold=order[0].at_most,
        )

    rows: list[list[Cell]] = [
        [
            one.label,
            one.guess,
            one.best.name,
            one.best.success.value,
            limits(one.best.success.low, one.best.success.high),
            "" if one.bound is None else percent(one.bound.value, "up"),
            "" if one.at_most is None else percent(one.at_most, "down"),
            one.status,
        ]
        for one in order
    ]
    low, high = order[0].best, order[-1].best
    title = f"{low.name} names {percent(low.success.value)} of secrets"
    if len(order) > 1:
        title = (
            f"The best attack names {percent(low.success.value)} of secrets at "
            f"{_epsilon(order[0])} and {percent(high.success.value)} at {_epsilon(order[-1])}"
        )
    return Figure(
        title,
        "Share of secrets named against epsilon: a line with its band of confidence limits for "
        "each attack, a dashed line with open squares for the best guess without the model; the "
        "hatched area above the heavy line is where it is proved that no attacker is.",
        draw,
        Grid(
            "The best attack, the guess without the model and what no attacker exceeds",
            ("Setting", "Guess", "Best attack", "Names", "Limits", "Proved at most", "Accepted",
             "Threshold"),
            rows,
            percent=("Guess", "Names"),
        ).where_known("Proved at most", "Accepted"),
        (7.4, 4.3),
        f"secrets_{_slug(settings[0].prior)}",
    )  # fmt: skip


def _epsilon(one: SecretResult) -> str:
    epsilon = one.training.epsilon
    return "no noise" if epsilon is None else f"epsilon {number(epsilon)}"


def _slug(words: str) -> str:
    return "_".join("".join(c if c.isalnum() else " " for c in words).split()).lower()


def _attacks(settings: Sequence[SecretResult]) -> Grid:
    rows: list[list[Cell]] = [
        [
            one.label,
            attack.name,
            attack.success.value,
            limits(attack.success.low, attack.success.high),
            attack.baseline,
            lower(attack.refuted_epsilon, places=2),
            lower(attack.refuted_mu, places=3),
        ]
        for one in settings
        for attack in one.attacks
    ]
    grades: list[Grade] = ["sampled" for _ in rows]
    return Grid(
        "Every attack; the same guesses name so many fresh secrets, and what it refutes",
        (
            *("Setting", "Attack", "Names", "Limits", "Fresh secrets"),
            *("Refutes epsilon below", "Refutes mu below"),
        ),
        rows,
        grades=grades,
        percent=("Names", "Fresh secrets"),
    )


def _refuted(results: SecretsResults) -> list[Block]:
    bounds = [one.bound for one in results.settings if one.bound is not None]
    said = [
        refuted_words(results.settings),
        "An epsilon is refuted where so many right guesses would be too unlikely for any mechanism "
        "that keeps it, with secrets from this very prior; so uneven secrets count as well as even "
        "ones. It can be far below what the training keeps, and is never evidence of safety.",
    ]
    if bounds:
        said.append(f"What no attacker exceeds is by {theorem_of(bounds[0])}.")
    return [Text(said)]


def _method(results: SecretsResults) -> Text:
    return Text(
        [
            "For each model a secret is drawn, the model is trained on it with clipped gradients "
            "and Gaussian noise, and each attack names one value. argmax names the likeliest value "
            "of the model, as published; posterior knows the training procedure and weighs how "
            "likely the model is under each secret by the prior; ranking names what the training "
            "raised most.",
            f"{results.claims} limits hold together at level {results.confidence:g}, each at "
            f"{results.claim_confidence:.6g} (Bonferroni), by Clopper and Pearson. What is refuted "
            "uses the lower ones, at the same level.",
            "Noise is made for the epsilon that the study asks for. DP-SGD is accounted by the "
            "clipping norm, while two gradients of an n-gram model, a softmax, differ by at most "
            "the root of two: where mu is smaller for that, the bounds use the smaller one.",
        ]
    )
