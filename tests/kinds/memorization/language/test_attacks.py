"""The attacks themselves: whom they ask, and on which documents."""

import numpy as np

from narcissus.extraction.language_models import ModelsUnderStudy
from narcissus.extraction.ngram import CharacterNgram
from narcissus.extraction.recovered import Division, TextDocument
from narcissus.kinds.memorization.language.attacks import completed, generated, texts_of
from narcissus.kinds.memorization.language.schema import CompletionSection, GenerationSection

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
        completed(models, DIVISION, CompletionSection(prefix=29, window=10)),
    ):
        nothing, all_of_it = found.by_shadows
        assert not nothing.any()
        assert all_of_it.all()
    assert read == [1, 2] * 2  # one after another, not all held at once
    assert completed(MODELS, DIVISION, CompletionSection(prefix=29, window=10)).by_shadows == ()


def test_short_documents_are_on_no_side_of_completion():
    short = Division((*SIDES[0], TextDocument("x")), (*SIDES[1], TextDocument("y")))
    section = CompletionSection(prefix=29, window=10)
    found = completed(ModelsUnderStudy(MODEL, None, None, None, 1), short, section)
    assert (len(found.trained), len(found.fresh)) == (3, 3)
    assert found.recovered.all()
    assert not found.recovered_fresh.any()
    assert found.by_reference is None
    assert np.size(found.ranked) == 0
