"""Studies of language models: what they find, limits of all claims, words, page and frame."""

import sys

import numpy as np
import pytest
from pydantic import ValidationError

import narcissus
from narcissus.errors import InputError, MissingExtraError, StudyError
from narcissus.evidence import clopper_pearson, each_confidence, mean_limits
from narcissus.extraction.recovered import Division, TextDocument
from narcissus.kinds.memorization.language.attacks import AttackedDocuments
from narcissus.kinds.memorization.language.kind import (
    CANARIES,
    KIND,
    CanaryGroup,
    FoundAboutModel,
)
from narcissus.kinds.memorization.language.layout import LAYOUT
from narcissus.kinds.memorization.language.schema import LanguageStudy
from narcissus.observer import SilentObserver
from narcissus.report import Figure, page_of, render_html, render_text
from narcissus.study.reading import read_record


def case_of(record):
    return KIND.judged(record)


def groups_of(record):
    return record.result.groups_by_attack


def test_what_was_learnt_by_heart_is_found_and_nothing_of_fresh_documents(audit):
    record, case = audit.record, case_of(audit.record)
    assert (record.status, record.result.by_chance) == ("exceeded", True)
    assert (record.result.trained, record.result.fresh) == (30, 30)
    for name, (whole, *parts) in groups_of(record).items():
        assert whole.recovered >= 10, name
        assert whole.fresh.value == whole.reference.value == 0
        assert whole.shown_gain > 0.05
        assert whole.chance < 1e-3
        assert [group.copies for group in parts] == [(1,), (4,)]
    scores = {row.name: row.quantity for row in case.findings.select(of="above a fresh one")}
    assert scores.keys() == {"perplexity", "zlib", "lower", "reference"}
    # all letters are lower-case, so that one score says nothing
    assert all((one.low > 0.6) == (name != "lower") for name, one in scores.items())
    assert [group.named for group in record.result.canaries] == [5, 5]
    assert sum(one.trained for one in record.result.attacks[0].ranked) > 0
    assert all(one.fresh == 0 for one in record.result.attacks[0].ranked)


def test_the_same_seed_gives_the_same_numbers_and_is_read_again(audit, load, tmp_path):
    again = narcissus.run(load())
    assert again.results == audit.results
    assert narcissus.run(load(run={"seed": 5})).results != audit.results
    audit.save(tmp_path)
    assert read_record(tmp_path / "record.json") == audit.record


def test_a_model_that_learnt_nothing_by_heart_shows_no_gain(load):
    """The same attacks on a model that looks at two characters: the limits hold zero."""
    found = narcissus.run(load(model={"name": "ngram", "order": 2})).record
    assert found.status == "inconclusive"
    for whole, *_ in groups_of(found).values():
        low, high = whole.limits_of_gain
        assert low <= 0 <= high


def test_what_is_left_out_is_not_there(load):
    found = narcissus.run(
        load(generation=False, membership=False, canaries=None, threshold=None)
    ).record
    assert [one.name for one in found.result.attacks] == ["completion"]
    assert {row.of for row in found.rows} == {"recovered", "fresh", "reference", "gain"}
    assert found.status == "no threshold"


def test_too_few_fresh_documents_are_said(audit):
    remarks = [one for one in audit.record.not_assessed if "false alarms of 1%" in one.quantity]
    assert len(remarks) == 1
    fresh = audit.record.result.fresh
    assert f"cannot be seen with {fresh} non-members" in remarks[0].reason
    assert int(remarks[0].reason.split("; ")[1].split()[0].replace(",", "")) > fresh


@pytest.mark.parametrize("name", ["transformer", "folder"])
def test_without_torch_the_extra_is_named_when_the_study_is_loaded(
    load, tmp_path, monkeypatch, name
):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "config.json").write_text("{}")
    (tmp_path / "gpt" / "model.safetensors").write_bytes(b"\2" + b"\0" * 7 + b"{}")
    model = {"name": name, **({"model": "gpt"} if name == "folder" else {})}
    with pytest.raises((MissingExtraError, StudyError), match=r"transformers>="):
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
    assert [one.name for one in with_none.result.attacks] == ["generation"]
    (short,) = [one for one in with_none.not_assessed if one.quantity.startswith("completion")]
    assert short.quantity == "completion of 30 of 30 documents trained on"
    assert short.remedy == "a smaller `prompt` or `window` in [completion]"
    with pytest.raises(InputError, match="the only attack: make `prompt`"):
        narcissus.run(load(generation=False, completion={"prompt": 900}))


def test_characters_are_the_tokens_of_a_model_of_characters(audit, load):
    """A file that counts them, as all did, and one that counts tokens: the same numbers."""
    found = narcissus.run(load(completion={"prompt": 31, "window": 9})).record
    assert found.rows == audit.record.rows
    old, new = (one.result.attacks[1] for one in (audit.record, found))
    assert old.rule.replace("characters, ", "tokens, ") == new.rule.removesuffix(" characters")


def test_every_limit_is_a_claim_and_that_of_its_count(audit):
    result, rows = audit.record.result, audit.record.rows
    bands = {row.name for row in rows if row.of == "told"}  # one for all rates of a score
    limits = [r.quantity for r in rows if r.quantity.confidence is not None and r.of != "told"]
    canaries = [row for row in rows if row.of == CANARIES]
    assert result.claims == len(limits) + len(bands) + len(canaries)
    assert {one.confidence for one in limits} == {each_confidence(0.95, result.claims)}
    whole = groups_of(audit.record)["generation"][0]
    fresh = whole.fresh
    wanted = clopper_pearson(
        round(fresh.value * fresh.trials), fresh.trials, confidence=fresh.confidence
    )
    assert (fresh.low, fresh.high, fresh.trials) == (wanted.low, wanted.high, result.fresh)
    assert -1 < whole.limits_of_gain[0] <= whole.share - fresh.high


STUDY = {
    "data": {"documents": "x"},
    "model": {"name": "ngram"},
    "groups": {"least_group": 1},
}


def measured(trained, fresh, recovered, by_shadows=(), *, evidence=None, by_chance=True, **study):
    attacked = AttackedDocuments(
        "completion", "", trained, fresh, recovered, np.zeros(len(fresh), dtype=bool), None,
        by_shadows=by_shadows,
    )  # fmt: skip
    found = FoundAboutModel(
        "",
        1,
        Division(trained, fresh, by_chance=by_chance),
        [attacked],
        {},
        {},
        (),
        evidence,
        has_reference=False,
    )
    return KIND.conclude(KIND.measured(LanguageStudy.model_validate({**STUDY, **study}), found))


@pytest.mark.parametrize(
    ("other", "by_chance", "status"),
    [("2024", False, "not assessed"), ("2019", False, "exceeded"), ("2024", True, "exceeded")],
)
def test_fresh_documents_of_another_year_void_the_study(other, by_chance, status):
    """Where chance divided, nothing but the model tells; a study that was told is tested."""
    words = np.random.default_rng(1).choice(["boat", "cart", "door", "fish"], (100, 6))
    texts = [" ".join(row) for row in words]
    trained = tuple(TextDocument(f"{i} {t} 2019") for i, t in enumerate(texts[:50]))
    fresh = tuple(TextDocument(f"{i} {t} {other}") for i, t in enumerate(texts[50:]))
    case = measured(
        trained, fresh, np.arange(50) < 40, by_chance=by_chance, threshold={"gain": 0.1}
    )
    assert case.status == status
    assert len(case.result.blind) == (not by_chance)
    void = status == "not assessed"
    assert LAYOUT.verdict(case).startswith("Void: ") == void
    grades = {row.quantity.grade for row in case.findings.select(of="gain")}
    assert grades == {"not assessed" if void else "sampled"}


def test_a_shadow_model_is_a_trial():
    """Four documents in two groups, 19 shadows of which one gives away as many of the second."""
    trained = tuple(TextDocument(str(i), 1 + (i > 1)) for i in range(4))
    fresh = (TextDocument("x"), TextDocument("y", 2))
    by_shadows = np.zeros((19, 4), dtype=bool)
    by_shadows[0, 2:] = by_shadows[1, 0] = True
    recovered = np.array([True, False, True, True])
    case = measured(trained, fresh, recovered, tuple(by_shadows))
    assert case.result.claims == 3 + 2 * 3  # fresh ones, and two limits of shadows, by group
    level, groups = case.result.claim_confidence, case.result.attacks[0].groups
    assert groups[0].by_shadows == (2, 1, *[0] * 17)
    assert "shadow models were trained" in case.assumptions[-1]
    for place, (many, total, ours) in enumerate(((0, 4, 3), (1, 2, 1), (1, 2, 2))):
        group = groups[place]
        assert (group.recovered, group.total) == (ours, total)
        mean, as_many = group.beside_shadows(level)
        assert as_many == clopper_pearson(many, 19, confidence=level)
        wanted = mean_limits(np.array(group.by_shadows) / total, confidence=level)
        assert (mean.value, mean.high) == (wanted.value, wanted.high)


def test_shadow_models_have_columns_of_their_own(kept_audit):
    record = kept_audit("language-model").record
    attacks = [
        attack.model_copy(
            update={
                "groups": tuple(
                    group.model_copy(update={"by_shadows": (0,) * 19}) for group in attack.groups
                )
            }
        )
        for attack in record.result.attacks
    ]
    result = record.result.model_copy(update={"attacks": tuple(attacks)})
    page = page_of(record.model_copy(update={"result": result}), internal=True)
    as_many = clopper_pearson(0, 19, confidence=result.claim_confidence)
    blocks = [b for s in page.sections for b in s.blocks if isinstance(b, Figure)]
    tables = [block.table for block in blocks if block.name != "roc"]
    assert len(tables) == len(attacks)
    for table in tables:
        assert table.columns[-3:] == ("From shadow models", "Their limits", "Share with as many")
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert table.rows[0][-3] == 0
        shown = table.rows[0][-1].rpartition("to")[2].strip().rstrip("%")
        assert as_many.high <= float(shown) / 100 < as_many.high + 0.0011  # rounded up


def test_groups_of_few_documents_are_merged(load):
    """Of 30 documents 7 come four times: whether these are printed is about each of them."""
    audit = narcissus.run(load(groups={}))
    assert all(len(groups) == 1 for groups in groups_of(audit.record).values())
    for attack in audit.record.result.attacks:
        assert attack.merged.left_out == ("number of copies",)
    assert "groups by “number of copies” are left out" in " ".join(
        render_text(audit.record).split()
    )


def test_the_verdict_names_attack_counts_and_gain(audit):
    case, said = case_of(audit.record), audit.verdict
    name, (whole, *_) = LAYOUT.best(case.result)
    assert said == LAYOUT.verdict(case)
    fresh = whole.fresh.trials
    assert f"The attack {name} recovers 0 of {fresh} documents that the model never saw" in said
    assert f"recovers {whole.recovered} of {whole.total} documents" in said
    shown = float(said.partition("The gain is +")[2].partition(" to ")[0])
    assert 100 * whole.shown_gain - 0.1001 <= shown <= 100 * whole.shown_gain  # rounded down


def test_what_is_not_assessed_is_named(audit):
    named = [one.quantity for one in audit.record.not_assessed]
    assert any("against complexity" in one for one in named)
    assert not any("without the documents" in one for one in named)  # there is a reference model


@pytest.mark.parametrize("words", ["named", "printed"])
def test_a_canary_cannot_be_named_or_printed_more_often_than_it_was_planted(audit, words):
    group = audit.record.result.canaries[0]
    row = next(row for row in audit.record.rows if row.of == CANARIES)
    assert (row.value, row.baseline, row.at) == (1, 1 / 20, {"copies": group.copies})
    change = {{"printed": "completed"}.get(words, words): 6}
    with pytest.raises(ValidationError, match=f"more canaries {words}"):
        CanaryGroup.model_validate({**group.model_dump(), **change})


@pytest.mark.parametrize(
    ("threshold", "status", "grade"),
    [
        ({"quality": 0.2}, "exceeded", "approximate"),
        ({"quality": 0.2, "gain": 0.9}, "exceeded", "approximate"),
        ({"quality": 0.2, "gain": 0.01}, "exceeded", "sampled"),
        ({"quality": 0.8}, "inconclusive", "sampled"),
        ({"quality": 0.8, "gain": 0.01}, "exceeded", "sampled"),
        (None, "no threshold", "sampled"),
    ],
)
def test_a_program_of_too_much_quality_decides_where_no_gain_does(
    evidence, threshold, status, grade
):
    documents = tuple(TextDocument(str(i)) for i in range(40))
    fresh = tuple(TextDocument(f"f{i}") for i in range(200))
    more = {} if threshold is None else {"threshold": threshold}
    case = measured(
        documents, fresh, np.arange(40) < 30, evidence=evidence, program={"path": "x.py"}, **more
    )
    assert (case.status, case.grade) == (status, grade)
    assert any("no program of at most 100 bytes" in one for one in case.assumptions)
    said = LAYOUT.verdict(case)
    assert "The program is evidence of extraction." in said
    by_program = status == "exceeded" and grade == "approximate"
    assert ("Your threshold, a quality of 0.2, is exceeded" in said) == by_program
    assert [one.at_most for one in case.each[1:]] == ([] if threshold is None else [
        threshold["quality"]])  # fmt: skip


@pytest.fixture(scope="module")
def kept(kept_audit):
    return kept_audit("language-model")


def test_every_attack_has_its_picture_with_the_numbers_behind_it(kept):
    blocks = (b for s in page_of(kept.record).sections for b in s.blocks)
    figures = {b.name: b for b in blocks if isinstance(b, Figure)}
    assert list(figures) == ["generation", "completion", "roc"]
    for name, groups in groups_of(kept.record).items():
        table = figures[name].table
        assert [row[0] for row in table.rows] == [
            "all documents", "1 copy", "4 copies", "16 copies",
        ]  # fmt: skip
        assert [row[2] for row in table.rows] == [group.recovered for group in groups]
        shown = table.rows[0][5].rpartition("to")[2].strip().rstrip("%")
        high = groups[0].fresh.high
        assert high <= float(shown) / 100 < high + 0.0011  # rounded up
        assert set(table.grades) == {"sampled"}
        drawn = {round(float(x), 9) for line in kept.plot(name).lines for x in line.get_xdata()}
        assert {round(group.share, 9) for group in groups} <= drawn


def test_the_page_asks_nobody_for_anything(kept):
    html = render_html(kept.record)
    assert "of 100 documents without" in repr(kept)
    assert "<script" not in html
    assert "1 of 100" in html  # the canaries' guess
    assert "recovered beside" not in html


def declared_of(part, monkeypatch, names):
    """Let a part say that files of its folder are not published, and that nobody reads a note."""
    monkeypatch.setattr(part, "unpublished", names)
    monkeypatch.setattr(part, "others", ("README.md",))


@pytest.mark.parametrize(
    ("names", "clause"),
    [
        (("onnx/",), "`onnx/` in the model's folder is not published"),
        (
            ("a.bin", "b\u202e.pt"),
            "`a.bin`, `b\\u202e.pt` in the model's folder are not published",
        ),
        ((), ""),
    ],
)
@pytest.mark.parametrize("order", [2, 10])
def test_the_first_screen_and_the_record_name_what_is_declared_as_not_published(
    load, monkeypatch, names, clause, order
):
    from narcissus.extraction.language_models import TrainedCharacterNgram

    declared_of(TrainedCharacterNgram, monkeypatch, names)
    model, rest = {"name": "ngram", "order": order}, {"canaries": None, "generation": False}
    played = narcissus.run(load(model=model, membership=False, **rest))
    assert played.record.result.unpublished == names
    assert played.record.status == ("inconclusive" if order == 2 else "exceeded")
    text = " ".join(str(played).split())
    assert (f"This holds if, as you declare, {clause}." in text) == (bool(names) and order == 2)
    assert any("README.md" in remark.quantity for remark in played.record.not_assessed)


def test_a_program_gets_no_folder_with_more_than_is_published(load, tmp_path, monkeypatch):
    from narcissus.extraction.language_models import TrainedCharacterNgram

    declared_of(TrainedCharacterNgram, monkeypatch, ("onnx/",))
    (tmp_path / "program.py").write_text("print(1)\n")
    with pytest.raises(InputError, match="gets the whole folder of the model"):
        load(program={"path": "program.py"})


def test_each_step_is_named_while_it_runs(load):
    """A model was sampled for minutes under "drawing conclusions"."""

    class Steps(SilentObserver):
        def __init__(self):
            self.names = []

        def start(self, what, total, done=0):
            self.names.append(what)

    steps = Steps()
    narcissus.run(load(generation={"samples": 5, "top": 2}), observer=steps)
    order = [
        "reading the model",
        "continuing documents",
        "sampling and ranking",
        "scoring documents",
        "naming canaries",
        "drawing conclusions",
    ]
    last = [name for name in steps.names if name in order][-len(order) :]
    assert last == order
