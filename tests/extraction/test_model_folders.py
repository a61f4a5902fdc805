"""Folders of models by an allow-list: what a stranger's folder may name, and what is opened."""

import json
import os
import pickle
import re
import socket
import sys

import pytest

from narcissus.errors import InputError
from narcissus.extraction.language_models import HuggingFaceGenerator
from narcissus.extraction.model_digest import model_digest
from narcissus.extraction.model_folders import (
    CONFIGURATIONS,
    TABLES,
    check_model_folder,
    language_model_files,
    read_model_files,
    reason_of_crash,
    staged,
)
from narcissus.extraction.model_trial import laid_out
from narcissus.extraction.model_weights import SINGLE
from narcissus.extraction.sandbox import ProgramRun

ARRAYS = {"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}


def weights(path, entries=ARRAYS, values=b"xx"):
    header = json.dumps(entries).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + values)


@pytest.fixture
def folder(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": 1}))
    weights(model / "model.safetensors")
    return model


def put(folder, name, **settings):
    (folder / name).write_text(json.dumps(settings))


PLACES = [
    "/etc/passwd",
    "../other",
    "a/../../b",
    "~/x",
    "\\\\host\\share",
    "C:\\x",
    "https://example.org/x",
    "file:///etc/passwd",
    "a\\..\\b",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["config.json", "generation_config.json", "tokenizer_config.json"])
def test_no_configuration_names_a_place(folder, name, place):
    for settings in (
        {"any": place},
        {"deep": {"list": [place]}},
        {"sp_model_kwargs": {"a": place}},
    ):
        put(folder, name, **settings)
        with pytest.raises(InputError, match=r"names a place|no layers"):
            check_model_folder(folder)


@pytest.mark.parametrize("key", ["vocab_file", "tokenizer_file", "_name_or_path", "merges_file"])
def test_where_a_model_once_was_is_not_handed_on(folder, key):
    """Published models are full of such keys; no library gets one."""
    put(folder, "tokenizer_config.json", **{key: "/absolute/secret.txt", "tokenizer_class": "X"})
    put(folder, "config.json", model_type="gpt2", sp_model_kwargs={"model_file": "/absolute/x"})
    with staged({"": read_model_files(folder)}) as place:
        texts = [path.read_text() for path in place.glob("*.json")]
    assert len(texts) == 2
    assert not any("absolute" in text for text in texts)
    assert any("tokenizer_class" in text for text in texts)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("auto_map", {"AutoModel": "mine.Model"}, "its own code"),
        ("custom_pipelines", {"x": {}}, "its own code"),
        ("attn_implementation", "owner/kernel", "asks for a kernel"),
        ("_attn_implementation", "owner/kernel@main", "asks for a kernel"),
        ("attn_implementation", {"text_config": "owner/kernel"}, "asks for a kernel"),
        ("experts_implementation", "owner/kernel", "asks for a kernel"),
        ("experts_implementation", "sonicmoe", "asks for a kernel"),
        ("attn_implementation", "flash_attention_2", "asks for a kernel"),
        ("_attn_implementation", "flex_attention", "asks for a kernel"),
        ("kernel_config", {"MLP": "owner/kernel:MLP"}, "asks for a kernel"),
        ("quantization_config", {"quant_method": "mine"}, "packed by another library"),
        ("n_layer", 10**6, "asks for 1,000,000 layers"),
        ("vocab_size", 10**7, "the weights hold 2 values"),
        ("anything", 10**12, "no size of a model may be above"),
    ],
)
@pytest.mark.parametrize("deep", [False, True])
def test_no_configuration_names_code_a_kernel_or_a_giant(folder, key, value, message, deep):
    settings = {"text_config": {key: value}} if deep else {key: value}
    put(folder, "config.json", model_type="gpt2", **settings)
    with pytest.raises(InputError, match=message):
        check_model_folder(folder)


def test_numbers_that_lay_out_nothing_may_be_huge(folder):
    put(folder, "tokenizer_config.json", model_max_length=10**30, bos_token="/", eos_token="~")
    put(folder, "config.json", model_type="gpt2", rope_theta=10**9, _attn_implementation="sdpa")
    assert check_model_folder(folder) > 0


@pytest.mark.parametrize(
    "name",
    [
        "../../other.pt",
        "/absolute.safetensors",
        "other.pt",
        "a/b.safetensors",
        "..safetensors/x",
        3,
    ],
)
def test_an_index_names_safetensors_beside_it_alone(folder, tmp_path, name):
    (tmp_path / "other.pt").write_bytes(pickle.dumps([1]))
    (folder / "model.safetensors").unlink()
    put(folder, "model.safetensors.index.json", weight_map={"a": name})
    with pytest.raises(InputError, match="only safetensors next to it"):
        check_model_folder(folder)


def test_shards_that_an_index_names_are_the_weights(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
    put(
        folder, "model.safetensors.index.json", weight_map={"a": "model-00001-of-00001.safetensors"}
    )
    with staged({"": read_model_files(folder)}) as place:
        names = {path.name for path in place.iterdir()}
    assert names == {
        "config.json",
        "model-00001-of-00001.safetensors",
        "model.safetensors.index.json",
    }


@pytest.mark.parametrize("content", ["[" * 500 + "]" * 500, '{"a":' * 700 + "1" + "}" * 700])
def test_a_deep_configuration_is_one_error(folder, content):
    (folder / "config.json").write_text(f'{{"model_type": "gpt2", "x": {content}}}')
    with pytest.raises(InputError, match="nested too deeply"):
        check_model_folder(folder)


def test_folders_within_folders_without_end_are_one_error(folder):
    place = folder
    for _ in range(40):
        place = place / "d"
    place.mkdir(parents=True)
    with pytest.raises(InputError, match="nested more than 32 deep"):
        check_model_folder(folder)
    with pytest.raises(InputError, match="nested more than 32 deep"):
        model_digest(folder)


def test_an_adapter_of_another_model_is_refused(folder):
    put(folder, "adapter_config.json", base_model_name_or_path="/elsewhere")
    with pytest.raises(InputError, match="holds an adapter"):
        check_model_folder(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of Unix")
@pytest.mark.parametrize(
    "name",
    [
        *("config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json"),
        *("other.bin", "notes.txt", "chat_template.jinja"),
    ],
)
def test_a_pipe_is_never_opened(folder, name):
    (folder / name).unlink(missing_ok=True)
    if name.endswith(".index.json"):
        (folder / "model.safetensors").unlink()
    os.mkfifo(folder / name)
    with pytest.raises(InputError, match=r"pipe or a device|has no config|holds more") as refusal:
        check_model_folder(folder)
    assert name in str(refusal.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of Unix")
@pytest.mark.parametrize("name", ["notes.txt", "logs/notes"])
def test_what_is_no_file_is_refused_unless_it_is_declared(folder, monkeypatch, name):
    """A socket or a pipe gives whoever opens it what its owner likes."""
    (folder / name).parent.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("chat")
        os.mkfifo(name)
        with pytest.raises(InputError, match="holds more than the model") as refusal:
            check_model_folder(folder)
        assert "chat" in str(refusal.value)
        assert name.partition("/")[0] in str(refusal.value)
        assert not language_model_files(folder, ["chat", name]).others


OPENED: list[str] = []
ASKED: list[str] = []
ASKING = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"}


def _hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and WATCHED:
        OPENED.append(arguments[0])
    elif event in ASKING and WATCHED:
        ASKED.append(str(arguments))


WATCHED: list[bool] = []
sys.addaudithook(_hook)


def test_what_is_not_on_the_list_is_not_handed_on(folder):
    """Old pickles (protocols 0 and 1 have no magic), programs and notes stay where they are."""
    for number, name in enumerate(["training_args.bin", "optimizer.x", "scaler.bin"]):
        (folder / name).write_bytes(pickle.dumps([1], number % 2))
    (folder / "modeling_mine.py").write_text("raise SystemExit")
    with staged({"": read_model_files(folder)}) as place:
        assert {path.name for path in place.iterdir()} == {"config.json", "model.safetensors"}


@pytest.mark.models
def test_a_library_opens_no_file_of_a_stranger_beside_those_on_the_list(tmp_path):
    """Every file that is opened while a model is read, by an audit hook."""
    import transformers

    from narcissus.extraction.byte_tokenizer import write_tokenizer

    model = tmp_path / "model"
    config = transformers.GPT2Config(vocab_size=257, n_embd=8, n_layer=1, n_head=1, n_positions=16)
    transformers.GPT2LMHeadModel(config).save_pretrained(model)
    write_tokenizer(model, 16)
    secret = tmp_path / "secret.txt"
    secret.write_text("words\n")
    settings = json.loads((model / "tokenizer_config.json").read_text())
    put(model, "tokenizer_config.json", **settings, vocab_file=str(secret))
    (model / "training_args.bin").write_bytes(pickle.dumps([1], 0))
    (model / "notes.json").write_text("{}")
    HuggingFaceGenerator(model, unpublished=["training_args.bin"])  # what is imported on first use
    OPENED.clear()
    WATCHED.append(True)
    try:
        HuggingFaceGenerator(model, unpublished=["training_args.bin"])
    finally:
        WATCHED.clear()
    opened = {path for path in OPENED if path.startswith(str(tmp_path))}
    names = {os.path.relpath(path, model) for path in opened}
    assert "config.json" in names
    assert names <= {
        *("config.json", "generation_config.json", "model.safetensors"),
        *(
            "tokenizer.json",
            "tokenizer_config.json",
            "special_tokens_map.json",
        ),
        "notes.json",
    }
    assert str(secret) not in opened


@pytest.mark.models
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_layer": 6}, r"asks for [\d,]+ parameters, and its weights hold"),
        ({"n_inner": 500}, r"asks for [\d,]+ parameters, and its weights hold"),
        ({"n_layer": 10**6}, "asks for 1,000,000 layers"),
        ({"vocab_size": 4 * 10**6}, "the weights hold"),
        ({"model_type": "no-such"}, "cannot read the model"),
    ],
)
def test_a_giant_is_refused_before_anything_is_laid_out(tmp_path, changes, message):
    import resource

    import transformers

    from narcissus.extraction.byte_tokenizer import write_tokenizer

    config = transformers.GPT2Config(vocab_size=257, n_embd=8, n_layer=1, n_head=1, n_positions=16)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    write_tokenizer(tmp_path, 16)
    settings = json.loads((tmp_path / "config.json").read_text())
    put(tmp_path, "config.json", **{**settings, **changes})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=message):
        HuggingFaceGenerator(tmp_path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**19  # of KiB: 512 MiB


BPE = {"tokenizer.json": {"model": {"type": "BPE", "vocab": {}, "merges": []}}}


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("", "is not a model that can be laid out"),
        ("[]", "is not a model that can be laid out"),
        ('{"parameters": 1, "buffers": 0}', "is not a model that can be laid out"),
        ({"parameters": "1"}, "is not a model that can be laid out"),
        ({"tokenizers": {"": "text"}}, "is not a model that can be laid out"),
        ({"more": 1}, "is not a model that can be laid out"),
        ({"parameters": 10**9}, "asks for 1,000,000,000 parameters"),
        ({"buffers": 2**40}, "besides its weights"),
        ({"tokenizers": {"": {}}}, "cannot be written as tokenizer.json"),
        ({"tokenizers": {"": {"tokenizer.json": {"model": {"type": "X"}}}}}, "of the kind `X`"),
        (
            {"tokenizers": {"": {**BPE, "tokenizer_config.json": {"auto_map": {}}}}},
            "brings its own code",
        ),
        (
            {"tokenizers": {"": {**BPE, "tokenizer_config.json": {"vocab": "/etc/passwd"}}}},
            "names a place",
        ),
    ],
)
def test_what_comes_out_of_the_sandbox_is_not_trusted(folder, monkeypatch, printed, message):
    """A stranger whose tokenizer has a hole in a library may print anything."""
    if isinstance(printed, dict):
        printed = json.dumps({"parameters": 1, "buffers": 0, "tokenizers": {"": BPE}, **printed})
    run = ProgramRun(printed.encode(), "", "finished", 1.0)
    monkeypatch.setattr("narcissus.extraction.model_trial._run_apart", lambda *_, **__: run)
    monkeypatch.setattr("narcissus.extraction.model_trial._TRIED", {})
    with pytest.raises(InputError, match=message):
        laid_out({"": language_model_files(folder)}, folder)


def test_no_table_of_a_stranger_leaves_the_sandbox(folder, monkeypatch):
    """Not even where the sandbox says that there is no tokenizer."""
    put(folder, "vocab.json", a=1)
    for tokenizers in ({}, {"": BPE}):
        said = json.dumps({"parameters": 1, "buffers": 0, "tokenizers": tokenizers})
        run = ProgramRun(said.encode(), "", "finished", 1.0)
        monkeypatch.setattr(
            "narcissus.extraction.model_trial._run_apart", lambda *_, r=run, **__: r
        )
        monkeypatch.setattr("narcissus.extraction.model_trial._TRIED", {})
        (files,) = laid_out({"": language_model_files(folder)}, folder).values()
        assert files.tables == ()
        assert ("tokenizer.json" in files.settings) == bool(tokenizers)


SIZES = {"vocab_size": 300, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
ROTARY = {**SIZES, "intermediate_size": 32, "num_key_value_heads": 2, "max_position_embeddings": 32}
OF_GPT = {"vocab_size": 300, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32}
LLAMA_3 = {
    "factor": 8.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}
# by architecture: class of the settings, sizes, class of the tokenizer, keys as published
FAMILIES = {
    "gpt2": ("GPT2Config", OF_GPT, "GPT2Tokenizer", {"n_ctx": 1024, "task_specific_params": {}}),
    "llama": ("LlamaConfig", ROTARY, "PreTrainedTokenizerFast", {"rope_scaling": LLAMA_3}),
    "mistral": ("MistralConfig", ROTARY, "LlamaTokenizer", {"sliding_window": 4096}),
    "gpt_neo": (
        "GPTNeoConfig",
        {
            "vocab_size": 300,
            "hidden_size": 16,
            "num_layers": 2,
            "num_heads": 2,
            "attention_types": [[["global", "local"], 1]],
            "max_position_embeddings": 32,
        },
        "GPT2Tokenizer",
        {"tokenizer_class": "GPT2Tokenizer", "window_size": 256, "gradient_checkpointing": False},
    ),
    "gptj": ("GPTJConfig", {**OF_GPT, "rotary_dim": 4}, "GPT2Tokenizer", {"summary_type": "x"}),
    "opt": (
        "OPTConfig",
        {**SIZES, "ffn_dim": 32, "max_position_embeddings": 32, "word_embed_proj_dim": 16},
        "GPT2Tokenizer",
        {"prefix": "</s>"},
    ),
    "bloom": (
        "BloomConfig",
        {"vocab_size": 300, "hidden_size": 16, "n_layer": 2, "n_head": 2},
        "BloomTokenizerFast",
        {"pretraining_tp": 1, "slow_but_exact": False, "seq_length": 2048},
    ),
    "qwen2": ("Qwen2Config", ROTARY, "Qwen2Tokenizer", {"max_window_layers": 2}),
    "phi": ("PhiConfig", ROTARY, "CodeGenTokenizer", {"partial_rotary_factor": 0.5}),
    "falcon": (
        "FalconConfig",
        {**SIZES, "max_position_embeddings": 32},
        "PreTrainedTokenizerFast",
        {"parallel_attn": True},
    ),
}
LIBRARIES = ("/site-packages/", "/lib/python", "/usr/", "/etc/", "/proc/", "/sys/", "/dev/")


def make_tokenizer(folder, transformers, name):
    """A tokenizer of 300 tokens at most, with the tables and keys that published ones have."""
    import tokenizers

    words = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=290,
        special_tokens=["<unk>", "<s>", "</s>", "<|endoftext|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    words.train_from_iterator(["the house and the hound and the thousand"] * 5, trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    fast.save_pretrained(folder)
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    pairs = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *pairs]) + "\n")
    (folder / "special_tokens_map.json").write_text(json.dumps({"eos_token": "</s>"}))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings |= {"tokenizer_class": name, "name_or_path": "/home/other/model", "legacy": True}
    settings |= {"model_max_length": int(1e30), "chat_template": "{% for m in messages %}/{{ m }}"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def make_family(folder, name):
    import transformers

    config, sizes, tokenizer, published = FAMILIES[name]
    made = getattr(transformers, config)(**sizes, bos_token_id=1, eos_token_id=2, pad_token_id=2)
    transformers.AutoModelForCausalLM.from_config(made).save_pretrained(folder)
    make_tokenizer(folder, transformers, tokenizer)
    settings = json.loads((folder / "config.json").read_text())
    put(folder, "config.json", **{"_name_or_path": "/home/other/x"} | settings | published)
    return tokenizer


@pytest.mark.models
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.one_in(5)
def test_the_usual_families_are_read_and_open_nothing_else(tmp_path, name):
    """No false refusal, the very weights, and by an audit hook no file, program or address more."""
    import torch
    from safetensors.torch import load_file

    model = tmp_path / "model"
    make_family(model, name)
    (model / "training_args.bin").write_bytes(pickle.dumps([1], 0))
    (model / "modeling_mine.py").write_text("raise SystemExit(99)")
    (model / "README.md").write_text("# A model")
    secret = tmp_path / "secret.txt"
    secret.write_text("words\n")
    how = {"device": "cpu", "unpublished": ["training_args.bin"]}
    HuggingFaceGenerator(model, **how)  # what is imported on first use
    OPENED.clear()
    WATCHED.append(True)
    try:
        found = HuggingFaceGenerator(model, **how)
    finally:
        WATCHED.clear()
    inside = {path for path in OPENED if path.startswith(str(tmp_path))}
    listed = CONFIGURATIONS | TABLES | {"model.safetensors", "."}
    looked_at = {"modeling_mine.py", "README.md"}  # whether they are texts
    assert {os.path.relpath(path, model) for path in inside} <= listed | looked_at
    outside = {path for path in OPENED if path not in inside}
    strange = {path for path in outside if not any(one in path for one in LIBRARIES)}
    ours = ("/narcissus-run-", "/.narcissus-new-", "/narcissus/extraction/")
    assert all(any(part in path for part in ours) for path in strange), strange
    assert ASKED == []
    kept = load_file(model / "model.safetensors")
    here = HuggingFaceGenerator(model, is_own=True, **how)
    state = here._engine.model.state_dict()
    scores = [one.negative_log_likelihood(["the house", "x"])[0].tolist() for one in (found, here)]
    assert scores[0] == scores[1]
    assert all(torch.equal(state[key], value) for key, value in kept.items() if key in state)
    assert sum(key in state for key in kept) >= 0.9 * len(kept)
    import transformers

    direct = transformers.AutoTokenizer.from_pretrained(model, local_files_only=True)
    for text in ("the house and 12 thousands!\n x  y", "<s> the</s>", "äöü\u202e z"):
        tokens = direct(text, add_special_tokens=False)["input_ids"]
        assert found.encode(text) == tokens
        assert found.decode(tokens) == direct.decode(
            tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
    files = language_model_files(model, how["unpublished"])
    (parts,) = laid_out({"": files}, model).values()
    assert parts.tables == ()  # none of the stranger's own files


def make_pipeline(folder):
    """Write a tiny pipeline of text to images: text encoder, tokenizer, decoder, scheduler."""
    import diffusers
    import transformers

    words = folder.parent / "words"
    words.mkdir()
    marks = ["<|startoftext|>", "<|endoftext|>", "a</w>", "a"]
    (words / "vocab.json").write_text(json.dumps({mark: k for k, mark in enumerate(marks)}))
    (words / "merges.txt").write_text("#version: 0.2\n")
    text = transformers.CLIPTextConfig(
        vocab_size=16,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=77,
        bos_token_id=0,
        eos_token_id=1,
    )
    unet = diffusers.UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        layers_per_block=1,
        norm_num_groups=4,
        cross_attention_dim=8,
        attention_head_dim=2,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )
    decoder = diffusers.AutoencoderKL(block_out_channels=(8,), norm_num_groups=4, latent_channels=4)
    pipeline = diffusers.StableDiffusionPipeline(
        unet=unet,
        vae=decoder,
        text_encoder=transformers.CLIPTextModel(text),
        tokenizer=transformers.CLIPTokenizer.from_pretrained(words),
        scheduler=diffusers.DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_pretrained(folder)


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_of_images_opens_nothing_beside_what_is_listed(tmp_path):
    from narcissus.extraction.image_models import DiffusersGenerator

    model = tmp_path / "model"
    make_pipeline(model)
    settings = json.loads((model / "tokenizer" / "tokenizer_config.json").read_text())
    settings["vocab_file"] = str(tmp_path / "secret.txt")
    put(model / "tokenizer", "tokenizer_config.json", **settings)
    (tmp_path / "secret.txt").write_text("words\n")
    DiffusersGenerator(model, (8, 8, 3), steps=1, device="cpu")  # what is imported on first use
    OPENED.clear()
    WATCHED.append(True)
    try:
        found = DiffusersGenerator(model, (8, 8, 3), steps=1, device="cpu")
    finally:
        WATCHED.clear()
    inside = {path for path in OPENED if path.startswith(str(tmp_path))}
    parts = {"", "unet", "vae", "text_encoder", "tokenizer", "scheduler"}
    listed = CONFIGURATIONS | TABLES | set(SINGLE)
    for path in inside - {str(model)}:
        part, _, name = os.path.relpath(path, model).rpartition("/")
        assert (part in parts and name in listed) or (not part and name in parts), path
    strange = {
        path for path in OPENED if path not in inside and not any(one in path for one in LIBRARIES)
    }
    ours = ("/narcissus-run-", "/.narcissus-new-", "/narcissus/extraction/")
    assert all(any(one in path for one in ours) for path in strange), strange
    assert ASKED == []
    assert found.parameters > 1000


@pytest.mark.parametrize("name", sorted(TABLES))
def test_an_empty_file_of_a_tokenizer_is_named(folder, name):
    """The library asked for a package in place of that."""
    (folder / name).touch()
    with pytest.raises(InputError, match=f"{name} is empty"):
        read_model_files(folder)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("Traceback\nIndexError: list index out of range", "damaged"),
        ("KeyError: 'model'", "damaged"),
        ("ModuleNotFoundError: No module named 'x'", "damaged"),
        (
            "ValueError: `tiktoken` is required. Install it with `pip install tiktoken`.",
            "tokenizer",
        ),
        (
            "ValueError: model type `x` but Transformers does not recognize this "
            "architecture.\n\nYou can update Transformers with `pip install --upgrade`",
            "`model_type`",
        ),
        ("", "crashed"),
        ("RuntimeError: its layer 3 has a wrong shape", "its layer 3 has a wrong shape"),
    ],
)
def test_a_crash_is_told_in_words_about_the_model(error, reason):
    words = reason_of_crash(error, "crashed")
    assert reason in words
    assert not re.search("pip|index|Traceback|KeyError|update", words)
