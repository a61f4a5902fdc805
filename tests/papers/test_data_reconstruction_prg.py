"""Cohen et al. 2024, Lemma D.11: the estimate is fooled, as it must be."""

import pytest

from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.complexity import complexity
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import HammingBall, Verbatim
from narcissus.extraction.verifiers import approximate_prg_example, prg_example


def assess(made, relation, **more):
    return assess_extraction(DataSet(made.data), made.release, made.program, relation, runs=10,
                             rng=0, **more)  # fmt: skip


@pytest.mark.states("Cohen et al. 2024", "Lemma D.11")
def test_the_estimate_cannot_tell_a_seed_from_chance():
    fake = prg_example(pseudo_random=True, rng=1)
    real = prg_example(pseudo_random=False, rng=2)
    sizes = [complexity(made.data).best for made in (fake, real)]
    assert abs(sizes[0] - sizes[1]) < 0.01 * sizes[1]
    assert abs(len(fake.program) - len(real.program)) == 0


@pytest.mark.states("Cohen et al. 2024", "Lemma D.11", "Algorithm D.12")
def test_the_verdict_is_fooled_and_the_seed_puts_it_right():
    made = prg_example(pseudo_random=True, rng=1)
    fooled = assess(made, Verbatim())
    assert (fooled.verdict, fooled.quality > 0.9) == ("extraction", True)
    assert "no method can verify" in fooled.caveat.lower()
    assert any("sees a pattern" in change for change in fooled.would_change)
    told = assess(made, Verbatim(), rivals={"the seed": made.short_program})
    assert (told.verdict, told.quality < 0) == ("no extraction", True)


@pytest.mark.parametrize("pseudo_random", [True, False])
@pytest.mark.nightly
def test_footnote_8(pseudo_random):
    """With the known share doubled against the footnote, the program succeeds; see its text."""
    made = approximate_prg_example(pseudo_random=pseudo_random, rng=3)
    found = assess(made, HammingBall(0.4, 1))
    assert found.success.value == 1
    if pseudo_random:
        told = assess(made, HammingBall(0.4, 1), rivals={"the seed": made.short_program})
        assert told.quality < 0
