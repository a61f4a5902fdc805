"""Small images in a report: every pixel is in the page, and nothing is from outside."""

import base64
import io
import re

import numpy as np
from matplotlib.figure import Figure as MplFigure

from narcissus.report.images import Pixels, draw_pictures, picture_of
from narcissus.report.page import Figure, Grid
from narcissus.report.svg import RUST, svg_of


def picture(seed, channels=1, **more):
    rng = np.random.default_rng(seed)
    return Pixels(rng.integers(0, 256, (4, 6, channels), dtype=np.uint8), **more)


def test_bytes_become_pixels():
    raw = bytes(range(12))
    found = picture_of(base64.b64encode(raw).decode(), (2, 2, 3))
    assert found.shape == (2, 2, 3)
    assert found.tobytes() == raw


def test_every_picture_is_drawn_with_its_words_and_its_frame():
    rows = [[picture(1, words="one", is_marked=True), picture(2)], [picture(3), picture(4, 3)]]
    figure = MplFigure()
    draw_pictures(figure, rows, ("left", "right"))
    assert len(figure.axes) == 4
    for axes, shown in zip(figure.axes, [one for row in rows for one in row], strict=True):
        (image,) = axes.get_images()
        wanted = np.broadcast_to(shown.pixels, (4, 6, 3))  # grey in all three colours
        assert (image.get_array() == wanted).all()
        assert axes.get_xlabel() == shown.words
    assert [axes.get_title() for axes in figure.axes] == ["left", "right"] * 2
    from matplotlib.colors import to_hex

    marked = [to_hex(axes.spines["left"].get_edgecolor()) == RUST for axes in figure.axes]
    assert marked == [True, False, False, False]


def test_pixels_stand_in_the_page_as_they_are():
    from PIL import Image

    one = picture(5)
    block = Figure("t", "d", lambda figure: draw_pictures(figure, [[one]], ("a",)),
                   Grid("c", ("x",), []), (2, 2))  # fmt: skip
    svg = svg_of(block, "f")
    (data,) = re.findall(r'href="data:image/png;base64,([^"]+)"', svg)
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
    assert sorted({*image[..., 0].ravel()}) == sorted({*one.pixels.ravel()})
    assert svg == svg_of(block, "f")
    assert re.findall(r'href="(?!data:|#)', svg) == []
