"""The kind as a whole: what it finds, that it repeats itself, what it refuses."""

import sys

import pytest

import narcissus
from narcissus.errors import InputError, MissingExtraError, StudyError
from narcissus.study.reading import read_record


def test_what_was_learnt_by_heart_is_found_and_nothing_of_fresh_documents(audit):
    results = audit.record.results
    assert (results.status, audit.record.status) == ("exceeded", "exceeded")
    assert results.by_chance
    assert (results.trained, results.fresh) == (30, 30)
    for attack in results.attacks:
        assert attack.whole.recovered >= 10, attack.name
        assert attack.whole.fresh.value == 0
        assert attack.whole.reference.value == 0
        assert attack.whole.gain.low > 0.05
        assert attack.whole.chance < 1e-3
        assert [group.copies for group in attack.groups] == [0, 1, 4]
    assert {one.score for one in results.membership} == {"perplexity", "zlib", "lower", "reference"}
    # all letters are lower-case, so that one score says nothing
    assert all((one.above.low > 0.6) == (one.score != "lower") for one in results.membership)
    assert all(group.named == 5 for group in results.canaries)
    assert sum(one.trained for one in results.attacks[0].ranked) > 0
    assert all(one.fresh == 0 for one in results.attacks[0].ranked)


def test_the_same_seed_gives_the_same_numbers(audit, load):
    again = narcissus.run(load())
    assert again.record.results == audit.record.results
    other = narcissus.run(load(run={"seed": 5}))
    assert other.record.results != audit.record.results


def test_the_record_is_read_again(audit, tmp_path):
    audit.save(tmp_path)
    assert read_record(tmp_path / "record.json").results == audit.record.results


def test_a_model_that_learnt_nothing_by_heart_shows_no_gain(load):
    """The same attacks on a model that looks at two characters: the limits hold zero."""
    found = narcissus.run(load(model={"name": "ngram", "order": 2})).record
    assert found.status == "inconclusive"
    for attack in found.results.attacks:
        assert attack.whole.gain.low <= 0 <= attack.whole.gain.high


def test_what_is_left_out_is_not_there(load):
    found = narcissus.run(
        load(generation=False, membership=False, canaries=None, threshold=None)
    ).record
    assert [one.name for one in found.results.attacks] == ["completion"]
    assert (found.results.membership, found.results.canaries) == ((), ())
    assert found.status == "no threshold"


def test_too_few_fresh_documents_are_said(audit):
    remarks = [one for one in audit.record.not_assessed if "false alarms of 1%" in one.quantity]
    assert len(remarks) == 1
    needed = int(remarks[0].remedy.split()[0].replace(",", ""))
    assert needed > audit.record.results.fresh


@pytest.mark.parametrize("name", ["transformer", "folder"])
def test_without_torch_the_extra_is_named_when_the_study_is_loaded(
    load, tmp_path, monkeypatch, name
):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "config.json").write_text("{}")
    (tmp_path / "gpt" / "model.safetensors").write_bytes(b"\0" * 16)
    model = {"name": name, **({"model": "gpt"} if name == "folder" else {})}
    with pytest.raises((MissingExtraError, StudyError), match=r"narcissus\[language\]"):
        load(model=model)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": {"documents": "none.txt"}}, r"none\.txt"),
        ({"data": {"documents": "letters.txt", "fresh": "letters.txt"}}, "model in a folder"),
        ({"program": {"path": "x.py"}}, "model folder"),
        ({"model": {"name": "ngrm"}}, "ngram"),
        ({"generation": False, "completion": False}, "generation"),
        ({"threshold": {"quality": 0.1}}, "program"),
        ({"threshold": {}}, "gain"),
        ({"canaries": {"text": "nothing"}}, "secret"),
    ],
)
def test_what_cannot_be_played_is_refused(load, changes, said):
    with pytest.raises((InputError, StudyError), match=said):
        load(**changes)


def test_documents_that_are_too_short_for_completion(load):
    with pytest.raises(InputError, match="completion = false"):
        narcissus.run(load(completion={"prefix": 50, "window": 60}))


def test_what_is_too_short_for_completion_is_said(load):
    with_none = narcissus.run(load(completion={"prompt": 900})).record
    assert [one.name for one in with_none.results.attacks] == ["generation"]
    (short,) = [one for one in with_none.not_assessed if one.quantity.startswith("completion")]
    assert short.quantity == "completion of 30 of 30 documents trained on"
    assert short.remedy == "a smaller `prompt` or `window` in [completion]"
    with pytest.raises(InputError, match="the only attack: make `prompt`"):
        narcissus.run(load(generation=False, completion={"prompt": 900}))


def test_characters_are_the_tokens_of_a_model_of_characters(audit, load):
    """A file that counts them, as all did, and one that counts tokens: the same numbers."""
    found = narcissus.run(load(completion={"prompt": 31, "window": 9})).record.results
    old, new = (results.attacks[1] for results in (audit.record.results, found))
    assert (old.groups, old.rule.replace("characters, ", "tokens, ")) == (
        new.groups, new.rule.removesuffix(" characters"),
    )  # fmt: skip
