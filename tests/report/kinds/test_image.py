"""The report of a model of images: counts beside baselines, pictures, limits rounded outwards."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

import narcissus
from narcissus.report import Figure, page_of, render_html, render_text


@pytest.fixture(scope="module")
def audit(kept_audit):
    audit = kept_audit("image-model")
    first, *others = audit.record.results.pictures
    named = first.model_copy(update={"caption": "a <image of> it"})
    results = audit.record.results.model_copy(update={"pictures": (named, *others[:2])})
    study = {**audit.record.study, "threshold": {"gain": 0.01, "reason": "so few"}}
    return narcissus.Audit(audit.record.model_copy(update={"results": results, "study": study}))


def test_the_counts_have_their_picture_with_the_numbers_behind_it(audit):
    blocks = (b for s in page_of(audit.record, internal=True).sections for b in s.blocks)
    figures = {b.name: b for b in blocks if isinstance(b, Figure)}
    assert list(figures) == ["copies"]
    results, table = audit.record.results, figures["copies"].table
    assert [row[0] for row in table.rows] == ["all outliers", "1 copy", "5 copies", "20 copies"]
    assert [row[2] for row in table.rows] == [group.reproduced for group in results.groups]
    shown = table.rows[0][5].rpartition("to")[2].strip().rstrip("%")
    high = results.whole.fresh.high
    assert high <= float(shown) / 100 < high + 0.0011  # rounded up
    assert set(table.grades) == {"sampled"}
    drawn = {round(float(x), 9) for line in audit.plot("copies").lines for x in line.get_xdata()}
    assert {round(group.share, 9) for group in results.groups} <= drawn


def test_text_and_page_have_baselines_and_what_is_taken_as_given(audit):
    text = " ".join(render_text(audit.record).split())
    worst = audit.record.results.worst
    assert f"gives back {worst.reproduced} of {worst.images}" in text
    assert "images are independent draws of one source" in text
    assert "farther than 0.18 from every other image" in text
    assert "so few" in text


def test_a_page_allows_pictures_inside_it_only_where_it_has_some(audit):
    html = render_html(audit.record, internal=True)
    results = audit.record.results
    files = re.findall(r'<img src="data:image/png;base64,([^"]+)"', html)
    assert len(files) == html.count("<img") == 9
    one = results.pictures[1]
    for file, raw in zip(files[3:6], (one.generated, one.trained, one.fresh), strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(file))))
        assert pixels.tobytes() == base64.b64decode(raw)
    said = [f"<td>{one.to_trained:.3f}</td>", "<td>yes</td>" if one.reproduced else "<td>no</td>"]
    assert all(words in html for words in said)
    assert "a &lt;image of&gt; it" in html
    assert "default-src 'none'; img-src data:; style-src" in html
    assert "<script" not in html
    assert not re.findall(r'(?:href|src)="(?!data:image/png|#)', html)
    results = results.model_copy(update={"pictures": ()})
    without = render_html(audit.record.model_copy(update={"results": results}))
    assert "img-src" not in without
    assert "Pictures" not in [s.title for s in page_of(
        audit.record.model_copy(update={"results": results})).sections]  # fmt: skip
