"""Extraction as a page: odds, evidence on the right side, lengths, walls."""

import pytest

from narcissus.report import Facts, Figure, Grid, Items, page_of


def test_what_was_found_speaks_against_the_release(record_of):
    verdict = page_of(record_of("extraction")).verdict
    assert verdict.odds == (
        "Of 100 runs, 0 succeed without the release and 100 with it (measured in 20); an extractor "
        "needs 67.",
        "sampled",
    )
    assert list(verdict.evidence_for) == []
    assert len(verdict.evidence_against) == 2
    assert [number[1] for number in verdict.numbers] == ["0%", "100%", "0%", "at most 0.991"]
    assert [number[3] for number in verdict.numbers] == ["sampled"] * 3 + ["approximate"]


@pytest.mark.parametrize(("found", "speaks"), [("no extraction", "for"), ("inconclusive", "")])
def test_other_verdicts_speak_for_it_or_for_nobody(record_of, found, speaks):
    verdict = page_of(record_of("extraction", lambda r: r.update(verdict=found))).verdict
    assert bool(verdict.evidence_for) == (speaks == "for")
    assert list(verdict.evidence_against) == []


def test_a_quality_is_an_upper_estimate_and_is_rounded_up(record_of):
    """1 - 23 / 2402 is .9904246: at most 0.991, and not 0.99."""

    def edit(results):
        results["complexity"]["brotli"] = 2402
        results.update(complexity_estimate=2402, quality=1 - 23 / 2402, margin_bytes=2379)
        results.update(extractable_bits=8 * 2379)

    numbers = page_of(record_of("extraction", edit)).verdict.numbers
    assert numbers[3][1] == "at most 0.991"
    assert numbers[3][2] == "19,032 extractable bits at most"


def test_without_shadow_data_nothing_is_said_of_it(record_of, blocks):
    page = page_of(record_of("extraction", lambda r: r.update(success_on_shadow=None)))
    assert page.verdict.numbers[2][1:] == (
        "\N{EM DASH}",
        "no shadow data was given",
        "not assessed",
    )
    grid = blocks(page, Grid)[0]
    assert grid.rows[-1][1:] == (None, None, None)
    assert list(grid.grades) == ["sampled"] * 3 + ["not assessed"]


def test_programs_stand_shortest_first_beside_the_one_that_extracts(record_of, blocks):
    [picture] = blocks(page_of(record_of("extraction")), Figure)
    assert picture.title.endswith("has 2532 bytes by brotli")
    lengths = [row[1] for row in picture.table.rows]
    assert lengths == sorted(lengths)
    assert lengths[0] == 2532
    for _, length, quality in picture.table.rows:
        assert quality == pytest.approx(1 - 23 / length, abs=5e-5)


def test_walls_are_named_and_missing_ones_are_a_warning(record_of, blocks):
    page = page_of(record_of("extraction"))
    assert "seccomp" in dict(blocks(page, Facts)[1].rows)["Walls"]
    [checks] = [b for b in blocks(page, Grid) if b.caption.startswith("Attempts to break out")]
    assert checks.rows[0] == ("reads its release", "it can")

    def landlock(results):
        results["isolation"].update(
            method="Landlock", reduced=True, not_hidden=["names of files"], missing=["namespaces"]
        )

    page = page_of(record_of("extraction", landlock))
    assert dict(blocks(page, Facts)[1].rows)["Not on this machine"] == "namespaces"
    warnings = [b for b in blocks(page, Items) if b.tone == "warning"]
    assert any(b.items == ("names of files",) and "Reduced" in b.title for b in warnings)

    page = page_of(record_of("extraction", lambda r: r["isolation"].update(method="none")))
    warnings = [b for b in blocks(page, Items) if b.tone == "warning"]
    assert any("could read anything" in b.items[0] for b in warnings)
