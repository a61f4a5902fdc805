"""The walk-throughs of programs: every command of the page runs, at a small size, and finds it."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from narcissus.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S)
         for line in block.splitlines()]  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Run all commands, one after the other; give what each said, by a word of it."""
    folder = tmp_path_factory.mktemp("walk")
    (folder / "examples").symlink_to(ROOT / "examples")
    said = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, line in enumerate(LINES):
            words = shlex.split(line)[1:]
            if "--program" in words:
                place = words.index("--program") + 1
                words[place] = words[place].replace("python ", f"{sys.executable} -S ", 1)
                words += ["--most-runs", "200", "--width", "0.9"]
                words += [] if "--runs" in words else ["--runs", f"{number}.csv"]
            out = folder / "said.json"
            with out.open("w") as stream:
                patch.setattr(sys, "stdout", stream)
                with pytest.raises(SystemExit) as left:
                    main([*words, "--json"])
            assert left.value.code == 0, line
            said[line] = json.loads(out.read_text())
    return said


def of(found, words):
    return next(value for line, value in found.items() if words in line)


def test_a_comparison_that_stops_early_tells_how_far_it_came(found):
    told = of(found, 'compare.py"')
    assert told["no_leakage"]["p_value"] < 1e-6
    assert told["beta_star"]["high"] < 0.5
    assert of(found, "--safe")["samples"] == 200


def test_the_time_of_a_whole_run_is_measured(found):
    assert of(found, "import {secret}")["samples"] == 200


def test_pages_are_known_by_their_sizes_and_padding_hides_some(found):
    plain, padded = of(found, 'pages.py"'), of(found, "--pad")
    # The program throws coins of its own: its limit was .16 to .31 in twenty runs, and guessing .8.
    assert plain["bayes_risk"]["high"] < plain["guessing_error"] / 2
    assert padded["bayes_risk"]["high"] > plain["bayes_risk"]["high"]
    assert set(padded["leakage"]) == {"min-entropy-leakage", "shannon-leakage"}


def test_masks_hide_each_value_and_not_two(found):
    assert of(found, "masked.py")["no_leakage"]["p_value"] < 0.01
    assert of(found, "masked.csv --test")["no_leakage"]["p_value"] == 0.001


def test_every_command_of_the_page_was_run(found):
    assert len(found) == len(LINES) == 7
