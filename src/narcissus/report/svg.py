"""Figures as SVG to be put inside a page: small, the same each time, and readable by all.

matplotlib draws; what it writes for a separate file (metadata, namespaces, ids that clash when
two figures share a page) is then taken away, and colours and fonts are left to the page.
"""

from __future__ import annotations

import html
import io
import re
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as MplFigure
from matplotlib.rcsetup import cycler

from narcissus.report.page import Figure

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

# Colours by their meaning. Each is told apart from its neighbours by lightness as well, and has
# at least 4.5:1 against the paper; the page swaps them in the dark (`style.css`).
INK = "#1b2430"
QUIET = "#5a6673"
FAINT = "#d5dae0"
PAPER = "#ffffff"
BLUE = "#0b63a5"
RUST = "#a8480c"
GREEN = "#1d6b44"
PLUM = "#7a3b8f"
GOLD = "#7a5c00"
# on a cell of a heat map, whose colours the page does not swap; one of them always has 4.5:1
ON_DARK, ON_LIGHT = "#fffffe", "#000001"
_NAMES = {
    INK: "ink",
    QUIET: "quiet",
    FAINT: "faint",
    PAPER: "paper",
    BLUE: "blue",
    RUST: "rust",
    GREEN: "green",
    PLUM: "plum",
    GOLD: "gold",
}

STYLE: dict[RcKeyType, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "narcissus",
    "text.parse_math": False,  # a column may have a dollar in its name
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.labelsize": 9.5,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.prop_cycle": cycler(marker=["", ".", "x"])
    * cycler(color=[BLUE, RUST, INK, GREEN, PLUM, GOLD, QUIET]),
    "legend.edgecolor": FAINT,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "figure.constrained_layout.use": True,
}
_FONT = re.compile(r"font: (?:(\d{3}|bold) )?([\d.]+)px [^;\"]*")
_FAMILY = re.compile(r"font-family: [^;\"]*;?\s*")
_ID = re.compile(r'\sid="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def _raw(figure: Figure) -> str:
    """Let matplotlib draw, with settings of our own whatever the user's are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        for key, value in STYLE.items():
            mpl.rcParams[key] = value
        canvas = FigureCanvasSVG(MplFigure(figsize=figure.size))
        figure.draw(canvas.figure)
        buffer = io.StringIO()
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _font(match: re.Match[str]) -> str:
    """Keep size and weight of a text, which older versions of matplotlib write with its family."""
    weight = f"font-weight: {match[1]}; " if match[1] else ""
    return f"{weight}font-size: {match[2]}px"


def _keep_used_ids(svg: str, prefix: str) -> str:
    """Make ids unique in the page, and drop those that nothing refers to."""
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg))
    names = {name for pair in used for name in pair if name}

    def rename(match: re.Match[str]) -> str:
        return f' id="{prefix}-{match[1]}"' if match[1] in names else ""

    svg = _ID.sub(rename, svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)


def svg_of(figure: Figure, prefix: str) -> str:
    """Draw a figure as an inline ``<svg>`` element.

    figure: what to draw.
    prefix: begins every id in the element; unique in the page.
    """
    text = _raw(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = text.replace("xlink:href", "href")
    text = _FAMILY.sub("", _FONT.sub(_font, text))
    text = _NUMBER.sub(lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), text)
    for colour, name in _NAMES.items():
        text = text.replace(colour, f"var(--{name})")
    text = _keep_used_ids(text, prefix)
    text = re.sub(r"<g>\s*</g>", "", text)
    text = re.sub(r">\s+<", ">\n<", text)
    text = re.sub(r'\s*style="\s*"', "", text)
    width, height = (72 * inches for inches in figure.size)
    head = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-labelledby="{prefix}-title {prefix}-text">'
        f'<title id="{prefix}-title">{html.escape(figure.title)}</title>'
        f'<desc id="{prefix}-text">{html.escape(figure.description)}</desc>'
    )
    return re.sub(r"<svg[^>]*>", lambda _: head, text, count=1).strip()
