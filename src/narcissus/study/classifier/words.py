"""What a study of a classifier says in words, and what it cannot say."""

from __future__ import annotations

from narcissus._outwards import lower, upper
from narcissus.results import NotAssessed
from narcissus.study.classifier.schema import ClassifierStudy
from narcissus.study.results.classifier import ClassifierResults, ImageAttack

NOT_COVERED = [
    "other attacks: that these reconstruct little says nothing about the next, and nothing here is "
    "proved about every attacker; a guarantee of the training would be (DP-SGD)",
    "images of another source than those given",
    "an image that is like one of another side: it counts as reconstructed on both",
]

ATTACKS = {"reconstruction": "Reconstruction", "informed": "The informed attacker"}


def verdict_words(results: ClassifierResults) -> str:
    best = results.best
    text = (
        f"{ATTACKS[best.name]} gets {best.recovered:,} of {best.images:,} images that the network "
        f"was trained on ({_share(best.share)}), and {_share(best.fresh.value)} of images that it "
        f"never saw: a gain of {_gain(best)}"
    )
    if best.shadows:
        text += (
            f"; from {len(best.shadows)} networks trained without them it gets "
            f"{max(best.shadows):,} at most"
        )
    text += "."
    if results.most_gain is not None:
        accepted = f"{upper(100 * results.most_gain, places=1)} points are accepted"
        text += {
            "exceeded": f" {accepted}.",
            "too few trials": f" {accepted}; more images would tell.",
            "inconclusive": f" {accepted}: these attacks do not show more, and prove no less.",
            "no threshold": "",
        }[results.status]
    return text


def _gain(one: ImageAttack) -> str:
    low = lower(100 * one.shown_gain, places=1)
    return f"at least {low} points"


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def assumptions(study: ClassifierStudy) -> tuple[str, ...]:
    """Describe what the limits take as given."""
    found = ["images are independent draws of one source"]
    if study.weights is not None:
        found.append(
            "the fresh images are of the same source as those trained on, and the network was not "
            "trained on them"
        )
        if study.weights.shadows:
            found.append(
                "the shadow networks were trained in the same way, on other images of the source"
            )
    return tuple(found)


def assessed(results: ClassifierResults) -> list[str]:
    beside = f" and {results.shadows} networks trained without them" if results.shadows else ""
    names = {
        "reconstruction": "reconstruction from the weights alone: training images, beside "
        f"{results.fresh:,} fresh images{beside}",
        "informed": "reconstruction by an attacker who knows all training images but one, beside "
        f"{results.fresh:,} fresh images",
    }
    return [names[one.name] for one in results.attacks]


def not_assessed(study: ClassifierStudy, results: ClassifierResults) -> list[NotAssessed]:
    """Return what was asked and not answered, and what would answer it."""
    found: list[NotAssessed] = []
    if study.reconstruction and not results.shadows:
        key = "training" if study.training else "weights"
        found.append(
            NotAssessed(
                "what a network that was trained without these images gives away of them",
                "there are no shadow networks",
                f"`{key}.shadows`: 19 or more of them make a p-value of 5% possible",
            )
        )
    if results.fitted is not None and results.fitted < 1:
        found.append(
            NotAssessed(
                "a network that was trained to the end",
                f"it gets {_share(results.fitted)} of its training images right, and the "
                "conditions that are read off the weights hold once it gets all",
                "more `training.steps`, or a smaller `training.learning_rate`",
            )
        )
    return found
