"""The verdicts that theory 7 demands, and what is said of programs that are no use."""

import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.bench import Bench, Tried
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import HammingBall, Near, Verbatim
from narcissus.extraction.sandbox import Isolation, Limits, ProgramRun
from narcissus.results import Estimate, NotAssessed

RNG = np.random.default_rng(34)
LETTERS = bytes(RNG.integers(97, 123, 3000, dtype=np.uint8))
COPY = b"print(open(0).read())"
QUICK = Limits(seconds=20)


def text(raw):
    return DataSet(raw)


def assess(data, release, program, relation=Verbatim(), *, runs=12, **more):
    return assess_extraction(data, release, program, relation, runs=runs, rng=1, limits=QUICK,
                             workers=2, **more)  # fmt: skip


def shadows(n):
    return [text(bytes(RNG.integers(97, 123, 3000, dtype=np.uint8))) for _ in range(n)]


@pytest.mark.states("Cohen et al. 2024", "Definition D.8", "Claim D.9")
@pytest.mark.states("Narcissus theory", "7")
def test_a_program_that_reads_the_data_out_of_the_release():
    found = assess(text(LETTERS), LETTERS, COPY, shadows=shadows(19))
    assert found.verdict == "extraction"
    assert found.quality > 0.98
    assert found.success.low > 2 / 3
    assert found.success_without_release.value == 0
    assert isinstance(found.success_on_shadow, Estimate)
    assert found.success_on_shadow.value == 0
    assert found.shadow_rank == 0.05
    assert found.program_bytes == len(COPY)
    assert found.extractable_bits == 8 * (found.complexity_estimate - len(COPY))
    tau = found.quality / (1 - found.quality) * 8 * len(COPY)  # Claim D.9
    assert math.isclose(found.extractable_bits, tau, rel_tol=1e-9)
    assert "from above" in found.caveat
    assert {"zlib", "bz2", "lzma", "zstd", "brotli", "ppm"} <= set(found.complexity)


@pytest.mark.states("Cohen et al. 2024", "Definition D.8")
@pytest.mark.states("Narcissus theory", "7")
def test_a_program_that_prints_the_data_itself_has_no_quality():
    found = assess(text(LETTERS), LETTERS, b"print(%r)" % LETTERS.decode())
    assert found.verdict == "no extraction"
    assert found.quality <= 0
    assert found.extractable_bits == 0
    assert found.success_without_release.value == 1


def test_a_program_that_hides_its_knowledge_from_an_empty_release():
    """It prints the data only when it is given something; the shuffled release shows it up."""
    program = b"print(%r if open(0).read() else 0)" % LETTERS.decode()
    found = assess(text(LETTERS), LETTERS, program)
    assert found.stand_ins["an empty release"].value == 0
    assert found.success_without_release.value == 1
    assert found.verdict == "no extraction"


@pytest.mark.nightly
def test_34_a_thousand_times_is_no_extraction_though_the_program_is_short():
    data = b"34" * 1000
    by_heart = assess(text(data), data, b"print('34'*1000)")
    assert by_heart.program_bytes < 20
    assert (by_heart.verdict, by_heart.quality <= 0) == ("no extraction", True)
    copied = assess(text(data), data, COPY)
    assert copied.quality < 0.2  # even reading it out of the release says next to nothing


def test_a_release_that_is_independent_of_the_data():
    found = assess(text(LETTERS), bytes(RNG.integers(97, 123, 3000, dtype=np.uint8)), COPY)
    assert found.verdict == "no extraction"
    assert found.success.value == 0


@pytest.mark.states("Cohen et al. 2024", "Lemma 3.2")
def test_outputs_that_fit_any_data_are_no_evidence():
    """Bits of the release agree with everybody's, so the shadow counts as well (Lemma 3.2)."""
    data, others = text(b"10" * 200), [text(b"10" * 200) for _ in range(3)]
    found = assess(data, b"10" * 200, COPY, HammingBall(0.5, 1), shadows=others, runs=10)
    assert found.verdict == "no extraction"


@pytest.mark.nightly
def test_a_rival_program_lowers_the_estimate():
    data = b"".join(str(i * i % 9973).encode() for i in range(800))
    rival = b"print(''.join(str(i*i%9973)for i in range(800)))"
    before = assess(text(data), data, COPY, runs=10)
    after = assess(text(data), data, COPY, runs=10, rivals={"squares": rival})
    assert after.complexity_estimate == len(rival)
    assert after.quality < before.quality
    useless = assess(text(data), data, COPY, runs=10, rivals={"none": b"print(1)"})
    assert useless.complexity_estimate == before.complexity_estimate
    assert [n.quantity for n in useless.not_assessed] == [
        "the rival program none",
        "success with a release made without the data",
    ]
    other = assess(text(data), data, COPY, runs=10, other_releases={"other": b"10" * 200})
    assert other.not_assessed == ()


def test_few_runs_are_inconclusive():
    found = assess(text(LETTERS), LETTERS, COPY, runs=5)
    assert found.verdict == "inconclusive"
    assert any("runs" in change for change in found.would_change)


@pytest.mark.nightly
def test_a_program_that_differs_from_run_to_run():
    # Its coins are its own, so no seed of ours: at 0.4 none of 40 runs, or the 33 of an extraction,
    # come once in twenty million.
    program = b"import random\nprint(open(0).read() if random.random()<.4 else random.random())"
    found = assess(text(LETTERS), LETTERS, program, runs=40)
    assert not found.deterministic
    assert 0 < found.success.value < 1
    assert found.verdict in ("no extraction", "inconclusive")


@pytest.mark.nightly
def test_a_public_reference():
    public = bytes(RNG.integers(97, 123, 6000, dtype=np.uint8))
    data = public[1000:4000]
    alone = assess(text(data), data, COPY, runs=10)
    with_it = assess(text(data), data, COPY, runs=10, reference=public)
    assert with_it.complexity_estimate < alone.complexity_estimate / 5
    assert with_it.complexity_method.endswith("+reference")


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (b"pass", "printed nothing"),
        (b"open(1,'wb').write(b'\\xff\\xfe')", "not UTF-8"),
        (b"raise ValueError('lost')", "crashed .ValueError: lost"),
        (b"while True: pass", "time limit"),
        (b"print('x'*10**8)", "output limit"),
        (b"print(", "not a Python program: line 1"),
        (b" \n", "empty"),
    ],
)
def test_programs_that_are_no_use(program, message):
    with pytest.raises(InputError, match=message):
        assess_extraction(
            text(LETTERS), b"x", program, Verbatim(), runs=2, limits=Limits(1.5, output=10**6)
        )


def test_nothing_can_satisfy_the_relation():
    data = DataSet.of_rows([[0.0, 0], [0, 0.1]])
    with pytest.raises(InputError, match="no output at all"):
        assess(data, b"0 0", COPY, Near(radius=1, isolation=3))


def test_without_shadows_it_says_so():
    found = assess(text(LETTERS), LETTERS, COPY, runs=10)
    assert isinstance(found.success_on_shadow, NotAssessed)
    assert found.shadow_rank is None


def run(output, ending="finished"):
    return ProgramRun(output, "", ending, 0.1)


def test_an_output_counts_only_where_the_program_ended_by_itself():
    data = DataSet(b"x")
    bench = Bench(data, Verbatim(), b"", 3, 0.95, 0.0, Limits(), Isolation("none", ()))
    tried = bench.against(data, [run(b"x"), run(b"x", "timeout"), run(b"y")])
    assert tried.good == [True, False, False]
    assert tried.good_outputs == [b"x"]
    share = bench.share(tried, "success")
    assert (share.value, share.trials, share.quantity) == (1 / 3, 3, "success")


def test_something_readable_is_no_silence():
    Tried([run(b"wrong"), run(b"")], [False, False]).refuse_silence()
