"""A prior from a language model in a folder: its own probabilities, files, what is refused."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction import language_prior
from narcissus.extraction.language_prior import language_model_secret


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
