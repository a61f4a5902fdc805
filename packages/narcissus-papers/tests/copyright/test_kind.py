"""A copyright case: what comes back with access, without, and of works that no model saw."""

import json
import shutil
import tomllib
import unicodedata
from pathlib import Path

import pytest

import narcissus
from narcissus.errors import InputError, StudyError
from narcissus.report import render_text
from narcissus.rows import StudyCriterion
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of
from narcissus.study.shareable import shareable
from narcissus_papers.copyright.kind import KIND, CopyrightResult, Returned
from narcissus_papers.copyright.works import common_runs, read_work, read_works, words_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "copyright"


@pytest.fixture(scope="session")
def audit():
    return narcissus.run(narcissus.load_study(EXAMPLE / "case.toml"))


@pytest.fixture
def load(tmp_path):
    """Give the function that loads the example with changes, in a copy of its folder."""
    folder = shutil.copytree(EXAMPLE, tmp_path / "case")

    def of(spoil=lambda folder: None, **changes):
        spoil(folder)
        study = tomllib.loads((folder / "case.toml").read_text())
        for section, keys in changes.items():
            study[section] = {**study[section], **keys}
        return narcissus.load_study(study, folder=folder)

    return of


def result(own, without, works, confidence=0.95):
    """Make up what was counted of a hundred passages each."""
    one, *others = (Returned(name="n", passages=100, returned=n) for n in (own, *without, *works))
    return CopyrightResult(
        model="m", trains=True, copies=1, prompt=1, window=1, words=1, edits=None,
        left_out=0, with_access=one, without=tuple(others[: len(without)]), unrelated=0,
        longest=1, independent=tuple(others[len(without) :]), confidence=confidence,
    )  # fmt: skip


def test_a_model_with_access_gives_back_what_one_without_does_not(audit):
    found = audit.record.result
    assert audit.record.status == "exceeded"
    assert found.with_access.returned >= 10
    assert [one.returned for one in found.without] == [0]
    assert sum(one.returned for one in found.independent) == found.unrelated == 0
    assert found.longest == found.shown[0][0] == 30
    assert found.chance == 1 / 21
    text = render_text(audit.record, internal=True)
    for said in ("Without access, 0 of 44", "With access, 20 of 44", "at most 0% of a work",
                 found.shown[0][1][:20]):  # fmt: skip
        assert said in text
    assert found.shown[0][1][:20] not in render_text(shareable(audit.record))


def test_a_record_whose_status_does_not_follow_from_its_counts_is_refused(audit, tmp_path):
    audit.save(tmp_path)
    assert read_record(tmp_path / "record.json") == audit.record
    data = json.loads((tmp_path / "record.json").read_text())
    data["result"]["without"][0]["returned"] = 16
    data.pop("portable_digest")
    data["digest"] = digest_of(data)
    (tmp_path / "record.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"the status is 'exceeded', and that of the rows"):
        read_record(tmp_path / "record.json")


@pytest.mark.parametrize(
    ("own", "without", "works", "status", "low"),
    [
        (60, [0], [0] * 19, "exceeded", 0.6),
        (60, [0, 55], [0] * 19, "inconclusive", 0.05),  # a model without it does as well
        (60, [0], [0] * 18 + [55], "too few trials", 0.05),  # and so does a work nobody saw
        (60, [0], [0] * 38 + [39], "exceeded", 0.59),  # one in forty may
        (60, [0], [0] * 18, "too few trials", None),
        (5, [5], [0] * 19, "inconclusive", 0.0),
        (0, [5], [9] * 19, "inconclusive", -0.09),
    ],
)
def test_access_is_shown_beyond_every_comparison_alone(own, without, works, status, low):
    criteria = (StudyCriterion(of="gain", at_most=0.1),)
    case = KIND.conclude(KIND.found(criteria, result(own, without, works)))
    gain = case.findings.select(of="gain")[0].quantity
    assert case.status == status
    assert gain.low == (None if low is None else pytest.approx(low))
    assert gain.value <= gain.high == pytest.approx((own - max(without)) / 100)


def test_a_model_that_learnt_nothing_by_heart_shows_no_access(load):
    found = narcissus.run(load(model={"order": 3})).record
    assert found.status == "inconclusive"
    assert found.result.with_access.returned == 0


def test_with_few_works_it_says_how_many_are_needed(load):
    def spoil(folder):
        for path in sorted((folder / "independent").iterdir())[5:]:
            path.unlink()

    found = narcissus.run(load(spoil)).record
    assert found.status == "too few trials"
    assert "19 trials are needed, and there are 5" in found.not_assessed[0].reason


def test_what_the_refrain_says_counts_for_nobody(load):
    """Words that other texts hold, too, come back from every model."""
    refrain = "and so say all of us and so say all of us for ever and a day"

    def spoil(folder):
        for path in [*(folder / "independent").iterdir(), folder / "other.txt"]:
            path.write_text(path.read_text() + "\n\n" + " ".join([refrain] * 4))
        (folder / "work.txt").write_text("\n\n".join(
            f"{' '.join([refrain] * 3)} day {chr(97 + n)}" for n in range(20)
        ))  # fmt: skip

    with pytest.raises(InputError, match="words that other texts hold"):
        narcissus.run(load(spoil))


@pytest.mark.parametrize("form", ["NFC", "NFD", "shy", "BOM"])
def test_a_common_phrase_is_one_however_it_is_encoded(load, form):
    """The refrain has accents; only the work is encoded otherwise than all other texts."""
    how = {
        "shy": lambda text: text.replace("for", "f\u00ador"),
        "BOM": lambda text: "\ufeff" + text,
    }.get(form, lambda text: unicodedata.normalize(form, text))

    def spoil(folder):
        for path in [*(folder / "independent").iterdir(), folder / "other.txt"]:
            path.write_text(path.read_text().replace("a", "\u00e1"))
        path = folder / "work.txt"
        path.write_text(how(path.read_text().replace("a", "\u00e1")))

    def common(folder):
        others = read_works(folder / "independent", known=20, window=30)
        works = [read_work(folder / "work.txt", known=20, window=30), *others]
        return len(common_runs(works, [], 10))

    assert common(load(spoil).folder) == common(EXAMPLE) > 0


def test_words_of_scripts_with_marks_are_whole():
    assert len(words_of("\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e")) == 2


def test_works_whose_names_end_otherwise_count_too(load):
    def spoil(folder):
        for path in sorted((folder / "independent").iterdir())[5:]:
            path.rename(path.with_suffix(".TXT"))

    case = load(spoil)
    assert len(read_works(case.folder / "independent", known=20, window=30)) == 20


def spoiled(name, text):
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "changes", "said"),
    [
        (lambda f: (f / "work.txt").unlink(), {}, r"no such file: .*work\.txt"),
        (spoiled("work.txt", "too short"), {}, "no paragraph of 50 words"),
        (lambda f: shutil.copy(f / "work.txt", f / "independent" / "z.txt"), {},
         r"z\.txt holds paragraph [1-9] of the work: "),
        (lambda f: shutil.copy(f / "work.txt", f / "other.txt"), {},
         r"other\.txt holds paragraph [1-9] of the work: "),
        (lambda f: None, {"similarity": {"words": 40}}, "at most `window`, 30, got 40"),
        (lambda f: None, {"data": {"other": None}}, "needs `data.other`"),
        (lambda f: None, {"data": {"independent": "none"}}, "no folder of works.*not exist"),
        (lambda f: None, {"data": {"independent": "work.txt"}}, "no folder of works.*is a file"),
        (spoiled("work.txt", "a " * 30 + "b" * 10**6 + " c" * 30),
         {"similarity": {"edits": 0.5}}, r"passage of 1,000,\d+ characters, and at most 10,000"),
        (lambda f: (f / "work.txt").write_bytes("a b".encode("utf-16")), {}, "save it as UTF-8"),
        (lambda f: None, {"model": {"name": "ngrm"}}, "ngram"),
        (lambda f: None, {"similarity": {"wrods": 4}}, "words"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(load, spoil, changes, said):
    with pytest.raises((InputError, StudyError), match=said):
        load(spoil, **changes)
