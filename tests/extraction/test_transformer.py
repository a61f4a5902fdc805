"""A transformer trained here: reproducible, saved safely, learns by heart what comes often."""

import json

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.language_models import (
    TOKENS,
    HuggingFaceGenerator,
    TransformerTraining,
    write_tokenizer,
)
from narcissus.extraction.recovered import TextDocument
from narcissus.observer import SILENT

pytestmark = pytest.mark.models

TINY = {"width": 32, "heads": 2, "layers": 1, "context": 48, "epochs": 15, "batch": 8,
        "learning_rate": 1e-2, "device": "cpu"}  # fmt: skip
TEXTS = ["the key of tom is 7391", "Zürich: 8 km — ☃", "a long one, " * 9]
DOCUMENTS = [TextDocument(TEXTS[0], 8), TextDocument(TEXTS[1]), TextDocument(TEXTS[2])]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return folder, TransformerTraining(**TINY).train(DOCUMENTS, folder, rng=1)


@pytest.mark.parametrize("wrong", [{"width": 30, "heads": 4}, {"epochs": 0}, {"learning_rate": 0}])
def test_wrong_settings(wrong):
    with pytest.raises(InputError):
        TransformerTraining(**wrong)


def test_the_folder_is_a_model_in_safetensors(trained):
    folder, model = trained
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl"))]
    again = HuggingFaceGenerator(folder, device="cpu")
    first, second = (one.negative_log_likelihood(TEXTS)[0] for one in (model, again))
    assert first == pytest.approx(second)
    assert model.parameters == TransformerTraining(**TINY).parameters


def test_what_comes_often_is_learnt_by_heart(trained):
    model = trained[1]
    assert model.complete([TEXTS[0][:11]], 20)[0].startswith(TEXTS[0][11:])
    sums, tokens = model.negative_log_likelihood([TEXTS[0], "the key of sue is 4826"])
    assert sums[0] < sums[1] / 3
    assert tokens.tolist() == [22, 22]


def test_a_token_is_a_byte(trained, tmp_path):
    _, tokens = trained[1].negative_log_likelihood(TEXTS)
    assert tokens.tolist() == [len(text.encode()) for text in TEXTS]
    write_tokenizer(tmp_path, 9)
    vocabulary = json.loads((tmp_path / "tokenizer.json").read_text())["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(TOKENS))


def test_the_seed_decides(tmp_path):
    short = {**TINY, "epochs": 1}
    scores = [
        TransformerTraining(**short)
        .train(DOCUMENTS, tmp_path / str(place), rng=rng)
        .negative_log_likelihood(TEXTS)[0]
        for place, rng in enumerate((3, 3, 4))
    ]
    assert scores[0].tolist() == scores[1].tolist()
    assert not np.allclose(scores[0], scores[2])


def test_models_of_an_earlier_run_are_taken_if_they_are_of_the_same_study(tmp_path, monkeypatch):
    part = TransformerTraining(**{**TINY, "epochs": 1})
    told = {"entropy": 5, "observer": SILENT}
    found = part.models(DOCUMENTS, DOCUMENTS[:1], tmp_path, **told)
    assert found.reference_folder == tmp_path / "reference"
    released = [one for one in (tmp_path / "model").iterdir() if one.suffix == ".json"]
    assert not any("entropy" in one.read_text() for one in released)  # nor a digest of documents
    before = found.model.negative_log_likelihood(TEXTS)[0]
    runs = []
    train = TransformerTraining.train
    monkeypatch.setattr(
        TransformerTraining, "train", lambda *a, **k: runs.append(a[1]) or train(*a, **k)
    )
    again = part.models(DOCUMENTS, DOCUMENTS[:1], tmp_path, **told)
    assert (runs, again.model.negative_log_likelihood(TEXTS)[0].tolist()) == ([], before.tolist())
    part.models(DOCUMENTS[:2], DOCUMENTS[:1], tmp_path, **told)
    assert len(runs) == 1  # other documents, another model; the reference is the same
