"""One set of weights in a folder: the one that whoever gets the folder reads."""

import json

import pytest

from narcissus.errors import InputError
from narcissus.extraction.image_models import check_diffusers_folder
from narcissus.extraction.model_arrays import require_all_used
from narcissus.extraction.model_folders import check_model_folder
from narcissus.extraction.tokenizer_files import LARGEST_ID, MOST_ADDED, MOST_MERGES, MOST_TOKENS


def write_arrays(path, *names):
    """Write arrays of one byte each."""
    entries = {
        name: {"dtype": "U8", "shape": [1], "data_offsets": [place, place + 1]}
        for place, name in enumerate(names)
    }
    header = json.dumps(entries).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"x" * len(names))


def put(path, **settings):
    path.write_text(json.dumps(settings))


@pytest.fixture
def folder(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    put(model / "config.json", model_type="gpt2", n_layer=1)
    write_arrays(model / "model.safetensors", "a", "b")
    return model


INDEX = "model.safetensors.index.json"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.fixture
def sharded(folder):
    (folder / "model.safetensors").unlink()
    for shard, name in zip(SHARDS, "ab", strict=True):
        write_arrays(folder / shard, name)
    put(folder / INDEX, weight_map=dict(zip("ab", SHARDS, strict=True)))
    return folder


SECOND = [
    *("pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"),
    *(
        "tf_model.h5",
        "flax_model.msgpack",
        "model.gguf",
        "q4.GGUF",
        "model.onnx",
        "onnx/model.onnx",
    ),
    *("consolidated.safetensors", "model.fp16.safetensors", "adapter_model.safetensors"),
    *("adapter_model.bin", "diffusion_pytorch_model.safetensors", "rust_model.ot", "weights.npz"),
    *("checkpoint-500/model.safetensors", "real.safetensors", "pytorch_lora_weights.safetensors"),
    *("model.safetensors.index.fp16.json", "openvino_model.bin", "model.ckpt.index", "ggml-a.bin"),
    *("diffusion_pytorch_model.safetensors.index.json", "variables.data-00000-of-00001"),
    *("old\nname.safetensors", "saved_model.pb", "adapter.bin"),
]


@pytest.mark.parametrize("name", [*SECOND, INDEX])
def test_a_second_set_of_weights_is_refused(folder, name):
    """Whatever another program would read: it could be another model."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"{}")
    with pytest.raises(InputError, match=r"holds (a second set of weights|more than the model)"):
        check_model_folder(folder)


@pytest.mark.parametrize("name", [*SECOND, "model.safetensors"])
def test_a_second_set_beside_shards_is_refused(sharded, name):
    (sharded / name).parent.mkdir(exist_ok=True)
    (sharded / name).write_bytes(b"{}")
    with pytest.raises(InputError, match=r"holds (a second set of weights|more than the model)"):
        check_model_folder(sharded)


@pytest.mark.parametrize("name", ["consolidated.00.pth", "original/model.pt", "sd.ckpt"])
def test_pickled_weights_are_refused(folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"x")
    with pytest.raises(InputError, match="holds more than the model"):
        check_model_folder(folder)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "README.md",
            "LICENSE",
            "trainer_state.json",
            "tokenizer.json",
            "vocab.txt",
            "eval_results.json",
        ),
        *("generation_config.json", ".gitattributes", "model.py"),
    ],
)
def test_what_is_no_model_is_no_second_set(folder, sharded, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"{}")
    assert check_model_folder(folder) > 0


def test_of_a_pipeline_each_part_has_one_set(tmp_path):
    put(
        tmp_path / "model_index.json",
        _class_name="DDPMPipeline",
        unet=["diffusers", "UNet2DModel"],
    )
    (tmp_path / "unet").mkdir()
    put(tmp_path / "unet" / "config.json", _class_name="UNet2DModel")
    write_arrays(tmp_path / "unet" / "diffusion_pytorch_model.safetensors", "a")
    assert check_diffusers_folder(tmp_path) > 0
    for name in (
        *("unet/diffusion_pytorch_model.bin", "unet/diffusion_pytorch_model.fp16.safetensors"),
        *("sd-v1-5.safetensors", "pytorch_lora_weights.safetensors", "old.ckpt"),
        *("unet/model.safetensors", "other/model.safetensors", "unet/model.onnx"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
        with pytest.raises(InputError, match=r"holds (a second set|more than the model)"):
            check_diffusers_folder(tmp_path)
        (tmp_path / name).unlink()


@pytest.mark.parametrize(
    ("arrays", "places", "message"),
    [
        (("ab", "b"), "01", "the array 'b' is in"),
        (("a", "b"), "10", "says that"),
        (("a", "b"), "00", "says that"),
        (("a", "bc"), "01", "does not name the array 'c'"),
        (("a", "b"), "010", "says that .* holds the array 'c', and no file"),
    ],
)
def test_each_array_stands_once_where_the_map_says(sharded, arrays, places, message):
    """Of two arrays of one name a program takes either."""
    for shard, names in zip(SHARDS, arrays, strict=True):
        write_arrays(sharded / shard, *names)
    named = {name: SHARDS[int(place)] for name, place in zip("abc", places, strict=False)}
    put(sharded / INDEX, weight_map=named)
    with pytest.raises(InputError, match=message):
        check_model_folder(sharded)


@pytest.mark.parametrize("name", ["config.json", "generation_config.json", "tokenizer_config.json"])
@pytest.mark.parametrize(
    "key",
    [
        *("transformers_weights", "configuration_files", "fast_tokenizer_files", "gguf_file"),
        *("variant", "subfolder"),
    ],
)
def test_no_key_names_other_files(folder, name, key):
    """As transformers 5 reads the file of `transformers_weights` in place of the usual one."""
    base = {"model_type": "gpt2", "n_layer": 1}
    for value in ("real.safetensors", ["config.4.0.0.json"]):
        put(folder / name, **base, **{key: value})
        with pytest.raises(InputError, match=f"`{key}` names other files"):
            check_model_folder(folder)
        put(folder / name, **base, text_config={key: value})
        with pytest.raises(InputError, match=f"`{key}` names other files"):
            check_model_folder(folder)
    put(folder / name, **base, **{key: None})
    assert check_model_folder(folder) > 0


@pytest.mark.parametrize("key", ["n_layer", "num_hidden_layers", "vocab_size", "n_head"])
@pytest.mark.parametrize("value", [-1, 0, "7", [2], True, 2.5, {}, float("inf"), -(10**6)])
def test_a_number_that_no_model_has_is_named(folder, key, value):
    for settings in ({key: value}, {"text_config": {key: value}}):
        put(folder / "config.json", model_type="gpt2", **settings)
        if key == "n_head" and value == [2]:  # a number for each layer
            assert check_model_folder(folder) > 0
            continue
        with pytest.raises(InputError, match=f"`{key}` is .*must be a whole number, 1 or more"):
            check_model_folder(folder)


def test_nan_is_no_setting(folder):
    put(folder / "config.json", model_type="gpt2", deep={"list": [1.0, float("nan")]})
    with pytest.raises(InputError, match="`list` is NaN"):
        check_model_folder(folder)
    put(folder / "config.json", model_type="gpt2", time_step_limit=[0.0, float("inf")])
    assert check_model_folder(folder) > 0


def test_an_encoder_is_no_causal_model(folder):
    put(folder / "config.json", model_type="t5", is_encoder_decoder=True)
    with pytest.raises(InputError, match="is no causal language model: its encoder reads"):
        check_model_folder(folder)


@pytest.mark.parametrize("value", [False, 0, "", {}, [], [1], "int8"])
def test_a_packing_that_is_none_is_not_called_one(folder, value):
    put(folder / "config.json", model_type="gpt2", quantization_config=value)
    with pytest.raises(InputError, match="names no way of packing weights"):
        check_model_folder(folder)


@pytest.mark.parametrize("value", [[], {}, 1, True, ["sdpa"], {"": []}, "paged|eager", "x"])
def test_a_kernel_that_is_not_run_is_one_error(folder, value):
    put(folder / "config.json", model_type="gpt2", attn_implementation=value)
    if value == {}:
        assert check_model_folder(folder) > 0
        return
    with pytest.raises(InputError, match=r"asks for a kernel, .* are run here") as caught:
        check_model_folder(folder)
    assert "fetched" not in str(caught.value)


ADDED = [{"id": 5, "content": "o"}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", {"added_tokens": ADDED * (MOST_ADDED + 1)}, "added tokens, and at most"),
        ("tokenizer.json", {"model": {"vocab": {"a": 2**32 - 1}}}, "numbers a token 4,294,967,295"),
        ("tokenizer.json", {"model": {"vocab": {"a": -1}}}, "numbers a token -1"),
        ("tokenizer.json", {"added_tokens": [{"id": LARGEST_ID}]}, "numbers a token 16,777,216"),
        ("tokenizer.json", {"model": {"vocab": [0] * (MOST_TOKENS + 1)}}, "vocab, and at most"),
        ("tokenizer.json", {"model": {"merges": [0] * (MOST_MERGES + 1)}}, "merges, and at most"),
        ("vocab.json", {"a": 2**40}, "numbers a token"),
        ("added_tokens.json", {"a": 2**31}, "numbers a token"),
        ("vocab.txt", "a\n" * (MOST_TOKENS + 1), "tokens, and at most"),
        ("merges.txt", "a b\n" * (MOST_MERGES + 1), "tokens, and at most"),
    ],
)
def test_a_tokenizer_has_a_limit_that_is_told(folder, name, content, message):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text)
    with pytest.raises(InputError, match=message):
        check_model_folder(folder)


@pytest.mark.parametrize("count", [1, 4, 30])
def test_arrays_that_a_model_does_not_use_are_named(folder, count):
    """`bert` with its pooler: the sentence named one of four arrays."""

    class Model:
        def state_dict(self, *, keep_vars):
            return {}

    names = [f"bert.pooler.{number:02}" for number in range(count)]
    write_arrays(folder / "model.safetensors", *names)
    with pytest.raises(InputError, match="another program may use them") as caught:
        require_all_used([folder / "model.safetensors"], Model(), "model", names)
    assert sum(name in str(caught.value) for name in names) == min(count, 12)
    assert ("and 18 more" in str(caught.value)) == (count == 30)
