"""What a person reads: no listed word, short first screens, terms that are defined."""

import ast
import re
from pathlib import Path

import pytest

from narcissus.report import page_of, render_text
from narcissus.report.about import shown
from narcissus.report.format import GRADES, STATUS
from narcissus.report.text import MOST_DECIDING
from narcissus.report.words import TERMS, words_in
from narcissus.results import LEFT_OUT, NotAssessed
from narcissus.study.reading import read_record

ROOT = Path(__file__).resolve().parents[1]
LISTED = {
    pattern: remedy
    for line in (ROOT / "tests" / "words.txt").read_text().splitlines()
    if not line.startswith("#")
    for pattern, remedy in [line.split("\t")]
}
RECORDS = [
    *sorted((ROOT / "tests" / "study" / "kept").glob("*.json")),
    *sorted((ROOT / "tests" / "study" / "records" / "last").glob("*.json")),
]
PAPERS = ROOT / "packages" / "narcissus-papers" / "src" / "narcissus_papers"
HELP = [
    *sorted((ROOT / "src" / "narcissus" / "cli" / "help").glob("*.txt")),
    *PAPERS.rglob("*.txt"),
]
# Of the papers' package: what has verdicts and messages of its own, and quotes no paper
OF_PAPERS = {PAPERS / "copyright", PAPERS / "scale"}
# The theory, tables of other pages and the gallery quote papers and studies
OWN = {"errata.md", "error-rates.md", "names.md", "commands.md", "citations.md", "gallery.md"}
PAGES = [
    ROOT / "README.md",
    *(
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.name not in OWN and path.parent.name != "theory"
    ),
]
LONGEST = 30
NEGATIONS = r"\b(no|not|none|nobody|nothing|never|cannot|neither|without)\b|n't\b"
MOST_WORDS = 25
DIGITS = r"(?<![\w.])0*\.?0*[1-9](?:\.?\d){3,}(?![\w%])"
"""A decimal number of more than three significant digits, as numbers of a sentence are not."""
# Assumptions and names that kept records hold word by word
RECORDED = {
    "a file made without these people holds plausible people no more often, beyond what its decoys "
    "show, than a fresh sample of the population does",
    "every record was put into every model by an independent coin of its own",
    "unique people who stand in the file",  # names of rows, which frames keep
    "people whose own value stands in the file",
}


def parts(text):
    """Split a text into what is read in one breath; what code quotes is one word."""
    flat = re.sub(r"`[^`]*`|“[^”]*”|'[^' ]*( [^' ]+)?'", "X", " ".join(text.split()))
    return [one for one in re.split(r"(?<=[.?!]) (?=[A-Z“0-9])|[;:] ", flat) if one]


def hard(text, more=0):
    """Return the sentences that are too long, or that say no twice."""
    return [
        one
        for one in parts(text)
        if len(one.split()) > LONGEST + more or negations(one.replace("no noise", "")) > 1
    ]


def strings(tree, left_out=frozenset()):
    """Yield what a module says but docstrings and patterns, with X for what is filled in."""
    inner = left_out | {
        id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values
    }
    inner |= {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args]
    inner |= {id(n.args[0]) for n in calls if getattr(n.func, "attr", "") == "compile"}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in inner:
            yield "".join(v.value if isinstance(v, ast.Constant) else "X" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "" if id(node) in inner else node.value


def listed(text, *, is_of_names=False):
    """List the words of the list in a text; a text of names may begin with what it names."""
    flat = re.sub(r"\s+", " ", text)
    for recorded in RECORDED:
        flat = flat.replace(recorded, "X")
    return [
        f"{found[0]!r} (write: {remedy})"
        for pattern, remedy in LISTED.items()
        if not (is_of_names and remedy == "the subject first")
        for found in re.finditer(pattern, flat, re.IGNORECASE)
    ]


def described(tree):
    """Return the places of descriptions of fields: they say what a field is, as a phrase."""
    return {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg in ("description", "says")
        for inner in ast.walk(node.value)
    }


def sentences(text):
    return [one for one in re.split(r"(?<=[.?!]) (?=[A-Z“0-9])", text) if one]


def on_first_screen(first):
    """Give all that a first screen says but names and numbers of the study itself."""
    said = [first.answer, *(text for text, _ in first.sentences), first.hardest, *first.rests_on]
    return [one for text in [*said, first.not_looked_at] for one in sentences(text)]


def negations(sentence):
    """Count what says no; "without the release" is a name, as "nobody" in a list of one is not."""
    bare = re.sub(
        r"[Ww]ithout the (release|model|output|file)|no better than|no lower limit", "", sentence
    )
    return len(re.findall(NEGATIONS, bare, re.IGNORECASE))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_first_screen_is_short_says_what_is_and_needs_no_word_that_is_not_defined(path):
    record = read_record(path)
    for status in STATUS:
        for change in ({}, {"status": status}, {"contradictions": ["Refuted: that it rains."]}):
            if status == "compared":
                continue
            first = page_of(record.model_copy(update=change), internal=True).first
            for text, grade in first.sentences:  # a proof that is averaged over a sample
                assert (
                    grade != "sampled"
                    or not re.search("theorem|[Pp]roved", text)
                    or ("estimated" in text)
                ), text
            for sentence in on_first_screen(first):
                words = re.sub(r"\[[^\]]*\]", "X", sentence).split()  # data are one word
                assert len(words) <= MOST_WORDS, sentence
                decimals = [n for n in re.findall(DIGITS, sentence) if "." in n]
                assert not decimals, sentence
                assert negations(sentence) <= 1, sentence
                assert not listed(sentence), sentence
    text = render_text(record, internal=True)
    body, _, glossary = text.partition("\nWords\n-----\n")
    met = {entry for line in body.splitlines() for *_, entry in words_in(line)}
    defined = {line.split("  ")[0].strip() for line in glossary.splitlines()}
    assert met <= defined


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_report_in_short_is_a_first_screen_and_at_most_sixty_lines_that_name_all_they_count(path):
    """However many reasons a record holds, and however long; the first ones are named."""
    record = read_record(path)
    many = [f"that {number} {'is so long ' * 40}" for number in range(200)]
    open_ = [NotAssessed(f"the question {number}", "it is open", "") for number in range(1, 200)]
    more = {"contradictions": many, "assumptions": many, "not_assessed": open_}
    for update, whole in (({}, True), (more, False), (more | {"contradictions": []}, False)):
        text = render_text(record.model_copy(update=update), internal=True, whole=False)
        first, _, rest = text.partition("\n\n\nWhat decides\n------------\n")
        assert len(first.splitlines()) <= 27  # with what the attacker knows, seeks and is given
        assert MOST_DECIDING // 4 < len(rest.splitlines()) <= MOST_DECIDING + 2
        assert max(map(len, text.splitlines())) <= 80
        assert not re.search(r"\d+ (more points|questions? ha)", first)
        flat = " ".join(first.split())
        named = read_record(path).not_assessed if whole else open_
        for one in [one for one in named if one.quantity != LEFT_OUT][:3]:
            assert one.quantity.partition(" (")[0][:40] in flat


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_report_holds_no_listed_word(path):
    record = read_record(path)
    # what an earlier version wrote into a record stays as it was written
    update = {"assessed": [], "not_assessed": [],
              "contradictions": [], "study": record.study}  # fmt: skip
    text = render_text(record.model_copy(update=update), internal=True)
    assert listed(text, is_of_names=True) == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_verdict_and_what_stands_beside_it_are_short_sentences_that_say_no_once(path):
    """As this version words them, whatever the record says."""
    record = read_record(path)
    layout, case = shown(record)
    texts = [layout.verdict(case).partition(": ")[2]]
    texts += [*layout.assessed(case), *layout.uncovered(case)]
    texts += [said for one in layout.not_assessed(case) for said in (one.reason, one.remedy)]
    for text in texts:
        assert not hard(text)
        assert not listed(text)


# Lists of names, programs, and texts of several lines whose lines are sentences of their own
NO_SENTENCES = {"bench.py", "names.py", "summary.py", "worst_event.py"}


ROOMS = sorted({path.parent for path in (ROOT / "src").rglob("*.py")} | OF_PAPERS)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.as_posix().rpartition("/src/")[2])
def test_messages_and_texts_of_a_room_are_short_sentences_that_say_no_once(room):
    """Messages of errors, verdicts of every status, descriptions: all that is no docstring."""
    found = [
        (path.name, sentence)
        for path in sorted(room.glob("*.py"))
        if path.name not in NO_SENTENCES
        for text in strings(ast.parse(path.read_text(encoding="utf-8")))
        for sentence in hard(text)
        if sentence not in RECORDED
    ]
    assert not found


@pytest.mark.parametrize("path", HELP, ids=lambda path: path.stem)
def test_help_is_short_sentences_that_say_no_once(path):
    text = path.read_text(encoding="utf-8")
    for paragraph in re.split(r"\n\s*\n", text):
        if not paragraph.startswith("\\b") and "\n--" not in paragraph:
            assert not hard(paragraph)
    for line in text.splitlines():
        assert not hard(line)


@pytest.mark.parametrize(
    ("text", "is_hard"),
    [
        ("It is never so, and nobody knows it.", True),
        ("Without the release nothing is known.", False),
        ("It is never so. Nobody knows it.", False),
        (f"It {'is ' * 40}so.", True),
        ("`no` and 'not' are not words.", False),
    ],
)
def test_a_hard_sentence_is_found(text, is_hard):
    assert bool(hard(text)) is is_hard


FORMS = sorted((ROOT / "src" / "narcissus" / "app" / "templates").glob("*.html"))


@pytest.mark.parametrize("path", [*HELP, *PAGES, *FORMS], ids=lambda path: path.name)
def test_help_and_pages_hold_no_listed_word(path):
    split = r"\n" if path.suffix == ".md" else r"\n\s*\n|<[^>]*>"
    for part in re.split(split, path.read_text(encoding="utf-8")):
        assert listed(part.strip(" *|")) == []


def docstrings(tree):
    """Yield what a module documents: itself and its public names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            is_public = not getattr(node, "name", "").startswith("_")
            yield re.sub(r"``?[^`]*``?", "X", ast.get_docstring(node) or "") * is_public


def test_messages_texts_and_docstrings_of_the_package_hold_no_listed_word():
    found = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = described(tree)
        texts = [word for text in strings(tree, names) for word in listed(text)]
        texts += [
            word
            for text in (*strings(tree), *docstrings(tree))
            for word in listed(text, is_of_names=True)
        ]
        if texts:
            found[path.name] = texts
    assert not found


def test_each_listed_word_is_found_and_the_ten_terms_are_each_defined_once():
    for line in (
        "It is held against 9.",
        "A share within sampling limits",
        "takes as given",
        "the others beside it",
        "a file of its own",
        "rounded to one of the two around by chance",
        "limits hold for all at once",
        "they stand in the file",
        "All numbers are exact; nothing is sampled.",
        "a rate of 1e-05%",
        "It ends. What was compared is said.",
        "That its numbers hold is shown by this command.",
        "Of the people of the control, 3 of 100 do.",
    ):
        assert listed(line), line
    for line in (
        "`x` stands for 0",
        "as it stands.",
        "What is released",
        "Of course.",
        "said once",
    ):
        assert not listed(line), line
    assert len(TERMS) == 10
    assert not set(TERMS) & set(GRADES)
    glossary = (ROOT / "docs" / "reading" / "glossary.md").read_text(encoding="utf-8")
    for term, meaning in TERMS.items():
        assert glossary.count(f"**{term}**: {meaning}.") == 1
