"""The commands report and verify: a record drawn again, and played again."""

import json
from pathlib import Path

import pytest

from narcissus.cli.records import Likeness, differences
from narcissus.study.record import digest_of, portable_digest_of


@pytest.fixture
def drawn_once(toy, narcissus):
    _, write = toy
    narcissus("audit", write(), "--seed", 1, "--quiet")
    return Path("results/toy")


def test_same_bytes_from_file_and_folder(drawn_once, narcissus):
    drawn = (drawn_once / "report.html").read_bytes()
    for given in (drawn_once, drawn_once / "record.json"):
        assert narcissus("report", given, "--out", "again.html")[0] == 0
        assert Path("again.html").read_bytes() == drawn


def test_default_place_is_beside_the_record(drawn_once, narcissus):
    (drawn_once / "report.html").unlink()
    code, out, _ = narcissus("report", drawn_once)
    assert code == 0
    assert out == "Report: results/toy/report.html\n"
    assert (drawn_once / "report.html").exists()


def test_text_goes_to_standard_output_or_a_file(drawn_once, narcissus, refused):
    code, out, _ = narcissus("report", drawn_once, "--text")
    assert code == 0
    assert out.endswith("text with `--verbose`.\n")
    assert len(out) < len(narcissus("report", drawn_once, "--text", "--verbose")[1])
    assert "needs `--text`" in refused("report", drawn_once, "--verbose")
    assert "do not go together" in refused("report", drawn_once, "--json", "--text", "--verbose")
    assert "MET: Your threshold is kept." in out
    narcissus("report", drawn_once, "--text", "--out", "r.txt")
    assert Path("r.txt").read_text() == out


def test_bad_records_are_named(drawn_once, refused):
    path = drawn_once / "record.json"
    data = json.loads(path.read_text())
    data["title"] = "All is well."
    Path("changed.json").write_text(json.dumps(data))
    Path("other.json").write_text("{}")
    Path("broken.json").write_text("{")
    for name, says in [
        ("absent.json", "no such record"),
        ("changed.json", "was changed after it was written"),
        ("other.json", "is not a record"),
        ("broken.json", "is not a record: it is no JSON"),
        (".", "no such record"),
    ]:
        assert says in refused("report", name, "--out", "x.html")
        assert not Path("x.html").exists()


def test_out_must_be_writable(drawn_once, narcissus):
    code, _, err = narcissus("report", drawn_once, "--out", "absent/x.html")
    assert code == 2
    assert "--out" in err


@pytest.mark.parametrize("name", ["", "x.md", "x.docx"])
def test_a_statement_is_written_and_never_replaced_once_filled_in(
    drawn_once, narcissus, refused, name
):
    words = ["report", drawn_once, "--statement", *([name] * bool(name))]
    path = Path(name) if name else drawn_once / "statement.md"
    code, out, _ = narcissus(*words)
    assert (code, out) == (0, f"Statement: {path}\n")
    drawn = path.read_bytes()
    assert drawn.startswith(b"PK" if name == "x.docx" else b"# Statement on what a release")
    assert narcissus(*words)[0] == 0
    path.write_bytes(drawn + b"signed")
    assert "may be filled in" in refused(*words)
    assert path.read_bytes() == drawn + b"signed"


def test_a_statement_needs_a_record_and_a_form_that_it_has(drawn_once, refused):
    assert "must end in .md or .docx" in refused("report", drawn_once, "--statement", "x.pdf")
    assert "Name it before --statement" in refused("report", "--statement", drawn_once)
    words = ("report", drawn_once, "--statement", "x.md", "--out", "y.md")
    assert "do not go together" in refused(*words)
    assert not list(Path().glob("?.*[fdx]"))


def test_export_for_output_checkers(drawn_once, narcissus):
    code, out, _ = narcissus("report", drawn_once, "--export", "acro")
    assert (code, out) == (0, f"Outputs for ACRO: {drawn_once / 'acro'}\n")
    held = json.loads((drawn_once / "acro" / "results.json").read_text())
    assert list(held["results"]) == ["narcissus"]
    drawn = (drawn_once / "report.html").read_bytes()
    assert (drawn_once / "acro" / "report.html").read_bytes() == drawn
    narcissus("report", drawn_once, "--export", "acro", "--out", "new/outputs")
    assert json.loads(Path("new/outputs/results.json").read_text()) == held


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--statement x.md --json", "--json and --statement do not go together"),
        ("--export acro --statement", "--statement and --export do not go together"),
        ("--export acro --text", "--export and --text do not go together"),
        ("--export sacro", "'sacro' is not 'acro'"),
        ("--text --out .", "is a folder; name a file"),
        ("--export acro --out toy.toml", "cannot write toy.toml"),
    ],
)
def test_what_does_not_go_together_is_refused(drawn_once, refused, words, says):
    assert says in refused("report", drawn_once, *words.split())


OF_PEOPLE = """
[data]
path = "{path}"
[threat]
unknown = ["ill"]
people = "all"
[mechanism]
k = 1
epsilon = 1.0
[attacks.prior]
[groups]
columns = ["name"]
[run]
trials = 1
workers = 1
seed = 97531
"""


@pytest.fixture
def of_people(tmp_path, monkeypatch, narcissus):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{'ab'[k % 5 == 0]},{k // 2 % 2}" for k in range(60))
    Path("people.csv").write_text(f"name,ill\n{rows}\n")
    Path("t.toml").write_text(OF_PEOPLE.format(path=tmp_path / "people.csv"))
    assert narcissus("audit", "t.toml", "--out", "out", "--quiet")[0] == 0
    return Path("out")


def test_what_audit_leaves_for_showing_has_no_seed_digest_or_folder(of_people, narcissus, tmp_path):
    record = json.loads((of_people / "record.json").read_text())
    digest = record["provenance"]["digests"]["data"]
    assert digest.startswith("hmac-sha256:")
    page = (of_people / "report.html").read_text()
    narcissus("report", of_people, "--statement", "x.md")
    stated = Path("x.md").read_text(encoding="utf-8")
    text = narcissus("report", of_people, "--text", "--verbose")[1]
    assert text == narcissus("report", of_people, "--text", "--verbose", "--shareable")[1]
    for shown in (page, stated, text):
        assert digest not in shown
        assert "97531" not in shown
        assert str(tmp_path) not in shown
    internal = narcissus("report", of_people, "--text", "--verbose", "--internal")[1]
    assert internal.startswith("Internal, not to be shown: ")
    assert digest in internal
    assert "97531" in internal
    assert str(tmp_path) in internal
    narcissus("report", of_people, "--statement", "y.md", "--internal")
    assert Path("y.md").read_text(encoding="utf-8").startswith("# Internal, not to be shown: ")


def test_a_record_for_showing_is_drawn_alike_and_is_not_verified(of_people, refused, narcissus):
    code, out, _ = narcissus("report", of_people, "--record", "shown.json")
    assert (code, out) == (0, "Record: shown.json\n")
    shown, whole = (
        narcissus("report", path, "--text", "--verbose")[1].splitlines()
        for path in ("shown.json", of_people)
    )
    differ = [(a, b) for a, b in zip(shown, whole, strict=True) if a != b]
    assert len(differ) == 2  # the digest of the record, in short and in full
    assert "sha256:" in differ[1][0]
    assert "its seed is withheld" in refused("verify", "shown.json", "t.toml", "--quiet")


@pytest.mark.parametrize("also", ["--internal", "--text", "--statement", "--out"])
def test_a_record_for_showing_takes_no_other_form(of_people, refused, also):
    value = ["x.html"] if also == "--out" else []
    assert "do not go together" in refused(
        "report", of_people, "--record", "shown.json", also, *value
    )
    assert not Path("shown.json").exists()


GAME = """
kind = "game"
[world]
name = "bits"
n = 4
[mechanism]
name = "identity"
[[attack]]
name = "released-row"
row = "all"
[success]
name = "prefix"
[statement]
name = "narcissus"
epsilon = 1.0
delta = 0.1
[exact]
when = "never"
[run]
trials = 100
"""


@pytest.fixture
def played(tmp_path, monkeypatch, narcissus):
    monkeypatch.chdir(tmp_path)
    Path("g.toml").write_text(GAME)
    assert narcissus("audit", "g.toml", "--out", "out", "--quiet")[0] == 1
    return Path("out/record.json")


def forged(path, change):
    data = json.loads(path.read_text())
    before = data["portable_digest"]
    change(data)
    if data.get("portable_digest") == before:
        data["portable_digest"] = portable_digest_of(data)
    data["digest"] = digest_of(data)
    path.write_text(json.dumps(data))


def test_a_record_without_a_seed_in_its_study_is_played_again(played, narcissus):
    code, out, _ = narcissus("verify", "out", "g.toml", "--quiet")
    assert code == 0
    assert "every number" in out


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["result"]["play"]["attackers"][0]["success"].update(value=0.98),
        lambda r: r["result"]["play"]["attackers"][0]["success"].update(value=1 - 2e-9),
        lambda r: r["assessed"].append("everything"),
        lambda r: r["provenance"]["digests"].update(extra="sha256:" + "0" * 64),
        lambda r: r.update(portable_digest="sha256:" + "0" * 64),
    ],
)
def test_a_forged_record_is_found_though_its_digest_fits(played, narcissus, change):
    forged(played, change)
    assert narcissus("report", "out", "--out", "r.html")[0] == 0
    code, out, _ = narcissus("verify", "out", "g.toml", "--quiet")
    assert code == 1
    assert "NOT verified" in out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda r: r.update(status="met"), "status is 'met', and that of the rows 'exceeded'"),
        (
            lambda r: r.update(contradictions=["a and b"]),
            "the contradictions are ('a and b',), and those of the rows ()",
        ),
        (lambda r: r.update(assessed=["Everything."]), "it does not say that this was assessed"),
        (lambda r: r.update(verdict="Met."), "verdict: Extra inputs are not permitted"),
        (lambda r: r["result"]["play"].update(trials=101), "by 101 trials"),
        (lambda r: r.update(kind="gmae"), "unknown kind 'gmae'"),
        (lambda r: r.update(schema="narcissus/record/4"), "reads narcissus/record/1 alone"),
        (lambda r: r.update(schema="narcissus/record/0"), "run the study again"),
        (lambda r: r["result"].pop("statement"), "no study of kind 'game' has"),
        (lambda r: r.update(result=[]), "no study of kind 'game' has"),
        (
            lambda r: r["result"]["play"]["attackers"][0]["success"].update(value=0.25),
            "result.play.attackers[0].success: ",
        ),
    ],
)
def test_a_record_that_does_not_agree_with_itself_is_not_drawn(played, refused, change, says):
    forged(played, change)
    assert says in refused("report", "out", "--out", "r.html")
    assert not Path("r.html").exists()


def test_another_study_or_none(played, narcissus):
    Path("other.toml").write_text(GAME.replace("n = 4", "n = 5"))
    code, _, err = narcissus("verify", "out", "other.toml")
    assert code == 2
    assert "another study" in err
    assert narcissus("verify", "out")[0] == 2


def test_a_record_of_another_processor_is_verified_and_its_portable_digest_is_the_same(
    played, narcissus
):
    """Every number that is no whole one moved by rounding: no last digit is the record's."""
    data = json.loads(played.read_text())

    def moved(value):
        if isinstance(value, dict):
            return {k: moved(v) for k, v in value.items()}
        if isinstance(value, list):
            return [moved(v) for v in value]
        return value * (1 - 2e-15) if isinstance(value, float) else value

    data["result"] = moved(data["result"])
    assert portable_digest_of(data) == data["portable_digest"]
    data["digest"], before = digest_of(data), data["digest"]
    assert data["digest"] != before
    played.write_text(json.dumps(data))
    code, out, _ = narcissus("verify", "out", "g.toml", "--quiet")
    assert code == 0, out
    assert "counts, statuses, grades and texts, the same" in out
    assert "of them differ, by" in out
    assert "the last digits depend on the processor" in out


def test_what_must_not_differ_is_in_the_portable_digest(played):
    data = json.loads(played.read_text())
    same = data["portable_digest"]
    for change in (
        lambda r: r.update(status="met"),
        lambda r: r.update(grade="proved"),
        lambda r: r["assessed"].append("3 more"),
        lambda r: r["result"]["play"].update(trials=101),
        lambda r: r["result"].pop("play"),
        lambda r: r["study"]["statement"].update(epsilon=1.0000000001),
        lambda r: r["provenance"].update(entropy="7"),
        lambda r: r["provenance"]["digests"].update(data="sha256:0"),
        lambda r: r["provenance"].update(narcissus="0.0.9"),
    ):
        other = json.loads(played.read_text())
        change(other)
        assert portable_digest_of(other) != same
    for change in (
        lambda r: r["provenance"].update(machine="Windows AMD64"),
        lambda r: r["provenance"].update(python="3.14.0"),
        lambda r: r["provenance"]["packages"].update(numpy="9.9"),
        lambda r: r["result"]["play"]["attackers"][0]["success"].update(value=0.123),
    ):
        other = json.loads(played.read_text())
        change(other)
        assert portable_digest_of(other) == same


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("41.4% of 8", "41.5% of 8", True),
        ("41.4% of 8", "41.6% of 8", False),
        ("41.4% of 8", "41.4% of 9", False),
        ("at most 0.5", "at most 0.499999", True),
        ("at most 0.5", "at most 0.41", False),
        ("at most 1", "at most 0.9999", True),
        ("at most 1", "at most 2", False),
        ("delta 1.113e-14", "delta 1.114e-14", True),
        ("delta 1.113e-14", "delta 0", False),
        ("1,234.5 people", "1,234.6 people", True),
        ("0.5 met", "0.5 exceeded", False),
        ("0.5", "0.5 0.5", False),
    ],
)
def test_a_text_may_round_a_number_the_other_way_and_differ_in_nothing_else(old, new, same):
    tally = Likeness(numbers_of=[0.41450, 0.4999995, 0.99995, 1.1135e-14, 1234.55])
    assert (list(differences({"why": old}, {"why": new}, tally=tally)) == []) is same
    assert list(differences({"a": old}, {"a": new}, tally=tally))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (0.5, 0.5 + 4e-10, True),
        (0.5, 0.5 + 6e-10, False),
        (1e-40, 1e-12, True),
        (1e-10, 1e-8, False),
        (1e6, 1e6 + 1e-4, True),
        (1e6, 1e6 + 1e-2, False),
        (3, 3.0000000001, True),
        (3, 4, False),
        (10**12, 10**12 + 1, False),
        (1.0, True, False),
        (1.0, None, False),
        (float("inf"), 1.0, False),
        (float("inf"), float("inf"), True),
    ],
)
def test_numbers_are_the_same_within_a_billionth_and_counts_exactly(old, new, same):
    tally = Likeness()
    assert (list(differences([old], [new], tally=tally)) == []) is same
    assert tally.same + tally.numbers == 1


@pytest.mark.parametrize(
    ("old", "new", "number", "same"),
    [
        ("0.0999", "0.1000", 0.09995, True),
        ("0.0999", "0.1000", 0.09995 * (1 + 1e-10), True),
        ("0.0999", "0.1000", 0.09996, False),
        ("9.99 of 10", "10.0 of 10", 9.995, True),
        ("9.99 of 10", "10.0 of 10", 0.09995, True),
        ("9.99e-05", "0.0001", 9.995e-5, True),
        ("10", "9.99", 9.995, True),
        ("0.5", "0.6", 0.5, False),
        ("0.5", "0.6", 0.55, True),
        ("1", "2", 1.5, False),
        ("1", "2e0", 1.5, False),
        ("1", "2.", 1.5, False),
        ("100 of 100", "101e0 of 100", 100.5, False),
        ("1000", "1.001e+03", 1000.5, False),
        ("0.5", "1e0", 0.75, False),
    ],
)
def test_a_number_in_a_sentence_may_round_the_other_way_where_two_roundings_meet(
    old, new, number, same
):
    """A label, a name or another sentence's number is another text."""
    said = [{name: f"at most {one} so"} for name in ("reason", "group") for one in (old, new)]
    for numbers in ({"rows": [number]}, {"rows": [f"a {number} of"]}):
        tally = Likeness(numbers_of=numbers)
        assert (list(differences(*said[:2], tally=tally)) == []) is same
        assert list(differences(*said[2:], tally=tally)) != []
    assert list(differences(*said[:2])) != []


def test_differences_are_exact_and_have_a_place():
    old = {"a": [1, 2.0, {"b": None}], "c": True, "d": "x"}
    assert list(differences(old, json.loads(json.dumps(old)))) == []
    assert list(differences({"a": 1}, {"a": 1.0})) == []
    assert list(differences({"a": True}, {"a": 1})) == ["a: True in the record, 1 played again"]
    [line] = differences(old, {**old, "a": [1, 2.0, {"b": 0}]})
    assert line.startswith("a[3].b: None")
    assert list(differences({"a": [1]}, {"a": [1, 2]})) == [
        "a: 1 entries in the record, 2 played again"
    ]
    assert list(differences({"a": 1}, {})) == ["a: only in the record"]


@pytest.mark.parametrize("status", ["met", "inconclusive"])
def test_a_forged_status_or_grade_is_no_record(played, refused, status):
    forged(played, lambda r: r.update(status=status))
    assert "status" in refused("verify", "out", "g.toml", "--quiet")


def test_what_was_left_open_cannot_be_dropped_as_a_matter_of_words(played, narcissus):
    forged(played, lambda r: r.update(not_assessed=[*r["not_assessed"], OPEN]))
    code, out, _ = narcissus("verify", "out", "g.toml", "--quiet")
    assert (code, "not_assessed" in out) == (1, True)


OPEN = {"quantity": "the weather", "reason": "nobody looked", "remedy": ""}
TABLE = """
[data]
path = "people.csv"
[threat]
unknown = ["ill"]
targets = 4
[mechanism]
k = 1
epsilon = 1.0
[attacks.prior]
[run]
trials = 2
seed = 5
workers = 1
"""


def test_data_are_compared_by_whoever_holds_the_key_and_all_else_by_anybody(
    tmp_path, monkeypatch, narcissus
):
    monkeypatch.chdir(tmp_path)
    people = "name,ill\n" + "\n".join(f"{'ab'[k % 2]},{k // 2 % 2}" for k in range(12))
    Path("people.csv").write_text(people)
    Path("t.toml").write_text(TABLE)
    assert narcissus("audit", "t.toml", "--out", "out", "--quiet")[0] == 0
    code, out, _ = narcissus("verify", "out", "t.toml", "--quiet")
    assert (code, "digest.key" in out) == (0, False)
    key = Path("out/digest.key")
    kept = key.read_text()
    key.unlink()
    code, out, _ = narcissus("verify", "out", "t.toml", "--quiet")
    assert code == 0
    assert "out holds no digest.key" in out
    assert "Not compared: the versions" in out
    path = Path("out/record.json")
    honest = path.read_text()
    forged(path, lambda r: r["provenance"]["digests"].update({"All was checked": "withheld"}))
    code, out, _ = narcissus("verify", "out", "t.toml", "--quiet")
    assert (code, "All was checked" in out) == (1, True)
    path.write_text(honest)
    key.write_text(kept)
    key.chmod(0o600)
    # two people whose names and states are swapped: no number changes, only the digest tells
    Path("people.csv").write_text(people.replace("a,0\nb,0\na,1", "b,0\na,0\na,1", 1))
    code, out, _ = narcissus("verify", "out", "t.toml", "--quiet")
    assert (code, "digests.data" in out) == (1, True)


def test_a_record_does_not_decide_what_is_compared(played, narcissus):
    """A digest that an earlier format has made `verify` skip rows that the record lacked."""

    def forge(record):
        record["provenance"]["digests"]["record of format 1"] = "sha256:" + 64 * "0"
        record["not_assessed"] = []

    forged(played, forge)
    code, out, _ = narcissus("verify", "out", "g.toml", "--quiet")
    assert (code, "record of format 1" in out) == (1, True)
