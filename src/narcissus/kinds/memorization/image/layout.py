"""A model of images, in words and as a page: images given back next to those never seen."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import numpy as np

from narcissus.extraction.images import png_of
from narcissus.judgement import StudyJudgement
from narcissus.kinds.memorization.columns import (
    between,
    count_columns,
    gain_cell,
    value_of,
)
from narcissus.kinds.memorization.declarations import left_out
from narcissus.kinds.memorization.image.kind import ImageResult
from narcissus.kinds.memorization.layout import MemorizationLayout
from narcissus.report.format import MISSING, number, percent
from narcissus.report.page import Facts, Figure, Picture, Pictures, Section, Text
from narcissus.results import NotAssessed
from narcissus.study.record import Record


class ImageModelLayout(MemorizationLayout):
    untitled, released = "A model of images", "A model of images ({0.model})"
    asked = "Which of the images that it was trained on does a model give back?"
    outliers = "outliers"

    def subject_of_attack(self, name: str) -> str:
        return "The model"

    not_covered = (
        "other attacks, by guidance, gradients or known parts of an image: only a guarantee of the "
        "training (DP-SGD) limits every attacker",
        "images that are like others: they are no outliers by the relation, and are left out",
        "likeness that a distance between pixels does not see: moved, mirrored or recoloured "
        "images, a face in another picture",
    )

    def assessed(self, case: StudyJudgement) -> list[str]:
        beside = f"{case.result.fresh_outliers:,} fresh ones"
        if case.result.shadow_models:
            beside += ", and those of models trained without them"
        return [f"outliers given back on their captions, close and unique, compared with {beside}"]

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        for group in case.result.groups:
            of = "" if group.is_whole else f" of {group.words(self.outliers)}"
            if group.fresh is None:
                yield NotAssessed(
                    f"what the model gives of outliers{of} that it never saw",
                    "no fresh image is like them",
                    "more fresh images, or let chance choose what is repeated: [duplicates]",
                )
            if case.result.shadow_models and group.shadows is None:
                yield NotAssessed(
                    f"what shadow models give of outliers{of}",
                    "none of them is unlike the images of shadow models",
                    "more images, or a smaller `relation.unique`",
                )
        if not case.result.shadow_models:
            yield NotAssessed(
                "what a model that was trained without the images gives of them",
                "there is no shadow model",
                "`data.shadows = 1`, for a model that is trained here",
            )

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        result: ImageResult = case.result
        counts = [Text([_rule(result)]), self._counts(result)]
        pictures = [Section("Pictures", [_pictures(result)])] if result.pictures else []
        return [
            Section("What is released, and who attacks", [self._facts(record, case)]),
            Section("Images given back", counts),
            *pictures,
            Section("Method", [self._method(case)]),
        ]

    def _facts(self, record: Record, case: StudyJudgement) -> Facts:
        result: ImageResult = case.result
        height, width, channels = result.shape
        shadows = result.shadow_models
        rows = [
            ("Model", result.model),
            ("Numbers in it", number(result.parameters)),
            ("Images", f"{height} x {width} pixels, {'grey' if channels == 1 else 'in colour'}"),
            (
                "Trained on",
                f"{number(result.trained)} different images, {number(result.trained_copies)} with "
                f"their copies; {number(result.groups[0].total)} are unlike all others",
            ),
            (
                "Fresh images",
                f"{number(result.fresh)}, which no model here has seen; "
                f"{number(result.fresh_outliers)} are unlike those trained on",
            ),
            ("Which are which", "by chance" if result.by_chance else "as the study says"),
            (
                "Shadow models",
                f"{number(shadows)}, the same training on other images" if shadows else "none",
            ),
            (
                "The attacker",
                f"asks for each of {number(result.captions)} captions {number(result.samples)} "
                f"times and keeps at most {number(result.keep)} images that come again and again; "
                "the steward says which captions",
            ),
            *left_out(result),
        ]
        return self.facts(rows, record, case)

    def _counts(self, result: ImageResult) -> Figure:
        whole = result.groups[0]
        beside = "" if whole.fresh is None else f", and {percent(whole.fresh.value)} of fresh ones"
        return self.shares_figure(
            f"The model gives back {percent(whole.share)} of outliers{beside}",
            "For all outliers, and for those with as many copies in the training data: a dot for "
            "the share given back, an open square for that of images the model never saw.",
            "Outliers given back, by copies in the training data",
            "copies",
            result.groups,
            {
                "Images": lambda group: group.words(self.outliers),
                **count_columns("Given back"),
                "By shadow models": lambda group: value_of(group.shadows),
                "Their limits": lambda group: between(group.shadows),
                "Gain, points": gain_cell,
            },
        )

    def _method(self, case: StudyJudgement) -> Text:
        return Text(
            [
                "How many images are given back is a count for this model and these attempts. "
                "The baseline is estimated. A fresh image is asked for by its caption like "
                "the others. It must be unlike all images trained on but one, drawn for it, as an "
                "image trained on must be unlike all but itself. Given the model, the images "
                "trained on and the noise of attempts, fresh images count or not "
                "independently of each other. So limits of their share hold (Clopper and "
                "Pearson). The gain is the count's share less theirs.",
                "Shadow models were trained by the same procedure, on other images with as "
                "many copies. The images of the model that they give back are limited in the "
                "same way (several: by betting on each image's mean), with outliers "
                "told against the images of the shadow models.",
                self.limits_together(case),
            ]
        )


LAYOUT = ImageModelLayout()


def _rule(result: ImageResult) -> str:
    return (
        f"An image counts if one of the attempts from its caption is closer than {result.close:g} "
        f"and it is farther than {result.unique:g} from every other image of the training data: "
        "close and unique (Cohen et al. 2024, D.3, after Carlini et al. 2023). Distances are root "
        "mean square differences of a pixel, between 0 and 1. Copies of an image are one image."
    )


def _pictures(result: ImageResult) -> Pictures:
    return Pictures(
        "Attempts that come closest to an outlier, of each number of copies, next to the nearest "
        "image trained on and the nearest fresh one",
        ("Given", "Trained on", "Fresh"),
        [
            (
                [
                    Picture(_png(picture.generated, result), f"Attempt {place}"),
                    Picture(
                        _png(picture.trained, result), f"Nearest to {place} of those trained on"
                    ),
                    Picture(_png(picture.fresh, result), f"Nearest to {place} of fresh ones"),
                ],
                [
                    picture.caption or MISSING,
                    picture.copies,
                    f"{picture.to_trained:.3f}",
                    f"{picture.to_fresh:.3f}",
                    "yes" if picture.reproduced else "no",
                ],
            )
            for place, picture in enumerate(result.pictures, 1)
        ],
        ("Caption", "Copies", "Distance, trained on", "Distance, fresh", "Counts"),
    )


def _png(raw: str, result: ImageResult) -> str:
    pixels = np.frombuffer(base64.b64decode(raw), dtype=np.uint8)
    return base64.b64encode(png_of(pixels.reshape(result.shown_shape))).decode()
