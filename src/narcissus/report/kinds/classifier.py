"""A study of a classifier, as a page: reconstructions beside training images and fresh ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from narcissus.report.format import MISSING, between_points, number, percent
from narcissus.report.kinds.recovered import Counted, facts, shares_figure
from narcissus.report.page import (
    Block,
    Cell,
    Facts,
    Figure,
    Page,
    Picture,
    Pictures,
    Section,
    Text,
    Verdict,
)
from narcissus.results import Grade
from narcissus.study.classifier.words import ATTACKS
from narcissus.study.record import Record
from narcissus.study.results.classifier import ClassifierResults, ImageAttack, ShownReconstruction

ASKED = {
    "reconstruction": "The attacker has the weights and nothing else, and looks for the points "
    "whose gradients explain them.",
    "informed": "The attacker has the weights and all training images but one, and looks for the "
    "one that explains what the others leave of the weights. Each image in turn is the one that is "
    "left out.",
}


def page(record: Record) -> Page:
    """Turn the record of a study of a classifier into a page."""
    results = cast("ClassifierResults", record.results)
    return Page(
        title=record.title,
        subtitle="Which training images do the weights of a classifier give away?",
        verdict=_verdict(record, results),
        sections=[
            Section("What is released, and who attacks", [_facts(record, results)]),
            Section("Images reconstructed", [_counts(results)]),
            *(Section(ATTACKS[one.name], list(_attack(one))) for one in results.attacks),
            Section("Method", [_method(results)]),
        ],
    )


def _verdict(record: Record, results: ClassifierResults) -> Verdict:
    numbers: list[tuple[str, str, str, Grade]] = []
    for one in results.attacks:
        numbers.append(_counted(one).headline("images"))
        if one.shadow_chance is not None:
            text = f"at most {max(one.shadows):,} of {one.images:,} from {len(one.shadows)} others"
            numbers.append(
                ("Chance of such a lead over networks trained without these images",
                 f"{one.shadow_chance:.2g}", text, "sampled")
            )  # fmt: skip
    most = results.most_gain
    return Verdict(
        status=record.status,
        headline=record.verdict,
        evidence_against=[
            f"{ATTACKS[one.name]}: a gain of {between_points(one.gain.low, one.gain.high)} points"
            for one in results.attacks
            if most is not None and one.shown_gain > most
        ],
        evidence_for=[],  # an attack that fails proves nothing
        numbers=numbers,
    )


def _facts(record: Record, results: ClassifierResults) -> Facts:
    rows = [
        ("Network", f"{results.network}, with ReLUs: {number(results.parameters)} numbers"),
        ("Trained on", f"{number(results.trained)} images of {results.image}"),
        ("Fresh images", f"{number(results.fresh)}, which no network here has seen"),
        ("Which are which", "by chance" if results.by_chance else "as the study says"),
        (
            "Shadow networks",
            f"{number(results.shadows)}, trained in the same way without these images"
            if results.shadows
            else "none",
        ),
        ("The attacker has", "the network with all its weights, and the range of a pixel"),
    ]
    if results.fitted is not None:
        rows.insert(2, ("Of which it gets right", percent(results.fitted)))
    return facts(rows, record, results.most_gain, "images")


def _counted(one: ImageAttack) -> Counted:
    shadows: list[Cell] = [MISSING, MISSING]
    if one.shadow_chance is not None:
        shadows = [f"{max(one.shadows):,}", f"{one.shadow_chance:.2g}"]
    return Counted(
        ATTACKS[one.name],
        one.images,
        one.recovered,
        one.share,
        one.fresh,
        one.gain,
        more=[f"{one.chance:.2g}", *shadows],
    )


def _counts(results: ClassifierResults) -> Figure:
    best = results.best
    figure = shares_figure(
        f"{ATTACKS[best.name]} gets {best.recovered:,} of {best.images:,} training images, "
        f"{percent(best.fresh.value)} of fresh ones",
        "For each attack a dot for the share of training images that it reconstructs, and an open "
        "square for that of images the network never saw.",
        "Training images reconstructed, beside fresh images and shadow networks",
        ("Attack", "Trained on", "Reconstructed", "Share", "Never seen", "Limits",
         "Gain, points", "By chance", "Most from a shadow", "Rank among shadows"),
        [_counted(one) for one in results.attacks],
        "attacks",
        "images",
    )  # fmt: skip
    known = figure.table.where_known("Most from a shadow", "Rank among shadows")
    return replace(figure, table=known)


def _attack(one: ImageAttack) -> Iterator[Block]:
    said = f"{ASKED[one.name]} An image counts if {one.rule}."
    if one.named is not None:
        said += (
            f" {one.named:,} of {one.images:,} images that were left out are more like their "
            "reconstruction than every fresh image is."
        )
    yield Text([said, f"Chance of as many: at most {one.chance:.2g} ({one.chance_by})."])
    if one.shown:
        yield Pictures(
            "The reconstructions nearest to a training image, the best first",
            ("Reconstruction", "The training image", "The nearest fresh image"),
            [(_row(shown, place), [_note(shown)]) for place, shown in enumerate(one.shown, 1)],
            ("Correlation of the reconstruction",),
        )
        yield Text(
            [
                "Each picture goes from its own darkest to its own brightest value, since a "
                "correlation is of shapes alone. This page shows training images: keep it as you "
                "keep them, or make it with `pictures = 0`."
            ]
        )
    else:
        yield Text(
            [
                "No image is shown. `pictures = 6` in the study shows the best reconstructions "
                "beside training images, in the record and here."
            ]
        )


def _row(shown: ShownReconstruction, place: int) -> list[Picture]:
    return [
        Picture(shown.reconstruction, f"Reconstruction {place}"),
        Picture(shown.training, f"Training image of row {place}, {_alike(shown.correlation)}"),
        Picture(
            shown.fresh, f"Nearest fresh image of row {place}, {_alike(shown.fresh_correlation)}"
        ),
    ]


def _alike(correlation: float) -> str:
    return f"correlation {correlation:.2f} with the reconstruction"


def _note(shown: ShownReconstruction) -> str:
    return (
        f"{shown.correlation:.2f} with the training image, {shown.fresh_correlation:.2f} with the "
        "nearest fresh one"
    )


def _method(results: ClassifierResults) -> Text:
    return Text(
        [
            "A network that is trained to a very small loss is a weighted sum of its gradients at "
            "some training images. The reconstruction looks for points and weights that explain "
            "the network so, by L-BFGS from several starts, the first of them read off the weights "
            "in closed form (Cohen et al. 2024, D.3, after Haim et al. 2022; for several classes "
            "Buzaglo et al. 2023). The informed attacker (Balle et al. 2022) holds the known "
            "images fast.",
            "How many images are reconstructed is a count for this network. What would be anyway "
            "is sampled: fresh images are independent of the network and of what was made of it, "
            "so that limits of their share hold (Clopper and Pearson). The gain is the first less "
            "the second. A chance among shadows is the rank of this network among networks trained "
            "without these images, by how many of these images the same attack gets from each.",
            f"{results.claims} limits hold together at level {results.confidence:g}, each at "
            f"{results.claim_confidence:.6g} (Bonferroni). Chances (p-values) are given one by "
            "one, as they are.",
        ]
    )
