"""Documents recovered beside those recovered anyway: the rule is the same, the limits hold."""

import re
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.extraction.canaries import (
    CanaryPlan,
    NamedCanaries,
    PlantedCanary,
    named_canaries,
)
from narcissus.extraction.ngram import CharacterNgram, model_prior
from narcissus.extraction.recovered import (
    Division,
    TextDocument,
    begin_texts,
    continuations,
    counted,
    discovery,
    divide,
    edit_distance,
    long_enough,
    membership_scores,
    nearly,
    printed_stretches,
    prompt_ends,
    read_documents,
    recovered_documents,
    write_again,
)


def test_a_stretch_counts_by_the_documents_of_all_sides():
    sides = [["abcdef", "xxcdxx"], ["qqcdqq", "abcd"]]
    found = printed_stretches(["zabcdz"], sides, window=2, k=2)
    # "cd" is in four documents, "ab" and "bc" in two
    assert [side.tolist() for side in found.documents()] == [[True, False], [False, True]]
    assert found.sides("zabz") == {0, 1}
    assert found.sides("cd") == set()
    rare = printed_stretches(["zabcdz"], sides, window=2, k=1)
    assert not any(side.any() for side in rare.documents())
    every = printed_stretches(["zabcdz"], sides, window=2, k=4)
    assert all(side.all() for side in every.documents())


def test_the_rule_treats_sides_alike():
    """Which side a document is on changes nothing about whether it counts."""
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ab"), 9)) for _ in range(40)]
    texts = list(dict.fromkeys(texts))
    printed = ["".join(rng.choice(list("ab"), 30)) for _ in range(5)]
    one = printed_stretches(printed, [texts[:20], texts[20:]], window=6, k=2).documents()
    other = printed_stretches(printed, [texts[20:], texts[:20]], window=6, k=2).documents()
    assert one[0].tolist() == other[1].tolist()
    assert one[1].tolist() == other[0].tolist()
    assert one[0].any()


def completed_documents(model, texts, *, prompt=50, prefix=None, window=30):
    """Find the documents that a model continues verbatim from their beginning."""
    ends = prompt_ends(model, texts, prompt=prompt) if prefix is None else [prefix] * len(texts)
    found = continuations(model, texts, prefix=ends, window=window)
    return np.array([answer.is_verbatim for answer in found], dtype=np.bool_)


def test_documents_are_completed_by_a_model_that_learnt_them():
    texts = ["the first of all letters, 81920", "a second one that says 55512 only"]
    model = CharacterNgram([texts[0]] * 3, order=7)
    found = completed_documents(model, texts, prefix=8, window=20)
    assert found.tolist() == [True, False]
    assert completed_documents(model, [], prefix=8, window=20).tolist() == []
    with pytest.raises(InputError, match="28 characters"):
        completed_documents(model, ["short"], prefix=8, window=20)


def test_numbers_of_a_comparison():
    trained, fresh = np.arange(50) < 10, np.arange(100) < 3
    found = recovered_documents(trained, fresh, np.arange(50) < 1)
    assert (found.documents, found.recovered, found.share) == (50, 10, 0.2)
    assert found.fresh.value == 0.03
    assert found.reference.value == 0.02
    value, low, high = found.gain
    assert value == pytest.approx(0.17)
    assert low == pytest.approx(0.2 - found.fresh.high)
    assert high == pytest.approx(0.2 - found.fresh.low)
    wanted = stats.fisher_exact([[10, 40], [3, 97]], alternative="greater").pvalue
    assert found.chance == pytest.approx(wanted)


def test_without_fresh_documents_nothing_is_said_of_the_gain():
    found = recovered_documents(np.ones(3, dtype=bool), np.zeros(0, dtype=bool))
    assert found.gain is None
    assert found.chance is None
    assert found.share == 1


@pytest.mark.coverage_claim
def test_the_chance_is_a_p_value_and_limits_of_the_gain_cover(within):
    """Documents that a release is independent of: the gain's limits hold its mean."""
    rng = np.random.default_rng(8)
    runs, alarms, missed = 2000, 0, 0
    for _ in range(runs):
        rate = 0.3
        found = recovered_documents(rng.random(30) < rate, rng.random(40) < rate)
        alarms += found.chance <= 0.05
        _, low, high = found.gain
        missed += not low <= found.share - rate <= high
    assert alarms <= stats.binom.isf(1e-6, runs, 0.05)
    assert missed <= stats.binom.isf(1e-6, runs, 0.05)


class ByHeart:
    """A model that has learnt documents by heart as the tokens that they were trained on.

    Its tokens are pieces of up to three characters that are found as a tokenizer of byte pairs
    finds them, longest first, so that the end of a text that is cut is other tokens.
    ``spaced``: its decoder drops a space in front, as SentencePiece's does.
    """

    def __init__(self, documents, *, pieces=(), spaced=False):
        self.pieces = sorted({*pieces, *"".join(documents)}, key=len, reverse=True)
        self.spaced = spaced
        self.trained = [self.encode(one) for one in documents]
        self.prompts = []

    def encode(self, text):
        text, found = " " * self.spaced + text, []
        while text:
            number, piece = next(
                (i, one) for i, one in enumerate(self.pieces) if text.startswith(one)
            )
            found.append(number)
            text = text[len(piece) :]
        return found

    def decode(self, tokens):
        text = "".join(self.pieces[one] for one in tokens)
        return text.removeprefix(" ") if self.spaced else text

    context = 1000

    def following(self, prompts, length):
        self.prompts += [self.decode(one) for one in prompts]
        lengths = np.broadcast_to(length, len(prompts))
        assert all(len(p) + size <= self.context for p, size in zip(prompts, lengths, strict=True))
        return [
            next((t[len(p) :][:size] for t in self.trained if t[: len(p)] == [*p]), [])
            for p, size in zip(prompts, lengths, strict=True)
        ]


LETTERS = ["the thin man at the inn has 81920 hats", "at noon the other one has none at all, he"]
PIECES = ["the", "th", "he", "in", " t", " at", "81", "192", "at", "on", "one", " h", "ha", "s "]


@given(
    pieces=st.lists(st.sampled_from(PIECES), unique=True),
    spaced=st.booleans(),
    window=st.integers(1, 12),
    cut=st.integers(3, 24),  # by which the two differ
    in_tokens=st.booleans(),
)
def test_what_is_learnt_by_heart_is_completed_wherever_the_prompt_is_cut(
    pieces, spaced, window, cut, in_tokens
):
    model = ByHeart(LETTERS, pieces=pieces, spaced=spaced)
    said = {"prompt": min(cut, 8)} if in_tokens else {"prefix": cut}
    assert completed_documents(model, LETTERS, window=window, **said).all()
    # nothing is told to it that is not known, and no more left out than a part of a token
    ends = prompt_ends(model, LETTERS, prompt=min(cut, 8)) if in_tokens else [cut] * 2
    for text, told, end in zip(LETTERS, model.prompts, ends, strict=True):
        assert text.startswith(told)
        assert end - 3 < len(told) <= end
    model.trained = [model.encode(one[::-1]) for one in LETTERS]
    assert not completed_documents(model, LETTERS, window=window, **said).any()


class Bytes(ByHeart):
    """Its tokens are bytes."""

    def encode(self, text):
        return [*text.encode()]

    def decode(self, tokens):
        return bytes(tokens).decode(errors="replace")


class Words(ByHeart):
    """A token for each word with the space before it: fewer tokens than a window has bytes."""

    words = ("known", "words", "\U0001f600\U0001f600", "\u8bed\u8bed", "a", "b")

    def __init__(self, documents):
        super().__init__(documents, pieces=[f" {word}" for word in self.words])


SOME_TEXTS = st.lists(
    st.lists(st.sampled_from(Words.words), min_size=12, max_size=24), min_size=1, max_size=3
).map(lambda texts: [f"{'stuv'[i]} {' '.join(words)}" for i, words in enumerate(texts)])


def recovered_texts(model, texts, prefix, window):
    """Return the texts that fit, and for each whether it is recovered."""
    ends = [prefix] * len(texts)
    begun = begin_texts(model, texts, prefix=ends, window=window)
    held = [text for text, one in zip(texts, begun, strict=True) if one.fits(model.context)]
    recovered = completed_documents(model, held, prefix=prefix, window=window)
    return dict(zip(held, recovered.tolist(), strict=True))


@given(
    documents=SOME_TEXTS,
    tokens=st.sampled_from([Words, Bytes, ByHeart]),
    prefix=st.integers(3, 9),
    window=st.integers(1, 15),
    context=st.integers(6, 60),
)
def test_no_document_changes_what_is_recovered_of_another(
    documents, tokens, prefix, window, context
):
    """Each is asked for the tokens of its own window, and those that fit are all recovered."""
    model = tokens(documents)
    model.context = context
    together = recovered_texts(model, documents, prefix, window)
    for text in documents:
        alone = recovered_texts(model, [text], prefix, window)
        assert alone == {known: together[known] for known in together if known == text}
        assert all(alone.values())  # by heart, where the context holds it
        need = len(model.encode(text[: prefix + window]))
        if need <= context:
            assert text in alone


def test_a_window_of_words_fits_where_its_bytes_would_not():
    """Prompts lost their beginning in silence, of all documents: none was recovered."""
    texts = [f"{number} words known words known words known words" for number in "abc"]
    other = "\U0001f600" * 46
    for tokens, context in ((Words, 9), (Bytes, 40)):
        model = tokens([*texts, other])
        model.context = context
        assert recovered_texts(model, texts, 10, 20) == dict.fromkeys(texts, True)
        assert recovered_texts(model, [*texts, other], 10, 20) == dict.fromkeys(texts, True)
        with pytest.raises(AssertionError):  # refused, never cut
            completed_documents(model, [*texts, other], prefix=10, window=20)


def test_a_prompt_of_tokens_ends_between_two_characters():
    """As with bytes: a character of several tokens is known as a whole or not at all."""
    texts = ["a\u00e9\u20ac\U0001f600 and what comes after it"]
    model = Bytes(texts)
    ends = [prompt_ends(model, texts, prompt=count)[0] for count in range(1, 12)]
    assert ends == [1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 5]
    for prompt in range(1, 12):
        assert completed_documents(model, texts, prompt=prompt, window=9).all()
    for prefix in range(1, 6):
        model.prompts.clear()
        assert completed_documents(model, texts, prefix=prefix, window=9).all()
        assert model.prompts == [texts[0][:prefix]]


def test_a_text_that_its_tokens_do_not_tell_is_not_completed():
    class Nothing(ByHeart):
        def decode(self, tokens):
            return ""

    assert not completed_documents(Nothing(LETTERS), LETTERS, prefix=3, window=4).any()


class Changing(ByHeart):
    """Its tokens are characters; its normalizer and its decoder change texts."""

    def __init__(self, documents, change=str, write=str):
        self.change, self.write = change, write
        super().__init__(documents)

    def encode(self, text):
        return [*map(ord, self.change(text))]

    def decode(self, tokens):
        return self.write("".join(map(chr, tokens)))

    def sample(self, count, length, *, rng=None):
        return [self.decode(self.trained[i % len(self.trained)][:length]) for i in range(count)]

    def negative_log_likelihood(self, texts):
        return np.ones(len(texts)), np.ones(len(texts))


def join(text):
    return re.sub(" +", " ", text)


CHANGES = {
    "nothing": (str, str),
    "cases": (str.lower, str),
    "spaces": (join, str),
    "more spaces": (str, lambda text: text.replace(" ", " \u200b")),
    "a sign at the end": (str, lambda text: f"{text}~"),
    "a character at the end": (str, lambda text: f"{text[:-1]}~"),
    "a broken character at the end": (str, lambda text: f"{text}\ufffd"),
    "no space at the end": (str, str.rstrip),
    "no space at the start": (str, str.lstrip),
    "another start of what is long": (str, lambda text: "#" * (len(text) > 25) + text),
    "all of these": (lambda text: join(text).lower(), lambda text: f"{text}~"),
}
"""What a tokenizer does to a text before and after its tokens."""
LONG = [
    f"{i} The  Letter Of {name} Says That {name[::-1]} Is {7919 * (i + 11)} Old"
    for i, name in enumerate(["Abelard", "Beatrix", "Casimir", "Dorothy", "Eleanor", "Ferdinand"])
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("prompt", [1, 2, 3, 8, 20])
def test_what_is_known_by_heart_is_continued_whatever_the_tokenizer_does(change, prompt):
    """Prompts shrank to nothing, and texts were compared with those that were tokenized."""
    model = Changing(LONG[:3], *CHANGES[change])
    ends = prompt_ends(model, LONG, prompt=prompt)
    assert long_enough(model, LONG, prefix=ends, window=9) == [*range(6)]
    begun = begin_texts(model, LONG, prefix=ends, window=9, prompt=prompt)
    assert {len(one.prompt) for one in begun} == {prompt}
    assert all(6 <= len(one.following) <= 11 for one in begun)
    answers = continuations(model, LONG, prefix=ends, window=9, prompt=prompt)
    if prompt >= 2:  # each begins with another sign
        assert [one.is_verbatim for one in answers] == [True] * 3 + [False] * 3
    stranger = Changing([text[::-1] for text in LONG], *CHANGES[change])
    answers = continuations(stranger, LONG, prefix=ends, window=9, prompt=prompt)
    assert not any(one.is_verbatim for one in answers)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("prompt", [1, 8, 20])
def test_a_slash_in_a_document_is_a_letter(change, prompt):
    """Beginnings were compared as paths: a document that begins with a slash ended the study."""

    def completed(sign):
        texts = [f"{sign}{text.replace(' ', sign)}" for text in LONG]
        model = Changing([*texts[:3], *(text[::-1] for text in texts[3:])], *CHANGES[change])
        ends = prompt_ends(model, texts, prompt=prompt)
        return [
            (one.written.replace(sign, "|"), one.expected.replace(sign, "|"), one.is_verbatim)
            for one in continuations(model, texts, prefix=ends, window=9, prompt=prompt)
        ]

    assert completed("/") == completed("|")


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_known_by_heart_is_printed_whatever_the_tokenizer_does(change):
    model = Changing(LONG[:3], *CHANGES[change])
    sides = [[write_again(model, text) for text in LONG[i : i + 3]] for i in (0, 3)]
    found = printed_stretches(model.sample(9, 60), sides, window=20)
    assert [side.tolist() for side in found.documents()] == [[True] * 3, [False] * 3]


def test_texts_that_are_alike_to_the_model_count_as_one():
    model = Changing(["a letter of somebody"], str.lower)
    texts = ["A Letter of somebody", "a letter OF somebody"]
    sides = [[write_again(model, text) for text in texts], ["another letter of nobody"]]
    found = printed_stretches(model.sample(1, 60), sides, window=15)
    assert [side.tolist() for side in found.documents()] == [[True, True], [False]]


def test_a_text_is_as_long_as_its_tokens_say():
    model = Changing([], join)
    texts = ["a" + " " * 40 + "b", "a" * 42]
    assert long_enough(model, texts, prefix=10, window=30) == [1]


def test_canaries_are_printed_whatever_the_tokenizer_does():
    plan = CanaryPlan(each=2, copies=(1,), digits=6)
    planted = plan.plant(3)
    for change in (*CHANGES.values(), (str, "\u200b".join)):
        for texts, are_printed in (([one.text() for one in planted], True), (LONG, False)):
            model = Changing(texts, *change)
            (found,) = named_canaries(model, planted, plan, alternatives=1, completes=model)
            assert found.completed == 2 * are_printed, change


def test_units_and_copies(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"one\r\ntwo\r\n\r\none\r\n")
    assert read_documents(path) == (TextDocument("one", 2), TextDocument("two"))
    assert read_documents(path, "paragraph") == (TextDocument("one\ntwo"), TextDocument("one"))


@pytest.mark.parametrize(("content", "said"), [(b"\n \n", "no documents"), (b"\xff", "UTF-8")])
def test_files_without_documents(tmp_path, content, said):
    path = tmp_path / "texts.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_documents(path)


def test_a_division_is_by_chance_and_complete():
    documents = counted([str(i % 40) for i in range(60)])
    found = divide(documents, np.random.default_rng(1))
    parts = (found.trained, found.fresh, found.reference)
    assert sorted(one.text for part in parts for one in part) == sorted(d.text for d in documents)
    assert [len(part) for part in parts] == [13, 13, 14]
    assert found.by_chance
    assert divide(documents, np.random.default_rng(2)).trained != found.trained
    with pytest.raises(InputError, match="at least 3"):
        divide(documents[:2], np.random.default_rng(1))


def test_every_document_is_trained_on_alike_often():
    documents = counted("abc")
    rng = np.random.default_rng(3)
    hits = sum(divide(documents, rng).trained[0].text == "a" for _ in range(3000))
    assert 850 < hits < 1150  # six standard deviations


def test_a_document_has_one_side():
    a, b = TextDocument("a"), TextDocument("b")
    with pytest.raises(InputError, match="among the fresh ones"):
        Division((a,), (b, a))
    with pytest.raises(InputError, match="among the reference ones"):
        Division((a,), (b,), (b,))
    with pytest.raises(InputError, match="no fresh"):
        Division((a,), ())
    with pytest.raises(InputError, match="copies"):
        TextDocument("a", 0)


def test_every_score_is_larger_for_documents_that_were_learnt():
    rng = np.random.default_rng(4)
    texts = ["".join(rng.choice(list("ABcdefgh "), 60)) for _ in range(40)]
    trained, fresh, others = texts[:15], texts[15:30], texts[30:]
    model, reference = CharacterNgram(trained, order=5), CharacterNgram(others, order=5)
    for side in (None, reference):
        learnt, new = (membership_scores(model, part, side) for part in (trained, fresh))
        assert len(learnt) == 3 + (side is not None)
        for name in learnt:
            assert learnt[name].min() > new[name].max(), name
    same = membership_scores(model, trained, model)["reference"]
    assert same == pytest.approx(np.zeros(15))


PLAN = CanaryPlan(each=6, copies=(1, 8), digits=6)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"text": "no place {number}"}, "secret"),
        ({"text": "{secret} of {number}"}, "after it"),
        ({"copies": (2, 2)}, "different"),
        ({"copies": ()}, "different"),
        ({"digits": 0}, "digits"),
        ({"each": 0}, "each"),
    ],
)
def test_wrong_plans(wrong, said):
    with pytest.raises(InputError, match=said):
        CanaryPlan(**wrong)


def test_planted_canaries_are_named_and_printed():
    planted = PLAN.plant(3)
    assert [one.copies for one in planted] == [1] * 6 + [8] * 6
    assert len({one.text() for one in planted}) == 12
    assert planted[0].document.text == f"The code of safe 1 is {planted[0].secret}."
    model = CharacterNgram([one.text() for one in planted for _ in range(one.copies)], order=12)
    found = named_canaries(model, planted, PLAN, alternatives=19, completes=model, rng=1)
    assert [(one.copies, one.named, one.completed) for one in found] == [(1, 6, 6), (8, 6, 6)]
    assert found[0].exposure == pytest.approx(np.log2(20))
    assert found[0].chance() == pytest.approx(0.05**6)
    assert found[0].chance(completed=True) == pytest.approx(1e-36)
    assert found[0].by_chance() == 1  # of six at one in twenty


@pytest.mark.coverage_claim
def test_a_model_that_never_saw_them_names_as_many_as_the_guess():
    """Ties aside, which count against it; at a declared false-alarm rate of 1e-6."""
    plan = CanaryPlan(each=150, copies=(1,), digits=8)
    model = CharacterNgram(["The code of safe 0 is 1234567890."] * 3, order=4)
    (found,) = named_canaries(model, plan.plant(5), plan, alternatives=4, rng=6)
    assert found.named <= stats.binom.isf(1e-6, 150, 0.2)
    assert found.named >= stats.binom.ppf(1e-6, 150, 0.15)  # a few ties
    assert found.completed == 0


def test_ties_count_against_it():
    found = NamedCanaries(1, 4, (1, 2, 1, 5), 4, 0, 3)
    assert (found.named, found.guess, found.guess_completed) == (2, 0.2, 1e-3)


class OfPairs(ByHeart):
    """A model that has learnt canaries by heart, in tokens of up to two characters."""

    def encode(self, text):
        """Find pairs from the left: a digit is one token with the space before it, or the next."""
        found = []
        while text:
            size = 2 if text[:2].strip() == text[:2] or text[:2] in {" 0", " 1"} else 1
            found.append(sum(ord(one) << 8 * i for i, one in enumerate(text[:size])))
            text = text[size:]
        return found

    def decode(self, tokens):
        return "".join(chr(one & 255) + (chr(one >> 8) if one >> 8 else "") for one in tokens)

    def negative_log_likelihood(self, texts):
        loss = [float(self.encode(one) not in self.trained) for one in texts]
        return np.array(loss), np.ones(len(texts))


def test_canaries_are_asked_for_in_tokens_that_say_nothing_of_the_secret():
    """That a model which never saw a secret prints it once in 10^digits is said to be exact."""
    planted = PLAN.plant(3)
    model = OfPairs([one.text() for one in planted])
    assert model.decode(model.encode(planted[0].text())) == planted[0].text()
    found = named_canaries(model, planted, PLAN, alternatives=9, completes=model, rng=1)
    assert [(one.named, one.completed) for one in found] == [(6, 6), (6, 6)]
    other = OfPairs(["nothing"])
    again = [
        PlantedCanary(one.template, secret, one.copies)
        for one, secret in zip(planted, ["000000", "100000", "200000"] * 4, strict=True)
    ]
    assert not any(one.completed for one in named_canaries(other, again, PLAN, completes=other))
    assert other.prompts == model.prompts
    # the tokens of the text itself tell a secret that begins with 0 or 1
    ends = {len(other.decode([t for t in other.encode(one.text()) if t >> 8])) for one in again[:3]}
    assert len(ends) > 1


def slow_distance(one, other):
    """Levenshtein's distance by its definition."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        slow_distance(one[1:], other) + 1,
        slow_distance(one, other[1:]) + 1,
        slow_distance(one[1:], other[1:]) + (one[0] != other[0]),
    )


@given(st.text("abc", max_size=5), st.text("abc", max_size=6))
def test_the_edit_distance_is_that_of_its_definition(one, other):
    assert edit_distance(one, other) == slow_distance(one, other)


def test_tokens_agree_at_their_places():
    model = CharacterNgram(["abc"], order=2)
    said, true = ["abcd", "xabc", "", "abcd"], ["abcx", "abcx", "ab", "dcba"]
    assert nearly(model, said, true, tokens=0.75).tolist() == [True, False, False, False]
    assert nearly(model, said, true, edits=0.5).tolist() == [True, True, False, False]
    assert nearly(model, said, true, edits=0.25, tokens=0.75).tolist() == [True, *[False] * 3]


def test_discovery_keeps_its_digits():
    """Against fractions: 1 - (1 - q)^n, of tiny q as of a certain one."""
    logs = np.array([0.0, np.log(0.25), np.log(2.0**-60), -np.inf])
    for n in (1, 7, 10**12):
        exact = [1 - (1 - Fraction(q)) ** min(n, 7) for q in (1, 0.25, 2.0**-60, 0)]
        found = discovery(logs, n)
        if n <= 7:
            assert found == pytest.approx([float(one) for one in exact], rel=1e-12)
    assert found[2] == pytest.approx(10**12 * 2.0**-60, rel=1e-5)
    with pytest.raises(InputError, match="samples"):
        discovery(logs, 0)


def test_scores_that_need_tokens_or_are_no_numbers_are_refused():
    class Broken(CharacterNgram):
        def negative_log_likelihood(self, texts):
            return np.full(len(texts), np.nan), np.ones(len(texts))

    model = CharacterNgram(["abc"], order=2)
    with pytest.raises(InputError, match=r"min-k.*probabilities of tokens"):
        membership_scores(model, ["abc"], names=["min-k"])
    with pytest.raises(InputError, match="`loss` of a document is NaN"):
        membership_scores(Broken(["abc"]), ["abc"], names=["loss"])
    found = membership_scores(model, ["abc", "abcabc"], names=["loss", "zlib"])
    loss, tokens = model.negative_log_likelihood(["abc", "abcabc"])
    assert list(found) == ["loss", "zlib"]
    assert found["loss"] == pytest.approx(-loss / tokens)
    packed = [len(zlib.compress(text, 9)) for text in (b"abc", b"abcabc")]
    assert found["zlib"] == pytest.approx(packed / loss)


def test_scores_without_a_chance_blame_the_model():
    class Model:
        def negative_log_likelihood(self, texts):
            return np.full(len(texts), np.inf), np.ones(len(texts))

    with pytest.raises(InputError, match=r"score `perplexity` of a document is infinite"):
        membership_scores(Model(), ["a", "b"], names=["perplexity"])
    with pytest.raises(InputError, match="none of the `candidates` a chance"):
        model_prior(Model(), ["a", "b"])
