"""Counts of one's own choice and sparse vector: chances, privacy exactly, refusals."""

import itertools
import math

import numpy as np
import pytest

from narcissus.attacks.base import Conversation, ConversationOverError
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.mechanisms import CountQueries, SparseVector
from narcissus.mechanisms.count_queries import PUBLISHED, WRITTEN, all_patterns, bits_of, counted
from narcissus.profiles.write_out import conversations

DATA = np.array(list(itertools.product((0, 1), repeat=3)), dtype=np.uint8)


def asked(mechanism, data, questions, rng):
    talk = Conversation(mechanism.answers(np.asarray(data), rng), mechanism.questions)
    return [talk.ask(question) for question in questions]


def test_exact_counts_are_counts():
    rng = np.random.default_rng(0)
    assert asked(CountQueries(2), [1, 1, 0], [(1, 1, 1), (-1, 0, -1)], rng) == [2, 1]


@pytest.mark.parametrize("noise", [{}, {"error": 2}, {"epsilon": 1.5}])
@pytest.mark.parametrize("question", [(1, 0, 0), (1, -1, 1)])
def test_answers_have_the_chances_that_are_written_out(within, noise, question):
    mechanism, rng, trials = CountQueries(2, **noise), np.random.default_rng(1), 4000
    found = mechanism.advance(mechanism.begin(DATA), DATA, question)
    chances = {answer: weights[:, 0] for answer, weights in found}
    assert sum(chances.values()) == pytest.approx(np.ones(len(DATA)))
    for place in (0, 5):
        heard = [asked(mechanism, DATA[place], [question], rng)[0] for _ in range(trials)]
        assert set(heard) <= {a for a, c in chances.items() if c[place] > 0}
        for answer, chance in chances.items():
            assert within(heard.count(answer), trials, float(chance[place]))


@pytest.mark.parametrize("questions", [1, 2])
def test_the_whole_conversation_is_as_private_as_it_says(questions):
    """Every neighbouring pair, every question, each answer: exactly, and no less than needed."""
    mechanism = CountQueries(questions, epsilon=1.0)
    worst = 0.0
    for left, right in itertools.combinations(range(len(DATA)), 2):
        if (DATA[left] != DATA[right]).sum() != 1:
            continue
        for question in all_patterns(3):
            for _, weights in mechanism.advance(mechanism.begin(DATA), DATA, question):
                worst = max(worst, abs(math.log(weights[left, 0] / weights[right, 0])))
    assert worst == pytest.approx(1 / questions)
    assert mechanism.promise(DATA) == PureDP(1.0)


def test_cutting_an_answer_to_what_a_count_can_be_loses_nothing():
    """Beyond either end all answers have the same ratios: the cut is a sufficient statistic."""
    mechanism = CountQueries(1, epsilon=0.7)
    counts, far = np.arange(4), np.arange(-5, 9)
    whole = mechanism.noise.at(far - counts[:, None])
    below, above = whole[:, far <= 0], whole[:, far >= 3]
    np.testing.assert_allclose(
        below / below[0], np.tile(below[:, [0]] / below[0, 0], below.shape[1])
    )
    np.testing.assert_allclose(
        above / above[0], np.tile(above[:, [0]] / above[0, 0], above.shape[1])
    )


def test_gaussian_noise_has_the_size_that_its_privacy_asks_for():
    mechanism, rng = CountQueries(16, mu=2.0), np.random.default_rng(3)
    heard = np.array([asked(mechanism, [1, 0, 1], [(1, 1, 1)], rng)[0] for _ in range(4000)])
    assert heard.mean() == pytest.approx(2, abs=6 * 2 / math.sqrt(4000))
    assert heard.std() == pytest.approx(2, rel=0.08)  # sqrt(16) / 2
    assert mechanism.promise(DATA) == GaussianDP(2.0)
    with pytest.raises(InputError, match="Gaussian noise have no list of answers"):
        mechanism.begin(DATA)


def test_nothing_is_promised_without_privacy_and_it_ends():
    for mechanism in (CountQueries(2), CountQueries(2, error=5)):
        assert mechanism.promise(DATA) is None
    mechanism = CountQueries(1)
    with pytest.raises(ConversationOverError):
        asked(mechanism, [1], [(1,), (1,)], None)
    assert mechanism.worth_asking(DATA, [("q", 1)]) == ()
    assert len(mechanism.worth_asking(DATA, [])) == 26


def test_wrong_options_are_refused():
    for wrong in ({"questions": 0}, {"questions": 2, "error": -1}, {"questions": 2, "epsilon": 0.0},
                  {"questions": 2, "mu": -1.0}):  # fmt: skip
        with pytest.raises(InputError):
            CountQueries(**wrong)
    with pytest.raises(InputError, match="three kinds of noise; give one"):
        CountQueries(2, error=1, epsilon=1.0)


PAIR = np.array([[0], [1]], dtype=np.uint8)


def loss(mechanism, data=PAIR):
    """Return the largest privacy loss of any conversation, every question and answer tried."""
    matrix = conversations(mechanism, data, 3_000_000).channel.matrix.toarray()
    likely = (matrix > 1e-11).any(axis=0)  # what is rarer than rounding says nothing
    with np.errstate(divide="ignore"):
        return float(np.abs(np.diff(np.log(matrix[:, likely]), axis=0)).max())


@pytest.mark.parametrize("algorithm", [n for n, how in PUBLISHED.items() if how.private])
@pytest.mark.parametrize(("positives", "questions"), [(1, 5), (2, 5), (3, 4)])
def test_what_is_private_is_as_private_as_it_says(algorithm, positives, questions):
    """Whatever is asked, each question after the earlier answers."""
    mechanism = SparseVector(1.0, 1, questions, positives, algorithm)
    promised = mechanism.promise(PAIR).epsilon
    found = loss(mechanism)
    assert 0.2 * promised < found <= promised + 1e-9
    assert promised == (1 + 6 * positives) / 4 if algorithm == "lee-clifton" else promised == 1


@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_two_records_of_which_one_differs(threshold):
    data = np.array([[1, 0], [1, 1]], dtype=np.uint8)
    assert loss(SparseVector(1.0, threshold, 3), data) <= 1


@pytest.mark.parametrize(
    ("algorithm", "questions", "more"),
    [("roth", 4, 1.9), ("stoddard", 2, math.inf), ("chen", 6, 1.3), ("lee-clifton", 5, 1.5)],
)
def test_what_is_broken_loses_more_than_its_epsilon(algorithm, questions, more):
    """Lyu, Su and Li 2017: three lose without limit, Lee and Clifton's more than it says."""
    positives = 1 if algorithm == "roth" else 2
    assert loss(SparseVector(1.0, 1, questions, positives, algorithm)) >= more


def test_what_is_broken_loses_more_with_each_question():
    """Algorithm 3 half its epsilon each; Algorithm 6 ever more."""
    roth = [loss(SparseVector(1.0, 1, questions, 1, "roth")) for questions in (1, 2, 3)]
    assert roth == pytest.approx([0.5, 1.0, 1.5], abs=1e-6)
    chen = [loss(SparseVector(1.0, 1, questions, 1, "chen")) for questions in (1, 3, 5)]
    assert chen[0] + 0.3 < chen[1] < chen[2] - 0.3
    assert SparseVector(1.0, algorithm="chen").promise(PAIR) is None


@pytest.mark.parametrize("algorithm", ["standard", "dwork-roth", "lee-clifton", "chen"])
def test_chances_are_those_of_a_plain_sum_over_the_noise(algorithm):
    """Two noises summed over by loops, for the answers no, yes, no to three questions."""
    mechanism, epsilon = SparseVector(2.0, 1, 3, 2, algorithm), 2.0
    share = 0.25 if algorithm == "lee-clifton" else 0.5
    scale = {"dwork-roth": 2}.get(algorithm, 1) / (share * epsilon)
    noisy = {"standard": 4, "dwork-roth": 4}.get(algorithm, 1) / ((1 - share) * epsilon)

    def chance(z, scale):
        a = math.exp(-1 / scale)
        return (1 - a) / (1 + a) * a ** abs(z)

    def yes(count, rho):
        return math.fsum(chance(z, noisy) for z in range(-250, 251) if count + z >= 1 + rho)

    questions = [(1,), (-1,), (1,)]
    for row, bit in enumerate((0, 1)):
        counts = [bit, 1 - bit, bit]
        reach = range(-120, 121)
        first = {rho: (1 - yes(counts[0], rho)) * yes(counts[1], rho) for rho in reach}
        last = {rho: 1 - yes(counts[2], rho) for rho in reach}
        if algorithm == "dwork-roth":  # the threshold is noisy anew after the yes
            expected = math.fsum(chance(r, scale) * first[r] for r in reach)
            expected *= math.fsum(chance(r, scale) * last[r] for r in reach)
        else:
            expected = math.fsum(chance(r, scale) * first[r] * last[r] for r in reach)
        weights = mechanism.begin(PAIR)
        for question, answer in zip(questions, (0, 1, 0), strict=True):
            weights = dict(mechanism.advance(weights, PAIR, question))[answer]
        assert weights[row].sum() == pytest.approx(expected, rel=1e-9)


def talked(mechanism, data, questions, rng):
    talk = Conversation(mechanism.answers(np.asarray(data), rng), mechanism.questions)
    heard = []
    try:
        for question in questions:
            heard.append(talk.ask(question))
    except ConversationOverError:
        pass
    return tuple(heard)


@pytest.mark.parametrize("algorithm", ["standard", "dwork-roth", "lee-clifton", "stoddard", "chen"])
def test_answers_have_the_chances_that_are_written_out_sparse(within, algorithm):
    mechanism, rng, trials = SparseVector(2.0, 1, 3, 1, algorithm), np.random.default_rng(4), 3000
    questions = [(1,), (-1,), (1,)]
    tree = conversations(mechanism, PAIR, 10_000).channel
    at = {
        tuple(a for _, a in release): place
        for place, release in enumerate(tree.releases)
        if [q for q, _ in release] == questions[: len(release)]
    }
    matrix = tree.matrix.toarray()
    for row in (0, 1):
        heard = [talked(mechanism, PAIR[row], questions, rng) for _ in range(trials)]
        assert set(heard) <= set(at)
        for answers, place in at.items():
            assert within(heard.count(answers), trials, float(matrix[row, place]))


def test_numbers_are_answered_by_the_third_algorithm(within):
    mechanism, rng, trials = SparseVector(2.0, 1, 1, 1, "roth"), np.random.default_rng(5), 3000
    chances = dict(mechanism.advance(mechanism.begin(PAIR), PAIR, (1,)))
    heard = [talked(mechanism, [1], [(1,)], rng)[0] for _ in range(trials)]
    for number in (1, 2, 3):
        wanted = float(chances["count", number][1].sum()) if number != 1 else None
        if wanted is not None:
            assert within(heard.count(number), trials, wanted)
    assert sum(w.sum(axis=1) for w in chances.values()) == pytest.approx(np.ones(2))


def test_it_ends_after_its_positives_and_its_questions():
    rng = np.random.default_rng(6)
    surely = SparseVector(200.0, 1, 4, 2)
    assert talked(surely, [1], [(1,)] * 4, rng) == (1, 1)
    assert talked(surely, [0], [(1,)] * 9, rng) == (0, 0, 0, 0)
    assert talked(SparseVector(200.0, 1, 4, 2, "chen"), [1], [(1,)] * 9, rng) == (1, 1, 1, 1)
    assert surely.worth_asking(PAIR, [("q", 1), ("q", 0)]) == all_patterns(1)
    assert surely.worth_asking(PAIR, [("q", 1), ("q", 1)]) == ()
    assert surely.worth_asking(PAIR, [("q", 0)] * 4) == ()


def test_all_neighbours_of_two_bits_stay_within_the_promise():
    data = np.array(list(itertools.product((0, 1), repeat=2)), dtype=np.uint8)
    mechanism = SparseVector(1.0, 1, 2)
    matrix = conversations(mechanism, data, 10**6).channel.matrix.toarray()
    for left, right in itertools.combinations(range(4), 2):
        ratio = float(np.abs(np.log(matrix[left] / matrix[right])).max())
        assert ratio <= int((data[left] != data[right]).sum()) + 1e-9
    assert mechanism.promise(data) == PureDP(1.0)


def test_wrong_options_are_refused_sparse():
    for wrong in ({"epsilon": 0.0}, {"questions": 0}, {"positives": 0}, {"algorithm": "mine"}):
        with pytest.raises(InputError):
            SparseVector(**{"epsilon": 1.0, **wrong})


def test_places_that_agree_are_counted():
    bits = bits_of(np.array([[0, 1, 1], [1, 1, 0], [0, 0, 0]], dtype=np.uint8))
    for asked in all_patterns(3):
        right = [sum((b == 1 and a == 1) or (b == 0 and a == -1) for b, a in zip(row, asked))
                 for row in bits.tolist()]  # fmt: skip
        assert counted(bits, asked)[0].tolist() == right


def test_one_record_changes_a_count_by_one_at_most():
    bits = bits_of(np.array([[0, 1, 1], [1, 1, 1]]))
    changes = {int(np.ptp(counted(bits, asked)[0])) for asked in all_patterns(3)}
    assert changes == {0, 1}


def test_every_question_is_listed_once_but_the_empty_one():
    for n in range(1, WRITTEN + 1):
        found = all_patterns(n)
        assert len(found) == len(set(found)) == 3**n - 1
        assert (0,) * n not in found
    with pytest.raises(InputError, match="about 5 bits are not written out"):
        all_patterns(WRITTEN + 1)


@pytest.mark.parametrize("question", [[1, 0], [1, 0, 2], [1.0, 0, 0], "101", None, [[1, 0, 1]]])
def test_what_is_no_question_is_refused(question):
    with pytest.raises(InputError, match="a list of 3 numbers"):
        counted(np.zeros((1, 3), dtype=np.int64), question)


@pytest.mark.parametrize("data", [[[0, 2]], [[-1, 0]], [[0.5, 0]]])
def test_data_that_is_not_made_of_bits_is_refused(data):
    with pytest.raises(InputError, match="must be 0 or 1"):
        bits_of(np.array(data))
