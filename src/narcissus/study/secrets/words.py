"""What a study of secrets in trained models says in words, and what it cannot say."""

from __future__ import annotations

from collections.abc import Sequence

from narcissus._outwards import lower, upper
from narcissus.findings import weakest
from narcissus.results import Grade, NotAssessed
from narcissus.study.results.secrets import (
    SecretNumbers,
    SecretResult,
    SecretsResults,
    SecretStatus,
)

NOT_COVERED = [
    "secrets that are not drawn from these priors, and attackers who know more than the prior, the "
    "training procedure and the model after its last step",
    "other models: one canary in an n-gram model is a small part of what a large one is trained on",
    "hyper-parameters chosen on the secret itself; here they are chosen on simulated canaries",
]


def setting_words(found: SecretNumbers) -> tuple[Grade, str]:
    """Return the grade of a setting's status, and the sentence that says it."""
    status = found.status_by_numbers
    if status == "contradicted":
        return "sampled", " ".join(found.contradictions)
    best = found.best
    named = (
        f"{best.name} names {_share(best.success.value)} of secrets, "
        f"{_share(found.guess)} are guessed without the model"
    )
    proved = "" if found.bound is None else f", {_most(found.bound.value)} is proved"
    if found.at_most is None:
        return "sampled", f"{named}{proved}."
    allowed = f"{_share(found.at_most)} is accepted"
    if status == "met":
        assert found.bound is not None
        least = upper(100 * found.bound.value, places=1)
        return "proved", f"No attacker names more than {least}% of secrets, {allowed}."
    if status == "exceeded":
        beyond = max(found.attacks, key=lambda one: one.success.low or 0.0)
        least = lower(100 * found.lowest, places=1)
        return "sampled", f"{beyond.name} names at least {least}% of secrets, {allowed}."
    why = {
        "too few trials": "more models would settle it",
        "inconclusive": "no attack shows more, and no theorem excludes it",
    }[status]
    return "sampled", f"{named}{proved}, {allowed}: {why}."


def overall(results: SecretsResults) -> tuple[SecretStatus, Grade, str]:
    """Return status, grade and verdict of the study: those of the worst setting that decides."""
    worst = results.headline
    deciding = results.deciding
    status = worst.status
    same = [one for one in deciding if one.status == status]
    grade = weakest(one.grade for one in same)
    where = f"{worst.label}: " if len(results.settings) > 1 else ""
    count = ""
    if len(deciding) > 1 and status != "no threshold":
        count = f" {status.capitalize()} in {len(same)} of {len(deciding)} settings."
    return status, grade, f"{where}{worst.verdict}{count}"


def assessed(results: SecretsResults) -> list[str]:
    found = [
        f"{len(results.settings)} settings, {results.models:,} models each: "
        f"the attacks {', '.join(one.name for one in results.settings[0].attacks)}"
    ]
    if bound := next((one.bound for one in results.settings if one.bound is not None), None):
        found.append(f"every attacker, by {bound.theorem}")
    return found


def not_assessed(results: SecretsResults) -> list[NotAssessed]:
    """Return what was asked and not answered, and what would answer it."""
    without = [one.label for one in results.settings if one.bound is None]
    found: list[NotAssessed] = []
    if without:
        found.append(
            NotAssessed(
                f"what no attacker exceeds, at {'; '.join(without)}",
                "training without noise guarantees nothing",
                "give a finite epsilon",
            )
        )
    for one in results.settings:
        found += [
            NotAssessed(
                f"the attack {attack.name}, at {one.label}",
                f"it failed on {attack.failed:,} of {results.models:,} models, which count as "
                "failures",
                "mend it, and play again",
            )
            for attack in one.attacks
            if attack.failed
        ]
    return found


def refuted_words(settings: Sequence[SecretResult]) -> str:
    """Describe the largest epsilon that a run refutes, and where."""
    worst = max(settings, key=lambda one: one.most_refuting.refuted_epsilon)
    by = worst.most_refuting
    if by.refuted_epsilon == 0:
        return "No epsilon is refuted."
    return (
        f"{by.name} refutes every epsilon below {lower(by.refuted_epsilon, places=2)} at delta "
        f"{worst.training.delta:g} ({worst.label})."
    )


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def _most(value: float) -> str:
    return f"at most {upper(100 * value, places=1)}%"
