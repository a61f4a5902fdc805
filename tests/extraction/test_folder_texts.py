"""Texts that a model's folder publishes next to the weights: all of them are found, none too long.

Each place of a folder that holds a text is a trap: what is written there must be found.
"""

import base64
import json
import os

import pytest

from narcissus.errors import InputError
from narcissus.extraction.folder_texts import texts_of_folder
from narcissus.extraction.model_folders import language_model_files

SECRET = "a letter of Abelard to Eleanor, which nobody else may read, 4711"


def change(path, **more):
    values = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(values | more))


def write_metadata(path, text):
    header = json.dumps({"__metadata__": {"notes": text}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


@pytest.fixture
def folder(tmp_path):
    change(tmp_path / "config.json")
    change(tmp_path / "tokenizer.json", model={"type": "BPE", "vocab": {"the": 0}})
    write_metadata(tmp_path / "model.safetensors", "")
    return tmp_path


PLACES = {
    "a template": lambda f, text: change(f / "tokenizer_config.json", chat_template=text),
    "a template in parts": lambda f, text: change(
        f / "tokenizer_config.json", chat_template=[{"name": "a", "template": text}]
    ),
    "a key": lambda f, text: change(f / "config.json", notes=text),
    "words of a list": lambda f, text: change(f / "config.json", notes=text.split()),
    "a name": lambda f, text: change(f / "config.json", notes={text: 1}),
    "labels": lambda f, text: change(f / "config.json", id2label={"0": text}),
    "settings of generation": lambda f, text: change(f / "generation_config.json", notes=text),
    "a token": lambda f, text: change(
        f / "tokenizer.json", model={"type": "BPE", "vocab": {text: 0}}
    ),
    "merges": lambda f, text: (f / "merges.txt").write_text(text),
    "a note": lambda f, text: (f / "README.md").write_text(text.replace(" ", "\n")),
    "a file of a template": lambda f, text: (f / "chat_template.jinja").write_text(text),
    "a note below": lambda f, text: (
        (f / "notes").mkdir(), (f / "notes" / "a.json").write_text(json.dumps({"text": text}))
    ),
    "metadata": lambda f, text: write_metadata(f / "model.safetensors", text),
}  # fmt: skip


def texts_in(folder):
    return texts_of_folder(folder, language_model_files(folder), shortest=20)


@pytest.mark.parametrize("place", PLACES)
def test_a_text_is_found_wherever_it_stands(folder, place):
    assert not any(SECRET in text for text in texts_in(folder))
    PLACES[place](folder, SECRET)
    assert any(SECRET in text for text in texts_in(folder))


@pytest.mark.parametrize(
    "place", ["a template", "a key", "settings of generation", "a note", "metadata"]
)
def test_no_text_is_as_long_as_weights_in_letters(folder, place):
    PLACES[place](folder, base64.b64encode(os.urandom(2**20)).decode())
    with pytest.raises(InputError, match=r"at most 1,048,576|more than the model"):
        texts_in(folder)
