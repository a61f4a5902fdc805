"""The page for users: its code runs, prints what the page says, and shows a usable prior."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from narcissus.priors import RecordPrior

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tables-and-priors.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_example_prints_what_the_page_says(capsys):
    exec(compile(blocks("python")[0], str(PAGE), "exec"), {})
    assert capsys.readouterr().out.strip() == blocks("text")[0].strip()


def test_the_own_prior_is_one():
    scope = {}
    exec(compile(blocks("python")[1], str(PAGE), "exec"), scope)
    coins = scope["Coins"]()
    assert isinstance(coins, RecordPrior)
    people = coins.sample(1000, rng=1)
    assert people.shape == (1000, 2)
    for known in (0, 1):
        expected = coins.joint / coins.joint.sum(axis=1, keepdims=True)
        answer = coins.conditional(people, [1 - known])
        np.testing.assert_allclose(answer, expected[people[:, known]])
    assert np.exp(coins.log_probability([[0, 1]])) == pytest.approx(0.05)
