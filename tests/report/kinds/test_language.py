"""The report of a language model: counts beside baselines, limits rounded outwards, grades."""

import pytest

from narcissus.evidence import clopper_pearson, mean_limits
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.report.format import percent
from narcissus.study.results.base import SampledShare
from narcissus.study.results.language import BesideShadows


@pytest.fixture(scope="module")
def audit(kept_audit):
    return kept_audit("language-model")


def test_every_attack_has_its_picture_with_the_numbers_behind_it(audit):
    blocks = (b for s in page_of(audit.record).sections for b in s.blocks)
    figures = {b.name: b for b in blocks if isinstance(b, Figure)}
    assert list(figures) == ["generation", "completion"]
    for attack in audit.record.results.attacks:
        table = figures[attack.name].table
        assert [row[0] for row in table.rows] == [
            "all documents", "1 copy", "4 copies", "16 copies",
        ]  # fmt: skip
        assert [row[2] for row in table.rows] == [group.recovered for group in attack.groups]
        shown = table.rows[0][5].rpartition("to")[2].strip().rstrip("%")
        high = attack.whole.fresh.high
        assert high <= float(shown) / 100 < high + 0.0011  # rounded up
        assert set(table.grades) == {"sampled"}
        drawn = {round(float(x), 9) for line in audit.plot(attack.name).lines for x in
                 line.get_xdata()}  # fmt: skip
        assert {round(group.share, 9) for group in attack.groups} <= drawn


def test_those_with_most_copies_are_said_to_be_hurt_most(audit):
    worst = audit.record.results.best.worst
    assert worst.copies == 16
    assert worst.gain.low > audit.record.results.best.whole.gain.low
    said, grade = page_of(audit.record).verdict.worst
    assert said.startswith("16 copies: ")
    assert percent(worst.share) in said
    assert grade == "sampled"


def test_text_and_page_have_baselines_and_what_is_missing(audit):
    text = " ".join(render_text(audit.record).split())
    whole = audit.record.results.best.whole
    assert f"recovers {whole.recovered} of {whole.documents} documents" in text
    assert percent(audit.record.results.membership[0].above.value) in text
    assert "documents told at a rate of false alarms of 1%" in text
    assert "documents are independent draws of one source" in text
    html = render_html(audit.record)
    assert "<script" not in html
    assert "1 of 100" in html  # the canaries' guess
    assert "recovered beside" not in html


def test_shadow_models_have_columns_of_their_own(audit):
    as_many = SampledShare.of(clopper_pearson(0, 19, confidence=0.99))
    beside = BesideShadows(
        recovered=(0,) * 19,
        mean=SampledShare.of(mean_limits([0.0] * 19, confidence=0.99)),
        as_many=as_many,
        chance=1 / 20,
    )
    results = audit.record.results
    attacks = [
        one.model_copy(
            update={"groups": tuple(g.model_copy(update={"shadows": beside}) for g in one.groups)}
        )
        for one in results.attacks
    ]
    update = {"results": results.model_copy(update={"attacks": tuple(attacks)})}
    page = page_of(audit.record.model_copy(update=update))
    tables = [b.table for s in page.sections for b in s.blocks if isinstance(b, Figure)]
    for table in tables:
        assert table.columns[-3:] == ("From shadow models", "Their limits", "Share with as many")
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert table.rows[0][-3] == 0
        shown = table.rows[0][-1].rpartition("to")[2].strip().rstrip("%")
        assert as_many.high <= float(shown) / 100 < as_many.high + 0.0011  # rounded up
