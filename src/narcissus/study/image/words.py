"""What a study of a model of images says in words, and what it cannot say."""

from __future__ import annotations

from narcissus._outwards import lower, upper
from narcissus.extraction.captioned_images import DividedImages
from narcissus.results import NotAssessed
from narcissus.study.results.image import ImageGroup, ImageResults

NOT_COVERED = [
    "other attacks (guidance, gradients, known parts of an image): that this one gives little says "
    "nothing about the next, and nothing here is proved about every attacker; a guarantee of the "
    "training would be (DP-SGD)",
    "images that are like others: they are no outliers by the relation, and never count",
    "likeness that a distance between pixels does not see: moved, mirrored or recoloured images, a "
    "face in another picture",
]


def verdict_words(results: ImageResults) -> str:
    """Give the verdict in a sentence or two."""
    whole = results.whole
    text = (
        f"The model gives back {whole.reproduced:,} of {whole.images:,} outliers that it was "
        f"trained on{_beside(whole)}."
    )
    worst = results.worst
    if worst.copies and worst.shown_gain > 0:
        copies = "1 copy" if worst.copies == 1 else f"{worst.copies:,} copies"
        text += (
            f" Of those with {copies}, it gives "
            f"back {worst.reproduced:,} of {worst.images:,}: at least "
            f"{lower(100 * worst.shown_gain, places=1)} points more than of fresh ones."
        )
    if results.most_gain is not None:
        text += f" {_threshold(results, results.most_gain)}"
    return text


def _gained(low: float) -> str:
    """Say the lower limit of a gain; below 0 it shows none."""
    if low <= 0:
        return "no gain is shown"
    return f"a gain of at least {lower(100 * low, places=1)} points"


def _beside(group: ImageGroup) -> str:
    if group.fresh is None or group.gain is None:
        return ""
    return (
        f" ({100 * group.share:.1f}%), and {100 * group.fresh.value:.1f}% of those that it never "
        f"saw: {_gained(group.shown_gain)}"
    )


def _threshold(results: ImageResults, most: float) -> str:
    accepted = f"{upper(100 * most, places=1)} points are accepted"
    return {
        "exceeded": f"{accepted}.",
        "too few trials": f"{accepted}; more images would tell.",
        "inconclusive": f"{accepted}: these attempts do not show more, and prove no less.",
        "no threshold": "",
    }[results.status]


def assumptions(division: DividedImages) -> tuple[str, ...]:
    """Say what the limits take as given."""
    found = ["images are independent draws of one source"]
    if not division.by_chance:
        found.append(
            "the fresh images are of the same source as those trained on, and the model was not "
            "trained on them"
        )
    return tuple(found)


def assessed(results: ImageResults) -> list[str]:
    """Say what was assessed."""
    beside = f"{results.fresh_outliers:,} fresh ones"
    if results.shadow_models:
        beside += ", and those of models trained without them"
    return [
        f"outliers given back on their captions, close and unique, beside {beside}",
    ]


def not_assessed(results: ImageResults) -> list[NotAssessed]:
    """Say what was asked and not answered, and what would answer it."""
    found: list[NotAssessed] = []
    for group in results.groups:
        of = f" of {group.copies} copies" if group.copies else ""
        if group.fresh is None:
            found.append(
                NotAssessed(
                    f"what the model gives of outliers{of} that it never saw",
                    "no fresh image is like them",
                    "more fresh images, or let chance choose what is repeated: [duplicates]",
                )
            )
        if results.shadow_models and group.shadows is None:
            found.append(
                NotAssessed(
                    f"what shadow models give of outliers{of}",
                    "none of them is unlike the images of shadow models",
                    "more images, or a smaller `relation.unique`",
                )
            )
    if not results.shadow_models:
        found.append(
            NotAssessed(
                "what a model that was trained without the images gives of them",
                "there is no shadow model",
                "`data.shadows = 1`, for a model that is trained here",
            )
        )
    return found
