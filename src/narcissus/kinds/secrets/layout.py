"""Secrets in trained models, in words and as a page: success, guess and bound against epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from narcissus._outwards import lower
from narcissus.judgement import JudgedCriterion, StudyJudgement
from narcissus.kinds.layout import Headings, Layout
from narcissus.kinds.secrets.blocks import (
    describe_attacks,
    describe_training,
    find_guess,
    find_setting,
    picture_of,
)
from narcissus.kinds.secrets.kind import AttackedSetting, SecretsResult
from narcissus.report.about import Answered, EveryAttacker, Subject
from narcissus.report.first_screen import NO_GROUPS, Glance, placed, seeks, surely_largest
from narcissus.report.format import number, percent
from narcissus.report.page import Figure, Section, Text
from narcissus.report.reach import Reach
from narcissus.results import NotAssessed
from narcissus.study.record import Record


def describe_refuted(settings: Sequence[AttackedSetting]) -> str:
    """Describe the largest epsilon that a run refutes, and where."""
    setting, attack = max(
        ((setting, attack) for setting in settings for attack in setting.attacks),
        key=lambda pair: pair[1].refuted_epsilon,
    )
    if attack.refuted_epsilon == 0:
        return "No epsilon is refuted."
    return (
        f"{attack.name} refutes every epsilon below {lower(attack.refuted_epsilon, places=2)} at "
        f"delta {setting.training.delta:g} ({setting.label})."
    )


class SecretsLayout(Layout):
    """The words of secrets."""

    headings: ClassVar[Headings] = {
        ("guess", "guess"): "Guessed without the model",
        ("attack", "success"): "Named with it, by {name}",
        ("bound", "bound"): "Named by any attacker",
        ("refuted", "refuted epsilon"): "Epsilon refuted by {name}",
    }
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
            f"{len(case.each)} settings, {case.result.models:,} models each: the attacks {names}"
        ]
        if bounds := case.findings.select(role="bound"):
            lines.append(f"every attacker, by {bounds[0].name}")
        return lines

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        without = "; ".join(judged.label for judged in case.each if judged.bound is None)
        if without:
            yield NotAssessed(
                f"what no attacker exceeds, at {without}",
                "training needs noise for a guarantee",
                "give a finite epsilon",
            )
        result: SecretsResult = case.result
        failing = [(s, attack) for s in result.settings for attack in s.attacks if attack.failed]
        for setting, attack in failing:
            yield NotAssessed(
                f"the attack {attack.name}, at {setting.label}",
                f"it failed on {attack.failed:,} of {result.models:,} models, which count as "
                "failures",
                "mend it, and play again",
            )

    def glance(self, case: StudyJudgement) -> Glance:
        worst = case.worst
        attack = next((row for row in worst.attacks if row is case.decided_by), worst.best)
        alike = [judgement for judgement in case.alike if judgement.at_most == worst.at_most]
        where = placed([judgement.label for judgement in alike], len(case.deciding))
        if len(alike) < len(case.alike):  # others have a threshold of their own
            where = f"at {worst.label}"
        return Glance(
            unit="secrets",
            without=Reach.of(
                "Without the model, the best guess names {} secrets.", find_guess(worst)
            ),
            with_it=Reach.of(f"With the model, the attack {attack.name} names {{}}.", attack),
            most=None
            if worst.bound is None
            else Reach.of("No attacker names more than {}.", worst.bound),
            unlimited="Any attacker might name all 100: only noise in training sets a limit.",
            hardest=_hardest(case) if len(case.each) > 1 else NO_GROUPS,
            unseen="secrets of another kind, other models, attackers who know more",
            accepted="{} secrets" if worst.at_most is not None else "",
            where=where,
            about=seeks(
                "how secrets are drawn and models are trained",
                f"a secret of {number(find_setting(worst).values)} values",
                f"the trained model, at {worst.label}",
            ),
        )

    def lead(self, case: StudyJudgement) -> Figure | None:
        return picture_of(_alike(case, _prior_of(case))) if _has_lead(case) else None

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        result: SecretsResult = case.result
        first = _prior_of(case) if _has_lead(case) else ""
        secrets: list[Section] = []
        for prior in dict.fromkeys(setting.prior for setting in result.settings):
            each = _alike(case, prior)
            picture = None if prior == first else picture_of(each)
            secrets.append(Section(f"Secrets: {prior}", describe_attacks(each, picture=picture)))
        return [
            Section("What was trained, and who attacks", describe_training(result)),
            *secrets,
            Section("What is refuted", [_refutes(case)]),
            Section("Method", [_method(case)]),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        worst, bound = case.worst, case.worst.bound
        limits: tuple[EveryAttacker, ...] = ()
        if bound is not None:
            text = f"At most {percent(bound.value, 'up')} of secrets are named ({worst.label})."
            limits = (EveryAttacker(text, "proved", bound.quantity.assumptions),)
        return Subject(
            f"A trained model that saw one secret of {number(find_setting(worst).values)}; "
            f"{number(case.result.models)} models were trained for each setting.",
            limits=limits,
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        worst, training = case.worst, find_setting(case.worst).training
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


def _prior_of(case: StudyJudgement) -> str:
    """Name the prior of the setting that decided."""
    return find_setting(case.worst).prior


def _alike(case: StudyJudgement, prior: str) -> list[JudgedCriterion]:
    """Return the settings of one prior."""
    return [judged for judged in case.each if find_setting(judged).prior == prior]


def _has_lead(case: StudyJudgement) -> bool:
    """Check whether the prior that decided was tried at several levels of privacy."""
    return len(_alike(case, _prior_of(case))) > 1


def _refutes(case: StudyJudgement) -> Text:
    bounds = case.findings.select(role="bound")
    sentences = [
        describe_refuted(case.result.settings),
        "An epsilon is refuted where so many right guesses would be too unlikely for any mechanism "
        "that keeps it, with secrets from this very prior; so uneven secrets count as well as even "
        "ones. It can be far below what the training keeps, and is never evidence of safety.",
    ]
    if bounds:
        by = bounds[0].quantity.id
        sentences.append(f"The bound on every attacker is by {bounds[0].name}{by and f' [{by}]'}.")
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
            f"{len(limited)} limits hold together at level {case.result.confidence:g}, each at "
            f"{limited[0].quantity.confidence:.6g} (Bonferroni), by Clopper and Pearson. "
            "Refutations use the lower ones, at the same level.",
            "Noise is made for the epsilon that the study asks for. DP-SGD is accounted by the "
            "clipping norm, while two gradients of an n-gram model, a softmax, differ by at most "
            "the root of two: where mu is smaller for that, the bounds use the smaller one.",
        ]
    )


def _hardest(case: StudyJudgement) -> str:
    """Name the setting whose best attack surely names more secrets than that of any other."""
    best = [judged.best.quantity for judged in case.each]
    limits = [None if q.low is None or q.high is None else (q.low, q.high) for q in best]
    place = surely_largest(limits)
    if place is None:
        return "We found no setting, of those tried, at clearly higher risk."
    return f"Hit hardest, of the settings tried: {case.each[place].label}."
