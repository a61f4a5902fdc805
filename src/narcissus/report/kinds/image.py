"""A study of a model of images, as a page: images given back beside those never seen, pictures."""

from __future__ import annotations

import base64
from typing import cast

import numpy as np

from narcissus.extraction.images import png_of
from narcissus.report.format import MISSING, number, percent
from narcissus.report.kinds.recovered import Counted, copies_words, facts, shares_figure
from narcissus.report.page import (
    Facts,
    Figure,
    Page,
    Picture,
    Pictures,
    Section,
    Text,
    Verdict,
)
from narcissus.study.record import Record
from narcissus.study.results.image import ImageGroup, ImageResults


def page(record: Record) -> Page:
    """Turn the record of a study of a model of images into a page."""
    results = cast("ImageResults", record.results)
    return Page(
        title=record.title,
        subtitle="Which of the images that it was trained on does a model give back?",
        verdict=_verdict(record, results),
        sections=[
            Section("What is released, and who attacks", [_facts(record, results)]),
            Section("Images given back", [Text([_rule(results)]), _counts(results)]),
            *([Section("Pictures", [_pictures(results)])] if results.pictures else []),
            Section("Method", [_method(results)]),
        ],
    )


def _verdict(record: Record, results: ImageResults) -> Verdict:
    whole, worst = results.whole, results.worst
    numbers = [_counted(whole, "Given back").headline("images")]
    of = copies_words(worst, "outliers")
    if worst is not whole:
        name = f"Of those with {of}"
        numbers.append(_counted(worst, name).headline("images"))
    return Verdict(
        status=record.status,
        headline=record.verdict,
        worst=(f"{of}: {percent(worst.share)} of them are given back.", numbers[-1][3]),
        evidence_against=[record.verdict] if record.status == "exceeded" else [],
        evidence_for=[],  # attempts that fail prove nothing
        numbers=numbers,
    )


def _facts(record: Record, results: ImageResults) -> Facts:
    divided = "by chance" if results.by_chance else "as the study says"
    height, width, channels = results.shape
    shadows = results.shadow_models
    rows = [
        ("Model", results.model),
        ("Numbers in it", number(results.parameters)),
        ("Images", f"{height} x {width} pixels, {'grey' if channels == 1 else 'in colour'}"),
        (
            "Trained on",
            f"{number(results.trained)} different images, {number(results.trained_copies)} with "
            f"their copies; {number(results.whole.images)} are unlike all others",
        ),
        (
            "Fresh images",
            f"{number(results.fresh)}, which no model here has seen; "
            f"{number(results.fresh_outliers)} are unlike those trained on",
        ),
        ("Which are which", divided),
        (
            "Shadow models",
            f"{number(shadows)}, the same training on images of their own" if shadows else "none",
        ),
        (
            "The attacker",
            f"asks for each of {number(results.captions)} captions {number(results.samples)} times "
            f"and keeps at most {number(results.keep)} images that come again and again; whoever "
            "holds the data says which captions",
        ),
    ]
    return facts(rows, record, results.most_gain, "outliers")


def _rule(results: ImageResults) -> str:
    return (
        f"An image counts if one of the attempts from its caption is closer than {results.close:g} "
        f"and it is farther than {results.unique:g} from every other image of the training data: "
        "close and unique (Cohen et al. 2024, D.3, after Carlini et al. 2023). Distances are root "
        "mean square differences of a pixel, between 0 and 1. Copies of an image are one image."
    )


def _counted(group: ImageGroup, label: str = "") -> Counted:
    return Counted(
        label or copies_words(group, "outliers"),
        group.images,
        group.reproduced,
        group.share,
        group.fresh,
        group.gain,
        (group.shadows,),
    )


def _counts(results: ImageResults) -> Figure:
    whole = results.whole
    beside = "" if whole.fresh is None else f", and {percent(whole.fresh.value)} of fresh ones"
    return shares_figure(
        f"The model gives back {percent(whole.share)} of outliers{beside}",
        "For all outliers, and for those with as many copies in the training data: a dot for the "
        "share given back, an open square for that of images the model never saw.",
        "Outliers given back, by copies in the training data",
        ("Images", "Trained on", "Given back", "Share", "Never seen", "Limits",
         "By shadow models", "Their limits", "Gain, points"),
        [_counted(group) for group in results.groups],
        "copies",
        "images",
    )  # fmt: skip


def _pictures(results: ImageResults) -> Pictures:
    return Pictures(
        "Attempts that come closest to an outlier, of each number of copies, beside the nearest "
        "image trained on and the nearest fresh one",
        ("Given", "Trained on", "Fresh"),
        [
            (
                [
                    Picture(_png(one.generated, results), f"Attempt {place}"),
                    Picture(_png(one.trained, results), f"Nearest to {place} of those trained on"),
                    Picture(_png(one.fresh, results), f"Nearest to {place} of fresh ones"),
                ],
                [
                    one.caption or MISSING,
                    one.copies,
                    f"{one.to_trained:.3f}",
                    f"{one.to_fresh:.3f}",
                    "yes" if one.reproduced else "no",
                ],
            )
            for place, one in enumerate(results.pictures, 1)
        ],
        ("Caption", "Copies", "Distance, trained on", "Distance, fresh", "Counts"),
    )


def _png(raw: str, results: ImageResults) -> str:
    pixels = np.frombuffer(base64.b64decode(raw), dtype=np.uint8)
    return base64.b64encode(png_of(pixels.reshape(results.shown_shape))).decode()


def _method(results: ImageResults) -> Text:
    return Text(
        [
            "How many images are given back is a count for this model and these attempts. What it "
            "would give anyway is sampled: a fresh image is asked for by its caption like the "
            "others, and must be unlike all images trained on but one, drawn for it, as an image "
            "trained on must be unlike all but itself. Given the model, the images trained on and "
            "the noise that attempts start from, fresh images count or not independently of each "
            "other, so that limits of their share hold (Clopper and Pearson). The gain is the "
            "count's share less theirs.",
            "Shadow models were trained by the same procedure, on images of their own with as many "
            "copies. What they give of the images that the model was trained on is limited in the "
            "same way (several: by betting on each image's mean), with outliers told against the "
            "images of the shadow models.",
            f"{results.claims} limits hold together at level {results.confidence:g}, each at "
            f"{results.claim_confidence:.6g} (Bonferroni).",
        ]
    )
