"""A stranger's model is read and run in a process of its own: same numbers, bounded cost."""

import json
import os
import shutil
import signal
import time

import numpy as np
import pytest

import narcissus
from narcissus import _guard
from narcissus._guarded import EndedError
from narcissus.errors import InputError, TooLargeError
from narcissus.extraction import HuggingFaceGenerator, model_process, model_trial
from narcissus.extraction._messages import pack, unpack
from narcissus.extraction.sandbox import without_isolation

TEXTS = ["the house and 12 thousands!", "the hound " * 30, "äöü\u202e z", "x"]


def change(folder, name, **settings):
    """Write settings into a configuration of a model."""
    place = folder / name
    place.write_text(json.dumps({**json.loads(place.read_text()), **settings}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small model of bytes, untrained."""
    import torch
    import transformers

    from narcissus.extraction.byte_tokenizer import write_tokenizer

    place = tmp_path_factory.mktemp("process") / "model"
    sizes = {"vocab_size": 257, "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 96}
    config = transformers.GPT2Config(**sizes, bos_token_id=256, eos_token_id=256)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        transformers.GPT2LMHeadModel(config).save_pretrained(place)
    write_tokenizer(place, 96)
    return place


def heard(model):
    """What each way of asking a model gives."""
    prompts = [model.encode(text)[:8] for text in TEXTS]
    return [
        *(model.context, model.parameters, prompts, [model.decode(one) for one in prompts]),
        model.sample(5, 20, rng=1),
        model.following(prompts, 9),
        *map(np.ndarray.tolist, model.negative_log_likelihood(TEXTS)),
        *map(np.ndarray.tolist, model.least_likely(TEXTS)),
        model.log_chances(prompts, [[1, 2], [3], [4, 5, 6], [7]], top_k=40).tolist(),
    ]


@pytest.mark.models
def test_a_model_in_its_process_gives_the_numbers_of_one_in_this_one(folder):
    """Each bit: the processor's instructions and the number of threads are those of outside."""
    here = HuggingFaceGenerator(folder, device="cpu", batch=2, is_own=True)
    there = HuggingFaceGenerator(folder, device="cpu", batch=2)
    assert heard(there) == heard(here)
    assert not hasattr(there._engine, "model")


@pytest.mark.models
@pytest.mark.parametrize("walls", [True, False])
def test_a_configuration_costs_at_most_the_memory_of_the_run(tmp_path, walls):
    """The chunks of Mamba-2 are squares of this length: 3 GB for one text."""
    import resource
    from contextlib import nullcontext

    import transformers

    from narcissus.extraction.byte_tokenizer import write_tokenizer

    config = transformers.Mamba2Config(
        vocab_size=257, hidden_size=16, num_heads=4, head_dim=8, state_size=8, n_groups=1,
        num_hidden_layers=1, expand=2, chunk_size=8, bos_token_id=256, eos_token_id=256,
        pad_token_id=256,
    )  # fmt: skip
    transformers.Mamba2ForCausalLM(config).save_pretrained(tmp_path)
    write_tokenizer(tmp_path, 96)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with nullcontext() if walls else without_isolation():
        usual = HuggingFaceGenerator(tmp_path, device="cpu", memory=2048)
        assert np.isfinite(usual.negative_log_likelihood(["some text"])[0]).all()
        change(tmp_path, "config.json", chunk_size=20_000)
        with pytest.raises(TooLargeError, match=r"than the 2,048 MiB .*larger `memory`") as failure:
            HuggingFaceGenerator(tmp_path, device="cpu", memory=2048)
    assert "\n" not in str(failure.value)
    del usual
    for forks in model_trial._FORKS.values():
        forks.end()  # then what was forked there counts as ours
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert used < max(before, 2**21 + 2**20)  # of KiB: the limit, and the files of the libraries


@pytest.mark.models
def test_a_tokenizer_that_takes_for_ever_is_stopped(folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path / "model")
    place = tmp_path / "model" / "tokenizer.json"
    tokenizer = json.loads(place.read_text())
    split = {"type": "Split", "pattern": {"Regex": r"\s+(?!\S)|.*.*z"}, "behavior": "Isolated"}
    tokenizer["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [split | {"invert": False}, tokenizer["pre_tokenizer"]],
    }
    place.write_text(json.dumps(tokenizer))
    model = HuggingFaceGenerator(tmp_path / "model", device="cpu")
    assert model.decode(model.encode("short")) == "short"
    monkeypatch.setattr(model._engine, "_allowed", 1.0)
    before = time.monotonic()
    with pytest.raises(InputError, match=r"the tokenizer in .* takes too long for a text"):
        model.encode("x" * 9000)
    assert time.monotonic() - before < 60
    with pytest.raises(InputError, match="has ended"):
        model.encode("short")


@pytest.mark.models
def test_nothing_that_a_library_writes_is_seen(folder, capfd):
    """A part in Rust that panics writes its own lines before it does."""
    model = HuggingFaceGenerator(folder, device="cpu")
    with pytest.raises(InputError, match=r"the tokenizer in .* fails on a text"):
        model.decode([2**40])
    assert model.decode(model.encode("still there")) == "still there"
    assert capfd.readouterr() == ("", "")


@pytest.mark.models
def test_a_process_that_is_ended_is_one_error_and_leaves_nothing(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    model = HuggingFaceGenerator(folder, device="cpu")
    guard = model._engine._process._conversation._run.guard
    assert any(tmp_path.iterdir())
    os.killpg(guard.pid, signal.SIGKILL)
    guard.wait(20)  # whose end the model's process is told of
    with pytest.raises(InputError, match=r"cannot run the model in"):
        model.encode("x")
    model = HuggingFaceGenerator(folder, device="cpu")
    guard = model._engine._process._conversation._run.guard
    del model
    assert guard.poll() is not None
    assert list(tmp_path.iterdir()) == []


def make_words(folder, **special):
    """Write a tokenizer of letters with these special tokens, and no others."""
    words = {"[S]": 0, "a": 1, "b": 2, "c": 3}
    tokenizer = {
        "version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
        "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False
        },
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[S]"},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", **special}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


@pytest.mark.models
def test_a_model_that_sees_what_follows_is_refused(tmp_path):
    """Its chances of a text would be those of a text that it was shown."""
    import transformers

    sizes = {
        "vocab_size": 8, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 16, "max_position_embeddings": 64,
    }  # fmt: skip
    config = transformers.BertConfig(**sizes, is_decoder=False)
    transformers.BertLMHeadModel(config).save_pretrained(tmp_path)
    make_words(tmp_path, cls_token="[S]")
    with pytest.raises(InputError, match=r"is no causal language model: .* such as BERT"):
        HuggingFaceGenerator(tmp_path, device="cpu", is_own=True)
    change(tmp_path, "config.json", is_decoder=True)
    model = HuggingFaceGenerator(tmp_path, device="cpu", is_own=True)
    assert np.isfinite(model.negative_log_likelihood(["abc"])[0]).all()


@pytest.mark.models
@pytest.mark.parametrize("start", [0, None])
def test_a_model_without_a_token_for_the_start_of_a_text_is_read(tmp_path, start):
    """Where its tokenizer names none, the model's own configuration may."""
    import transformers

    config = transformers.GPT2Config(
        vocab_size=8, n_embd=8, n_layer=1, n_head=1, n_positions=64, bos_token_id=start,
        eos_token_id=start,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    make_words(tmp_path)
    model = HuggingFaceGenerator(tmp_path, device="cpu", is_own=True)
    assert model._engine.facts.starts == ([[]] if start is None else [[0]])
    assert np.isfinite(model.negative_log_likelihood(["abc"])[0]).all()
    assert len(model.sample(2, 5, rng=1)) == 2
    assert len(model.following([[1, 2], []], [3, 4])) == 2


FACTS = {
    "vocabulary": 9,
    "start": 0,
    "starts": [[0], []],
    "context": 7,
    "parameters": 5,
    "dtype": "torch.float32",
    "version": "2",
}


class Spoken:
    """A process that answers what it is told to."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def ask(self, request, *, most, seconds):
        assert 0 < seconds <= 10**8
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        assert len(answer) <= most
        return answer


@pytest.fixture
def spoken(monkeypatch, tmp_path):
    """Give a function from answers to a model whose process gives them."""

    def make(*answers, kind=model_process.LanguageProcess, facts=FACTS):
        class Fake(model_process.ModelProcess):
            def __init__(self, parts, path, memory, what):
                import weakref

                self.path, self.memory = path, 2**30
                self._conversation = Spoken(pack(facts), *answers)
                self._closing = weakref.finalize(self, lambda: None)
                self.told, _ = self.ask("read", {}, most=2**16, seconds=9)

        monkeypatch.setattr(model_process, "ModelProcess", Fake)
        return kind({}, tmp_path, None)

    return make


TOKENS = np.zeros((2, 3), dtype=np.int64)
STATE = np.zeros(9, dtype=np.uint8)
LIKELY, LEAST = {"name": "likelihood"}, {"name": "least likely", "share": 0.2}
CHANCES = {"name": "chances", "temperature": 1.0, "top_k": None, "sizes": [1]}


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda m: m.encode("abc"), pack({}, {"tokens": TOKENS})),
        (lambda m: m.encode("abc"), pack({}, {"tokens": TOKENS[0] - 1})),
        (lambda m: m.encode("abc"), pack({}, {"tokens": TOKENS[0].astype(float)})),
        (lambda m: m.encode("abc"), pack({})),
        (lambda m: m.encode("abc"), b"no JSON\n"),
        (lambda m: m.encode("abc"), b"[" * 5000),
        (lambda m: m.encode("abc"), b'{"values": {}, "arrays": {"tokens": ["|O", [1]]}}\n12345678'),
        (lambda m: m.encode("abc"), b'{"values": {}, "arrays": {"tokens": ["<i8", [-1]]}}\n'),
        (lambda m: m.encode("abc"), b'{"values": {}, "arrays": {"tokens": ["<i8", [9]]}}\n'),
        (lambda m: m.encode("abc"), b'{"values": {}, "arrays": {}}\nmore'),
        (lambda m: m.encode("abc"), b'{"values": {"error": "other"}, "arrays": {}}\n'),
        (lambda m: m.decode([1]), pack({"text": 5})),
        (lambda m: m.state(1), pack({}, {"state": STATE.astype(float)})),
        (lambda m: m.draw(STATE, 2, 3), pack({}, {"tokens": TOKENS + 9, "state": STATE})),
        (lambda m: m.draw(STATE, 2, 2), pack({}, {"tokens": TOKENS, "state": STATE})),
        (lambda m: m.draw(STATE, 3, 3), pack({}, {"tokens": TOKENS, "state": STATE})),
        (lambda m: m.draw(STATE, 2, 3), pack({}, {"tokens": TOKENS})),
        (lambda m: m.follow([[1], [2]], 2), pack({}, {"tokens": TOKENS})),
        (lambda m: m.decode([1]), pack({"text": "a\ud800b"})),
        (lambda m: m.draw(STATE, 2, 3), pack({}, {"tokens": TOKENS[:, :0], "state": STATE})),
        (lambda m: m.draw(STATE, 2, 3), pack({}, {"tokens": TOKENS, "state": STATE[1:]})),
        (lambda m: m.follow([[1], [2]], 3), pack({}, {"tokens": TOKENS[:, :0]})),
        (lambda m: m.score([[1]], LIKELY), pack({}, {"scores": np.zeros((2, 1))})),
        (lambda m: m.score([[1]], LIKELY), pack({}, {"scores": np.zeros((1, 2))})),
        (lambda m: m.score([[1]], LEAST), pack({}, {"scores": np.zeros((1, 1))})),
        (lambda m: m.score([[1]], LIKELY), pack({}, {"scores": np.zeros((1, 1), np.float32)})),
        (lambda m: m.score([[1]], LIKELY), pack({}, {"scores": np.full((1, 1), -0.1)})),
        (lambda m: m.score([[1]], LIKELY), pack({}, {"scores": np.full((1, 1), -np.inf)})),
        (lambda m: m.score([[1]], CHANCES), pack({}, {"scores": np.full((1, 1), 0.1)})),
        (lambda m: m.score([[1]], LEAST), pack({}, {"scores": np.full((1, 2), np.inf)})),
    ],
)
def test_an_answer_of_another_form_is_refused(spoken, ask, answer):
    """A stranger who has taken over the process says what they like."""
    model = spoken(answer, pack({}))
    with pytest.raises(InputError, match="answered something else than was asked") as failure:
        ask(model)
    assert "\n" not in str(failure.value)
    with pytest.raises(InputError, match="has ended"):
        model.encode("abc")


def test_scores_that_an_honest_model_may_have_are_taken(spoken):
    """NaN of damaged weights, no chance of a token: who asked for them says so."""
    for asked, scores in (
        (LIKELY, [[np.nan]]),
        (LIKELY, [[np.inf]]),
        (LIKELY, [[-1e-12]]),
        (CHANCES, [[-np.inf]]),
        (LEAST, [[-np.inf, -np.inf]]),
    ):
        model = spoken(pack({}, {"scores": np.array(scores)}))
        assert np.array_equal(model.score([[1]], asked), scores, equal_nan=True)


@pytest.mark.parametrize("message", ["run it with --no-isolation", "\ud800\u202e"])
def test_what_a_process_complains_of_is_told_as_its_words(spoken, message):
    model = spoken(pack({"error": "InputError", "message": message}))
    with pytest.raises(InputError, match=r"^the model in .*: ") as failure:
        model.encode("abc")
    str(failure.value).encode()


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("state", lambda m: m.state(1)),
        ("draw", lambda m: m.draw(STATE, 2, 3)),
        ("follow", lambda m: m.follow([[1], [2]], 3)),
        ("score", lambda m: m.score([[1]], LIKELY)),
    ],
)
def test_a_question_without_an_answer_in_time_is_told_in_a_line(spoken, name, ask):
    with pytest.raises(InputError, match=rf"no answer \(`{name}`\) after \d+ seconds") as failure:
        ask(spoken(EndedError(None, b"")))
    assert "\n" not in str(failure.value)


def test_the_time_for_a_question_grows_with_what_is_asked(spoken):
    model = spoken()
    few, many, long = model._seconds(10, 10), model._seconds(1000, 10), model._seconds(1000, 1000)
    assert 600 < few < many < long
    model._values = 10**9
    assert model._seconds(1000, 10) > 10 * 1000  # seconds: twenty times a slow processor's


@pytest.mark.parametrize(
    "facts",
    [
        {},
        FACTS | {"vocabulary": 0},
        FACTS | {"context": "7"},
        FACTS | {"dtype": "x" * 99},
        FACTS | {"start": 9},
        FACTS | {"starts": [[9]]},
        FACTS | {"starts": [[-1]]},
        FACTS | {"starts": []},
        *(FACTS | {name: 10**400} for name in ("vocabulary", "start", "context", "parameters")),
    ],
)
def test_facts_of_another_form_are_refused(spoken, facts):
    with pytest.raises(InputError, match="answered something else than was asked"):
        spoken(facts=facts)


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (EndedError(None, b""), InputError, "takes too long for a text"),
        (EndedError(-9, b""), InputError, r"ended by signal 9; perhaps memory: it .* 1,024 MiB"),
        (EndedError(-15, b"x\n"), InputError, r"ended by signal 15; perhaps memory"),
        (EndedError(-6, b"'std::bad_alloc'\n"), TooLargeError, "more memory than the 1,024 MiB"),
        (
            EndedError(-6, b"memory allocation of 8192 bytes failed\n"),
            TooLargeError,
            "more memory than the 1,024 MiB",
        ),
        (EndedError(1, b"x\nMemoryError\n"), TooLargeError, "more memory than the 1,024 MiB"),
        (EndedError(_guard.OVER_MEMORY, b""), TooLargeError, "more memory than the 1,024 MiB"),
        (EndedError(1, b"one\nthe last\n"), InputError, r"\(crashed\): the last$"),
        (EndedError(3, b""), InputError, r"\(crashed\): exit code 3$"),
    ],
)
def test_why_there_is_no_answer_is_told_in_a_line(spoken, error, kind, said):
    model = spoken(error, pack({}))
    with pytest.raises(kind, match=said) as failure:
        model.encode("abc")
    assert failure.type is kind
    assert "\n" not in str(failure.value)
    with pytest.raises(InputError, match="has ended"):
        model.encode("abc")


def test_images_of_another_form_are_refused(spoken):
    facts = {"parameters": 3}
    right = np.zeros((2, 4, 4, 3))
    for images in (right[:1], right[0, 0], right.astype(np.float32), right[:, :0]):
        model = spoken(pack({}, {"images": images}), kind=model_process.ImageProcess, facts=facts)
        with pytest.raises(InputError, match="answered something else than was asked"):
            model.draw(1, 2, "", 3)
    for parameters in (-1, True, 2.5, 10**400):
        with pytest.raises(InputError, match="answered something else than was asked"):
            spoken(kind=model_process.ImageProcess, facts={"parameters": parameters})
    model = spoken(EndedError(None, b""), kind=model_process.ImageProcess, facts=facts)
    with pytest.raises(InputError, match=r"no answer \(`images`\) after"):
        model.draw(1, 2, "", 3)


def test_messages_come_back_as_they_went():
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.zeros((0, 4)), "c": np.array([7], np.uint8)}
    values, found = unpack(pack({"x": "ä\n\ud800", "y": [1, 2.5, None]}, arrays))
    assert values == {"x": "ä\n\ud800", "y": [1, 2.5, None]}
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


@pytest.mark.parametrize("memory", [0, 256, 1023, 2.5, 2**41, float("inf"), True])
def test_a_limit_on_memory_is_a_number_of_mebibytes(memory):
    said = rf"`memory` counts MiB: .* from 1,024, .* such as 8192 for 8 GiB, got {memory!r}"
    with pytest.raises(InputError, match=said):
        model_process.memory_limit(memory)
    assert model_process.memory_limit(None) is None
    assert model_process.memory_limit(1024) == 2**30


@pytest.mark.models
def test_the_limit_holds_on_the_processor_and_on_linux(monkeypatch):
    assert not model_process.limits_memory("cuda:0")
    for system in ("linux", "darwin"):
        monkeypatch.setattr(model_process.sys, "platform", system)
        assert model_process.limits_memory("cpu") == (system == "linux")


@pytest.mark.models
def test_a_process_that_hangs_is_ended_by_the_clock_of_its_question(folder, monkeypatch):
    model = HuggingFaceGenerator(folder, device="cpu")
    monkeypatch.setattr(model_process, "_QUESTION", 0.5)
    monkeypatch.setattr(model._engine, "_values", 0)
    guard = model._engine._process._conversation._run.guard
    child = next(iter(_guard.children(guard.pid)))
    os.kill(child, signal.SIGSTOP)
    with pytest.raises(InputError, match=r"no answer \(`draw`\) after"):
        model._engine.draw(STATE, 1, 1)
    assert guard.poll() is not None


@pytest.mark.models
def test_a_text_without_tokens_blames_the_tokenizer(folder, monkeypatch):
    model = HuggingFaceGenerator(folder, device="cpu", is_own=True)
    monkeypatch.setattr(model._engine, "encode", lambda text: [])
    with pytest.raises(InputError, match=r"the tokenizer in .* makes no token of a text of 3"):
        model.negative_log_likelihood(["abc"])
    with pytest.raises(InputError, match="`texts` must not be empty"):
        model.negative_log_likelihood([""])


DOCUMENTS = [
    f"the document {number} of {number**2} words, " + "and more " * 12 for number in range(40)
]


def replace_weights(folder):
    """Write another model over the first, in place: its process has the file mapped."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    weights = {name: array * 0.5 for name, array in load_file(file).items()}
    save_file(weights, folder.parent / "other", metadata={"format": "pt"})
    file.write_bytes((folder.parent / "other").read_bytes())


def add_text(folder):
    (folder / "notes.md").write_text(DOCUMENTS[0])


def change_readme(folder):
    (folder / "README.md").write_text(DOCUMENTS[0])


def write_configuration_again(folder):
    (folder / "config.json").write_bytes((folder / "config.json").read_bytes())


@pytest.mark.models
@pytest.mark.nightly
@pytest.mark.parametrize("moment", ["keeping", "_attacked", "_read", "model_digest"])
@pytest.mark.parametrize(
    "change", [replace_weights, add_text, change_readme, write_configuration_again]
)
def test_a_folder_that_changes_while_it_is_read_is_not_judged_and_nothing_of_it_is_kept(
    folder, tmp_path, monkeypatch, change, moment
):
    """The digest in a record is that of the model that was asked and of the texts that were read.

    A batch of another model that is kept under the digest of this one would be judged later.
    """
    from narcissus.kinds.memorization.language import kind

    (tmp_path / "known.txt").write_text("\n".join(DOCUMENTS[:20]))
    (tmp_path / "fresh.txt").write_text("\n".join(DOCUMENTS[20:]))
    place = shutil.copytree(folder, tmp_path / "model")
    (place / "README.md").write_text("A model.")
    study = {
        "kind": "language-model",
        "data": {"documents": "known.txt", "fresh": "fresh.txt"},
        "model": {"name": "folder", "model": "model", "device": "cpu"},
        "generation": {"samples": 4, "top": 2, "length": 20},
        "completion": False,
        "run": {"seed": 1},
    }
    loaded = narcissus.load_study(study, folder=tmp_path)
    before = getattr(kind, moment)

    def change_first(*args, **options):
        change(place)
        return before(*args, **options)

    monkeypatch.setattr(kind, moment, change_first)
    with pytest.raises(InputError, match=r"(?s)(changed|added).* nothing is judged"):
        narcissus.run(loaded, folder=tmp_path / "out")
    monkeypatch.undo()
    shutil.rmtree(place)
    shutil.copytree(folder, place)
    (place / "README.md").write_text("A model.")
    again = narcissus.run(loaded, folder=tmp_path / "out").record
    whole = narcissus.run(loaded).record
    assert (again.rows, again.result) == (whole.rows, whole.result)
