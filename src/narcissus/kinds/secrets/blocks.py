"""Tables of trainings and attacks, and the picture of success, guess and bound against epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from narcissus._outwards import lower
from narcissus.judgement import JudgedCriterion
from narcissus.kinds.layout import table
from narcissus.kinds.secrets.kind import AttackedSetting, SecretsResult
from narcissus.report.format import limits, number, percent
from narcissus.report.page import Block, Facts, Figure
from narcissus.rows import StudyRow

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


def find_guess(judged: JudgedCriterion) -> StudyRow:
    """Return the best guess without a model, where a criterion is."""
    return next(row for row in judged.rows if row.role == "guess")


def find_setting(judged: JudgedCriterion) -> AttackedSetting:
    """Return what was trained and attacked where a criterion is."""
    return find_guess(judged).about


def describe_training(result: SecretsResult) -> list[Block]:
    """Tell how models were trained, and what that guarantees."""
    training = result.settings[0].training
    rows = [
        (
            "Trained",
            f"{number(result.models)} models for each setting, each on a separate secret",
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
    trainings = table(
        "Each training, and what it guarantees; the last two columns hold about another canary in "
        "the place of this one, which is what a bound on naming it needs",
        result.settings,
        {
            "Setting": "label",
            "Noise, in clipping norms": lambda each: each.training.noise or "none",
            "Learning rate": lambda each: each.training.learning_rate,
            "mu accounted": lambda each: each.training.accounted_mu,
            "mu that holds": lambda each: each.training.mu,
            "epsilon that holds, at delta": lambda each: each.training.kept_epsilon,
        },
        graded=False,
        folded=True,
    )
    return [Facts(rows), trainings]


def describe_attacks(
    each: Sequence[JudgedCriterion], *, picture: Figure | None = None
) -> list[Block]:
    """Tell what attacks on secrets of one prior named and refuted.

    picture: None where the first screen has it.
    """
    settings = [find_setting(judged) for judged in each]
    first = settings[0]
    facts = [
        ("Values", number(first.values)),
        ("Guessed without a model", f"{first.likeliest}: {percent(first.guess)} right"),
    ]
    attacks = table(
        "Every attack; the same guesses name so many fresh secrets, and what it refutes",
        [(setting.label, attack) for setting in settings for attack in setting.attacks],
        {
            "Setting": lambda pair: pair[0],
            "Attack": lambda pair: pair[1].name,
            "Names": lambda pair: pair[1].success.value,
            "Limits": lambda pair: limits(pair[1].success.low, pair[1].success.high),
            "Fresh secrets": lambda pair: pair[1].fresh,
            "Refutes epsilon below": lambda pair: lower(pair[1].refuted_epsilon, places=2),
            "Refutes mu below": lambda pair: lower(pair[1].refuted_mu, places=3),
        },
        graded="sampled",
        percent=("Names", "Fresh secrets"),
    )
    return [Facts(facts), *([] if picture is None else [picture]), attacks]


def picture_of(each: Sequence[JudgedCriterion]) -> Figure:
    """Draw success, guess and bound against epsilon, of secrets of one prior."""
    prior = find_setting(each[0]).prior
    order = sorted(each, key=lambda judged: find_setting(judged).epsilon)
    settings = [find_setting(judged) for judged in order]
    levels = [setting.epsilon for setting in settings]
    powers = [math.log10(level) for level in levels if math.isfinite(level)]
    last = max(powers, default=0.0) + 0.4
    places = [*powers, *[last] * (len(levels) - len(powers))]  # those without end come last

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import CEILING, WITH, WITHOUT, Curve, Range, curves

        looks = (WITH, {**CEILING, "marker": "D"}, {**WITH, "marker": "v", "markersize": 6})
        lines = [
            Curve(
                attack.name,
                [
                    Range(success.value or 0.0, success.low, success.high)
                    for setting in settings
                    for success in [setting.attacks[place].success]
                ],
                looks[place % len(looks)],
                ("-", "-.", ":")[place % 3],
            )
            for place, attack in enumerate(settings[0].attacks)
        ]
        guess = [Range(setting.guess) for setting in settings]
        curves(
            figure,
            [*lines, Curve("guess without the model", guess, WITHOUT, "--")],
            places=places,
            labels=[number(e) if math.isfinite(e) else "no\nnoise" for e in levels],
            apart=next((i for i, e in enumerate(levels) if e == math.inf), None),
            axis="epsilon (log scale); less noise to the right",
            proved=[setting.bound and setting.bound.success.value for setting in settings],
            threshold=order[0].at_most,
        )

    low, high = order[0], order[-1]
    title = f"{low.best.name} names {percent(low.best.value)} of secrets"
    if len(order) > 1:
        title = (
            f"The best attack names {percent(low.best.value)} of secrets at "
            f"{_level(levels[0])} and {percent(high.best.value)} at {_level(levels[-1])}"
        )
    slug = "_".join("".join(c if c.isalnum() else " " for c in prior).split()).lower()
    return Figure(
        title,
        "Share of secrets named against epsilon: a line with its band of confidence limits for "
        "each attack, a dashed line with open squares for the best guess without the model; the "
        "hatched area above the heavy line is where it is proved that no attacker is.",
        draw,
        table(
            "The best attack, the guess without the model and what no attacker exceeds",
            order,
            {
                "Setting": "label",
                "Guess": "guess",
                "Best attack": lambda judged: judged.best.name,
                "Names": lambda judged: judged.best.value,
                "Limits": lambda judged: limits(
                    judged.best.quantity.low, judged.best.quantity.high
                ),
                "Proved at most": lambda judged: (
                    None if judged.bound is None else percent(judged.bound.value, "up")
                ),
                "Accepted": lambda judged: (
                    None if judged.at_most is None else percent(judged.at_most, "down")
                ),
                "Threshold": "status",
            },
            graded=False,
            percent=("Guess", "Names"),
        ).where_known("Proved at most", "Accepted"),
        (7.4, 4.3),
        f"secrets_{slug}",
    )


def _level(epsilon: float) -> str:
    return "no noise" if epsilon == math.inf else f"epsilon {number(epsilon)}"
