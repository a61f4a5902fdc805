"""What a model's folder holds next to the model, whatever it is called."""

import io
import json
import pickle
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.extraction import model_contents
from narcissus.extraction.image_models import check_diffusers_folder
from narcissus.extraction.model_contents import is_picture, is_text
from narcissus.extraction.model_folders import check_model_folder, language_model_files

WATCHED: list[list[str]] = []


def _hook(event, arguments):
    if event == "open" and WATCHED:
        WATCHED[0].append(str(arguments[0]))


sys.addaudithook(_hook)
RNG = np.random.default_rng(7)
FLOATS = RNG.normal(size=500).astype("<f4").tobytes()


def arrays(values=FLOATS):
    header = json.dumps(
        {"a": {"dtype": "U8", "shape": [len(values)], "data_offsets": [0, len(values)]}}
    ).encode()
    return len(header).to_bytes(8, "little") + header + values


def archive(name="archive/data.pkl"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(name, FLOATS)
    return buffer.getvalue()


def npy():
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(FLOATS, "<f4"))
    return buffer.getvalue()


def chunk(kind, content):
    return len(content).to_bytes(4, "big") + kind + content + bytes(4)


PNG = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)) + chunk(b"IDAT", b"x") + chunk(b"IEND", b"")
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) + b"\xff\xd9"
GIF = b"GIF89a" + bytes(20) + b";"
WEBP = b"RIFF" + (12).to_bytes(4, "little") + b"WEBPVP8 " + bytes(4)
PIECES = b"".join(
    b"\x0a" + bytes([len(piece)]) + piece for piece in (b"\x0a\x01a\x15\0\0\0\0", b"\x0a\x01b")
)
SPM = PIECES + b"\x12\x03\x18\x01x" + b"\x1a\x02\x0a\0"

CONTENTS = {
    "safetensors": arrays(),
    "raw numbers": FLOATS,
    "half numbers": RNG.normal(size=500).astype("<f2").tobytes(),
    "bytes of numbers": RNG.normal(scale=30, size=500).astype("i1").tobytes(),
    "zip": archive(),
    "zip of text": archive("a.txt"),
    "text before a zip": b"# Model\n" * 9 + archive(),
    **{f"pickle {n}": pickle.dumps([1.5] * 20 + ["text"], n) for n in range(6)},
    "pickle of an array": pickle.dumps(np.frombuffer(FLOATS), 2),
    "GGUF": b"GGUF" + (3).to_bytes(4, "little") + FLOATS,
    "HDF5": b"\x89HDF\r\n\x1a\n" + FLOATS,
    "NumPy": npy(),
    "msgpack": b"\x81\xa6params\xc6" + len(FLOATS).to_bytes(4, "big") + FLOATS,
    "packed": zlib.compress(FLOATS),
    "picture and more": PNG + arrays(),
    "picture with a strange part": PNG[:-12] + chunk(b"wEIG", FLOATS) + PNG[-12:],
    "photograph and more": JPEG + arrays(),
    "GIF and more": GIF + arrays(),
    "WEBP and more": WEBP + arrays(),
    "tokenizer and more": SPM + arrays(),
    "one long piece": b"\x0a\xd0\x0f" + FLOATS[:2000] * 3,
    "letters of a large model": b"0123456789abcdef" * 2**16 + b"0",
}
NAMES = [
    *("model.safetensors.bak", "original.weights", "model.st", "README.md", "LICENSE", "x.json"),
    *("tokenizer.model.v3", "assets/x.png", ".hidden", "a/b/c.txt", "x.py", ".DS_Store"),
    *("tokenizer.model", "notes", "card.jpg", ".git/lfs/objects/aa/aa"),
]


@pytest.fixture
def folder(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": 1}))
    (model / "model.safetensors").write_bytes(arrays())
    return model


def put(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("name", NAMES)
def test_weights_are_known_by_their_bytes_whatever_their_name(folder, name, kind):
    """A random model was accepted with its memorizing weights as README.md next to it."""
    put(folder, name, CONTENTS[kind])
    with pytest.raises(InputError, match=r"more than the model|no part of a tokenizer") as caught:
        check_model_folder(folder)
    assert name.partition("/")[0] in str(caught.value)


@given(st.lists(st.floats(width=32), min_size=8, max_size=60).filter(lambda v: len(set(v)) > 4))
def test_numbers_are_no_text_and_no_picture(values):
    content = np.array(values, "<f4").tobytes()
    assert not is_text(arrays(content))
    assert not is_picture(arrays(content))


@given(st.text(alphabet=st.characters(blacklist_categories=("Cc", "Cs")), max_size=300))
def test_a_text_is_a_text(text):
    assert is_text(f"# {text}\n\r\t".encode())


HARMLESS = {
    "README.md": "# Größe\n\nA model (card).\n".encode(),
    "LICENSE": b"Copyright \xa9 2020, as old files write it. " * 3,
    ".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n",
    ".gitignore": b".cache\n",
    ".DS_Store": b"\0\0\0\x01Bud1" + bytes(6000),
    ".cache/huggingface/download/config.json.metadata": b"abc\ndef\n1.5\n",
    ".cache/huggingface/download/config.json.lock": b"",
    "eval_results.json": b'{"loss": 1.5}',
    "trainer_state.json": b'{"log_history": [' + b'{"loss": 1.5},' * 10**5 + b"{}]}",
    "chat_template.jinja": b"{% for m in messages %}{{ m }}{% endfor %}",
    "modeling_mine.py": b"raise SystemExit\n",
    "assets/a.png": PNG,
    "assets/b.jpg": JPEG,
    "c.gif": GIF,
    "d.webp": WEBP,
    "original/params.json": b'{"dim": 16}',
    "original/tokenizer.model": SPM,
    "tokenizer.model": SPM,
    "tokenizer.model.v3": SPM,
    "tekken.json": b'{"vocab": []}',
    "log.txt": b"\x1b[1mStep 3\x1b[0m\r\n",
    "empty": b"",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_texts_and_pictures_of_a_model_stay_and_are_named(folder, name):
    put(folder, name, HARMLESS[name])
    others = () if name == "tokenizer.model" else (name,)
    assert language_model_files(folder).others == others


HUB = {
    "pytorch_model.bin": archive(),
    "training_args.bin": pickle.dumps([1], 2),
    "optimizer.pt": archive(),
    "original/consolidated.00.pth": archive(),
    "original/params.json": b"{}",
    "tf_model.h5": b"\x89HDF\r\n\x1a\n",
    "flax_model.msgpack": b"\x81",
    "onnx/decoder_model.onnx": b"\x08\x07",
    "model-q4.gguf": b"GGUF",
    "consolidated.safetensors": arrays(),
    "checkpoint-500/model.safetensors": arrays(),
    "checkpoint-500/config.json": b"{}",
    "adapter_config.json": b'{"peft_type": "LORA"}',
    "adapter_model.safetensors": arrays(),
    "model.safetensors.index.json": b'{"weight_map": {"a": "other.safetensors"}}',
    "runs/events.out.tfevents.1": FLOATS,
}


def test_what_is_declared_as_not_published_is_never_opened(folder):
    """Published models have weights of other libraries next to the audited ones."""
    put(folder, "README.md", b"# Model\n")
    for name, content in HUB.items():
        put(folder, name, content)
    names = list(dict.fromkeys(name.partition("/")[0] for name in HUB))
    declared = [f"{name}/" if (folder / name).is_dir() else name for name in names]
    for name in HUB:
        (folder / name).chmod(0)
    opened = []
    WATCHED.append(opened)
    try:
        files = language_model_files(folder, declared)
    finally:
        WATCHED.clear()
    assert files.others == ("README.md",)
    assert [path.name for path in files.weights] == ["model.safetensors"]
    assert not {str(folder / name) for name in HUB} & set(opened)
    for left in declared:
        (folder / left).touch()
        with pytest.raises(InputError, match=r"more than the model|adapter|second set"):
            language_model_files(folder, [name for name in declared if name != left])


def test_the_refusal_writes_the_declaration_that_is_needed(folder):
    for name, content in HUB.items():
        if not name.startswith(("adapter", "model.safetensors")):
            put(folder, name, content)
    with pytest.raises(InputError) as caught:
        language_model_files(folder)
    text = str(caught.value)
    assert "take them out of the folder that is published, or declare" in text
    assert "\n" not in text
    (folder / "consolidated.safetensors").unlink()
    names = ["checkpoint-500/", "flax_model.msgpack", "model-q4.gguf", "onnx/", "optimizer.pt"]
    for name in ("original", "runs"):
        for path in (folder / name).iterdir():
            path.unlink()
    for name in ("pytorch_model.bin", "tf_model.h5", "training_args.bin"):
        (folder / name).unlink()
    with pytest.raises(InputError) as caught:
        language_model_files(folder)
    assert f"`unpublished = {json.dumps(names)}`" in str(caught.value)
    assert language_model_files(folder, names).others == ()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pytorch_model.bn", "did you mean `pytorch_model.bin`"),
        ("", "no such file"),
        (".", "no such file"),
        ("../model", "no such file"),
        ("model.safetensors", "has no weights"),
        ("config.json", "of which the audited model is read"),
    ],
)
def test_a_declaration_names_what_is_there_and_is_not_audited(folder, name, message):
    put(folder, "pytorch_model.bin", b"x")
    with pytest.raises(InputError, match=message):
        language_model_files(folder, ["pytorch_model.bin", name])


def test_a_model_that_is_not_published_may_have_anything_next_to_it(folder):
    for name, content in HUB.items():
        if not name.startswith(("adapter", "model.safetensors")):
            put(folder, name, content)
    assert language_model_files(folder, is_published=False).weights


@pytest.fixture
def pipeline(tmp_path):
    put(tmp_path, "unet/config.json", b'{"_class_name": "UNet2DModel"}')
    put(tmp_path, "unet/diffusion_pytorch_model.safetensors", arrays())
    index = {"_class_name": "DDPMPipeline", "unet": ["diffusers", "UNet2DModel"]}
    put(tmp_path, "model_index.json", json.dumps(index).encode())
    return tmp_path


@pytest.mark.parametrize("name", ["README.md", "unet/notes.txt", "unet/x.bak", "old/a/b.st"])
@pytest.mark.parametrize("kind", ["safetensors", "raw numbers", "pickle 0", "picture and more"])
def test_the_parts_of_a_pipeline_are_looked_at_alike(pipeline, name, kind):
    assert check_diffusers_folder(pipeline) > 0
    put(pipeline, "README.md", b"# Model\n")
    assert check_diffusers_folder(pipeline) > 0
    put(pipeline, name, CONTENTS[kind])
    with pytest.raises(InputError, match="more than the model") as caught:
        check_diffusers_folder(pipeline)
    declared = "old/" if name.startswith("old") else name
    assert f'`unpublished = ["{declared}"]`' in str(caught.value)
    assert check_diffusers_folder(pipeline, [declared]) > 0


def test_a_declaration_of_a_part_leaves_the_part(pipeline):
    for name in ("unet/diffusion_pytorch_model.bin", "sd.ckpt", "unet/model.safetensors"):
        put(pipeline, name, arrays())
        with pytest.raises(InputError, match=r"more than the model|second set"):
            check_diffusers_folder(pipeline)
        assert check_diffusers_folder(pipeline, [name]) > 0
        (pipeline / name).unlink()
    with pytest.raises(InputError, match="of which the audited model is read"):
        check_diffusers_folder(pipeline, ["unet/"])


def test_of_a_tokenizer_only_so_many_pieces_are_counted(monkeypatch):
    """64 MiB of empty ones took 2.5 GB, before any limit of a run held."""
    assert model_contents.is_table(Path("tokenizer.model"), SPM)
    read = []
    parts = model_contents._parts
    monkeypatch.setattr(model_contents, "_MOST_PIECES", 10)
    monkeypatch.setattr(
        model_contents,
        "_parts",
        lambda content: (read.append(1) or each for each in parts(content)),
    )
    assert not model_contents.is_table(Path("tokenizer.model"), b"\x0a\x00" * 1_000)
    assert len(read) == 11
