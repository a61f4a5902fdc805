"""The page of an audit by shadow models: grades, limits, what is missing, the curve."""

from types import MappingProxyType

import numpy as np
import pytest

from narcissus.membership import audit_membership, shadow_scores
from narcissus.report import Figure, Grid
from narcissus.report.html import page_html
from narcissus.report.leakage import Asked
from narcissus.report.membership import membership_page
from narcissus.report.text import page_text

ASKED = Asked("narcissus membership s.npz", MappingProxyType({"the scores": "s.npz"}), 3)


def audit(leak, **more):
    rng = np.random.default_rng(2)
    members = rng.random((12, 120)) < 0.5
    scores = rng.normal(size=members.shape) + leak * members
    return audit_membership(shadow_scores(scores, members), rng=1, **more)


def blocks(page, kind):
    return [b for section in page.sections for b in section.blocks if isinstance(b, kind)]


def test_the_numbers_have_their_grades():
    found = audit(3.0)
    page = membership_page(found, ASKED)
    assert [n[3] for n in page.verdict.numbers] == ["sampled", "sampled", "approximate"]
    assert "is not (" in page.verdict.headline
    (figure,) = blocks(page, Figure)
    unseen, seen = figure.table.rows[2], figure.table.rows[-1]
    assert unseen[:3] == ["lira", 0.001, None]
    assert f"cannot be seen with {found.roc.outside:,} non-members" in unseen[3]
    rate = found.rates[-1]
    assert seen[:3] == ["lira", 0.1, rate.value]
    assert seen[3].startswith("about ")
    assert list(figure.table.grades) == ["not assessed"] * 4 + ["approximate"]
    across, refuted = (g for g in blocks(page, Grid) if g.grades and set(g.grades) == {"sampled"})
    assert [row[0] for row in across.rows] == list(found.at)
    assert len(refuted.rows) == 1
    assert "Not assessed" not in page_html(page)


def test_nothing_refuted_is_not_said_to_be_safe():
    text = page_text(membership_page(audit(0.0), ASKED))
    assert "No epsilon is refuted" in text
    assert "A stronger attack may refute one." in " ".join(text.split())


def test_folds_say_what_is_missing():
    found = audit(1.0, folds=3, attack="lira-fixed")
    page = membership_page(found, ASKED)
    text = " ".join(page_text(page).split())
    assert "Not assessed, so it may be unsafe" in text
    assert "every model was a shadow as well" in text
    refuted = next(g for g in blocks(page, Grid) if g.columns[0] == "Fold")
    assert [row[0] for row in refuted.rows] == ["1", "2", "3"]


@pytest.mark.parametrize("leak", [0.0, 3.0])
def test_the_curve_runs_between_its_limits(leak):
    from matplotlib.figure import Figure as MplFigure

    (figure,) = blocks(membership_page(audit(leak), ASKED), Figure)
    drawn = MplFigure()
    figure.draw(drawn)
    (axes,) = drawn.axes
    (band,) = axes.collections
    curve = axes.lines[0].get_ydata()
    edges = band.get_paths()[0].vertices[:, 1]
    assert edges.min() <= min(curve)
    assert edges.max() >= max(curve) - 1e-9
    assert [axes.xaxis.get_major_formatter()(x, 0) for x in (0.001, 1)] == ["0.1%", "100%"]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert (np.diff(curve) >= 0).all()
