"""Pictures and style: unique ids, colours by the page, contrast, labels that do not touch."""

import itertools
import re
from importlib.resources import files

import pytest

from narcissus.report.page import Figure, Grid
from narcissus.report.svg import _NAMES, BLUE, INK, svg_of


def figure():
    def draw(canvas):
        axes = canvas.subplots()
        axes.fill_between([0, 1], [0, 1], hatch="//", facecolor="none", edgecolor=INK)
        axes.plot([0, 1], [0, 1], marker="o", color=BLUE)
        axes.set_title("A title & more", fontweight="bold")

    return Figure("A <title>", "What it shows", draw, Grid("t", ("a",), [[1]]))


def test_ids_carry_the_prefix_and_are_referred_to():
    svg = svg_of(figure(), "figure-7")
    ids = re.findall(r'\sid="([^"]+)"', svg)
    assert ids
    assert all(name.startswith("figure-7-") for name in ids)
    for name in ids:
        assert f"#{name}" in svg or name in {"figure-7-title", "figure-7-text"}
    assert not set(ids) & set(re.findall(r'\sid="([^"]+)"', svg_of(figure(), "figure-8")))


def test_fonts_and_colours_are_left_to_the_page():
    svg = svg_of(figure(), "f")
    assert "DejaVu" not in svg
    assert "font-weight: 700" in svg
    assert "var(--blue)" in svg
    assert "var(--ink)" in svg
    assert not [colour for colour in _NAMES if colour in svg]


def test_title_and_description_are_escaped():
    svg = svg_of(figure(), "f")
    assert "A &lt;title&gt;</title>" in svg
    assert ">A title &amp; more</text>" in svg


def test_a_users_settings_do_not_change_the_picture():
    import matplotlib as mpl

    before = svg_of(figure(), "f")
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "svg.fonttype": "path"}):
        assert svg_of(figure(), "f") == before
        assert mpl.rcParams["font.size"] == 30
    assert svg_of(figure(), "f") == before


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", range(3))
def test_contrast_meets_wcag(mode):
    """Text needs 4.5:1 (WCAG 2.2, criterion 1.4.3) in light, dark and print."""
    css = (files("narcissus.report") / "templates" / "style.css").read_text()
    palettes = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in css.split(":root")[1:]]
    assert len(palettes) == 3
    colours = palettes[mode]
    for name, behind in itertools.product(
        ("ink", "quiet", "blue", "rust", "green", "plum", "gold"), ("paper", "ground")
    ):
        assert contrast(colours[name], colours[behind]) >= 4.5, (name, behind)


def test_pictures_use_the_colours_of_the_page():
    css = (files("narcissus.report") / "templates" / "style.css").read_text()
    light = dict(re.findall(r"--(\w+): (#\w{6})", css.split(":root")[1]))
    assert {name: light[name] for name in _NAMES.values()} == {n: c for c, n in _NAMES.items()}
