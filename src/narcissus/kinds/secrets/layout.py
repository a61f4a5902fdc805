"""Secrets in trained models, in words and as a page: success, guess and bound against epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from narcissus._outwards import lower
from narcissus.kinds.layout import Headline, Layout, table
from narcissus.kinds.secrets.kind import SecretsDetail, SecretSettings
from narcissus.report.about import Answered, EveryAttacker, Subject
from narcissus.report.first_screen import NO_GROUPS, Glance, placed, seeks, surely_largest
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Block, Cell, Facts, Figure, Grid, Section, Text
from narcissus.report.reach import Reach
from narcissus.results import NotAssessed
from narcissus.rows import JudgedCriterion, StudyJudgement, StudyRow
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

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
PHRASES = {
    "met": "No attacker names more than {high} of secrets, and {at_most} is accepted.",
    "exceeded": "{surest} names at least {low} of secrets, and {at_most} is accepted.",
}
Setting = tuple[JudgedCriterion, SecretSettings]


def settings(case: StudyJudgement) -> list[Setting]:
    """Return the settings.
    Raises ValueError: they are not held to the same attacks.
    """
    detail: SecretsDetail = case.detail
    if len({tuple(row.name for row in judgement.attacks) for judgement in case.each}) > 1:
        raise ValueError("settings have different attacks")
    return list(zip(case.each, detail.settings, strict=True))


def refuted(one: JudgedCriterion) -> list[StudyRow]:
    return [row for row in one.rows if row.role == "refuted"]


def refuted_words(found: Sequence[Setting]) -> str:
    """Describe the largest epsilon that a run refutes, and where."""
    each = [
        (max(refuted(judgement), key=lambda row: row.value), judgement, spec)
        for judgement, spec in found
    ]
    row, judgement, spec = max(each, key=lambda found: found[0].value)
    if row.value == 0:
        return "No epsilon is refuted."
    return (
        f"{row.name} refutes every epsilon below {lower(row.value, places=2)} at delta "
        f"{spec.training.delta:g} ({judgement.label})."
    )


class SecretsLayout(Layout):
    """The words of secrets."""

    phrases = PHRASES
    not_covered = (
        "secrets drawn in another way",
        "attackers who know more than the prior, the training procedure and the final model",
        "other models: one canary in an n-gram model is a small part of what a large one is "
        "trained on",
        "hyper-parameters chosen on the secret itself; here they are chosen on simulated canaries",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "Secrets in trained models"

    def subtitle(self, case: StudyJudgement) -> str:
        return "How often is a secret named from the model that was trained on it?"

    def assessed(self, case: StudyJudgement) -> list[str]:
        names = ", ".join(row.name for row in case.each[0].attacks)
        lines = [
            f"{len(case.each)} settings, {case.detail.models:,} models each: the attacks {names}"
        ]
        if bounds := case.findings.select(role="bound"):
            lines.append(f"every attacker, by {bounds[0].name}")
        return lines

    def not_assessed(self, case: StudyJudgement) -> list[NotAssessed]:
        gaps: list[NotAssessed] = []
        if without := [judgement.label for judgement in case.each if judgement.bound is None]:
            gaps.append(
                NotAssessed(
                    f"what no attacker exceeds, at {'; '.join(without)}",
                    "training needs noise for a guarantee",
                    "give a finite epsilon",
                )
            )
        return gaps + [
            NotAssessed(
                f"the attack {row.name}, at {judgement.label}",
                f"it failed on {failed:,} of {case.detail.models:,} models, which count as "
                "failures",
                "mend it, and play again",
            )
            for judgement in case.each
            for row in judgement.attacks
            if isinstance(failed := row.facts.get("failed", 0), float | int) and failed
        ]

    def glance(self, case: StudyJudgement) -> Glance:
        worst = case.worst
        several = len(case.each) > 1
        [guess] = [row for row in worst.rows if row.role == "guess"]
        attack = worst.best
        if case.decided_by in worst.attacks:
            attack = case.decided_by or attack
        alike = [judgement for judgement in case.alike if judgement.at_most == worst.at_most]
        where = placed([judgement.label for judgement in alike], len(case.deciding))
        if len(alike) < len(case.alike):  # others have a threshold of their own
            where = f"at {worst.label}"
        spec = settings_of(case, worst)
        return Glance(
            unit="secrets",
            without=Reach.of("Without the model, the best guess names {} secrets.", guess),
            with_it=Reach.of(f"With the model, the attack {attack.name} names {{}}.", attack),
            most=None
            if worst.bound is None
            else Reach.of("No attacker names more than {}.", worst.bound),
            unlimited="Any attacker might name all 100: only noise in training sets a limit.",
            hardest=_hardest(case) if several else NO_GROUPS,
            unseen="secrets of another kind, other models, attackers who know more",
            accepted="{} secrets" if worst.at_most is not None else "",
            where=where,
            about=seeks(
                "how secrets are drawn and models are trained",
                f"a secret of {number(spec.values)} values",
                f"the trained model, at {worst.label}",
            ),
        )

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        worst, bound = case.worst, case.worst.bound
        epsilon = _of_worst(case).training.kept_epsilon
        return [
            ("Guessed without the model", percent(worst.guess), "exact", "proved"),
            (
                f"Named with it, by {worst.best.name}",
                percent(worst.best.value),
                f"limits {limits(worst.best.quantity.low, worst.best.quantity.high)}",
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
                lower(max(row.value for row in refuted(worst)), places=2),
                "no noise was asked for"
                if epsilon is None
                else f"the training keeps {number(epsilon)}",
                "sampled",
            ),
        ]

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        pairs = settings(case)
        priors = dict.fromkeys(str(setting.criterion.at["prior"]) for setting, _ in pairs)
        return [
            Section("What was trained, and who attacks", _threat(case, pairs)),
            *(
                Section(
                    f"Secrets: {prior}",
                    _prior(
                        prior,
                        [setting for setting in pairs if setting[0].criterion.at["prior"] == prior],
                    ),
                )
                for prior in priors
            ),
            Section("What is refuted", [_refutes(pairs, case.findings.select(role="bound"))]),
            Section("Method", [_method(case)]),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        worst, bound = case.worst, case.worst.bound
        limits: tuple[EveryAttacker, ...] = ()
        if bound is not None:
            text = f"At most {percent(bound.value, 'up')} of secrets are named ({worst.label})."
            limits = (EveryAttacker(text, "proved", bound.quantity.assumptions),)
        return Subject(
            f"A trained model that saw one secret of {number(_of_worst(case).values)}; "
            f"{number(case.detail.models)} models were trained for each setting.",
            limits=limits,
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        worst, training = case.worst, _of_worst(case).training
        text = f"{percent(worst.best.value)} of secrets are named, {percent(worst.guess)} guessed"
        replies = {"inference": Answered(text, "sampled")}
        if training.kept_epsilon is not None:
            text = (
                f"epsilon {training.kept_epsilon:.4g} at delta {training.delta:g}, about another "
                "canary"
            )
            replies["parameters"] = Answered(text, "proved")
            replies["unit"] = Answered(f"one canary: {training.neighbours}", None)
        return replies


LAYOUT = SecretsLayout()


def settings_of(case: StudyJudgement, worst: JudgedCriterion) -> SecretSettings:
    return next(spec for judgement, spec in settings(case) if judgement is worst)


def _of_worst(case: StudyJudgement) -> SecretSettings:
    return settings_of(case, case.worst)


def _threat(case: StudyJudgement, found: Sequence[Setting]) -> list[Block]:
    training = found[0][1].training
    rows = [
        (
            "Trained",
            f"{number(case.detail.models)} models for each setting, each on a secret of its own",
        ),
        ("Secret", "what follows a known context; all other documents are known"),
        ("Release", "the model after its last step, with a logit for each value of the secret"),
        (
            "The attacker knows",
            "how secrets are drawn, how models are trained, what they start from",
        ),
        ("Models start from", _STARTS[training.start]),
        ("Asked", "what value a canary has, another one being in its place"),
        ("Epsilon is about", _NEIGHBOURS[training.neighbours]),
        ("Steps, clipping norm", f"{training.steps:,}, {number(training.clip)}"),
    ]
    trainings = Grid(
        "Each training, and what it guarantees; the last two columns hold about another canary in "
        "the place of this one, which is what a bound on naming it needs",
        (
            *("Setting", "Noise, in clipping norms", "Learning rate", "mu accounted"),
            *("mu that holds", "epsilon that holds, at delta"),
        ),
        [
            [
                setting.label,
                "none" if spec.training.noise == 0 else number(spec.training.noise),
                number(spec.training.learning_rate),
                *(
                    MISSING if value is None else number(value)
                    for value in (
                        spec.training.accounted_mu,
                        spec.training.mu,
                        spec.training.kept_epsilon,
                    )
                ),
            ]
            for setting, spec in found
        ],
        folded=True,
    )
    return [Facts(rows), trainings]


def _prior(prior: str, found: Sequence[Setting]) -> list[Block]:
    first, spec = found[0]
    [guess] = [row for row in first.rows if row.role == "guess"]
    mu = {
        (judgement.label, row.name): row.facts["mu"]
        for judgement, _ in found
        for row in refuted(judgement)
    }
    epsilon = {
        (judgement.label, row.name): row.value
        for judgement, _ in found
        for row in refuted(judgement)
    }
    labels = {id(row): judgement.label for judgement, _ in found for row in judgement.attacks}

    def beyond(places: int, values: dict[tuple[str, str], Any]) -> Any:
        return lambda row: lower(values[labels[id(row)], row.name], places=places)

    facts = [
        ("Values", number(spec.values)),
        ("Guessed without a model", f"{guess.name}: {percent(guess.value)} right"),
    ]
    attacks = table(
        "Every attack; the same guesses name so many fresh secrets, and what it refutes",
        [row for judgement, _ in found for row in judgement.attacks],
        {
            "Setting": lambda row: labels[id(row)],
            "Attack": "name",
            "Names": "value",
            "Limits": "limits",
            "Fresh secrets": "baseline",
            "Refutes epsilon below": beyond(2, epsilon),
            "Refutes mu below": beyond(3, mu),
        },
        percent=("Names", "Fresh secrets"),
    )
    return [Facts(facts), _picture(prior, [judgement for judgement, _ in found]), attacks]


def _epsilon(one: JudgedCriterion) -> float:
    return float(one.criterion.at["epsilon"])


def _picture(prior: str, found: Sequence[JudgedCriterion]) -> Figure:
    """Draw success, guess and bound against epsilon."""
    order = sorted(found, key=_epsilon)
    levels = [_epsilon(judgement) for judgement in order]
    powers = [math.log10(level) for level in levels if math.isfinite(level)]
    last = max(powers, default=0.0) + 0.4
    places = [*powers, *[last] * (len(levels) - len(powers))]  # those without end come last

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import CEILING, WITH, WITHOUT, Curve, Range, curves

        looks = (WITH, {**CEILING, "marker": "D"}, {**WITH, "marker": "v", "markersize": 6})
        lines = [
            Curve(
                row.name,
                [
                    Range(judgement.attacks[place].value, quantity.low, quantity.high)
                    for judgement in order
                    for quantity in [judgement.attacks[place].quantity]
                ],
                looks[place % len(looks)],
                ("-", "-.", ":")[place % 3],
            )
            for place, row in enumerate(order[0].attacks)
        ]
        guess = [Range(judgement.guess) for judgement in order]
        curves(
            figure,
            [*lines, Curve("guess without the model", guess, WITHOUT, "--")],
            places=places,
            labels=[number(e) if math.isfinite(e) else "no\nnoise" for e in levels],
            apart=next((i for i, e in enumerate(levels) if e == math.inf), None),
            axis="epsilon (log scale); less noise to the right",
            proved=[
                None if judgement.bound is None else judgement.bound.value for judgement in order
            ],
            threshold=order[0].at_most,
        )

    rows: list[list[Cell]] = [
        [
            judgement.label,
            judgement.guess,
            judgement.best.name,
            judgement.best.value,
            limits(judgement.best.quantity.low, judgement.best.quantity.high),
            "" if judgement.bound is None else percent(judgement.bound.value, "up"),
            "" if judgement.at_most is None else percent(judgement.at_most, "down"),
            judgement.status,
        ]
        for judgement in order
    ]
    low, high = order[0], order[-1]
    title = f"{low.best.name} names {percent(low.best.value)} of secrets"
    if len(order) > 1:
        title = (
            f"The best attack names {percent(low.best.value)} of secrets at "
            f"{_level(low)} and {percent(high.best.value)} at {_level(high)}"
        )
    slug = "_".join("".join(c if c.isalnum() else " " for c in prior).split()).lower()
    return Figure(
        title,
        "Share of secrets named against epsilon: a line with its band of confidence limits for "
        "each attack, a dashed line with open squares for the best guess without the model; the "
        "hatched area above the heavy line is where it is proved that no attacker is.",
        draw,
        Grid(
            "The best attack, the guess without the model and what no attacker exceeds",
            (
                "Setting",
                "Guess",
                "Best attack",
                "Names",
                "Limits",
                "Proved at most",
                "Accepted",
                "Threshold",
            ),
            rows,
            percent=("Guess", "Names"),
        ).where_known("Proved at most", "Accepted"),
        (7.4, 4.3),
        f"secrets_{slug}",
    )


def _level(one: JudgedCriterion) -> str:
    epsilon = _epsilon(one)
    return "no noise" if epsilon == math.inf else f"epsilon {number(epsilon)}"


def _refutes(found: Sequence[Setting], bounds: Sequence[StudyRow]) -> Text:
    sentences = [
        refuted_words(found),
        "An epsilon is refuted where so many right guesses would be too unlikely for any mechanism "
        "that keeps it, with secrets from this very prior; so uneven secrets count as well as even "
        "ones. It can be far below what the training keeps, and is never evidence of safety.",
    ]
    if bounds:
        by = bounds[0].quantity.id
        sentences.append(f"What no attacker exceeds is by {bounds[0].name}{by and f' [{by}]'}.")
    return Text(sentences)


def _method(case: StudyJudgement) -> Text:
    limited = case.findings.select(role="attack")
    return Text(
        [
            "For each model a secret is drawn. The model is trained on it with clipped gradients "
            "and Gaussian noise, and each attack names one value. The attack argmax names the "
            "likeliest value of the model, as published. The attack posterior knows the training "
            "procedure and weighs how likely the model is under each secret by the prior. The "
            "attack ranking names what the training raised most.",
            f"{len(limited)} limits hold together at level {case.detail.confidence:g}, each at "
            f"{limited[0].quantity.confidence:.6g} (Bonferroni), by Clopper and Pearson. What is "
            "refuted uses the lower ones, at the same level.",
            "Noise is made for the epsilon that the study asks for. DP-SGD is accounted by the "
            "clipping norm, while two gradients of an n-gram model, a softmax, differ by at most "
            "the root of two: where mu is smaller for that, the bounds use the smaller one.",
        ]
    )


def _hardest(case: StudyJudgement) -> str:
    """Name the setting whose best attack surely names more secrets than that of any other."""
    best = [judged.best.quantity for judged in case.each]
    limits = [
        None if row.low is None or row.high is None else (float(row.low), float(row.high))
        for row in best
    ]
    place = surely_largest(limits)
    if place is None:
        return "We found no setting, of those tried, at clearly higher risk."
    return f"Hit hardest, of the settings tried: {case.each[place].label}."
