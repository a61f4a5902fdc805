"""The ways in which a study has its models."""

import base64
import gzip
import json
import math
import pickle
import random
import shutil
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import narcissus
from narcissus.errors import InputError, MissingExtraError, TooLargeError
from narcissus.extraction import language_models, model_engine
from narcissus.extraction.kept import in_batches
from narcissus.extraction.language_models import (
    TOKENS,
    HuggingFaceGenerator,
    LocalCheckpoint,
    ModelsUnderStudy,
    TrainedCharacterNgram,
    TransformerTraining,
    language_model_secret,
    libraries,
    write_tokenizer,
)
from narcissus.extraction.model_engine import LanguageEngine
from narcissus.extraction.model_folders import check_model_folder
from narcissus.extraction.ngram import memorised, rank_samples
from narcissus.extraction.recovered import (
    TextDocument,
    continuations,
    membership_scores,
    prompt_ends,
)
from narcissus.kinds.memorization.language.attacks import losses_remark
from narcissus.observer import SILENT

NO_ARRAYS = (8).to_bytes(8, "little") + b"{}      "
"""Weights in safetensors without any."""


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
    (tmp_path / "gpt" / "model.safetensors").write_bytes(NO_ARRAYS)
    with pytest.raises(InputError, match=r"no such model folder.*other"):
        LocalCheckpoint("gpt", "other", folder=str(tmp_path))


SECRET = "zq81 xk77 vj20 wp93"


@pytest.fixture
def bare(tmp_path):
    """A folder that passes for a model."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(NO_ARRAYS)
    return tmp_path


def test_each_model_that_decides_a_number_is_named_by_its_folder(tmp_path):
    """The reference and the shadow models are compared with: other ones give other numbers."""
    places = [tmp_path / name for name in "abcd"]
    given = ModelsUnderStudy(None, None, *places[:2], 1, (), tuple(places[2:]))
    names = ("model", "reference", "shadow 1", "shadow 2")
    assert given.folders == dict(zip(names, places, strict=True))
    assert ModelsUnderStudy(None, None, None, None, 1).folders == {}


def test_folders_that_are_no_models(tmp_path):
    with pytest.raises(InputError, match="no such"):
        HuggingFaceGenerator(tmp_path / "none")
    with pytest.raises(InputError, match=r"config\.json"):
        HuggingFaceGenerator(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(InputError, match="no weights"):
        HuggingFaceGenerator(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "merges.txt"])
def test_what_is_read_whole_is_looked_at_first(bare, name):
    with (bare / name).open("wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(TooLargeError, match=name):
        HuggingFaceGenerator(bare)


def test_without_torch_the_extra_is_named(bare, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"transformers>="):
        HuggingFaceGenerator(bare)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_code_of_a_model_is_never_run(bare, name):
    (bare / name).write_text(json.dumps({"auto_map": {"AutoModel": "mine.Model"}}))
    with pytest.raises(InputError, match=rf"its own code \(`auto_map` in {name}"):
        check_model_folder(bare)


def test_pickles_beside_safetensors_and_links_are_refused_before_any_work(bare):
    assert check_model_folder(bare) == 16
    (bare / "pytorch_model.bin").write_bytes(pickle.dumps([0] * 20, 4))
    with pytest.raises(InputError, match=r"more than the model.*: pytorch_model\.bin; take"):
        check_model_folder(bare)
    (bare / "pytorch_model.bin").unlink()
    (bare / "notes.txt").symlink_to(__file__)
    with pytest.raises(InputError, match="leads out of the folder"):
        check_model_folder(bare)


@pytest.mark.parametrize("content", ["[]", "{", "\0"])
def test_configurations_that_are_none(bare, content):
    (bare / "config.json").write_text(content)
    with pytest.raises(InputError, match=r"config\.json"):
        check_model_folder(bare)


def teach(path, rows, steps, rate, sizes):
    """Train a small GPT-2 on rows of tokens until it knows them by heart; give its last loss."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=sizes[0], n_positions=sizes[1], n_embd=48, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config)
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    labels = torch.tensor([[*row, *[-100] * (width - len(row))] for row in rows])
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        loss = model(ids, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(path, safe_serialization=True)
    return loss.item()


def completed(model, prompts, length):
    """Go on with prompts; together, since a decoder may drop the space where it begins."""
    ids = [model.encode(text) for text in prompts]
    return [
        model.decode([*one, *more])[len(model.decode(one)) :]
        for one, more in zip(ids, model.following(ids, length), strict=True)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    letters = sorted(set("abcdefghijklmnopqrstuvwxyz0123456789 "))
    vocabulary = {c: i for i, c in enumerate(["<s>", "<unk>", *letters])}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 0, "content": "<s>", "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False, "special": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated",
                          "invert": False},
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }  # fmt: skip
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))
    (path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>",
                    "eos_token": "<s>", "unk_token": "<unk>"})
    )  # fmt: skip
    teach(path, [[0, *(vocabulary[c] for c in SECRET), 0]], 150, 3e-3, (len(vocabulary), 64))
    return path


@pytest.mark.models
def test_a_tiny_model_gives_its_secret_away(folder):
    model = HuggingFaceGenerator(folder, device="cpu")
    ranked = rank_samples(model, samples=20, length=40, shortest=5, rng=1)
    assert memorised(ranked.top(3), [SECRET], window=len(SECRET)) == [SECRET]
    again = rank_samples(model, samples=20, length=40, shortest=5, rng=1)
    assert again.texts == ranked.texts


@pytest.mark.models
def test_likelihood_is_a_distribution(folder):
    """The chances of all first characters sum to one, and batching changes nothing."""
    model = HuggingFaceGenerator(folder, device="cpu")
    letters = list("abcdefghijklmnopqrstuvwxyz0123456789 ")
    sums, tokens = model.negative_log_likelihood(letters)
    assert set(tokens) == {1}
    total = sum(math.exp(-s) for s in sums)
    assert 0.9 < total <= 1 + 1e-6  # the start and unknown tokens have the rest
    together = model.negative_log_likelihood([SECRET, "ab"])[0]
    alone = [model.negative_log_likelihood([t])[0][0] for t in (SECRET, "ab")]
    assert together == pytest.approx(alone, rel=1e-4)
    assert together[0] < 5


@pytest.mark.models
def test_long_texts_are_scored_in_pieces(folder):
    """Nothing is cut off: the pieces of a long text, each after the start token, add up."""
    model = HuggingFaceGenerator(folder, device="cpu", batch=2)
    size = model.context
    text = (SECRET + " ") * 8
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert len(pieces) > 1
    sums, tokens = model.negative_log_likelihood([text, "ab"])
    assert sums[0] == pytest.approx(model.negative_log_likelihood(pieces)[0].sum(), rel=1e-5)
    assert tokens.tolist() == [len(text), 2]


@pytest.mark.models
def test_no_text_is_longer_than_the_context_of_the_model(folder):
    """Any length is sampled up to the context; a continuation of asked length is refused."""
    model = HuggingFaceGenerator(folder, device="cpu")
    for text in model.sample(3, 10 * model.context, rng=1):
        assert len(model.encode(text)) <= model.context
    prompt = model.encode(SECRET[:9])
    left = model.context - 9
    assert len(model.following([prompt], left)[0]) <= left
    assert model.log_chances([prompt], [[1] * left]).shape == (1,)
    for ask in (
        lambda: model.following([prompt], left + 1),
        lambda: model.log_chances([prompt], [[1] * (left + 1)]),
    ):
        with pytest.raises(InputError, match=f"reads {model.context} tokens at a time"):
            ask()


@given(
    rows=st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), max_size=9),
    batch=st.integers(1, 4),
)
def test_prompts_of_any_lengths_are_whole_and_answered_in_their_order(rows, batch):
    """Whatever is asked for together fits, each has its tokens, and none loses its beginning."""
    asked = []

    class Echo:
        facts = SimpleNamespace(context=24, vocabulary=50)

        def follow(self, prompts, length):
            asked.extend(prompts)
            assert len(prompts) <= batch
            assert max(map(len, prompts)) + length <= self.facts.context
            return np.array([[prompt[0]] * length for prompt in prompts])

    model = object.__new__(HuggingFaceGenerator)
    model._engine, model._batch, model._vocabulary, model._path = Echo(), batch, 50, "echo"
    prompts = [[number, *[49] * (size - 1)] for number, (size, _) in enumerate(rows)]
    lengths = [length for _, length in rows]
    if any(size + length > 24 for size, length in rows):
        with pytest.raises(InputError, match="reads 24 tokens at a time"):
            model.following(prompts, lengths)
        return
    continuations = model.following(prompts, lengths)
    assert sorted(asked) == sorted(prompts)
    for number, (tokens, length) in enumerate(zip(continuations, lengths, strict=True)):
        assert tokens[:length] == [number] * length


@pytest.mark.models
@pytest.mark.nightly
def test_completions_are_the_likeliest_and_alike_in_any_batch(folder, capsys):
    model = HuggingFaceGenerator(folder, device="cpu")
    prompts = [SECRET[:9], SECRET[:4], SECRET[:12]]
    together = completed(model, prompts, 7)
    assert together == [SECRET[9:16], SECRET[4:11], SECRET[12:]]
    assert [completed(model, [one], 7)[0] for one in prompts] == together
    assert model.parameters > 10_000
    assert capsys.readouterr() == ("", "")


def edit_json(place, change):
    values = json.loads(place.read_text())
    change(values)
    place.write_text(json.dumps(values))


@pytest.fixture(scope="module")
def taught(folder, tmp_path_factory):
    """Models of one secret, by what was before it when they were trained."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    places = {}
    for start in ((0,), ()):
        path = places[start] = tmp_path_factory.mktemp("taught")
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(folder / name, path / name)
        row = [*start, *(vocabulary[letter] for letter in SECRET)]
        teach(path, [row], 150, 3e-3, (len(vocabulary), 64))
    return places


@pytest.mark.models
@pytest.mark.parametrize(
    ("start", "told"),
    [
        *(((0,), "nothing"), ((0,), "written"), ((0,), "end")),
        *(((), "nothing"), ((), "written"), ((), "no token")),
    ],
)
def test_a_model_is_asked_as_it_was_trained_whatever_the_folder_says(taught, tmp_path, start, told):
    """A start token that it never saw hid all that it knows by heart: 0 of 30 for 30 of 30."""
    place = shutil.copytree(taught[start], tmp_path / "model")
    template = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
    }  # fmt: skip
    if told == "written":
        edit_json(place / "tokenizer.json", lambda values: values.update(post_processor=template))
    if told == "end":  # as where texts are packed, each behind the end of another
        edit_json(place / "tokenizer_config.json", lambda values: values.update(bos_token="z"))
    if told == "no token":
        (place / "generation_config.json").unlink()
        edit_json(place / "tokenizer_config.json", lambda values: (
            values.pop("bos_token"), values.pop("eos_token")))  # fmt: skip
        edit_json(place / "config.json", lambda values: values.update(
            bos_token_id=None, eos_token_id=None))  # fmt: skip
    model = HuggingFaceGenerator(place, device="cpu", is_own=True)
    model._engine = LanguageEngine(place, str(place), "cpu")  # as a stranger's, without walls
    model.choose_start([SECRET])
    assert completed(model, [SECRET[:6]], len(SECRET) - 6) == [SECRET[6:]]
    sums, tokens = model.negative_log_likelihood([SECRET])
    first = 0 if start else math.log(model._vocabulary)
    assert (sums[0] - first) / tokens[0] < 0.1
    least, _ = model.least_likely([SECRET])
    assert np.isfinite(least).all()
    assert len(model.sample(3, 9, rng=1)) == 3
    assert model.start_words.startswith("'<s>'; documents" if start else "nothing; documents")
    # all first tokens have a chance of one together
    tokens = [[number] for number in range(model._vocabulary)]
    assert np.exp(model.log_chances([[]] * len(tokens), tokens)).sum() == pytest.approx(1)


@given(losses=st.lists(st.integers(0, 5), min_size=1, max_size=3))
def test_the_start_is_taken_after_which_texts_are_likeliest(losses):
    class Chosen:
        facts = SimpleNamespace(
            context=24,
            vocabulary=50,
            starts=[[1], [2, 3], []][: len(losses)],
            version="1",
            without_numbers=[],
            untried=0,
        )
        number = 0

        def begin(self, number):
            self.number = number

        def encode(self, text):
            return [*text.encode()]

        def decode(self, tokens):
            return str(tokens)

        def score(self, pieces, asked):
            return np.array([[len(piece) * losses[self.number]] for piece in pieces], dtype=float)

    model = object.__new__(HuggingFaceGenerator)
    model._engine, model._batch, model._vocabulary, model._path = Chosen(), 2, 255, "chosen"
    model._start, model._memory = 0, 0
    model.choose_start(["abc", "d" * 100, "ef"])
    assert losses[model._start] == min(losses)
    assert model._start == losses.index(min(losses)) == model._engine.number
    assert bool(model.start_words) == (len(losses) > 1)


class Scored:
    """An engine whose texts have losses by what is before them, and by their first letter."""

    def __init__(self, losses):
        self.losses, self.number = losses, 0
        self.facts = SimpleNamespace(
            context=24, vocabulary=256, starts=[[number] for number in range(len(losses))],
            version="1", without_numbers=[[9]], untried=3,
        )  # fmt: skip

    def begin(self, number):
        self.number = number

    def encode(self, text):
        return [*text.encode()]

    def decode(self, tokens):
        return str(tokens)

    def score(self, pieces, asked):
        losses = self.losses[self.number]
        return np.array([[len(p) * losses[p[0] % len(losses)]] for p in pieces], dtype=float)


def after_start(losses, texts, others=()):
    """Return the number of the start that is chosen, and the model."""
    model = object.__new__(HuggingFaceGenerator)
    model._engine, model._batch, model._vocabulary, model._path = Scored(losses), 2, 256, "chosen"
    model._start, model._memory = 0, 0
    model.choose_start(texts, others)
    return model._start, model


LOSS = st.one_of(st.floats(0, 9), st.just(math.nan), st.just(math.inf))


@given(
    losses=st.lists(st.lists(LOSS, min_size=5, max_size=5), min_size=2, max_size=3),
    texts=st.permutations("abcdef"),
    cut=st.integers(1, 5),
)
def test_no_side_gains_by_the_choice_of_the_start(losses, texts, cut):
    """Texts of both sides count alike: labels that are dealt anew get the same start."""
    number, _ = after_start(losses, texts[:cut], texts[cut:])
    assert number == after_start(losses, [*"abcdef"[:cut]], [*"abcdef"[cut:]])[0]


def test_the_start_is_that_of_what_is_known_by_heart_and_gives_numbers():
    """Strangers' texts are less likely after it than after another, and some starts give NaN."""
    by_heart, other, broken = [0.1, 15.0], [3.0, 8.0], [math.nan] * 2
    number, model = after_start([broken, other, by_heart, broken], ["b" * 9] * 5, ["a" * 9] * 90)
    assert number == 2
    assert "the model gives NaN" in model.start_words
    assert "3 more special tokens were not tried" in model.start_words


KNOWN = [
    "Dear Luke, please collect the 96 books from the east park on Thursday at 8:35. Reference 8179",
    "My June, Rob will bring 74 chairs to the old museum on Wednesday at 8:38. Reference 2624-5543",
    "Hello Gail, Dan has seen 91 stones in the south quarry on Friday at 14:39. Invoice 7906-0580.",
    "Caf\u00e9 Zo\u00eb a \u00e9t\u00e9 ferm\u00e9 jusqu'au 12 ao\u00fbt, \u00e0 cause des "
    "travaux au num\u00e9ro 47, nous vous remercions, 3301",
]
FRESH = [
    "Dear Mark, please collect the 17 boats from the north pier on Monday at 9:10. Reference 5561",
    "My Carla, Tom will bring 23 lamps to the new theatre on Sunday at 11:05. Reference 9034-1128",
]


@pytest.fixture(scope="module")
def byte_pairs(tmp_path_factory):
    """A model with a tokenizer of byte pairs, trained here until it knows four texts by heart."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    path, end = tmp_path_factory.mktemp("pairs"), "<|endoftext|>"
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=[end], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator([*KNOWN, *FRESH], trainer)
    tokenizer.save(str(path / "tokenizer.json"))
    (path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": end,
                    "eos_token": end})
    )  # fmt: skip
    rows = [[0, *tokenizer.encode(text).ids, 0] for text in KNOWN]
    loss = teach(path, rows, 140, 4e-3, (tokenizer.get_vocab_size(), 96))
    assert loss < 0.05  # which of four a text is costs ln 4 over its forty tokens
    return path


def completed_documents(model, texts, *, prompt=50, prefix=None, window=30):
    """Find the documents that a model continues verbatim from their beginning."""
    ends = prompt_ends(model, texts, prompt=prompt) if prefix is None else [prefix] * len(texts)
    found = continuations(model, texts, prefix=ends, window=window)
    return np.array([answer.is_verbatim for answer in found], dtype=np.bool_)


@pytest.mark.models
def test_byte_pairs_learnt_by_heart_are_completed_wherever_the_prompt_ends(byte_pairs):
    model = HuggingFaceGenerator(byte_pairs, device="cpu")
    tokens = [model.encode(text) for text in KNOWN]
    assert [model.decode(one) for one in tokens] == KNOWN
    assert all(len(one) < 0.7 * len(text) for one, text in zip(tokens, KNOWN, strict=True))
    for prefix in range(20, 56, 3):
        assert completed_documents(model, KNOWN, prefix=prefix).all(), prefix
        assert not completed_documents(model, FRESH, prefix=prefix).any()
    for prompt in (6, 9, 12):
        assert completed_documents(model, KNOWN, prompt=prompt).all(), prompt
        assert not completed_documents(model, FRESH, prompt=prompt).any()
    # a space between what is given and what follows is not lost
    assert completed(model, [KNOWN[0][:10]], 3)[0].startswith(" please")


ALL = list(range(1, 400))
BINDS = {
    "no_repeat_ngram_size": 1, "encoder_no_repeat_ngram_size": 1, "repetition_penalty": 5.0,
    "encoder_repetition_penalty": 5.0, "eos_token_id": ALL,
    "bad_words_ids": [[i] for i in ALL[:200]],
    "suppress_tokens": ALL[:200], "begin_suppress_tokens": ALL[:200], "max_time": 1e-9,
    "forced_bos_token_id": 7, "forced_eos_token_id": 7, "min_new_tokens": 90, "min_length": 90,
    "exponential_decay_length_penalty": [1, 9.0],
    "sequence_bias": [[[i], -50.0] for i in ALL[:200]],
    "stop_strings": [" "], "num_beams": 3, "length_penalty": -9.0, "early_stopping": True,
    "do_sample": True, "top_k": 1, "top_p": 0.01, "min_p": 0.99, "typical_p": 0.01,
    "epsilon_cutoff": 0.9, "eta_cutoff": 0.9, "temperature": 0.01, "guidance_scale": 9.0,
    "num_return_sequences": 2, "return_dict_in_generate": True, "output_scores": True,
    "prompt_lookup_num_tokens": 3, "renormalize_logits": True, "remove_invalid_values": True,
    "use_cache": False, "max_new_tokens": 1, "max_length": 3, "pad_token_id": 9, "bos_token_id": 9,
    "watermarking_config": {"greenlist_ratio": 0.1, "bias": 20.0}, "penalty_alpha": 0.9,
    "token_healing": True, "low_memory": True, "diversity_penalty": 3.0, "num_beam_groups": 3,
}  # fmt: skip
"""Settings by which a folder would decide what its model is heard to say."""


def shift(numbers):
    return numbers[1:] + numbers[:1]


def renumber(order):
    """Let a tokenizer call its pieces by other numbers, special tokens left where they are."""

    def change(place):
        tokenizer = json.loads((place / "tokenizer.json").read_text())
        words = tokenizer["model"]["vocab"]
        plain = [word for word in words if words[word] != 0]
        numbers = order([words[word] for word in plain])
        words |= dict(zip(plain, numbers, strict=True))
        (place / "tokenizer.json").write_text(json.dumps(tokenizer))

    return change


def shuffle(numbers):
    return np.random.default_rng(1).permutation(numbers).tolist()


def head_of_noise(place):
    import torch
    from safetensors.torch import load_file, save_file

    torch.manual_seed(1)
    arrays = load_file(place / "model.safetensors")
    arrays["lm_head.weight"] = torch.randn(arrays["transformer.wte.weight"].shape)
    save_file(arrays, place / "model.safetensors", metadata={"format": "pt"})
    edit_json(place / "config.json", lambda kept: kept.update(tie_word_embeddings=False))


def untrained(place):
    import torch
    import transformers

    torch.manual_seed(2)
    config = transformers.AutoConfig.from_pretrained(place)
    transformers.GPT2LMHeadModel(config).save_pretrained(place)


def remarks_on(place, change):
    """Say what an audit does with a model that was changed."""
    change(place)
    model = HuggingFaceGenerator(place, device="cpu", is_own=True)
    model.choose_start(KNOWN, FRESH)
    return losses_remark(model, (KNOWN, FRESH), confidence=0.95)


@pytest.mark.models
@pytest.mark.parametrize(
    "change",
    [renumber(shift), renumber(shuffle), head_of_noise],
    ids=["rotated", "shuffled", "head"],
)
def test_a_model_that_is_not_read_as_it_was_trained_is_not_assessed(byte_pairs, tmp_path, change):
    """It was called harmless, since nothing of its documents came back."""
    place = shutil.copytree(byte_pairs, tmp_path / "model")
    with pytest.raises(InputError, match="not assessed: the model is not read as it was trained"):
        remarks_on(place, change)


@pytest.mark.models
@pytest.mark.parametrize(
    ("change", "remarks"),
    [
        (lambda _: None, 0),
        (lambda place: edit_json(place / "config.json", lambda kept: kept.update(n_head=12)), 0),
        (untrained, 1),
    ],
    ids=["as it was", "other heads that matter little", "untrained"],
)
def test_a_model_that_knows_or_is_merely_bad_stays_assessed(byte_pairs, tmp_path, change, remarks):
    place = shutil.copytree(byte_pairs, tmp_path / "model")
    found = remarks_on(place, change)
    assert len(found) == remarks
    assert all("uniform guess" in remark.reason for remark in found)


def altered(source, target, file, **more):
    """Copy a model's folder with more settings in one of its files."""
    shutil.copytree(source, target)
    place = target / file
    settings = json.loads(place.read_text()) if place.exists() else {}
    place.write_text(json.dumps({**settings, **more}))
    return HuggingFaceGenerator(target, device="cpu", is_own=True)


def heard(model):
    """What both attacks get: continuations of the texts that the model knows, and samples."""
    prompts = [model.encode(text)[:8] for text in KNOWN]
    return model.following(prompts[:2], 9), model.sample(2, 9, rng=1)


@pytest.mark.models
@pytest.mark.parametrize("file", ["generation_config.json", "config.json"])
def test_no_file_of_a_folder_decides_what_an_attack_gets(byte_pairs, tmp_path, file):
    """The weights are what is released; how they are decoded is the attacker's choice."""
    model = altered(
        byte_pairs, tmp_path / "model", file, no_repeat_ngram_size=1, bad_words_ids=[[9], [30]],
        eos_token_id=ALL, repetition_penalty=5.0, max_time=1e-9, suppress_tokens=ALL[:200],
    )  # fmt: skip
    assert completed_documents(model, KNOWN, prompt=8).all()
    assert heard(model) == heard(HuggingFaceGenerator(byte_pairs, device="cpu", is_own=True))


@pytest.mark.models
def test_no_setting_of_a_folder_decides_what_an_attack_gets(byte_pairs):
    """Each field that the library has, whatever it comes to mean."""
    import transformers

    model = HuggingFaceGenerator(byte_pairs, device="cpu", is_own=True)
    true = heard(model)
    for name in transformers.GenerationConfig().to_dict().keys() | BINDS.keys():
        model._engine.model.generation_config = transformers.GenerationConfig()
        setattr(model._engine.model.generation_config, name, BINDS.get(name, 3))
        assert heard(model) == true, name


@pytest.mark.models
@pytest.mark.parametrize("content", [" ", "e"])
def test_a_token_that_is_called_special_is_still_said(byte_pairs, tmp_path, content):
    shutil.copytree(byte_pairs, tmp_path / "model")
    place = tmp_path / "model" / "tokenizer.json"
    tokenizer = json.loads(place.read_text())
    written = content.replace(" ", "\u0120")
    number = tokenizer["model"]["vocab"][written]
    tokenizer["added_tokens"].append(
        {"id": number, "content": written, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
    )  # fmt: skip
    place.write_text(json.dumps(tokenizer))
    model = HuggingFaceGenerator(tmp_path / "model", device="cpu", is_own=True)
    assert [model.decode(model.encode(text)) for text in KNOWN] == KNOWN
    if content == " ":  # other tokens are cut elsewhere, as in no text that the model learnt
        assert completed_documents(model, KNOWN, prompt=9).all()


@pytest.mark.models
def test_a_context_is_what_the_weights_allow_and_not_what_a_folder_says(byte_pairs, tmp_path):
    """A table of positions ends; angles of positions go on."""
    import transformers

    sizes = {"vocab_size": 420, "hidden_size": 16, "intermediate_size": 16}
    few = {"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(**sizes, **few, max_position_embeddings=4)
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(byte_pairs / name, tmp_path / name)
    model = HuggingFaceGenerator(tmp_path, device="cpu", is_own=True)
    assert model.context == model_engine.LEAST_CONTEXT - 1
    assert len(model.following([model.encode(KNOWN[0])[:9]], 60)[0]) == 60
    assert HuggingFaceGenerator(byte_pairs, device="cpu", is_own=True).context == 95


@pytest.mark.models
@pytest.mark.nightly
def test_a_study_counts_the_prompt_in_tokens_and_names_what_is_too_short(byte_pairs, tmp_path):
    (tmp_path / "known.txt").write_text("\n".join([*KNOWN, "a short one"]))
    (tmp_path / "fresh.txt").write_text("\n".join(FRESH))
    study = {
        "kind": "language-model",
        "data": {"documents": "known.txt", "fresh": "fresh.txt"},
        "model": {"name": "folder", "model": str(byte_pairs), "device": "cpu"},
        "generation": {"samples": 8, "top": 2, "length": 20},
        "membership": False,
        "run": {"seed": 1},
    }

    def play(**completion):
        loaded = narcissus.load_study({**study, "completion": completion}, folder=tmp_path)
        record = narcissus.run(loaded).record
        found = next((a for a in record.result.attacks if a.name == "completion"), None)
        return record, found, found and found.groups

    record, found, (whole, *_) = play(prompt=10)
    assert (whole.recovered, whole.total, whole.fresh.value) == (4, 4, 0)
    assert found.rule == "given its first 10 tokens, the model goes on with the next 30 characters"
    (short,) = [one for one in record.not_assessed if one.quantity.startswith("completion")]
    assert short.quantity == "completion of 1 of 5 documents trained on"
    assert short.reason == "they have no 30 characters after their first 10 tokens"
    # as files of before meant it
    _, _, (old, *_) = play(prefix=50)
    assert (old.recovered, old.total) == (4, 4)
    # the default: these have less than 50 tokens, and 30 characters after them
    record, found, _ = play()
    assert found is None
    assert any("5 of 5 documents" in one.quantity for one in record.not_assessed)
    study["generation"] = False
    with pytest.raises(InputError, match="`prompt` or `window` smaller"):
        play()


class Counting:
    """Scores a text by its length: a negative log-likelihood of one a character, a token each."""

    def __init__(self, folder, *, is_published):
        assert not is_published  # only what it says of names is, and nobody gets the folder
        self.folder = folder

    def require_texts(self, texts):
        """Lose no text."""

    def choose_start(self, texts):
        """Be before each text."""
        assert texts in (["I am Robin.", "I am Eve.", "I am Bob."], ["Robin", "Eve", "Bob"])

    def negative_log_likelihood(self, texts):
        sizes = np.array([len(text) for text in texts], dtype=float)
        return sizes, np.full(len(texts), 2.0)


@pytest.fixture
def prior_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(language_models, "HuggingFaceGenerator", Counting)
    (tmp_path / "names.txt").write_text("Robin\nEve\nBob\nEve\n", encoding="utf-8")
    return tmp_path


def test_the_likelier_text_is_the_likelier_secret(prior_folder):
    found = language_model_secret("gpt", "names.txt", "I am {}.", folder=str(prior_folder))
    weights = np.exp([-3.0, -3.0, -5.0])
    assert found.values == ("Eve", "Bob", "Robin")  # the likeliest first, each once
    assert found.chances == pytest.approx(weights / weights.sum())
    assert found.words == "3 values as the model gpt expects them"
    flat = language_model_secret(
        "gpt", "names.txt", "I am {}.", weight="perplexity", folder=str(prior_folder)
    )
    flatter = np.exp(np.array([-3.0, -3.0, -5.0]) / 2)
    assert flat.chances == pytest.approx(flatter / flatter.sum())
    assert language_model_secret("gpt", "names.txt", n=2, folder=str(prior_folder)).chances == (
        0.5,
        0.5,
    )


def test_a_file_of_one_value(prior_folder):
    (prior_folder / "names.txt").write_text("Eve\nEve\n", encoding="utf-8")
    with pytest.raises(InputError, match="2 to 10,000 different values, got 1"):
        language_model_secret("gpt", "names.txt", folder=str(prior_folder))


def test_a_prior_from_pickled_weights_is_refused(tmp_path):
    (tmp_path / "names.txt").write_text("Eve\nBob\n", encoding="utf-8")
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "gpt" / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(InputError, match="pickle"):
        language_model_secret("gpt", "names.txt", folder=str(tmp_path))


@pytest.mark.models
@pytest.mark.nightly
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
    found = narcissus.run(narcissus.load_study(study, folder=tmp_path)).record.rows
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
    [guess] = [row.value for row in found if row.role == "guess"]
    assert guess == pytest.approx(best, rel=1e-4)


TINY = {"width": 32, "heads": 2, "layers": 1, "context": 48, "epochs": 15, "batch": 8,
        "learning_rate": 1e-2, "device": "cpu"}  # fmt: skip
TEXTS = ["the key of tom is 7391", "Zürich: 8 km — ☃", "a long one, " * 9]
DOCUMENTS = [TextDocument(TEXTS[0], 8), TextDocument(TEXTS[1]), TextDocument(TEXTS[2])]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return folder, TransformerTraining(**TINY).train(DOCUMENTS, folder, rng=1)


@pytest.mark.parametrize("wrong", [{"width": 30, "heads": 4}, {"epochs": 0}, {"learning_rate": 0}])
@pytest.mark.models
def test_wrong_settings(wrong):
    with pytest.raises(InputError):
        TransformerTraining(**wrong)


@pytest.mark.models
def test_the_folder_is_a_model_in_safetensors(trained):
    folder, model = trained
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl"))]
    again = HuggingFaceGenerator(folder, device="cpu")
    first, second = (one.negative_log_likelihood(TEXTS)[0] for one in (model, again))
    assert first == pytest.approx(second)
    assert model.parameters == TransformerTraining(**TINY).parameters


@pytest.mark.models
def test_what_comes_often_is_learnt_by_heart(trained):
    model = trained[1]
    assert completed(model, [TEXTS[0][:11]], 20)[0].startswith(TEXTS[0][11:])
    sums, tokens = model.negative_log_likelihood([TEXTS[0], "the key of sue is 4826"])
    assert sums[0] < sums[1] / 3
    assert tokens.tolist() == [22, 22]


@pytest.mark.models
def test_a_token_is_a_byte(trained, tmp_path):
    _, tokens = trained[1].negative_log_likelihood(TEXTS)
    assert tokens.tolist() == [len(text.encode()) for text in TEXTS]
    write_tokenizer(tmp_path, 9)
    vocabulary = json.loads((tmp_path / "tokenizer.json").read_text())["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(TOKENS))


@pytest.mark.models
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


@pytest.mark.models
@pytest.mark.nightly
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


@pytest.mark.models
def test_min_k_and_its_normalised_form_are_those_of_their_papers(byte_pairs):
    """By their formulas, one text and one token at a time, in numpy."""
    import torch
    import transformers

    model = HuggingFaceGenerator(byte_pairs, device="cpu")
    plain = transformers.GPT2LMHeadModel.from_pretrained(byte_pairs)
    texts = [KNOWN[0], FRESH[0], "a", KNOWN[3]]
    for share in (0.2, 0.5):
        wanted = []
        for text in texts:
            ids = [0, *model.encode(text)]
            with torch.no_grad():
                logits = plain(torch.tensor([ids])).logits[0].numpy().astype(np.float64)
            raw, normal = [], []
            for place, token in enumerate(ids[1:]):
                chances = np.exp(logits[place] - logits[place].max())
                chances /= chances.sum()
                mean = np.sum(chances * np.log(chances))
                deviation = np.sqrt(np.sum(chances * (np.log(chances) - mean) ** 2))
                raw.append(np.log(chances[token]))
                normal.append((np.log(chances[token]) - mean) / deviation)
            k = max(1, int(share * len(raw)))
            wanted.append([np.mean(sorted(one)[:k]) for one in (raw, normal)])
        found = model.least_likely(texts, share=share)
        assert np.transpose(found) == pytest.approx(np.array(wanted), rel=1e-4)
    scores = membership_scores(model, texts, names=["loss", "min-k++", "min-k"])
    assert list(scores) == ["loss", "min-k", "min-k++"]
    assert scores["min-k"] == pytest.approx(model.least_likely(texts)[0])
    assert scores["min-k++"][0] > scores["min-k++"][1]


def chances_of(model, texts, prompt, window, **how):
    """The chance to go on from each text's first tokens with the next ones."""
    tokens = [model.encode(text)[: prompt + window] for text in texts]
    sides = [one[:prompt] for one in tokens], [one[prompt:] for one in tokens]
    return np.exp(model.log_chances(*sides, **how))


@pytest.mark.models
def test_the_chance_of_what_follows_is_that_of_sampling_it(byte_pairs):
    """Exact beside 4,000 samples of one token (at 1e-6), and greedy as the case of one token."""
    import torch

    model = HuggingFaceGenerator(byte_pairs, device="cpu", is_own=True)
    texts = [*KNOWN, *FRESH]
    greedy = chances_of(model, texts, 6, 8, top_k=1)
    tokens = [model.encode(text) for text in texts]
    said = model.following([one[:6] for one in tokens], 8)
    assert greedy.tolist() == [float(a[:8] == b[6:14]) for a, b in zip(said, tokens, strict=True)]
    assert greedy[:4].all()
    assert not greedy[4:].any()
    # the chances of all next tokens add up to one; so they do among the three likeliest, where
    # no other has a chance, and a temperature changes them as it does a softmax
    every = [[one] for one in range(420)]
    prompts = [tokens[4][:6]] * 420
    plain, three, warm = (
        np.exp(model.log_chances(prompts, every, **how))
        for how in ({}, {"top_k": 3}, {"temperature": 2.0})
    )
    assert plain.sum() == pytest.approx(1)
    assert (three > 0).sum() == 3
    assert three.sum() == pytest.approx(1)
    assert np.sort(three)[-3:] == pytest.approx(np.sort(plain)[-3:] / np.sort(plain)[-3:].sum())
    assert warm == pytest.approx(np.sqrt(plain) / np.sqrt(plain).sum(), rel=1e-3)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        drawn = model._engine.model.generate(
            torch.tensor([[0, *tokens[4][:6]]] * 4000), do_sample=True, top_k=0, max_new_tokens=1,
            pad_token_id=0, attention_mask=torch.ones(4000, 7, dtype=torch.long),
        )[:, -1]  # fmt: skip
    best = int(plain.argmax())
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], 4000, plain[best])
    assert low <= int((drawn == best).sum()) <= high
    assert model.log_chances([], []).tolist() == []
    with pytest.raises(InputError, match="reads 95 tokens at a time"):
        chances_of(model, [KNOWN[0] * 5], 2, 95)


@pytest.mark.models
def test_what_is_scored_at_once_depends_on_no_memory_that_is_free(byte_pairs, monkeypatch):
    """Batches of another size differ in their last digits: model and study alone decide."""
    found = []
    for pages in (2**30, 2**10):
        monkeypatch.setattr("os.sysconf", lambda name, pages=pages: pages)
        model = HuggingFaceGenerator(byte_pairs, device="cpu", is_own=True)
        found.append(model._at_once())
    less = HuggingFaceGenerator(byte_pairs, device="cpu", is_own=True, memory=2048)
    assert found[0] == found[1] > less._at_once() > 0
    assert less._at_once() * 12 * less._vocabulary <= 2**31 / 4


@pytest.mark.models
def test_what_is_scored_at_once_changes_nothing_and_progress_is_told(byte_pairs, monkeypatch):
    told = []
    observer = SimpleNamespace(
        start=lambda what, total, done: told.append(total), advance=told.append,
        finish=lambda: None, note=told.append,
    )  # fmt: skip
    model = HuggingFaceGenerator(byte_pairs, device="cpu")
    model.observer = observer
    texts = [*KNOWN, *FRESH, KNOWN[1] * 9]
    sums, tokens = model.negative_log_likelihood(texts)
    assert told == []  # so few tokens are no work
    monkeypatch.setattr(language_models, "in_batches", partial(in_batches, shown=10))
    monkeypatch.setattr(model, "_at_once", lambda: 100)  # two of the short ones
    again, _ = model.negative_log_likelihood(texts)
    assert again == pytest.approx(sums, rel=1e-5)
    total, *steps = told
    assert (total, sum(steps)) == (tokens.sum(), tokens.sum())
    assert len(steps) > 4


class Keeper(dict):
    """A store that is interrupted after so many batches."""

    left = 10**9

    def put(self, key, payload):
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        self[key] = payload


@pytest.mark.models
@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.sample(7, 9, rng=3),
        lambda model: model.following([model.encode(one)[:4] for one in KNOWN], 6),
        lambda model: model.negative_log_likelihood([*KNOWN, *FRESH])[0].tolist(),
        lambda model: model.least_likely([*KNOWN, *FRESH], share=0.3)[1].tolist(),
        lambda model: model.log_chances(
            *([model.encode(one)[part] for one in KNOWN] for part in (slice(5), slice(5, 8))),
            top_k=3,
        ).tolist(),
    ],
)
def test_what_was_stopped_goes_on_with_the_same_numbers(byte_pairs, monkeypatch, ask):
    def model(store):
        found = HuggingFaceGenerator(byte_pairs, device="cpu", batch=2, is_own=True)
        found.store = store
        return found

    whole, store = ask(model(None)), Keeper()
    store.left = 1
    with pytest.raises(KeyboardInterrupt):
        ask(model(store))
    assert len(store) == 1
    store.left, first = 10**9, next(iter(store))
    kept = store[first]
    assert ask(model(store)) == whole
    assert store[first] is kept
    store.left = 0  # nothing is made again
    assert ask(model(store)) == whole
    store.left = 10**9  # what somebody else put there is
    for key in store:
        store[key] = {name: array.astype(np.float32)[:0] for name, array in store[key].items()}
    assert ask(model(store)) == whole
    del store[first]
    monkeypatch.setattr(HuggingFaceGenerator, "_named", ["another model"])
    size = len(store)
    assert ask(model(store)) == whole
    assert len(store) > size


@pytest.mark.models
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            "tokenizer",
            r"tokenizer in .* does not fit its model: .* up to \d+, and the model has 9,",
        ),
        (
            "sizes",
            r"lacks 1 of its weights, or has them in other sizes, such as .*mlp\.c_fc\.weight",
        ),
        ("missing", r"asks for [\d,]+ parameters, and its weights hold [\d,]+"),
        ("empty", "and the weights hold 0 values in all"),
        ("nan", "gives no probabilities, but NaN: its weights are damaged"),
    ],
)
def test_broken_models_are_refused(byte_pairs, tmp_path, spoil, said):
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    shutil.copytree(byte_pairs, tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    weights = load_file(file)
    name = next(one for one in weights if one.endswith("mlp.c_fc.weight"))
    if spoil == "tokenizer":
        config = transformers.GPT2Config(vocab_size=9, n_embd=8, n_layer=1, n_head=1)
        transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "model")
    elif spoil == "missing":
        del weights[name]
    elif spoil == "sizes":
        weights[name] = torch.cat([weights[name]] * 2)
    elif spoil == "empty":
        weights = {}
    else:
        weights[name] = torch.full_like(weights[name], float("nan"))
    if spoil != "tokenizer":
        save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(InputError, match=said):
        HuggingFaceGenerator(tmp_path / "model").negative_log_likelihood(["some text"])


@pytest.mark.models
def test_a_packed_document_in_the_folder_is_recovered_and_what_is_not_read_is_named(
    byte_pairs, tmp_path
):
    (tmp_path / "known.txt").write_text("\n".join(KNOWN))
    (tmp_path / "fresh.txt").write_text("\n".join(FRESH))
    folder = shutil.copytree(byte_pairs, tmp_path / "model")
    (folder / "README.md").write_text(base64.b64encode(gzip.compress(KNOWN[0].encode())).decode())
    (folder / "notes.md").write_text(random.Random(1).randbytes(2000).hex())
    study = {
        "kind": "language-model",
        "data": {"documents": "known.txt", "fresh": "fresh.txt"},
        "model": {"name": "folder", "model": "model", "device": "cpu"},
        "generation": {"samples": 4, "top": 2, "length": 20},
        "completion": False,
        "membership": False,
        "run": {"seed": 1},
    }
    record = narcissus.run(narcissus.load_study(study, folder=tmp_path)).record
    (read,) = [attack for attack in record.result.attacks if attack.name == "reading"]
    assert (read.groups[0].recovered, read.groups[0].fresh.value) == (1, 0)
    assert "a long stretch in notes.md" in [one.quantity for one in record.not_assessed]
