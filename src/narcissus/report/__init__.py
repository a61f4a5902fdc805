"""Reports from records: text, HTML and figures. Nothing here computes; it only draws."""

from narcissus.report.about import RealFigure
from narcissus.report.envelope import page_of
from narcissus.report.gives_away import figures_of
from narcissus.report.html import render_html
from narcissus.report.page import Facts, Figure, Grid, Items, Page, Section, Text, Verdict
from narcissus.report.text import render_text

__all__ = [
    "Facts",
    "Figure",
    "Grid",
    "Items",
    "Page",
    "RealFigure",
    "Section",
    "Text",
    "Verdict",
    "figures_of",
    "page_of",
    "render_html",
    "render_text",
]
