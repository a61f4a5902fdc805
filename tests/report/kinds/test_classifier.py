"""The report of a classifier: counts beside baselines, images beside images, nothing outside."""

import base64
import io
import re

import numpy as np
import pytest
from matplotlib.image import imread

import narcissus
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.report.format import percent


@pytest.fixture(scope="module")
def audit(kept_audit):
    record = kept_audit("classifier").record
    shown = tuple(shown for one in record.results.attacks for shown in one.shown)
    attacks = tuple(one.model_copy(update={"shown": shown}) for one in record.results.attacks)
    results = record.results.model_copy(update={"attacks": attacks})
    return narcissus.Audit(record.model_copy(update={"results": results}))


def test_images_stand_beside_each_other_and_can_be_read_by_others(audit):
    html = render_html(audit.record, internal=True)
    images = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="([^"]+)"', html)
    shown = [one for attack in audit.record.results.attacks for one in attack.shown]
    assert len(shown) == 4
    files = [file for one in shown for file in (one.reconstruction, one.training, one.fresh)]
    assert [file for file, _ in images] == files
    assert html.count("<img") == len(files)
    pixels = [np.asarray(imread(io.BytesIO(base64.b64decode(file)), "png")) for file in files]
    assert {one.shape for one in pixels} == {(8, 8)}
    told = [f"correlation {one.correlation:.2f} with" in alt
            for one, (_, alt) in zip(shown, images[1::3], strict=True)]  # fmt: skip
    assert all(told)
    assert [alt for _, alt in images[::3]] == ["Reconstruction 1", "Reconstruction 2"] * 2
    assert f"{shown[0].correlation:.2f} with the training image" in html


def test_a_page_asks_nobody_for_anything(audit):
    html = render_html(audit.record, internal=True)
    assert "img-src data:" in html
    assert "<script" not in html
    assert not re.search(r'(src|href)="(?!data:|#)', html)
    assert "This page shows single images" in html


def test_without_pictures_there_are_none_and_it_says_so(audit):
    none = {"shown": (), "shadows": (), "shadow_chance": None}
    attacks = tuple(one.model_copy(update=none) for one in audit.record.results.attacks)
    results = audit.record.results.model_copy(update={"attacks": attacks, "shadows": 0})
    html = render_html(audit.record.model_copy(update={"results": results}), internal=True)
    assert "<img" not in html
    assert "img-src" not in html
    assert "holds aggregates only" in html
    assert "No image is shown" in html
    assert "networks trained without these images" not in html.split("Method")[0]


def test_numbers_are_those_of_the_record(audit):
    results = audit.record.results
    text = " ".join(render_text(audit.record, internal=True).split())
    for one in results.attacks:
        assert percent(one.share) in text
    blocks = (b for s in page_of(audit.record, internal=True).sections for b in s.blocks)
    [figure] = [b for b in blocks if isinstance(b, Figure)]
    assert [row[2] for row in figure.table.rows] == [one.recovered for one in results.attacks]
    drawn = {round(float(x), 9) for line in audit.plot("attacks").lines for x in line.get_xdata()}
    assert {round(one.share, 9) for one in results.attacks} <= drawn
    assert "Reconstruction 1" not in text  # images are for the page
    assert f"{results.attacks[0].shown[0].correlation:.2f} with the training image" in text
