"""Certificates hold and print what docs/theory/errata.md shows; quotes and article are whole."""

import contextlib
import importlib.util
import io
import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import narcissus

ROOT = Path(__file__).resolve().parents[1]
CERTIFICATES = ROOT / "docs" / "certificates"
PAGE = (ROOT / "docs" / "theory" / "errata.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```text\ndocs/certificates/(\S+)\.py\n\n(.*?)```", flags=re.S)
SHOWN = dict(BLOCK.findall(PAGE))
ARXIV = re.compile(r"\b\d{4}\.\d{5}(?:v\d)?\b")
OURS = sorted({path.stem for path in CERTIFICATES.glob("*.py")} - {"checking"})
PAPER = ROOT / "docs" / "paper"
ARTICLE = (PAPER / "theory.typ").read_text(encoding="utf-8")


def tool(name):
    """Return a program of docs/paper as a module."""
    where = importlib.util.spec_from_file_location(name, PAPER / f"{name}.py")
    found = importlib.util.module_from_spec(where)
    where.loader.exec_module(found)
    return found


ARTICLES = tool("article").APPENDIX


def run(path, monkeypatch):
    """Run a certificate as a program; give what it prints."""
    monkeypatch.setattr(sys, "path", [str(CERTIFICATES), *sys.path])
    sys.modules.pop("checking", None)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.modules.pop("checking", None)
    return said.getvalue()


def test_every_certificate_is_shown_once_on_the_page_or_in_the_article():
    peers = {f"peers/{path.stem}" for path in (CERTIFICATES / "peers").glob("*.py")}
    assert set(SHOWN) == {*OURS, *peers} - set(ARTICLES)
    assert len(BLOCK.findall(PAGE)) == len(SHOWN)
    assert set(ARTICLES) < set(OURS)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.one_in(4)
def test_a_certificate_holds_and_prints_what_the_page_shows(name, monkeypatch):
    printed = run(CERTIFICATES / f"{name}.py", monkeypatch)
    if name in SHOWN:
        assert printed == SHOWN[name]
    assert len(printed.splitlines()) > 3


def test_the_page_quotes_what_the_papers_say():
    kept = tomllib.loads((ROOT / "docs" / "errata-quotes.toml").read_text())["quote"]
    said = re.findall(r"^> (.+)$", PAGE, flags=re.M) + re.findall(r'\| "([^"]+)" \|', PAGE)
    assert sorted(q.strip("`") for q in said) == sorted(one["text"] for one in kept)
    assert {one["paper"] for one in kept} == {"000", "001", "002", "003", "004"}
    for number, text in re.findall(r"\n### (1\.\d) (.*?)(?=\n##)", PAGE, flags=re.S):
        assert "\n> " in text, number
        assert "*Counterexample.*" in text or "[swanberg" in text or "docs/certificates" in text
        assert "*Mended.*" in text, number


def test_the_page_of_the_site_has_a_row_for_each_erratum():
    short = (ROOT / "docs" / "explanation" / "errata.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (1\.\d) \| .* \| `(\w+)` \|$", short, flags=re.M))
    assert list(rows) == re.findall(r"^### (1\.\d) ", PAGE, flags=re.M)
    assert set(rows.values()) <= set(OURS)
    for heading, start, end in (("Imprecise", "## 2", "## 3"), ("Tools", "## 4", "## 5")):
        part = short.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        full = PAGE[PAGE.index(start) : PAGE.index(end)]
        found = re.findall(r"^\| (?!where|-)", full, flags=re.M) or re.findall(
            r"`epsilon_one_run`\*\*|^### ", full, flags=re.M
        )
        assert len(re.findall(r"^\| (?!where|tool|-)", part, flags=re.M)) == len(found)


def test_what_tools_printed_is_kept_beside_their_programs():
    for path in (CERTIFICATES / "peers").glob("*.py"):
        assert SHOWN[f"peers/{path.stem}"] == path.with_suffix(".txt").read_text(encoding="utf-8")


def test_numbers_in_the_text_are_printed_by_a_certificate():
    text = re.sub(r"```.*?```", "", PAGE, flags=re.S)
    text = ARXIV.sub("", text)
    printed = set(re.findall(r"\d*\.\d+", " ".join(SHOWN.values())))
    precise = {number for number in re.findall(r"\d*\.\d{4,}", text)}
    unfounded = {n for n in precise if n not in printed and f"0{n}" not in printed}
    assert not unfounded


def test_the_version_of_every_paper_is_named_and_what_was_not_read():
    table = PAGE[PAGE.index("| here | paper |") : PAGE.index("Longer proofs are")]
    rows = {row.split("|")[1].strip(): row.split("|")[3] for row in table.splitlines()[2:7]}
    assert set(rows) == {"000", "001", "002", "003", "004"}
    for row in rows.values():
        assert re.search(r"v\d, |dated|without a date", row), row
    assert "2507.08158v2" in table
    assert "theorems and experiments were not" in table


def test_the_article_types_no_number_and_cites_what_it_lists():
    body = ARTICLE[ARTICLE.index("= Introduction") :]
    assert re.findall(r"\d*\.\d{3,}", body) == []
    listed = set(re.findall(r"^@\w+\{(\w+),", (PAPER / "references.bib").read_text(), flags=re.M))
    labels = set(re.findall(r"<(\w+)>", ARTICLE))
    assert set(re.findall(r"(?<![\w@])@(\w+)", body)) - labels == listed
    related = body[body.index("= Related work") : body.index("= Setting")]
    for key in (
        *("steinke2023", "mahloujifar2025", "keinan2025", "xiang2025", "yeom2018", "carlini2022"),
        *("zarifzadeh2024", "balle2022", "hayes2023", "kaissis2023", "guerra2026", "dinur2003"),
        *("chatzikokolakis2023", "dong2022", "cohennissim2020"),
    ):
        assert f"@{key}" in related
    assert related.count("abstracts were read") == 2
    statements, proofs = len(re.findall(r"^#theorem\(", body, flags=re.M)), body.count("#proof[")
    assert statements == proofs == 14


def test_the_papers_have_greek_letters_and_what_programs_print_and_quotes_untouched():
    make = tool("make")
    page = (
        "## 1. A\n`eps_protect` >= `e^eps <= sum_x`, [b](c.md), `\\delta`\n```text\neps <= 1\n```\n"
    )
    assert make.for_print(page) == (
        "# 1. A\n`eps_protect` >= `e^ε ≤ Σ_x`, b, `\\delta`\n```text\neps <= 1\n```\n"
    )
    table = "| a | b | c |\n|---|---|---|\n| short | no minus | " + "long " * 20 + "|\n"
    assert make.columns(table) == "auto, auto, 9.9fr"
    version, day = make.of_release()
    assert version == narcissus.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)


def test_the_papers_are_made(tmp_path):
    pypandoc, typst = pytest.importorskip("pypandoc"), pytest.importorskip("typst")
    assert pypandoc.get_pandoc_version()
    program = [sys.executable, PAPER / "make.py", "--only", "errata", "--out", tmp_path]
    subprocess.run(program, check=True)
    assert (tmp_path / "errata.pdf").read_bytes().startswith(b"%PDF")
    # the article with other numbers: what it is made of, and not what it says
    numbers = {"one": [["0"] * 4], "counts": [["0"] * 6], "audits": [["0"] * 3], "certificates": {}}
    numbers |= dict.fromkeys(("delta", "level", "sgd", "sgd_most"), "0")
    inputs = {"numbers": json.dumps(numbers), "version": "0", "date": "today"}
    typst.compile(PAPER / "theory.typ", output=tmp_path / "theory.pdf", sys_inputs=inputs)


@pytest.mark.nightly
def test_the_article_is_made_with_numbers_that_the_package_computes():
    found = tool("article").computed()
    assert [row[-3:] for row in found["counts"]][1::3] == [
        ["633", "638", "647"],
        ["818", "835", "846"],
    ]
    assert found["one"][0][2:] == ["0.7000", "0.8638"]
    assert all(float(least) < float(true) for _, least, true in found["audits"])
    assert int(found["sgd"]) <= int(found["sgd_most"])
    assert all(found["certificates"].values())


CHANGES = [  # a certificate, what it says, what would be false
    ("swanberg_failures", "(n == 3)", "(n == 2)"),
    ("swanberg_failures", "u = mechanism(n, v, low, DELTA)", "u = mechanism(n, v, high, DELTA)"),
    ("swanberg_failures", "first.get(z, 0) * second.get(z, 0)", "first.get(z, 0)"),
    ("swanberg_passwords", "likeliest(1.2), 1) - 0.24", "likeliest(1.1), 1) - 0.24"),
    ("chatzikokolakis_print", "randomised_response(400, e)", "randomised_response(4_000, e)"),
    ("chatzikokolakis_print", "51 * H, 12 * H, 37 * H", "50 * H, 10 * H, 40 * H"),
    ("cohen_covering", "(1 + log(volume))\n    must(least", "log(volume) / 2\n    must(least"),
    ("cohen_covering", "log2(0.75)", "log2(0.7)"),
    ("cohen_proofs", "(1 if j == 2 else HALF)", "HALF"),
    ("cohen_proofs", "(1 + e) * step / 2", "(1 + e) * step * 3"),
    ("kaplan_known_rows", "Fraction(1, size - n + 1), ", "Fraction(2, size - n + 1), "),
    ("one_target", "optimum(prior, e, delta),", "optimum(prior, e, 0),"),
    ("domination", "delta * sum(1 - o", "delta / 4 * sum(1 - o"),
    ("domination", "tail_of_bernoullis(chances, v) +", "tail_of_bernoullis(chances[:1], v) +"),
    ("interpolation", "[0.01 * (1 - o)]", "[0.009 * (1 - o)]"),
    ("interpolation", "must(share <= Fraction(1, 1 +", "must(share <= Fraction(1, 2 +"),
    ("swap", "tail * (1 - tail) / mass", "tail * (1 - tail) / mass / 2"),
    ("exact_profile", "max([F(0)] +", "max([F(-1)] +"),
    ("bayes_delta", "2 * (1 - delta) / (1 + e)", "2 * (1 - 2 * delta) / (1 + e)"),
    ("bayes_records", "2 * e ** (-((n - 1) // 2))", "2 * e ** (-((n + 1) // 2))"),
    ("bayes_records", "1 - (1 - x) / e)", "1 - (1 - x) / e / 2)"),
    ("from_samples", "if k == 0 else alpha / m", "if k == 0 else 2 * m * alpha"),
    ("from_samples", "limits, worst = [low(k, 16)", "limits, worst = [low(k + 1, 16)"),
    ("most_secure", "* loss).ravel()", "* 2 * loss).ravel()"),
    ("averages", "n / (4 * (n + 1))", "n / (3 * (n + 1))"),
    ("averages", "return (total / 2) ** d", "return (total / 3) ** d"),
    ("strengths", "- law, 0)) * expit(law)", "- law, 0)) * expit(law) / 3"),
    ("sweep", "free + 2 * delta / (1 + exp(epsilon))", "free + delta / (1 + exp(epsilon))"),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "said", "false"), CHANGES)
def test_a_certificate_fails_when_something_in_it_is_changed(
    name, said, false, tmp_path, monkeypatch, capsys
):
    text = (CERTIFICATES / f"{name}.py").read_text(encoding="utf-8")
    assert text.count(said) == 1
    (tmp_path / "changed.py").write_text(text.replace(said, false), encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        run(tmp_path / "changed.py", monkeypatch)
    assert end.value.code == 1
    assert "does not hold" in capsys.readouterr().err
