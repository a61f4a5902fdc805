"""A study of a model of images, as a page: images given back beside those never seen, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from narcissus.report.format import MISSING, between_points, limits, number, percent
from narcissus.report.page import Cell, Facts, Figure, Grid, Page, Section, Text, Verdict
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.image import ImageGroup, ImageResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


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
    numbers: list[tuple[str, str, str, Grade]] = []
    whole, worst = results.whole, results.worst
    for group in [whole] if worst is whole else [whole, worst]:
        name = "Given back" if not group.copies else f"Of those with {_label(group)}"
        if group.fresh is None or group.gain is None:
            numbers.append((name, percent(group.share), "no fresh images", "not assessed"))
            continue
        between = between_points(group.gain.low, group.gain.high)
        text = f"never seen {percent(group.fresh.value)}; gain {between} points"
        numbers.append((name, percent(group.share), text, "sampled"))
    return Verdict(
        status=record.status,
        headline=record.verdict,
        worst=(f"{_label(worst)}: {percent(worst.share)} of them are given back.", numbers[-1][3]),
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
    if results.most_gain is not None:
        rows.append(("Accepted", f"a gain of {percent(results.most_gain, 'down')} of outliers"))
    reason = (record.study.get("threshold") or {}).get("reason")
    if reason:
        rows.append(("Why", str(reason)))
    return Facts(rows)


def _rule(results: ImageResults) -> str:
    return (
        f"An image counts if one of the attempts from its caption is closer than {results.close:g} "
        f"and it is farther than {results.unique:g} from every other image of the training data: "
        "close and unique (Cohen et al. 2024, D.3, after Carlini et al. 2023). Distances are root "
        "mean square differences of a pixel, between 0 and 1. Copies of an image are one image."
    )


def _label(group: ImageGroup) -> str:
    if not group.copies:
        return "all outliers"
    return "1 copy" if group.copies == 1 else f"{number(group.copies)} copies"


def _counts(results: ImageResults) -> Figure:
    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import Range
        from narcissus.report.dot_plot import Row, dot_plot

        dot_plot(
            figure,
            [
                Row(
                    _label(group),
                    None if group.fresh is None else group.fresh.value,
                    Range(group.share),
                )
                for group in results.groups
            ],
            without="fresh images, by the same rule",
            with_it="images trained on",
        )

    rows: list[list[Cell]] = []
    for group in results.groups:
        fresh, beside, gain = group.fresh, group.shadows, group.gain
        rows.append(
            [
                _label(group),
                group.images,
                group.reproduced,
                group.share,
                None if fresh is None else fresh.value,
                MISSING if fresh is None else limits(fresh.low, fresh.high),
                None if beside is None else beside.value,
                MISSING if beside is None else limits(beside.low, beside.high),
                MISSING if gain is None else between_points(gain.low, gain.high),
            ]
        )
    grades: list[Grade] = [
        "not assessed" if group.gain is None else "sampled" for group in results.groups
    ]
    whole = results.whole
    beside = "" if whole.fresh is None else f", and {percent(whole.fresh.value)} of fresh ones"
    return Figure(
        f"The model gives back {percent(whole.share)} of outliers{beside}",
        "For all outliers, and for those with as many copies in the training data: a dot for the "
        "share given back, an open square for that of images the model never saw.",
        draw,
        Grid(
            "Outliers given back, by copies in the training data",
            ("Images", "Trained on", "Given back", "Share", "Never seen", "Limits",
             "By shadow models", "Their limits", "Gain, points"),
            rows,
            grades=grades,
            percent=("Share", "Never seen", "By shadow models"),
        ),
        (7.2, 1.3 + 0.45 * len(results.groups)),
        "copies",
    )  # fmt: skip


def _pictures(results: ImageResults) -> Figure:
    lines = -(-len(results.pictures) // 2)

    def draw(figure: MplFigure) -> None:
        from narcissus.report.images import Pixels, draw_pictures, picture_of

        shape = results.shown_shape
        draw_pictures(
            figure,
            [
                [
                    Pixels(picture_of(one.generated, shape), _times(one.copies), one.reproduced),
                    Pixels(picture_of(one.trained, shape), f"{one.to_trained:.3f}"),
                    Pixels(picture_of(one.fresh, shape), f"{one.to_fresh:.3f}"),
                ]
                for one in results.pictures
            ],
            ("given", "trained on", "fresh"),
        )

    return Figure(
        "What the model gives, beside the nearest image trained on and the nearest fresh one",
        "Attempts that come closest to an outlier, of each number of copies; a frame marks those "
        "whose image counts as given back. Below each neighbour stands its distance.",
        draw,
        Grid(
            "The attempts in the picture",
            ("Caption", "Copies", "Distance, trained on", "Distance, fresh", "Counts"),
            [
                [
                    one.caption or MISSING,
                    one.copies,
                    f"{one.to_trained:.3f}",
                    f"{one.to_fresh:.3f}",
                    "yes" if one.reproduced else "no",
                ]
                for one in results.pictures
            ],
        ),
        (7.2, 0.3 + 1.25 * lines),
        "pictures",
        of_single=True,
    )


def _times(copies: int) -> str:
    return "1 copy" if copies == 1 else f"{copies} copies"


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
