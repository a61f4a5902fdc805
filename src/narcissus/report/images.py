"""Small images in a report: rows of pictures with headings above and words below each."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from narcissus.report.svg import FAINT, INK, QUIET, RUST

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

INCHES = 1.05
"""Height of a row of pictures, its words included."""


@dataclass(frozen=True)
class Pixels:
    """An image and a word or two below it.

    Attributes
    ----------
    pixels
        Shape (height, width, 1 or 3), from 0 to 255.
    words
        Below it.
    is_marked
        Whether it has a frame that stands out.
    """

    pixels: NDArray[np.uint8]
    words: str = ""
    is_marked: bool = False


def picture_of(text: str, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Read an image from its bytes in base64."""
    return np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(shape)


def draw_pictures(
    figure: MplFigure,
    rows: Sequence[Sequence[Pixels]],
    headings: Sequence[str],
    *,
    side_by_side: int = 2,
) -> None:
    """Draw rows of pictures.

    Parameters
    ----------
    figure
        Empty.
    rows
        Each with a picture for each heading.
    headings
        Above the columns.
    side_by_side
        Rows that stand next to each other.
    """
    columns = len(headings)
    lines = -(-len(rows) // side_by_side)
    # a narrow empty column between rows that stand side by side
    widths = ([1.0] * columns + [0.25]) * side_by_side
    grid = figure.add_gridspec(max(1, lines), len(widths) - 1, width_ratios=widths[:-1])
    for place, row in enumerate(rows):
        line, block = divmod(place, side_by_side)
        for column, picture in enumerate(row):
            axes = figure.add_subplot(grid[line, block * (columns + 1) + column])
            shown = np.repeat(picture.pixels, 3, axis=2) if picture.pixels.shape[2] == 1 else (
                picture.pixels
            )  # fmt: skip
            axes.imshow(shown, interpolation="none")
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_xlabel(picture.words, fontsize=8, color=INK)
            if line == 0:
                axes.set_title(headings[column], fontsize=8.5, color=QUIET)
            for spine in axes.spines.values():
                spine.set_visible(True)
                spine.set_color(RUST if picture.is_marked else FAINT)
                spine.set_linewidth(2.0 if picture.is_marked else 0.8)
