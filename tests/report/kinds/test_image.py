"""The report of a model of images: counts beside baselines, pictures, limits rounded outwards."""

import re

import numpy as np
import pytest

import narcissus
from narcissus.report import Figure, page_of, render_html, render_text


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("image")
    pixels = np.random.default_rng(1).integers(0, 256, (60, 4, 4), dtype=np.uint8)
    np.save(folder / "images.npy", pixels)
    (folder / "captions.txt").write_text("a <image of> it\n" * 60)
    study = {
        "kind": "image-model",
        "data": {"images": "images.npy", "captions": "captions.txt"},
        "model": {"name": "mixture", "components": 5},
        "duplicates": {"each": 2, "copies": [20]},
        "relation": {"close": 0.06, "unique": 0.2},
        "pictures": 3,
        "threshold": {"gain": 0.01, "reason": "so few"},
        "run": {"seed": 2},
    }
    return narcissus.run(narcissus.load_study(study, folder=folder))


def test_the_counts_have_their_picture_with_the_numbers_behind_it(audit):
    blocks = (b for s in page_of(audit.record).sections for b in s.blocks)
    figures = {b.name: b for b in blocks if isinstance(b, Figure)}
    assert list(figures) == ["copies", "pictures"]
    results, table = audit.record.results, figures["copies"].table
    assert [row[0] for row in table.rows] == ["all outliers", "1 copy", "20 copies"]
    assert [row[2] for row in table.rows] == [group.reproduced for group in results.groups]
    shown = table.rows[0][5].rpartition("to")[2].strip().rstrip("%")
    high = results.whole.fresh.high
    assert high <= float(shown) / 100 < high + 0.0011  # rounded up
    assert set(table.grades) == {"sampled"}
    drawn = {round(float(x), 9) for line in audit.plot("copies").lines for x in line.get_xdata()}
    assert {round(group.share, 9) for group in results.groups} <= drawn
    rows = figures["pictures"].table.rows
    assert [row[4] for row in rows] == ["yes" if p.reproduced else "no" for p in results.pictures]
    images = [image for axes in audit.plot("pictures").figure.axes for image in axes.get_images()]
    assert len(images) == 3 * len(results.pictures)


def test_text_and_page_have_baselines_and_what_is_taken_as_given(audit):
    text = " ".join(render_text(audit.record).split())
    worst = audit.record.results.worst
    assert f"gives back {worst.reproduced} of {worst.images}" in text
    assert "images are independent draws of one source" in text
    assert "farther than 0.2 from every other image" in text
    assert "so few" in text


def test_a_page_allows_pictures_inside_it_only_where_it_has_some(audit):
    html = render_html(audit.record)
    assert html.count("<image ") == 9
    assert "default-src 'none'; img-src data:; style-src" in html
    assert "<script" not in html
    assert not re.findall(r'(?:href|src)="(?!data:image/png|#)', html)
    results = audit.record.results.model_copy(update={"pictures": ()})
    without = render_html(audit.record.model_copy(update={"results": results}))
    assert "img-src" not in without
    assert "Pictures" not in [s.title for s in page_of(
        audit.record.model_copy(update={"results": results})).sections]  # fmt: skip
