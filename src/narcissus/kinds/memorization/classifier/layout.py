"""A classifier, in words and as a page: reconstructions next to training images and fresh ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from narcissus.judgement import StudyJudgement
from narcissus.kinds.memorization.classifier.kind import (
    FROM_SHADOWS,
    NAMED,
    ClassifierResult,
    ImageAttack,
    ShownReconstruction,
)
from narcissus.kinds.memorization.columns import count_columns, gain_cell
from narcissus.kinds.memorization.layout import MemorizationLayout
from narcissus.report.format import MISSING, number, percent
from narcissus.report.page import Block, Cell, Facts, Figure, Picture, Pictures, Section, Text
from narcissus.results import NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.record import Record

ATTACKS = {"reconstruction": "Reconstruction", "informed": "The informed attacker"}
ASKED = {
    "reconstruction": "The attacker has the weights and nothing else, and looks for the points "
    "whose gradients explain them.",
    "informed": "The attacker has the weights and all training images but one, and looks for the "
    "one that explains what the others leave of the weights. Each image in turn is the one that is "
    "left out.",
}


class ClassifierLayout(MemorizationLayout):
    does = "gets"
    untitled, released = "A classifier", "A classifier with all its weights ({0.network})"
    asked = "Which training images do the weights of a classifier give away?"
    not_covered = (
        "other attacks: another one may find more, and only a guarantee of the training (DP-SGD) "
        "limits every attacker",
        "images of another source than those given",
        "an image that is like one of another side: it counts as reconstructed on both",
    )

    def assessed(self, case: StudyJudgement) -> list[str]:
        result: ClassifierResult = case.result
        beside = f" and {result.shadows} networks trained without them" if result.shadows else ""
        names = {
            "reconstruction": "reconstruction from the weights alone: training images, compared "
            f"with {result.fresh:,} fresh images{beside}",
            "informed": "reconstruction by an attacker who knows all training images but one, "
            f"compared with {result.fresh:,} fresh images",
        }
        return [names[attack.name] for attack in result.attacks]

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        result: ClassifierResult = case.result
        if not result.shadows and any(attack.name == "reconstruction" for attack in result.attacks):
            key = "training" if result.by_chance else "weights"
            yield NotAssessed(
                "what a network that was trained without these images gives away of them",
                "there are no shadow networks",
                f"`{key}.shadows`: 19 or more of them make a p-value of 5% possible",
            )
        if result.fitted is not None and result.fitted < 1:
            yield NotAssessed(
                "a network that was trained to the end",
                f"it gets {percent(result.fitted)} of its training images right, and the "
                "conditions that are read off the weights hold once it gets all",
                "more `training.steps`, or a smaller `training.learning_rate`",
            )

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None:
        """Return p-values besides: of a count, of names, of a lead over shadows."""
        attack: ImageAttack = row.about
        if row.of == case.result.counted:
            chance = attack.chance if attack.named is None else None
            return {"chance": chance, "trials": attack.total}
        if row.of in (NAMED, FROM_SHADOWS):
            return {"chance": attack.chance if row.of == NAMED else attack.lead}
        return super().in_frame(row, case)

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        return [
            Section("What is released, and who attacks", [self._facts(record, case)]),
            Section("Images reconstructed", [self._counts(case)]),
            *(
                Section(ATTACKS[attack.name], list(_attack(attack)))
                for attack in case.result.attacks
            ),
            Section("Method", [self._method(case)]),
        ]

    def _facts(self, record: Record, case: StudyJudgement) -> Facts:
        result: ClassifierResult = case.result
        rows = [
            ("Network", f"{result.network}, with ReLUs: {number(result.parameters)} numbers"),
            ("Trained on", f"{number(result.trained)} images of {result.image}"),
            ("Fresh images", f"{number(result.fresh)}, which no network here has seen"),
            ("Which are which", "by chance" if result.by_chance else "as the study says"),
            (
                "Shadow networks",
                f"{number(result.shadows)}, trained in the same way without these images"
                if result.shadows
                else "none",
            ),
            ("The attacker has", "the network with all its weights, and the range of a pixel"),
        ]
        if result.fitted is not None:
            rows.insert(2, ("Of which it gets right", percent(result.fitted)))
        return self.facts(rows, record, case)

    def _counts(self, case: StudyJudgement) -> Figure:
        result: ClassifierResult = case.result
        name, [best] = self.best(result)
        shadows = ("Most from a shadow", "Rank among shadows")
        figure = self.shares_figure(
            f"{ATTACKS[name]} gets {best.recovered:,} of {best.total:,} training images, "
            f"{percent((best.fresh and best.fresh.value) or 0.0)} of fresh ones",
            "For each attack a dot for the share of training images that it reconstructs, and an "
            "open square for that of images the network never saw.",
            "Training images reconstructed, compared with fresh images and shadow networks",
            "attacks",
            result.attacks,
            {
                "Attack": lambda attack: ATTACKS[attack.name],
                **count_columns("Reconstructed"),
                "Gain, points": gain_cell,
                "By chance": lambda attack: f"{attack.chance:.2g}",
                shadows[0]: lambda attack: (
                    f"{max(attack.shadows):,}" if attack.shadows else MISSING
                ),
                shadows[1]: lambda attack: f"{attack.lead:.2g}" if attack.shadows else MISSING,
            },
        )
        return replace(figure, table=figure.table.where_known(*shadows))

    def _method(self, case: StudyJudgement) -> Text:
        return Text(
            [
                "A network that is trained to a very small loss is a weighted sum of its gradients "
                "at some training images. The reconstruction looks for points and weights that "
                "explain the network so, by L-BFGS from several starts. The first start is read "
                "off the weights in closed form (Cohen et al. 2024, D.3, after Haim et al. 2022; "
                "for several classes Buzaglo et al. 2023). The informed attacker (Balle et al. "
                "2022) holds the known images fast.",
                "How many images are reconstructed is a count for this network. The baseline is "
                "estimated: fresh images are independent of the network and of what was "
                "made of it, so that limits of their share hold (Clopper and Pearson). The gain is "
                "the first less the second. A chance among shadows is the rank of this network "
                "among networks trained without these images, by how many of these images the same "
                "attack gets from each.",
                f"{self.limits_together(case)} Chances (p-values) are given one by one, as they "
                "are.",
            ]
        )


LAYOUT = ClassifierLayout()


def _attack(attack: ImageAttack) -> Iterator[Block]:
    text = f"{ASKED[attack.name]} An image counts if {attack.rule}."
    if attack.named is not None:
        text += (
            f" {attack.named:,} of {attack.total:,} images that were left out are more like their "
            "reconstruction than every fresh image is."
        )
    yield Text([text, f"Chance of as many: at most {attack.chance:.2g} ({attack.chance_by})."])
    if not attack.shown:
        yield Text(
            [
                "No image is shown. `pictures = 6` in the study shows the best reconstructions "
                "next to training images, in the record and here."
            ]
        )
        return
    yield Pictures(
        "The reconstructions nearest to a training image, the best first",
        ("Reconstruction", "The training image", "The nearest fresh image"),
        [_row(shown, place) for place, shown in enumerate(attack.shown, 1)],
        ("Correlation of the reconstruction",),
    )
    yield Text(
        [
            "Each picture goes from its own darkest to its own brightest value, since a "
            "correlation is of shapes alone. This page shows training images: keep it as you "
            "keep them, or make it with `pictures = 0`."
        ]
    )


def _row(shown: ShownReconstruction, place: int) -> tuple[list[Picture], list[Cell]]:
    training, fresh = f"{shown.correlation:.2f}", f"{shown.fresh_correlation:.2f}"
    alike = "correlation {} with the reconstruction"
    beside = f"Training image of row {place}, {alike.format(training)}"
    nearest = f"Nearest fresh image of row {place}, {alike.format(fresh)}"
    pictures = [
        Picture(shown.reconstruction, f"Reconstruction {place}"),
        Picture(shown.training, beside),
        Picture(shown.fresh, nearest),
    ]
    return pictures, [f"{training} with the training image, {fresh} with the nearest fresh one"]
