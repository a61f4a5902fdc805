"""Texts that a model's folder publishes next to the weights: all of them are found, none too long.

Each place of a folder that holds a text is a trap: what is written there must be found.
"""

import base64
import bz2
import codecs
import gzip
import json
import lzma
import os
import random
import struct
import zlib
from urllib.parse import quote

import pytest

from narcissus.errors import InputError
from narcissus.extraction.folder_texts import texts_of_folder
from narcissus.extraction.model_folders import language_model_files
from narcissus.extraction.packed_texts import Unpacker

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
    return texts_of_folder(folder, language_model_files(folder), shortest=20).texts


def unread_in(folder):
    return texts_of_folder(folder, language_model_files(folder), shortest=20).unread


@pytest.mark.parametrize("place", PLACES)
def test_a_text_is_found_wherever_it_stands(folder, place):
    assert not any(SECRET in text for text in texts_in(folder))
    PLACES[place](folder, SECRET)
    assert any(SECRET in text for text in texts_in(folder))


def in_png(kind, data):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(kind, data) + chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


PICTURES = {
    "a comment": lambda text: in_png(b"tEXt", b"Comment\0" + text),
    "a packed comment": lambda text: in_png(b"zTXt", b"Comment\0\0" + zlib.compress(text)),
    "EXIF": lambda text: in_png(b"eXIf", text.decode().encode("utf-16-le")),
    "JPEG": lambda text: b"\xff\xd8\xff\xfe" + text + b"\xff\xd9",
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_text_is_found_in_a_picture(folder, kind):
    (folder / "a.png").write_bytes(PICTURES[kind](SECRET.encode()))
    assert any(SECRET in text for text in texts_in(folder))
    assert unread_in(folder) == ()


CODES = {
    "base64": base64.b64encode, "base64 for addresses": base64.urlsafe_b64encode,
    "base64 in lines": base64.encodebytes, "hexadecimal": lambda b: b.hex().encode(),
    "base32": base64.b32encode, "reversed": lambda b: b[::-1],
    "shifted": lambda b: codecs.encode(b.decode(), "rot13").encode(),
    "gzip": lambda b: base64.b64encode(gzip.compress(b)),
    "zlib": lambda b: base64.b64encode(zlib.compress(b)),
    "bzip2": lambda b: base64.b64encode(bz2.compress(b)),
    "xz": lambda b: lzma.compress(b).hex().encode(),
    "UTF-16": lambda b: base64.b64encode(b.decode().encode("utf-16")),
    "twice": lambda b: base64.b64encode(base64.b64encode(b)),
    "base64, reversed": lambda b: base64.b64encode(b)[::-1],
    "escapes": lambda b: "".join(f"\\u{c:04x}" for c in b).encode(),
    "JSON in JSON": lambda b: json.dumps(json.dumps(b.decode())).encode(),
    "an address": lambda b: quote(b.decode()).encode(),
}  # fmt: skip


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("place", ["a note", "a key", "a template", "metadata"])
def test_a_text_is_found_in_each_code(folder, place, code):
    PLACES[place](folder, f"notes: {CODES[code](SECRET.encode()).decode()}.")
    assert any(SECRET in text for text in texts_in(folder))
    assert unread_in(folder) == ()


@pytest.mark.parametrize("code", [base64.b64encode, base64.b85encode, bytes.hex])
@pytest.mark.parametrize("place", ["a note", "a key", "metadata"])
def test_what_cannot_be_read_is_named(folder, place, code):
    held = code(random.Random(1).randbytes(2000))
    PLACES[place](folder, held if isinstance(held, str) else held.decode())
    (name,) = unread_in(folder)
    assert (folder / name).exists()


@pytest.mark.parametrize(
    "text",
    [
        "sha256:" + "0123456789abcdef" * 4, "-" * 5000, " ".join(f"{i}" for i in range(5000)),
        ",".join(f"0.{i * 7919 % 100003}" for i in range(5000)), "/a/long/path" * 500,
        "The quick brown fox jumps over the lazy dog. " * 100,
    ],
)  # fmt: skip
def test_an_ordinary_text_is_read(folder, text):
    (folder / "README.md").write_text(text)
    assert unread_in(folder) == ()


def test_a_bomb_is_bounded(folder):
    bomb = gzip.compress(bytes(2**25))
    PLACES["a note"](folder, base64.b64encode(gzip.compress(bomb)).decode())
    assert unread_in(folder) == ("README.md",)
    assert sum(map(len, texts_in(folder))) < 2**26


@pytest.mark.parametrize(
    "place", ["a template", "a key", "settings of generation", "a note", "metadata"]
)
def test_no_text_is_as_long_as_weights_in_letters(folder, place):
    PLACES[place](folder, base64.b64encode(os.urandom(2**20)).decode())
    with pytest.raises(InputError, match=r"at most 1,048,576|more than the model"):
        texts_in(folder)


def test_a_file_of_many_beginnings_is_read_in_time_and_counts_as_unread():
    """Each beginning of packed bytes was read to the end of the file."""
    unpacker = Unpacker(shortest=20)
    unpacker.read_file(b"\0x\x9c" * 300_000)
    assert unpacker.unread
