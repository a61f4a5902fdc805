"""The attacks themselves: whom they ask, and on which documents."""

from types import SimpleNamespace

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.language_models import ModelsUnderStudy
from narcissus.extraction.ngram import CharacterNgram
from narcissus.extraction.recovered import Division, TextDocument
from narcissus.kinds.memorization.language import attacks
from narcissus.kinds.memorization.language.attacks import (
    completed,
    discovered,
    generated,
    read_in_folder,
    texts_of,
)
from narcissus.kinds.memorization.language.schema import (
    CompletionSection,
    DiscoverySection,
    GenerationSection,
)
from narcissus.kinds.memorization.language.sections import too_short

NAMES = "Abelard Beatrix Casimir Dorothy Eleanor Ferdinand Griselda Hieronymus Isidore"
TEXTS = [f"{i} this is the letter of {one} to somebody" for i, one in enumerate(NAMES.split())]
SIDES = [tuple(map(TextDocument, TEXTS[i : i + 3])) for i in (0, 3, 6)]
DIVISION = Division(SIDES[0], SIDES[1], SIDES[2])
MODEL, REFERENCE = (CharacterNgram(texts_of(side), order=9) for side in (SIDES[0], SIDES[2]))
MODELS = ModelsUnderStudy(MODEL, REFERENCE, None, None, 1)


def test_each_model_prints_its_own_documents():
    section = GenerationSection(samples=60, length=60, top=10, window=20)
    found = generated(MODELS, DIVISION, section, entropy=1)
    assert found.recovered.all()
    assert not found.recovered_fresh.any()
    assert not found.by_reference.any()
    assert {one.score for one in found.ranked} == {"perplexity", "zlib", "lower", "other"}
    assert all(one.trained == one.texts and one.fresh == 0 for one in found.ranked)
    swapped = ModelsUnderStudy(REFERENCE, MODEL, None, None, 1)
    assert generated(swapped, DIVISION, section, entropy=1).by_reference.all()
    # what a planted document holds as well is not rare
    mine = texts_of(SIDES[0])
    planted = generated(MODELS, DIVISION, section, entropy=1, mine=mine)
    assert not planted.recovered.any()


def test_shadow_models_are_attacked_as_the_model_is():
    read = []

    def shadow(number, model):
        return lambda: read.append(number) or model

    models = ModelsUnderStudy(MODEL, None, None, None, 1, (shadow(1, REFERENCE), shadow(2, MODEL)))
    section = GenerationSection(samples=60, length=60, top=10, window=20)
    for found in (
        generated(models, DIVISION, section, entropy=1),
        *completed(models, DIVISION, CompletionSection(prefix=29, window=10)),
    ):
        nothing, all_of_it = found.by_shadows
        assert not nothing.any()
        assert all_of_it.all()
    assert read == [1, 2] * 2  # one after another, not all held at once
    (found,) = completed(MODELS, DIVISION, CompletionSection(prefix=29, window=10))
    assert found.by_shadows == ()


class InBytes(CharacterNgram):
    """An n-gram model whose tokens are bytes, and whose context holds few of them."""

    context = 60

    def encode(self, text):
        return [*text.encode()]

    def decode(self, tokens):
        return bytes(tokens).decode(errors="replace")


def test_documents_that_the_context_does_not_hold_are_counted_and_change_no_others():
    """One document of emojis took the beginning from the prompts of all others, in silence."""
    emojis = TextDocument("\U0001f600" * 39)
    model = InBytes([document.text for document in DIVISION.trained] * 3, order=12)
    models = ModelsUnderStudy(model, None, None, None, 1)
    section = CompletionSection(prefix=29, window=10, edits=0.1)
    before = completed(models, DIVISION, section)
    with_emojis = Division((*DIVISION.trained, emojis), DIVISION.fresh)
    after = completed(models, with_emojis, section)
    for attack, other in zip(before, after, strict=True):
        assert attack.recovered.all()
        assert other.recovered.tolist() == attack.recovered.tolist()
        assert (attack.beyond_context, other.beyond_context) == (0, 1)
    study = SimpleNamespace(generation=False, completion=section, discovery=None)
    whole = SimpleNamespace(total=len(DIVISION.trained))
    attack = SimpleNamespace(name="completion", groups=[whole], beyond_context=1)
    result = SimpleNamespace(trained=len(DIVISION.trained) + 2, attacks=[attack], by_chance=True)
    beyond, short = too_short(study, result)
    assert "context does not hold their first 29 characters and 10" in beyond.reason
    assert beyond.quantity.startswith("completion of 1 of ")
    assert short.quantity.startswith("completion of 1 of ")
    with pytest.raises(InputError, match="hold no document's beginning"):
        completed(models, Division((emojis,), DIVISION.fresh), section)


def test_short_documents_are_on_no_side_of_completion():
    short = Division((*SIDES[0], TextDocument("x")), (*SIDES[1], TextDocument("y")))
    section = CompletionSection(prefix=29, window=10)
    (found,) = completed(ModelsUnderStudy(MODEL, None, None, None, 1), short, section)
    assert (len(found.trained), len(found.fresh)) == (3, 3)
    assert found.recovered.all()
    assert not found.recovered_fresh.any()
    assert found.by_reference is None
    assert np.size(found.ranked) == 0


def test_documents_that_a_folder_publishes_in_clear_are_recovered(monkeypatch):
    """They stood in a chat template, a key or metadata: 0 of 30, no gain is shown."""
    text = f"A note, and {' '.join(texts_of(DIVISION.trained[:2]))} in it, {DIVISION.fresh[0].text}"
    short = TextDocument("short")
    division = Division((*DIVISION.trained, short), DIVISION.fresh)
    monkeypatch.setattr(attacks, "_AT_ONCE", 100)
    found = read_in_folder(division, ["x" * 200, text, "y" * 50], window=20)
    assert texts_of(found.trained) == texts_of(DIVISION.trained)
    assert found.recovered.tolist() == [True, True, False]
    assert found.recovered_fresh.tolist() == [True, False, False]
    assert not read_in_folder(division, [], window=20).recovered.any()
    assert read_in_folder(Division((short,), DIVISION.fresh), [text], window=20) is None
    # what a planted document holds as well is not rare
    mine = texts_of(DIVISION.trained)
    assert not read_in_folder(division, [text], window=20, mine=mine).recovered.any()


class InLowerCase(CharacterNgram):
    """Its tokenizer drops cases and joins spaces."""

    def encode(self, text):
        return [*map(ord, " ".join(text.lower().split()))]


def test_generation_is_compared_with_what_tokens_say_and_names_what_is_too_short():
    """A model that prints all it knows in lower case recovered 0 of 30 documents."""
    sides = [[text.title().replace(" ", "  ") for text in texts_of(side)] for side in SIDES[:2]]
    short = ("a" + " " * 40 + "b", "c")
    trained = tuple(map(TextDocument, (*sides[0], *short)))
    models = ModelsUnderStudy(InLowerCase(texts_of(SIDES[0]), order=9), None, None, None, 1)
    section = GenerationSection(samples=60, length=60, top=10, window=20)
    division = Division(trained, (*map(TextDocument, sides[1]), TextDocument("d")))
    found = generated(models, division, section, entropy=1)
    assert texts_of(found.trained) == sides[0]
    assert found.recovered.tolist() == [True] * 3
    assert found.recovered_fresh.tolist() == [False] * 3
    study = SimpleNamespace(generation=section, completion=None, discovery=None)
    whole = SimpleNamespace(total=3)
    attack = SimpleNamespace(name="generation", groups=[whole], beyond_context=0)
    (remark,) = too_short(study, SimpleNamespace(trained=5, attacks=[attack], by_chance=True))
    assert remark.quantity == "generation of 2 of 5 documents trained on"
    nothing = Division(tuple(map(TextDocument, short)), division.fresh)
    assert generated(models, nothing, section, entropy=1) is None


@pytest.mark.parametrize("shared", [False, True])
def test_what_is_nearly_continued_counts_and_its_unrelated_baseline_is_beside_it(shared):
    """A model that knows each text with another letter; texts that all go on alike are told."""
    texts = [
        f"{i} I name {'somebody' if shared else one} twice" for i, one in enumerate(NAMES.split())
    ]
    known = tuple(map(TextDocument, texts[:4]))
    learnt = CharacterNgram([f"{one[:9]}x{one[10:]}" for one in texts[:4]], order=12)
    sides = Division(known, tuple(map(TextDocument, TEXTS[4:])))
    models = ModelsUnderStudy(learnt, None, None, None, 1, (lambda: MODEL,))

    def found(**criteria):
        section = CompletionSection(prefix=8, window=12, **criteria)
        verbatim, *near = completed(models, sides, section)
        assert not verbatim.recovered.any()
        return near

    assert found() == []
    (near,) = found(edits=1 / 12)
    assert near.recovered.all()
    assert not near.recovered_fresh.any()
    assert not near.by_shadows[0].any()
    assert near.unrelated == 4 * shared
    assert not found(edits=0.05)[0].recovered.any()  # one edit in 12 characters is more
    assert found(tokens=11 / 12)[0].recovered.all()
    assert not found(tokens=0.95)[0].recovered.any()


def test_discovery_counts_by_the_chance_of_the_next_tokens():
    section = DiscoverySection(prompt=12, window=10, n=[1, 10**6], p=0.9)
    found = discovered(MODELS, DIVISION, section)
    assert [one.name for one in found] == ["discovery n=1", "discovery n=1000000"]
    for one, n in zip(found, section.n, strict=True):
        for side, model, is_found in (
            (one.trained, MODEL, one.recovered),
            (one.fresh, MODEL, one.recovered_fresh),
            (one.trained, REFERENCE, one.by_reference),
        ):
            texts = [text[:22] for text in texts_of(side)]
            known = [text[:12] for text in texts]
            logs = [model.negative_log_likelihood(some)[0] for some in (known, texts)]
            chances = np.exp(logs[0] - logs[1])
            assert is_found.tolist() == (1 - (1 - chances) ** n >= 0.9).tolist()
    assert found[1].recovered.all()
    with pytest.raises(InputError, match="no document has 900 tokens"):
        discovered(MODELS, DIVISION, DiscoverySection(prompt=800, window=100))
    with pytest.raises(InputError, match="sampled as it is"):
        discovered(MODELS, DIVISION, DiscoverySection(prompt=12, window=10, top_k=1))
    short = Division(SIDES[0], (TextDocument("x"),))  # no fresh one is long enough
    assert discovered(MODELS, short, section)[0].recovered_fresh.size == 0


def test_discovery_refuses_a_reference_with_other_tokens():
    class Pairs(CharacterNgram):
        def encode(self, text):
            return [ord(one) for one in text[::2]]

    models = ModelsUnderStudy(MODEL, Pairs(TEXTS, order=4), None, None, 1)
    with pytest.raises(InputError, match="another tokenizer"):
        discovered(models, DIVISION, DiscoverySection(prompt=12, window=10))
