"""What the settings, attacks and thresholds of a table's audit are called in the report."""

from __future__ import annotations

from narcissus.report.format import NO_BREAK
from narcissus.study.results.table import SettingResult

_NAMES = {
    "prior": "prior alone",
    "posterior": "posterior, mean field",
    "gibbs": "posterior, Gibbs",
    "rap": "RAP, as published",
    "rap_from_prior": "RAP from the prior",
    "ceiling": "ceiling",
}


def attack_name(name: str) -> str:
    return _NAMES.get(name.replace("-", "_"), name.replace("_", " "))


def label_of(setting: SettingResult) -> str:
    text = setting.label
    return text.replace(" ", NO_BREAK) if len(text) < 16 else text


def level_of(setting: SettingResult) -> str:
    """Name the level of the sampled limits: ``"95% limits"``."""
    return f"{100 * setting.confidence:g}% limits"


def share_allowed(setting: SettingResult) -> float | None:
    """Return the threshold as a share recovered, where it is one on a mean."""
    threshold = setting.threshold
    if threshold is None:
        return None
    if threshold.advantage is not None:
        # an advantage is the part of what could not be guessed that is recovered
        return setting.guess.share + threshold.advantage * (1 - setting.guess.share)
    return threshold.share


def best_name(setting: SettingResult) -> str:
    """Name the attack whose numbers are quoted: one with less evidence may have a larger share."""
    best = setting.best_attack
    if setting.best is None or best is None:
        return "the best attack"
    if all(one.share <= best.share for one in setting.attacks.values()):
        return "the best attack"
    return f"the attack with most evidence ({attack_name(setting.best)})"


def above_guess(setting: SettingResult) -> float | None:
    """Return how much more the best attack recovers than can be guessed without the release."""
    best = setting.best_attack
    return None if best is None else best.share - setting.guess.share
