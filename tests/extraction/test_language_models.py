"""The ways in which a study has its models."""

import pytest

from narcissus.errors import InputError
from narcissus.extraction.documents import TextDocument
from narcissus.extraction.language_models import LocalCheckpoint, TrainedCharacterNgram
from narcissus.observer import SILENT


def test_an_ngram_model_and_its_reference(tmp_path):
    part = TrainedCharacterNgram(order=4)
    found = part.models(
        [TextDocument("one letter", 3)],
        [TextDocument("other one")],
        tmp_path,
        entropy=1,
        observer=SILENT,
    )
    score = found.model.negative_log_likelihood(["one letter"])[0]
    assert score < found.reference.negative_log_likelihood(["one letter"])[0]
    assert (found.folder, found.reference_folder) == (None, None)
    assert found.parameters == found.model.parameters > 0
    assert (part.trains, part.in_memory) == (True, True)
    assert part.words() == "an n-gram model of characters of order 4"
    assert 0 < part.seconds([TextDocument("x" * 100)]) < 1


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.ckpt"])
def test_pickled_weights_are_refused(tmp_path, name):
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "config.json").write_text("{}")
    (tmp_path / "gpt" / name).write_bytes(b"\x80\x04\x95")
    with pytest.raises(InputError, match=r"no weights.*pickle"):
        LocalCheckpoint("gpt", folder=str(tmp_path))
    (tmp_path / "gpt" / "model.safetensors").write_bytes(b"\x80\x04\x95" + b"\0" * 16)
    with pytest.raises(InputError, match="pickle"):
        LocalCheckpoint("gpt", folder=str(tmp_path))


def test_the_reference_is_looked_at_as_well(tmp_path):
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "config.json").write_text("{}")
    (tmp_path / "gpt" / "model.safetensors").write_bytes(b"\0" * 16)
    with pytest.raises(InputError, match=r"no such model folder.*other"):
        LocalCheckpoint("gpt", "other", folder=str(tmp_path))
