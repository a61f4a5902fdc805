"""A language model is tried before it is believed: one set of arrays, one law for every pass."""

import json
import logging

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.language_models import is_lost
from narcissus.extraction.model_probes import needs_texts_alone, windows_of
from narcissus.extraction.ngram import CharacterNgram


def test_windows_are_found_wherever_a_configuration_names_them():
    settings = {"sliding_window": 4, "text_config": {"attention_chunk_size": 8}, "n_layer": 3}
    assert windows_of(settings) == [4, 8]
    assert windows_of({"sliding_window": None, "use_sliding_window": True}) == []


@pytest.mark.parametrize(
    ("kind", "alone"),
    [
        *(("default", False), ("linear", False), ("llama3", False), ("yarn", False)),
        *(("dynamic", True), ("longrope", True), ("of next year", True)),
    ],
)
def test_texts_are_scored_alone_where_the_longest_turns_the_others(kind, alone):
    for settings in (
        {"rope_parameters": {"rope_type": kind}},
        {"rope_parameters": {"full_attention": {"rope_type": kind}}},
        {"text_config": {"rope_scaling": {"rope_type": kind}}},
    ):
        assert needs_texts_alone(settings) == alone
    assert not needs_texts_alone({"n_layer": 2})


@pytest.mark.parametrize(
    ("text", "written", "lost"),
    [
        ("The house, 12 mice.", "the house , 12 mice .", False),
        ("Ångström naïve", "angstrom naive", False),
        ("The house of mice", "[UNK] [UNK] [UNK] [UNK]", True),
        ("The house of mice", "qqqqqqqqqqqqqqqqq", True),
        ("the code is 98175", "the code is qqqqq", True),
        ("the code is 98175", "the code is 00000", True),
        ("the red hen ate one egg", "theredhen ateoneegg", True),
        ("the red hen ate one egg", "the redhen ate one egg", True),
        ("the red  hen\nate", "the red hen ate", False),
        ("the red hen", "t h e r e d h e n", False),
        ("the red \U0001f389 hen, ate", "the red [UNK] hen , ate", False),
        ("漢字", "漢字", False),
        ("漢字", "[UNK]", True),
        ("🎉🎉", "", True),
        ("a b", "", True),
        ("", "", False),
    ],
)
def test_a_text_that_a_tokenizer_loses_is_seen(text, written, lost):
    assert is_lost(text, written) == lost


def test_a_text_is_not_read_as_its_letters():
    with pytest.raises(InputError, match="must be a list of texts, got a text"):
        CharacterNgram(["hello"], order=2).negative_log_likelihood("hello")


def make_model(folder, name="llama", change=None, **settings):
    """Write a tiny model; ``change`` takes its arrays and returns those that are written."""
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    from narcissus.extraction.byte_tokenizer import write_tokenizer

    torch.manual_seed(0)
    tokens = {"bos_token_id": 256, "eos_token_id": 256, "pad_token_id": 256}
    if name == "gpt2":
        sizes = {"vocab_size": 257, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
        config = transformers.GPT2Config(**sizes, **tokens, initializer_range=0.5)
    else:
        config = transformers.AutoConfig.for_model(
            name,
            vocab_size=257,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=64,
            initializer_range=0.5,
            **tokens,
        )
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    write_tokenizer(folder, 64)
    if change is not None:
        arrays = change(load_file(folder / "model.safetensors"))
        copies = {key: array.contiguous().clone() for key, array in arrays.items()}
        save_file(copies, folder / "model.safetensors", metadata={"format": "pt"})
    kept = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(kept | settings))
    return folder


def read_engine(folder):
    from narcissus.extraction.model_engine import LanguageEngine

    return LanguageEngine(folder, str(folder), "cpu")


def more(**shapes):
    def change(arrays):
        import torch

        named = {name.replace("__", "."): torch.rand(shape) for name, shape in shapes.items()}
        return arrays | named

    return change


def with_masks(arrays):
    import torch

    mask = torch.ones(64, 64).tril()[None, None]
    names = [f"transformer.h.{layer}.attn" for layer in range(2)]
    masks = {f"{name}.bias": mask for name in names}
    return arrays | masks | {f"{name}.masked_bias": torch.tensor(-1e4) for name in names}


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("gpt2", more(transformer__h__0__attn__c_attn__lora_A__weight=(4, 16)), "lora_A"),
        ("gpt2", more(junk=(3,)), "'junk'"),
        ("gpt2", more(transformer__h__0__attn__bias=(1, 1, 64, 64)), "attn.bias"),
        ("gpt2", more(wte__weight=(257, 16)), "are one array of the model"),
        ("gpt2", more(transformer__h__2__ln_1__weight=(16,)), "h.2.ln_1.weight"),
        ("llama", more(model__layers__0__self_attn__q_proj__bias=(16,)), "q_proj.bias"),
        ("llama", more(model__layers__0__mlp__up_proj__weight_scale=(1,)), "weight_scale"),
        ("llama", more(model__layers__0__self_attn__rotary_emb__inv_freq=(4,)), "inv_freq"),
        ("llama", more(model__norm__gamma=(16,)), r"gamma|the model of the configuration uses"),
        ("llama", more(model__layers__2__mlp__up_proj__weight=(16, 16)), "layers.2"),
    ],
)
def test_every_array_is_used_or_named(tmp_path, name, change, message):
    make_model(tmp_path, name, change)
    with pytest.raises(InputError, match=message):
        read_engine(tmp_path)


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("gpt2", with_masks),
        ("gpt2", lambda arrays: {key.removeprefix("transformer."): a for key, a in arrays.items()}),
        ("gpt2", lambda arrays: arrays | {"lm_head.weight": arrays["transformer.wte.weight"]}),
        ("mistral", None),
    ],
)
def test_what_models_are_published_with_is_no_array_too_many(tmp_path, name, change):
    make_model(tmp_path, name, change)
    assert read_engine(tmp_path).facts.vocabulary == 257


FAMILIES = {
    "gpt2": "transformer.wte.weight",
    "llama": "model.embed_tokens.weight",
    "mistral": "model.embed_tokens.weight",
    "qwen2": "model.embed_tokens.weight",
    "gemma": "model.embed_tokens.weight",
    "phi": "model.embed_tokens.weight",
    "gpt_neox": "gpt_neox.embed_in.weight",
    "opt": "model.decoder.embed_tokens.weight",
}
"""Families of language models, and what their embeddings are called."""


def both_heads(words, change):
    def add(arrays):
        head = "embed_out.weight" if "embed_out.weight" in arrays else "lm_head.weight"
        return arrays | {head: change(arrays[words])}

    return add


def make_tied(folder, name, change, tied):
    try:
        make_model(folder, name, both_heads(FAMILIES[name], change), tie_word_embeddings=tied)
    except (TypeError, ValueError, KeyError) as error:
        pytest.skip(f"this version of transformers has no small {name}: {error!r}")
    return folder


@pytest.mark.models
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.one_in(3)
def test_two_arrays_that_the_configuration_calls_one_must_be_alike(tmp_path, name):
    """A head of other values once hid a model that had learnt its documents by heart."""
    make_tied(tmp_path, name, lambda words: words.flip(0), tied=True)
    with pytest.raises(InputError, match="says that they are one array") as refusal:
        read_engine(tmp_path)
    assert FAMILIES[name] in str(refusal.value)
    assert "tie_word_embeddings" in str(refusal.value)


@pytest.mark.models
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.one_in(6)
def test_two_arrays_that_are_alike_or_that_are_two_are_one_model(tmp_path, name, tied):
    if tied and name == "gpt_neox":
        pytest.skip("its head has another name in its files, and counts as an array too many")
    change = (lambda words: words) if tied else (lambda words: words.flip(0))
    make_tied(tmp_path, name, change, tied)
    engine = read_engine(tmp_path)
    words = engine.model.get_input_embeddings().weight
    assert (engine.model.get_output_embeddings().weight is words) == tied


@pytest.mark.models
def test_a_warning_of_the_loader_that_nobody_knows_is_no_verdict(tmp_path, monkeypatch, capfd):
    import transformers

    make_model(tmp_path)
    read_engine(tmp_path)
    load = transformers.LlamaForCausalLM.from_pretrained.__func__

    def warn(of, *place, **how):
        logging.getLogger("transformers.modeling_utils").warning("Some thing is otherwise.")
        return load(of, *place, **how)

    monkeypatch.setattr(transformers.LlamaForCausalLM, "from_pretrained", classmethod(warn))
    capfd.readouterr()
    with pytest.raises(InputError, match=r"without a warning.*Some thing is otherwise"):
        read_engine(tmp_path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.models
@pytest.mark.parametrize("name", ["llama", "gpt2"])
@pytest.mark.parametrize("settings", [{"sliding_window": 4}, {"sliding_window": 40}])
def test_a_window_that_only_writing_heeds_is_refused(tmp_path, name, settings):
    """The cache is cut to the window, and the pass that scores looks at everything."""
    make_model(tmp_path, name, **settings)
    with pytest.raises(InputError, match="writes by other chances than it scores texts by"):
        read_engine(tmp_path)


@pytest.mark.models
def test_a_window_that_both_heed_is_not_refused(tmp_path):
    make_model(tmp_path, "mistral", sliding_window=4)
    engine = read_engine(tmp_path)
    prompts = [list(range(30)), [7], list(range(60, 100, 3))]
    together = engine.follow(prompts, 12)
    alone = [engine.follow([prompt], 12)[0] for prompt in prompts]
    assert np.array_equal(together, np.array(alone))


@pytest.mark.models
def test_what_is_written_is_looked_at_by_the_scores(tmp_path, monkeypatch):
    """Whatever makes both differ, for the very texts that are continued."""
    engine = read_engine(make_model(tmp_path))
    follow = engine._follow
    monkeypatch.setattr(engine, "_follow", lambda *asked: (follow(*asked) + 1) % 257)
    with pytest.raises(InputError, match="writes by other chances than it scores texts by"):
        engine.follow([[1, 2, 3]], 5)


ROTATED = {"rope_theta": 10000.0, "factor": 8.0, "original_max_position_embeddings": 16}


@pytest.mark.models
@pytest.mark.parametrize("kind", ["dynamic", "longrope"])
def test_a_score_does_not_depend_on_neighbours(tmp_path, kind):
    factors = {"short_factor": [1.0] * 4, "long_factor": [3.0] * 4} if kind == "longrope" else {}
    rotated = {"rope_parameters": {**ROTATED, **factors, "rope_type": kind}}
    engine = read_engine(make_model(tmp_path, **rotated, original_max_position_embeddings=16))
    asked = {"name": "likelihood"}
    texts = [list(range(40)), list(range(20)), list(range(5)), list(range(30))]
    alone = [engine.score([text], asked)[0, 0] for text in texts]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 0]):
        together = engine.score([texts[place] for place in order], asked)[:, 0]
        np.testing.assert_allclose(together, [alone[place] for place in order], rtol=1e-5)


@pytest.mark.models
def test_a_model_that_sees_ahead_at_some_tokens_is_refused_by_the_texts_it_scores(
    tmp_path, monkeypatch
):
    """It looks ahead where a text has one rare token, which a trial by chance would miss."""
    engine = read_engine(make_model(tmp_path))
    forward = engine.model.forward

    def look_ahead(tokens, **how):
        answer = forward(tokens, **how)
        rare = (tokens == 99).any(-1)
        answer.logits[rare, 0, 5] += tokens[rare, -1].to(answer.logits.dtype)
        return answer

    monkeypatch.setattr(engine.model, "forward", look_ahead)
    asked = {"name": "likelihood"}
    assert engine.score([[1, 2, 3, 4, 5]] * 4, asked).shape == (4, 1)
    with pytest.raises(InputError, match="depends on those after it"):
        engine.score([[99, 2, 3, 4, 5, 6, 7, 8]] * 8, asked)


@pytest.mark.models
def test_a_token_without_any_chance_is_told_at_once(tmp_path):
    from narcissus.extraction.language_models import HuggingFaceGenerator

    make_model(tmp_path, "phi", lambda arrays: arrays | {"lm_head.bias": spoiled(arrays)})
    model = HuggingFaceGenerator(tmp_path, device="cpu", is_own=True)
    assert np.isfinite(model.negative_log_likelihood(["bcd"])[0]).all()
    with pytest.raises(InputError, match="gives a token of a text no chance at all"):
        model.negative_log_likelihood(["bcd", "abc"])
    with pytest.raises(InputError, match="must be a list of texts, got a text"):
        model.negative_log_likelihood("bcd")
    model.require_texts(["some text", "another 1234"])


def spoiled(arrays):
    bias = arrays["lm_head.bias"].clone()
    bias[97] = -float("inf")  # the byte of "a"
    return bias
