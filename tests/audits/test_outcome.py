"""An audit tells its verdict on a line, as text, as a page in a notebook, and is kept in a file."""

import errno
import html
import re

import pytest

import narcissus
from narcissus._folders import OpenedFolder
from narcissus.kinds.table.kind import KIND
from narcissus.study.reading import read_record
from narcissus.study.shipped import shipped_study


@pytest.fixture(scope="module")
def game():
    return narcissus.run(narcissus.load_study(shipped_study("counting-query").path), rng=1)


def test_repr_tells_the_verdict_and_the_figures_of_the_first_screen(sweep, quick):
    at_one = KIND.judged(sweep.record).worst
    guess, best = at_one.result.guess.share, at_one.result.best_attack.share
    assert repr(sweep).startswith(
        f"Audit(table: {sweep.status}, {sweep.record.grade}; of 100 people without "
        f"{round(100 * guess)}, with {round(100 * best)}"
    )
    assert "at most" not in repr(quick(epsilon=float("inf"), attacks=["prior"]))


def test_every_kind_tells_its_verdict_on_a_line_or_two(sweep, game):
    channel = narcissus.load_study(
        {
            "kind": "channel",
            "channel": {"mechanism": {"name": "randomized-response", "values": 4, "epsilon": 1}},
        }
    )
    for audit in (sweep, game, narcissus.run(channel)):
        said = repr(audit)
        assert said.startswith(f"Audit({audit.record.kind}: {audit.status}, {audit.record.grade};")
        assert "\n" not in said
        assert len(said) < 240


def test_str_is_the_report_in_words(sweep):
    text = str(sweep)
    assert max(map(len, text.splitlines())) <= 90
    assert sweep.record.provenance.entropy in text
    assert text.startswith(sweep.record.title)


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(sweep):
    shown = sweep._repr_html_()
    assert len(shown) < 300 * 1024
    [page] = re.findall(r'<iframe title="Report" srcdoc="([^"]*)"', shown)
    assert "<script" not in html.unescape(page)
    assert f"<title>{sweep.record.title}" in html.unescape(page)


def test_what_is_saved_is_read_again(sweep, tmp_path):
    folder = sweep.save(tmp_path / "out")
    again = narcissus.load_audit(folder / "record.json")
    assert again.to_dict() == sweep.to_dict()
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert repr(again) == repr(sweep)
    assert again.to_frame().equals(sweep.to_frame())


def test_a_report_that_does_not_fit_leaves_the_record_and_says_so(sweep, tmp_path, monkeypatch):
    write = OpenedFolder.write

    def full(place, name, *content, **how):
        if name == "report.html":
            raise OSError(errno.ENOSPC, "No space left on device", str(place.path / name))
        write(place, name, *content, **how)

    monkeypatch.setattr(OpenedFolder, "write", full)
    with pytest.raises(OSError, match=r"record\.json next to it was written"):
        sweep.save(tmp_path)
    assert read_record(tmp_path).digest == sweep.record.digest
