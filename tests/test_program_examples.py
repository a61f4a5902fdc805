"""The walk-throughs of programs: every command of the page runs, at a small size, and finds it."""

import json
import re
import shlex
import sys
from functools import cache
from pathlib import Path

import pytest

from narcissus.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "guides" / "channels" / "programs.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S)
         for line in block.splitlines()]  # fmt: skip


@pytest.fixture(scope="module")
def of(tmp_path_factory):
    """Give a function from a word of a command to what that says; it runs once."""
    folder = tmp_path_factory.mktemp("walk")
    (folder / "examples").symlink_to(ROOT / "examples")

    @cache
    def said(line):
        words = shlex.split(line)[1:]
        if "--program" in words:
            place = words.index("--program") + 1
            words[place] = words[place].replace("python ", f"{sys.executable} -S ", 1)
            for option, value in (("--most-runs", "500"), ("--width", "0.9")):
                if option in words:
                    words[words.index(option) + 1] = value
                else:
                    words += [option, value]
            words += [] if "--runs" in words else ["--runs", f"{LINES.index(line)}.csv"]
        out = folder / "said.json"
        with pytest.MonkeyPatch.context() as patch, out.open("w") as stream:
            patch.chdir(folder)
            patch.setattr(sys, "stdout", stream)
            with pytest.raises(SystemExit) as left:
                main([*words, "--json"])
        assert left.value.code == 0, line
        return json.loads(out.read_text())

    return lambda words: said(next(line for line in LINES if words in line))


def test_a_comparison_that_stops_early_tells_how_far_it_came(of):
    told = of('compare.py"')
    assert told["no_leakage"]["p_value"] < 1e-6
    assert told["beta_star"]["high"] < 0.5


@pytest.mark.nightly
@pytest.mark.parametrize("words", ["--safe", "import {secret}"])
def test_the_time_of_a_whole_run_is_measured(of, words):
    assert of(words)["samples"] == 200


@pytest.mark.nightly
def test_pages_are_known_by_their_sizes_and_padding_hides_some(of):
    plain, padded = of('pages.py"'), of("--pad")
    # The program throws coins of its own: its limit was .16 to .31 in twenty runs, and guessing .8.
    assert plain["bayes_risk"]["high"] < plain["guessing_error"] / 2
    assert padded["bayes_risk"]["high"] > plain["bayes_risk"]["high"]
    assert set(padded["leakage"]) == {"min-entropy-leakage"}


@pytest.mark.nightly
def test_masks_hide_each_value_and_not_two(of):
    assert of("masked.py")["no_leakage"]["p_value"] < 0.01
    assert of("masked.csv --test")["no_leakage"]["p_value"] == 0.001


@pytest.mark.nightly
def test_every_command_of_the_page_is_run(of):
    assert len(LINES) == 7
    for line in LINES:
        of(line)
