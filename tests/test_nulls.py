"""Every verdict that rests on sampling has worlds in which it is false, and is seldom made."""

import ast
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "narcissus"
PAPERS = ROOT / "packages" / "narcissus-papers" / "src"
OF_PAPERS = PAPERS / "narcissus_papers" / "copyright"
"""A kind of study in the papers' package; what reproduces a paper has no verdict of its own."""
PAGE = (ROOT / "docs" / "reference" / "error-rates.md").read_text(encoding="utf-8")
LIMITS = {
    "advantage_limits", "anytime_limits", "auc", "Bets", "blind_baseline", "blind_baselines",
    "clopper_pearson", "difference_limits",
    "enclosed_limits", "first_in_sequence", "mean_limits", "median_limits", "most_coincidences",
    "most_right",
    "next_limit",
    "most_of_any_law", "compare_together", "next_limit",
    "population_mean_upper",
    "randomness_tests", "refute", "refute_as_they_come", "refute_guesses", "refute_prior_scores",
    "refute_priors",
    "refute_ranked", "refute_runs", "refute_scores",
    "refuted_by_runs", "roc_band", "studentised_limits",
    "TwoSamples", "fisher_exact", "hypergeom", "mannwhitneyu", "ttest_ind", "ks_2samp",
}  # fmt: skip
"""What makes a limit or a test of samples."""


def load():
    spec = importlib.util.spec_from_file_location("nulls_run", ROOT / "tests" / "nulls" / "run.py")
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUN = load()
NULLS = RUN.registry().NULLS


def named(node):
    """Return the names of a called function: `stats.hypergeom.sf` are three."""
    while isinstance(node, ast.Attribute):
        yield node.attr
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def places():
    """Find where limits and tests of samples are used, outside of the room that makes them."""
    for path in (*SOURCE.rglob("*.py"), *OF_PAPERS.rglob("*.py")):
        root = SOURCE if path.is_relative_to(SOURCE) else PAPERS
        at = path.relative_to(root).with_suffix("").as_posix()
        if at.startswith("evidence/"):
            continue
        text = path.read_text(encoding="utf-8")
        stack = [(ast.parse(text), ())] if any(name in text for name in LIMITS) else []
        while stack:
            node, inside = stack.pop()
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                inside = (*inside, node.name)
            if isinstance(node, ast.Call) and LIMITS & set(named(node.func)):
                yield f"{at} {'.'.join(inside)}"
            stack += [(child, inside) for child in ast.iter_child_nodes(node)]


def test_every_place_that_limits_samples_has_an_entry():
    """A new one goes into `tests/nulls/registry.py`, with a world in which its claim is false."""
    found = set(places())
    entered = {place for null in NULLS for place in null.at}
    assert not found - entered
    assert not entered - found  # and none that is no more


def test_every_entry_has_a_world_and_a_line_on_the_page():
    assert len({null.verdict for null in NULLS}) == len(NULLS)
    for null in NULLS:
        assert null.worlds
        assert len(null.power.sizes) > 1
        for world in (*null.worlds, *null.outside):
            assert f"| {null.verdict} | {world} " in PAGE
        assert f"| {null.verdict} | {null.power.effect} |" in PAGE
    assert RUN.assumptions() in PAGE  # run `make nulls`
    assert "too often" not in PAGE


QUICK = [
    (null, world) for null in NULLS for world in null.worlds
    if null.repeats >= 0.5 and not null.is_approximate
]  # fmt: skip


@pytest.mark.parametrize(("null", "world"), QUICK, ids=[f"{n.verdict}: {w}" for n, w in QUICK])
def test_a_small_part_of_the_worlds_is_played(null, world):
    """40 plays of each quick one, always the same; false alarm rate of each 1e-6."""
    wrong = RUN.times(null.worlds[world], 40, [7, *world.encode()])
    assert wrong <= stats.binom.isf(1e-6, 40, null.declared)


@pytest.mark.parametrize("null", [n for n in NULLS if n.repeats >= 1], ids=lambda n: n.verdict)
def test_the_largest_effect_is_found(null):
    """A verdict that is never made has no error, and no use."""
    found = [null.power.found(null.power.sizes[-1], np.random.default_rng(k)) for k in range(10)]
    assert np.mean(found) >= 0.5


def test_a_rate_above_the_declared_one_fails():
    null = RUN.registry().Null(
        "wrong", (), "", "", "", "", {"coin": lambda g: g.random() < 0.2}, None, declared=0.05
    )
    found = RUN.measured(null, "coin", 400, 1)
    assert found.fails
    assert "**too often**" in RUN.line_of(found)
    assert not RUN.measured(null, "coin", 400, 1).is_outside


def test_the_page_is_read_as_it_is_written():
    """So that `--only` plays some verdicts, and keeps the lines of the others."""
    text = RUN.PAGE.read_text(encoding="utf-8")
    worlds, effects = RUN.lines_on(text)
    assert RUN.page(worlds, effects, 2000) + "\n" == text
