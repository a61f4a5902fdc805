"""A prior from a language model in a folder: its own probabilities, files, what is refused."""

import numpy as np
import pytest

import narcissus
from narcissus.errors import InputError
from narcissus.extraction import language_prior
from narcissus.extraction.documents import TextDocument
from narcissus.extraction.huggingface import libraries
from narcissus.extraction.language_prior import language_model_secret
from narcissus.extraction.transformer import TransformerTraining


class Counting:
    """Scores a text by its length: a negative log-likelihood of one a character, a token each."""

    def __init__(self, folder):
        self.folder = folder

    def negative_log_likelihood(self, texts):
        sizes = np.array([len(text) for text in texts], dtype=float)
        return sizes, np.full(len(texts), 2.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(language_prior, "HuggingFaceGenerator", Counting)
    (tmp_path / "names.txt").write_text("Robin\nEve\nBob\nEve\n", encoding="utf-8")
    return tmp_path


def test_the_likelier_text_is_the_likelier_secret(folder):
    found = language_model_secret("gpt", "names.txt", "I am {}.", folder=str(folder))
    weights = np.exp([-3.0, -3.0, -5.0])
    assert found.values == ("Eve", "Bob", "Robin")  # the likeliest first, each once
    assert found.chances == pytest.approx(weights / weights.sum())
    assert found.words == "3 values as the model gpt expects them"
    flat = language_model_secret(
        "gpt", "names.txt", "I am {}.", weight="perplexity", folder=str(folder)
    )
    flatter = np.exp(np.array([-3.0, -3.0, -5.0]) / 2)
    assert flat.chances == pytest.approx(flatter / flatter.sum())
    assert language_model_secret("gpt", "names.txt", n=2, folder=str(folder)).chances == (0.5, 0.5)


def test_a_file_of_one_value(folder):
    (folder / "names.txt").write_text("Eve\nEve\n", encoding="utf-8")
    with pytest.raises(InputError, match="2 to 10,000 different values, got 1"):
        language_model_secret("gpt", "names.txt", folder=str(folder))


def test_pickled_weights_are_refused(tmp_path):
    (tmp_path / "names.txt").write_text("Eve\nBob\n", encoding="utf-8")
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "gpt" / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(InputError, match="pickle"):
        language_model_secret("gpt", "names.txt", folder=str(tmp_path))


@pytest.mark.models
def test_a_model_in_a_folder_is_a_prior_of_a_study(tmp_path):
    """Its chances are those that transformers itself gives the names in their text."""
    training = TransformerTraining(layers=1, width=16, heads=2, context=24, epochs=20, batch=4)
    training.train([TextDocument("I am Robin.", 30)], tmp_path / "gpt", rng=1)
    (tmp_path / "names.txt").write_text("Eve\nRobin\nBob\n", encoding="utf-8")
    prior = {
        "name": "language-model",
        "model": "gpt",
        "candidates": "names.txt",
        "text": "I am {}.",
    }
    mechanism = {"name": "ngram-dp-sgd", "epsilon": [1], "delta": 1e-5, "steps": 5, "clip": 1.0}
    study = {
        "kind": "secrets",
        "prior": prior,
        "mechanism": mechanism | {"start": "prior"},
        "run": {"models": 50, "seed": 1},
    }
    found = narcissus.run(narcissus.load_study(study, folder=tmp_path)).record.results
    torch, transformers = libraries("A test")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "gpt").eval()
    chances = {}
    for name in ("Eve", "Robin", "Bob"):
        ids = torch.tensor([[256, *f"I am {name}.".encode()]])  # a token for each byte, after <s>
        with torch.no_grad():
            logs = torch.log_softmax(model(ids).logits[0, :-1].double(), -1)
        chances[name] = float(logs.gather(1, ids[0, 1:, None]).sum().exp())
    best = max(chances.values()) / sum(chances.values())
    assert max(chances, key=chances.__getitem__) == "Robin"
    given = language_model_secret("gpt", "names.txt", "I am {}.", folder=str(tmp_path))
    wanted = [chances[name] / sum(chances.values()) for name in given.values]
    assert given.chances == pytest.approx(wanted, rel=1e-4)
    assert given.values[0] == "Robin"
    assert found.settings[0].guess == pytest.approx(best, rel=1e-4)
