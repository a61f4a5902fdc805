"""Write the generated pages: reference, citations, parts, statements, glossary.

All come from the code: the reference lists every public name of every room with its first line,
the citations say which paper's theorem is computed where, and which tests say that they test it,
the parts are those that a study file can name, with their options, the statements are those that
``narcissus-papers reproduce`` computes, and the outcome.

    python docs/build.py            # write
    python docs/build.py --check    # exit 1 if a page is out of date
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SOURCE = ROOT / "src" / "narcissus"
PAPERS = ROOT / "packages" / "narcissus-papers"

PAPER = re.compile(
    r"""Narcissus\ theory(?=[ ,]+\d) | [A-Z][\w'-]+(?:,\ [A-Z][\w'-]+)*
        (?:\ (?:et\ al\.|and\ [A-Z][\w'-]+))?\ (?:19|20)\d\d""",
    re.VERBOSE,
)
# singular -> what begins a place of that kind
KINDS = {
    "section": "sections?",
    "Theorem": "Theorems?",
    "Corollary": "Corollar(?:y|ies)",
    "Lemma": "Lemmas?",
    "Proposition": "Propositions?",
    "Definition": r"(?:Definitions?|Defs?\.?)",
    "Equation": r"(?:Equations?|Eqs?\.?)",
    "Figure": "Figures?",
    "Table": "Tables?",
    "Example": "Examples?",
    "Appendix": "Appendix",
    "Algorithm": "Algorithms?",
    "Observation": "Observations?",
    "Remark": "Remarks?",
    "Claim": "Claims?",
    "Fact": "Facts?",
    "Game": "Games?",
    "footnote": "footnotes?",
}
NUMBER = r"(?:[IVX]+(?:-[A-Z])?\b|[A-Z](?:\.\d+)+|[A-Z]\b|\d+(?:\.\d+)*[a-z]?\b)"
NUMBERS = rf"{NUMBER}(?:(?:,|\ and|,\ and|\ to)\ {NUMBER})*"
NEXT = re.compile(
    rf"""(?:,|\ and|,\ and)?\ \(?(?P<kind>{"|".join(KINDS.values())})\ (?P<numbers>{NUMBERS})"""
    rf"""|(?P<bare>(?:,|\ and|,\ and)?\ {NUMBERS})""",
    re.VERBOSE,
)


def places(text: str) -> Iterator[tuple[str, str]]:
    """Yield (paper, place) for every statement that a text cites; lists give one a number.

    >>> list(places("Source: Cohen et al. 2024, Definitions D.7 and D.8, Claim D.9."))
    [('Cohen et al. 2024', 'Definition D.7'), ('Cohen et al. 2024', 'Definition D.8'),
    ('Cohen et al. 2024', 'Claim D.9')]
    """
    for paper in PAPER.finditer(text):
        name, end = paper[0], paper.end()
        while found := NEXT.match(text, end):
            end = found.end()
            kind = ""
            if found["kind"]:
                kind = next(k for k, form in KINDS.items() if re.fullmatch(form, found["kind"]))
            elif name != "Narcissus theory":
                break  # numbers alone are sections of ours, and nobody else's
            for number in re.findall(NUMBER, found["numbers"] or found["bare"]):
                yield name, f"{kind} {number}".strip()


def modules(file: str = "*.py") -> Iterator[tuple[str, Path, ast.Module]]:
    """Yield every module in files of that name: dotted name, path, syntax tree."""
    sources = {path: SOURCE.parent for path in SOURCE.rglob(file)}
    sources |= {path: PAPERS / "src" for path in PAPERS.glob(f"src/**/{file}")}
    for path, folder in sorted(sources.items()):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, path, parsed(path)


@cache
def parsed(path: Path) -> ast.Module:
    """Give the syntax tree of a file, which several pages read."""
    return ast.parse(path.read_text(encoding="utf-8"))


def exports(tree: ast.Module) -> list[str]:
    """Give the names in ``__all__``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        ):
            return [e.value for e in ast.walk(node.value) if isinstance(e, ast.Constant)]
    return []


def summary(node: ast.AST) -> str:
    """Give the first sentence of a docstring, on one line."""
    text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
    return " ".join((text or "").split("\n\n")[0].split()).replace("|", "\\|")


Room = tuple[str, ast.Module, dict[str, tuple[str, str]]]
"""A package, its syntax tree, and each public name with the module and the name it has there."""


def rooms() -> Iterator[Room]:
    """Yield every package with public names, and where each of them comes from."""
    for name, _, tree in modules("__init__.py"):
        public = exports(tree)
        if not public or name.startswith("narcissus.cli"):
            continue
        origin = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        ordered = sorted(public, key=str.lower)
        yield name, tree, {one: origin.get(one, (name, one)) for one in ordered}


def reference() -> str:
    """Write the page of public names, by room."""
    trees = {name: tree for name, _, tree in modules()}
    lines = ["# Reference", "", "Generated by `docs/build.py` from the code; do not edit.", ""]
    for name, tree, public in rooms():
        lines += [f"## {name}", "", summary_of_module(tree), "", "| name | what |", "|---|---|"]
        for public_name, (module, original) in public.items():
            text = ""
            for node in trees[module].body if module in trees else []:
                if getattr(node, "name", None) == original:
                    text = summary(node)
            lines.append(f"| `{public_name}` | {text} |")
        lines.append("")
    return "\n".join(lines)


def summary_of_module(tree: ast.Module) -> str:
    """Give the first paragraph of a module's docstring, on one line."""
    return " ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())


def documented(tree: ast.Module, name: str) -> Iterator[tuple[str, str]]:
    """Yield (qualified name, docstring) of a module and what it defines; a theorem's source."""
    yield name, ast.get_docstring(tree) or ""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for keyword in node.value.keywords:
                if keyword.arg == "source" and ast.unparse(node.value.func) == "Theorem":
                    source = ast.literal_eval(keyword.value)
                    yield f"{name}.{ast.unparse(node.targets[0])}", f"Source: {source}."
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield f"{name}.{node.name}", ast.get_docstring(node) or ""
            yield from ((f"{name}.{node.name}", f"Source: {one}.") for one in declared(node, name))
            for inner in node.body:
                if isinstance(node, ast.ClassDef) and isinstance(inner, ast.FunctionDef):
                    yield f"{name}.{node.name}.{inner.name}", ast.get_docstring(inner) or ""


def declared(node: ast.FunctionDef | ast.ClassDef, name: str) -> Iterator[str]:
    """Yield the statements that decorators of a function of the papers' package name."""
    paper = PAPER_OF.get(name.split(".")[1] if "." in name else "")
    for mark in node.decorator_list:
        if paper and isinstance(mark, ast.Call) and len(mark.args) > 1:
            other = [ast.literal_eval(k.value) for k in mark.keywords if k.arg == "paper"]
            yield f"{CITED[other[0] if other else paper]}, {ast.literal_eval(mark.args[0])}"


@cache
def cited() -> dict[tuple[str, str], set[str]]:
    """Give the names of the code that cites each statement."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, _, tree in modules():
        for qualified, text in documented(tree, name):
            for statement in places(" ".join(text.split())):
                found[statement].add(qualified)
    return found


@cache
def marked_tests() -> dict[tuple[str, str], list[str]]:
    """Give the tests that say, by a mark, which statement they test.

    The mark is ``@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2")``; several places of
    one paper may follow each other. It is read, not run.
    """
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in sorted([*(ROOT / "tests").rglob("test_*.py"), *PAPERS.rglob("test_*.py")]):
        text = path.read_text(encoding="utf-8")
        for node in parsed(path).body if "mark.states" in text else ():
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.states":
                    paper, *where = (ast.literal_eval(argument) for argument in mark.args)
                    for place in where:
                        test = f"{path.relative_to(ROOT).as_posix()}::{node.name}"
                        found[paper, place].append(test)
    return found


def unknown_marks() -> list[str]:
    """Say which marks name a statement that nothing cites: a slip, or a missing citation."""
    known = cited()
    return [
        f"{test}: nothing cites {paper}, {place}"
        for (paper, place), tests in marked_tests().items()
        if (paper, place) not in known
        for test in tests
    ]


def citations() -> str:
    """Write the page of citations: paper, place, where it is computed, where it is tested."""
    tests = marked_tests()
    lines = [
        "# Citations",
        "",
        "Which statement is computed where, by the docstrings, and which tests say, by the mark "
        "`states`, that they test it. `Not tested` means that no test says so: the code may well "
        "be tested, but not as this statement. Generated by `docs/build.py`; do not edit.",
        "",
        "| source | place | computed in | tested in |",
        "|---|---|---|---|",
    ]
    for (paper, place), names in sorted(
        cited().items(), key=lambda kv: (kv[0][0], sort_key(kv[0][1]))
    ):
        code = "<br>".join(f"`{n.removeprefix('narcissus.')}`" for n in sorted(names))
        checks = "<br>".join(f"`{t}`" for t in tests.get((paper, place), [])) or "not tested"
        lines.append(f"| {paper} | {place} | {code} | {checks} |")
    return "\n".join(lines) + "\n"


def parts() -> str:
    """Write the page of parts; unlike the others it imports the package, to read signatures."""
    sys.path.insert(0, str(SOURCE.parent))
    from narcissus.study.part_section import default_words, listed
    from narcissus.study.registry import ROOMS

    def cells(option: Any) -> str:
        needed = "required" if option.required else default_words(option.default)
        said = " | ".join(one.replace("|", r"\|") for one in (needed, option.text))
        return f"| `{option.name}` | {option.type_words()} | {said} |"

    lines = [
        "# Parts",
        "",
        "Every part that a study file can name, with its options. A section names its part by "
        "`name`; the options appear next to it. Where a section is marked so, it also takes "
        "a custom `module:attribute` ([extending](../develop/extending.md), "
        "[working safely](../operate/security.md)). `narcissus init --parts` prints the same. "
        "Generated by `docs/build.py` from the signatures; do not edit.",
        "",
    ]
    for name, room in ROOMS.items():
        more = f" Without `name`: `{room.default}`." if room.default else ""
        more += " Also a custom `module:attribute`." if room.own else ""
        lines += [f"## {name}", "", f"{room.sections}.{more}", ""]
        for part, summary, options in listed(name):
            lines += [f"### `{part}`", "", summary, ""]
            if options:
                lines += ["| option | type | default | what |", "|---|---|---|---|"]
                lines += map(cells, options)
                lines.append("")
    return "\n".join(lines)


CITED = {
    "000": "Cohen et al. 2025",
    "001": "Swanberg et al. 2025",
    "002": "Chatzikokolakis et al. 2023",
    "003": "Cohen et al. 2024",
    "004": "Kaplan et al. 2025",
}
"""What docstrings and marks call the papers."""
PAPER_OF = {"swanberg": "001", "chatzikokolakis": "002", "cohen": "003", "kaplan": "004"}
"""The paper of each folder of the papers' package."""

LONGEST = 5.0
"""Seconds that a statement may take to be computed for the page."""


def statements() -> str:
    """Write the page of statements: each is computed, so that the page says the outcome.

    Those that are made from pieces take long, and are only named.
    """
    sys.path.insert(0, str(SOURCE.parent))
    from narcissus_papers import ITEMS, PAPERS

    tests = marked_tests()
    lines = [
        "# Statements",
        "",
        "Every numbered statement, figure and table that `narcissus-papers reproduce` computes: "
        "what it says, the outcome, what to run to see it in a custom setting, and the tests "
        "that say, by the mark `states`, that they test it. A claim is *proved* (for all that it "
        "speaks of: the proof is named, and computed on cases), *checked* (exactly, in the cases "
        "named) or *played* (sampled, with limits). "
        "`narcissus-papers reproduce PAPER --statement S` lists the claims. Tables that a "
        "command reads (`channel.csv`, `prior.csv`) are your own, as in "
        "[channels](../guides/channels/channels.md); `examples/` is in the sources, and "
        "`narcissus init --example` writes the studies that it "
        "names. Generated by `docs/build.py`; do not edit.",
    ]
    for paper, title in PAPERS.items():
        items = [one for one in ITEMS.values() if one.paper == paper and is_numbered(one)]
        if not items:
            continue
        items.sort(key=lambda one: one.kind != "statement")
        heading = f"## {paper}: {title}"
        heading += "" if CITED[paper] in title else f" ({CITED[paper]})"
        lines += ["", heading, "", "| statement | what it says | claims | run | tests |"]
        lines.append("|---|---|---|---|---|")
        for item in items:
            name = item.number if item.kind == "statement" else f"{item.kind.title()} {item.number}"
            drawn = re.sub(r"(Figure \d+)[a-z]$", r"\1", name)  # a part is tested with the whole
            marked = tests.get((CITED[paper], drawn.split(" (")[0]), [])
            command = item.command or (
                f"narcissus-papers reproduce {paper} --statement '{item.number}'"
                if item.kind == "statement"
                else f"narcissus-papers reproduce {paper} --{item.kind} {item.number}"
            )
            cells = (
                name,
                item.title,
                claims(item),
                f"`{command}`",
                "<br>".join(f"`{test}`" for test in marked) or "not tested",
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def is_numbered(item: Any) -> bool:
    """Tell a statement, or a figure or table of the paper's, from a picture that is ours."""
    return item.kind == "statement" or bool(re.fullmatch(r"\d+[a-z]?|[IVX]+", item.number))


def claims(item: Any) -> str:
    """Say how many claims of a statement held, by how they are shown, and which fail and why."""
    from narcissus_papers import Given

    if item.pieces or item.seconds > LONGEST:
        return f"not computed for this page (some {item.seconds:g} s): run it"
    made = item.make(Given())
    said: list[str] = []
    for shown in ("proved", "checked", "played"):
        number = sum(one.holds and one.shown == shown for one in made.held)
        said += [f"{number} {shown}"] if number else []
    if made.printed:
        words = [one.word for one in made.printed]
        said.append(f"{words.count('agrees')} of {len(words)} printed numbers agree")
        said += [f"{words.count('fitted')} fitted"] if "fitted" in words else []
    cells = [", ".join(said)] if said else []
    fails = "[**fails**](../explanation/errata.md)"
    cells += [f"{fails}: {one.what}: {one.because}" for one in made.held if not one.holds]
    for word in ("differs", "fitted"):
        reasons = dict.fromkeys(one.reason for one in made.printed if one.word == word)
        cells += [f"**{word}**: {reason}" for reason in reasons]
    return "<br>".join(cells) or f"no number in print: {made.cannot}"


def sort_key(place: str) -> list[tuple[int, int, str]]:
    """Sort section 10 after section 9."""
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"[ .]", place)]


def glossary() -> str:
    """Return the page of the ten terms, the grades, and other words of reports."""
    from narcissus.report.format import GRADES, SIGNS, grade_word
    from narcissus.report.words import MEANINGS, TERMS

    def listed(words: dict[str, str]) -> list[str]:
        return [f"* **{word}**: {text}." for word, text in sorted(words.items(), key=str)]

    lines = ["# Glossary", "", "<!-- written by docs/build.py from narcissus.report.words -->", ""]
    lines += [
        "## Ten terms",
        "",
        "One word for one thing, in reports, messages and these pages.",
        "",
    ]
    lines += [*listed(TERMS), "", "## Grades", "", "How far a number can be trusted.", ""]
    lines += [f"* **{SIGNS[g]} {grade_word(g)}**: {text}." for g, text in GRADES.items()]
    others = {word: text for word, text in MEANINGS.items() if word not in TERMS}
    lines += ["", "## Other words of reports", "", *listed(others)]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """Write the help of every command, by groups: as `--help` prints it."""
    lines = ["# Commands", "", "Generated by `docs/build.py` from `--help`; do not edit.", ""]
    for program, group, groups in programs():
        lines += [f"Of `{program}`:", ""]
        for title, names in groups.items():
            links = ", ".join(f"[{name}](#{program}-{name.lower()})" for name in names)
            lines.append(f"* {title}: {links}")
        lines.append("")
        for names in groups.values():
            for name in names:
                lines += [f"## {program} {name}", "", "```text"]
                lines += [help_of(program, group, name), "```", ""]
    return "\n".join(lines)


def programs() -> Iterator[tuple[str, Any, dict[str, tuple[str, ...]]]]:
    """Yield each program with its commands and their groups; `FILE` is what files stand for."""
    from narcissus.cli.main import cli
    from narcissus_papers.main import cli as of_papers

    for group in (cli, of_papers):
        first = {"A file": ("FILE",)} if group.starts else {}
        yield group.program, group, first | group.groups


def help_of(program: str, group: Any, name: str) -> str:
    """Return what `PROGRAM NAME --help` prints, 100 letters wide."""
    import click

    command = group.load(group.starts, "start") if name == "FILE" else group.get_command(None, name)
    context = click.Context(command, info_name=f"{program} {name}", max_content_width=100)
    context.terminal_width = 100
    return command.get_help(context).rstrip()


def main() -> int:
    """Write the pages, or check them."""
    pages = {
        "reference/names.md": reference(),
        "reference/commands.md": commands(),
        "reference/citations.md": citations(),
        "reference/parts.md": parts(),
        "reference/statements.md": statements(),
        "reading/glossary.md": glossary(),
    }
    stale = [
        name
        for name, text in pages.items()
        if not (DOCS / name).exists() or (DOCS / name).read_text(encoding="utf-8") != text
    ]
    slips = unknown_marks()
    for slip in slips:
        print(slip)
    if slips:
        return 1
    if "--check" in sys.argv:
        for name in stale:
            print(f"docs/{name} is out of date: run `make docs`")
        return 1 if stale else 0
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
