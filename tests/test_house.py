"""The rules of the house: sizes, names, who imports what, what nobody reaches, which tests mirror.

What breaks a rule today stands in ``house.toml``; a line there that breaks nothing any more fails
as well, so that the list can only shrink. ``python tests/test_house.py`` takes such lines out.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from narcissus.study.kinds import KINDS
from narcissus.study.registry import ATTACK, ROOMS, WORLD, loaded

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "narcissus"
PAPERS = ROOT / "packages" / "narcissus-papers"
SOURCES = {"narcissus": PACKAGE, "narcissus_papers": PAPERS / "src" / "narcissus_papers"}
TESTS = {"narcissus": ROOT / "tests", "narcissus_papers": PAPERS / "tests"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ALLOWED = tomllib.loads((ROOT / "tests" / "house.toml").read_text(encoding="utf-8"))

MENDED: dict[str, set[str]] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


syntax = cache(ast.parse)


def tree_of(path: Path) -> ast.Module:
    """Give the syntax tree of a file, which several rules read and none changes."""
    return syntax(path.read_text(encoding="utf-8"))


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Give all nodes of a file: to walk through it takes longer than most rules."""
    return tuple(ast.walk(tree))


def parsed(folder: Path) -> dict[str, ast.Module]:
    """Give the syntax tree of every module below a folder, by its path in there."""
    return {
        path.relative_to(folder).as_posix(): tree_of(path) for path in sorted(folder.rglob("*.py"))
    }


@cache
def source(package: str = "narcissus") -> dict[str, ast.Module]:
    """Give a package: the syntax tree of each module, by its path in it."""
    return parsed(SOURCES[package])


@cache
def sources() -> dict[str, ast.Module]:
    """Give all packages: the core's modules by their path in it, others' with their package."""
    return source() | {
        f"{package}/{path}": tree
        for package in SOURCES
        if package != "narcissus"
        for path, tree in source(package).items()
    }


def agree(rule: str, broken: set[str]) -> None:
    """Fail for what breaks a rule, and for what is allowed to and does not."""
    allowed = set(ALLOWED[rule])
    MENDED[rule] = allowed - broken
    assert not broken - allowed, f"{rule}: {sorted(broken - allowed)}"
    assert not allowed - broken, f"take these out of house.toml, {rule}: {sorted(allowed - broken)}"


PRONOUNS = {
    "asked", "found", "given", "got", "held", "kept", "least", "more", "most", "one", "own", "said",
    "told", "what",
}  # fmt: skip
"""Words that say nothing of what a variable holds."""
MOST_PRONOUNS = 0.01
"""Share of all bindings; the fields of records are among these."""


def test_variables_are_called_by_nouns():
    names = [
        node.id
        for tree in source().values()
        for node in nodes(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    vague = Counter(name for name in names if name in PRONOUNS)
    assert vague.total() <= MOST_PRONOUNS * len(names), vague


def test_the_formatter_lays_out_every_line_of_the_sources():
    skipped = [
        path for path in PACKAGE.rglob("*.py") if "# fmt: skip" in path.read_text(encoding="utf-8")
    ]
    assert skipped == []


def test_no_class_name_comes_twice():
    places = defaultdict(set)
    for path, tree in sources().items():
        for node in nodes(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].add(path)
    agree("classes_twice", {name for name, where in places.items() if len(where) > 1})


WRITERS = {"copyfile", "copy", "copy2", "copytree", "move", "write_text", "write_bytes", "touch"}
WRITERS |= {"save_pretrained", "save_file", "savez", "savez_compressed", "savetxt", "to_csv"}


def writes_by_name(call: ast.Call) -> bool:
    """Say whether a call writes a file by its name, and so through a link of that name."""
    function, name = call.func, last_name(call.func)
    if name in {"copy", "move"}:  # of a dictionary, an array
        return isinstance(function, ast.Attribute) and ast.unparse(function.value) == "shutil"
    if name == "open":
        modes = [*call.args, *(one.value for one in call.keywords if one.arg == "mode")]
        texts = [one.value for one in modes if isinstance(one, ast.Constant)]
        return any(
            isinstance(one, str) and re.fullmatch(r"[rwxabt+]*[wxa+][bt]?", one) for one in texts
        )
    if name == "to_csv":  # without a place, it returns a text
        return bool(call.args)
    return name in WRITERS


def test_files_are_written_by_the_functions_that_follow_no_link():
    """`narcissus._files` and `_folders` write; others only where nobody else put anything."""
    agree("writers_by_name", {
        path
        for path, tree in sources().items()
        for node in nodes(tree)
        if isinstance(node, ast.Call) and writes_by_name(node)
    })  # fmt: skip


def test_one_reader_parses_toml():
    """`narcissus._toml` bounds the depth first: the parser takes the square of it."""
    readers = {
        path
        for path, tree in source().items()
        if any(name[0] == "tomllib" for name in imported(tree))
    }
    assert readers == {"_toml.py"}


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        ("shutil.copyfile(a, b)", True),
        ("path.open('wb')", True),
        ("open(path, mode='a')", True),
        ("open(path)", False),
        ("open(path, 'rb')", False),
        ("place.open(name, flags)", False),
        ("entries.copy()", False),
        ("path.write_text('')", True),
    ],
)
def test_what_writes_by_name_is_told_from_what_reads(text, writes):
    assert writes_by_name(ast.parse(text, mode="eval").body) == writes


def imported(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """Yield the dotted names that a module imports, in any function as well."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((*(node.module or "").split("."), alias.name) for alias in node.names)


def private_to_another(path: str, name: tuple[str, ...]) -> bool:
    """Say whether an imported name is private below a folder that the module is not in."""
    here = ("narcissus", *Path(path).with_suffix("").parts)
    name = ("narcissus", *name) if name[0] == "narcissus_papers" else name  # a room like others
    return name[0] == "narcissus" and any(
        part.startswith("_") and not part.startswith("__") and here[:i] != name[:i]
        for i, part in enumerate(name)
    )


def test_no_private_name_is_imported_from_another_room():
    agree("private_imports", {
        f"{path}: {'.'.join(name)}"
        for path, tree in sources().items()
        for name in imported(tree)
        if private_to_another(path, name)
    })  # fmt: skip


@pytest.mark.parametrize(
    ("path", "name", "private"),
    [
        ("bounds/best.py", "narcissus._files.read", False),
        ("bounds/best.py", "narcissus.bounds._search.find", False),
        ("bounds/best.py", "narcissus.bounds.swap._tail", True),
        ("cli/bound.py", "narcissus.bounds._search.find", True),
        ("cli/bound.py", "narcissus.results._plain", True),
        ("cli/bound.py", "narcissus.__version__", False),
        ("study/engines/choice.py", "narcissus.study.engines._attendant.Attendant", False),
    ],
)
def test_private_means_below_the_own_folder(path, name, private):
    assert private_to_another(path, tuple(name.split("."))) == private


def top(requirement: str) -> str:
    """Give the module that a requirement brings."""
    names = {"scikit-learn": "sklearn", "dp-accounting": "dp_accounting"}
    name = re.split(r"[<>=~\[]", requirement)[0].strip().lower()
    return names.get(name, name.replace("-", "_"))


def last_name(function: ast.expr) -> str:
    """Give the last name of what is called: `optional`, of `_optional.optional` too."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_every_dependency_is_imported():
    """By a statement, or by `optional("module", extra=...)` under the extra that brings it."""
    found = {name[0] for tree in source().values() for name in imported(tree)}
    by_extra = defaultdict(set)
    for tree in source().values():
        for node in nodes(tree):
            if isinstance(node, ast.Call) and last_name(node.func).endswith("optional"):
                told = {k.arg: k.value.value for k in node.keywords if k.arg == "extra"}
                by_extra[told.get("extra")].add(node.args[0].value.split(".")[0])
    unused = {r for r in PROJECT["project"]["dependencies"] if top(r) not in found}
    for extra, requirements in PROJECT["project"]["optional-dependencies"].items():
        used = found | by_extra[extra]
        unused |= {f"{extra}: {r}" for r in requirements if top(r) not in used}
    agree("unused_dependencies", {re.split(r"[<>=~]", r)[0] for r in unused})


def test_only_dependencies_are_imported():
    """Every import at the top of a module is of the standard library or of a core dependency."""
    core = {top(r) for r in PROJECT["project"]["dependencies"]} | {"narcissus", "__future__"}
    core |= {"markupsafe", "pydantic_core", "typing_extensions"}  # parts of jinja2 and pydantic
    app = {top(r) for r in PROJECT["project"]["optional-dependencies"]["app"]}  # a room of its own
    strange = set()
    for path, tree in source().items():
        for name in imported(tree) if path != "channels/_compiled.py" else ():
            known = core | app if path.startswith("app/") else core
            if name[0] not in known | sys.stdlib_module_names:
                strange.add(f"{path}: {'.'.join(name)}")
    assert not strange


def words(tree: ast.AST, *, in_docstrings: bool = True) -> Counter[str]:
    """Count the identifiers that are used: names, attributes, keywords, imports, and strings.

    A name in a docstring is no use: ``in_docstrings`` leaves them out of the package.
    """
    found: Counter[str] = Counter()
    docstrings = set()
    for node in nodes(tree):
        if isinstance(node, ast.Name):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node not in docstrings:
                found.update(set(re.findall(r"[A-Za-z_]\w*", node.value)))
        elif isinstance(node, ast.keyword):
            if node.arg is not None:
                found[node.arg] += 1
        elif isinstance(node, ast.alias):
            found.update(node.name.split("."))
        elif not in_docstrings and isinstance(node, ast.Module | Definition):
            docstrings |= docstring_of(node)  # a tree is walked from above
    return found


def docstring_of(node: ast.Module | Definition) -> set[ast.Constant]:
    """Give the docstring of a module, a function or a class, if it has one."""
    match node.body:
        case [ast.Expr(value=ast.Constant(value=str()) as text), *_]:
            return {text}
        case _:
            return set()


def definitions(path: str, tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Yield the public functions, classes and methods of a module."""
    for node in tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield f"{path}::{node.name}", node
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, Function) and not inner.name.startswith("_"):
                    yield f"{path}::{node.name}.{inner.name}", inner


def called_from_outside(tree: ast.Module, where: str, node: Definition) -> bool:
    """Say whether a library calls it: by a decorator, or as a method of the library's class."""
    if any(re.search("command|validator|serializer", ast.unparse(d)) for d in node.decorator_list):
        return True
    owner = where.rpartition("::")[2].partition(".")[0]
    for held in tree.body:
        for base in held.bases if isinstance(held, ast.ClassDef) and held.name == owner else ():
            module, _, name = ast.unparse(base).rpartition(".")
            if module and hasattr(getattr(importlib.import_module(module), name), node.name):
                return True
    return False


def test_every_public_definition_is_reached():
    """By the package itself, by a page of the docs, or by a test if its room exports it.

    Names are compared, not objects: what shares its name with something used is not found.
    """
    uses = {path: words(tree, in_docstrings=False) for path, tree in source().items()}
    exported: set[str] = set()
    inside: Counter[str] = Counter()
    for path, found in uses.items():
        if path.endswith("__init__.py"):
            exported |= set(found)
        else:
            inside += found
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").glob("*.ipynb")]
    pages = [
        p
        for p in pages
        if p.name not in ("names.md", "commands.md", "citations.md", "statements.md")
    ]
    told = set().union(*(re.findall(r"\w+", p.read_text(encoding="utf-8")) for p in pages))
    used = [
        p
        for folder in ("examples", "benchmarks", "docs", "packages")
        for p in (ROOT / folder).rglob("*.py")
    ]
    told |= set().union(*(words(tree_of(p)) for p in used))
    tested = set().union(*(words(tree) for tree in parsed(ROOT / "tests").values()))
    dead = set()
    for path, tree in source().items():
        for where, node in definitions(path, tree):
            is_method = "." in where.rpartition("::")[2]
            if node.name in told or (node.name in tested and (is_method or node.name in exported)):
                continue
            many = inside[node.name]
            if many and many > words(node, in_docstrings=False)[node.name]:
                continue
            if not called_from_outside(tree, where, node):
                dead.add(where)
    agree("unreached", dead)


def exported() -> Iterator[tuple[str, Definition]]:
    """Yield the definition of every function and class that a room exports."""
    for path, tree in source().items():
        for node in tree.body if path.endswith("__init__.py") else []:
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            place = node.module.removeprefix("narcissus.").replace(".", "/")
            names = {alias.name for alias in node.names}
            for where in (f"{place}.py", f"{place}/__init__.py"):
                for inner in source()[where].body if where in source() else []:
                    if isinstance(inner, Definition) and inner.name in names:
                        yield f"{where}:{inner.name}", inner


def test_every_exported_name_is_documented():
    found = dict(exported())
    assert len(found) > 500
    missing = [name for name, node in found.items() if not ast.get_docstring(node)]
    assert not missing, f"a room exports these: say what they are: {missing}"


def test_no_modules_import_each_other_in_a_circle():
    """Not within functions either, nor for types: a file is read after those that it names."""
    paths = {
        ".".join(("narcissus", *Path(path).with_suffix("").parts)).removesuffix(".__init__"): tree
        for path, tree in source().items()
    }
    waits: dict[str, set[str]] = {
        name: {
            whole if (whole := f"{node.module}.{alias.name}") in paths else node.module
            for node in nodes(tree)
            if isinstance(node, ast.ImportFrom) and node.module in paths
            for alias in node.names
        }
        for name, tree in paths.items()
    }
    while free := {name for name, needed in waits.items() if not needed & waits.keys()}:
        waits = {name: needed for name, needed in waits.items() if name not in free}
    rest = set(waits)  # circles, and what stands on them
    while top := {name for name in rest if not any(name in waits[other] for other in rest)}:
        rest -= top
    assert not rest


@pytest.mark.parametrize("package", SOURCES)
def test_tests_are_in_the_rooms_of_what_they_test(package):
    """What concerns more than one room has a folder of its own."""
    across = {
        "papers",
        "properties",
        "coverage",
        "fuzz",
        "mutants",
        "wheel",
        "kernels",
        "real_tables",
    }
    rooms = {Path(path).parent for path in source(package)}
    files = [path.relative_to(TESTS[package]) for path in TESTS[package].rglob("test_*.py")]
    inside = {path.parent for path in files if path.parts[0] not in across}
    assert not inside - rooms


def test_every_statement_of_a_paper_that_is_cited_is_tested():
    """By a test that carries the mark; definitions, sections and figures state nothing."""
    where = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    build = importlib.util.module_from_spec(where)
    where.loader.exec_module(build)
    build.parsed = tree_of
    states = (
        "Theorem",
        "Corollary",
        "Lemma",
        "Proposition",
        "Claim",
        "Fact",
        "Example",
        "Equation",
    )
    marked = build.marked_tests()
    agree("untested_statements", {
        f"{paper}, {place}"
        for paper, place in build.cited()
        if place.startswith(states) and (paper, place) not in marked and paper != "Example 2026"
    })  # fmt: skip


def test_files_excused_from_a_rule_of_the_linter_break_it():
    excused = PROJECT["tool"]["ruff"]["lint"]["per-file-ignores"]
    excused = {(f, rule) for f, rules in excused.items() if f.startswith("src") for rule in rules}
    rules = ",".join({rule for _, rule in excused} or {"C901"})
    pytest.importorskip("ruff", reason="the tests alone are installed, without the linter")
    told = "--config=lint.per-file-ignores={}"
    command = [sys.executable, "-m", "ruff", "check", "src", "--select", rules, told]
    done = subprocess.run(
        [*command, "--output-format=json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = {
        (Path(f["filename"]).relative_to(ROOT).as_posix(), f["code"])
        for f in json.loads(done.stdout)
    }
    assert not excused - found, "take these out of pyproject.toml"


def shrink() -> None:
    """Take out of house.toml what breaks no rule any more."""
    for name, rule in list(globals().items()):
        if name.startswith("test_") and "agree(" in inspect.getsource(rule):
            with contextlib.suppress(AssertionError):
                rule()
    path = ROOT / "tests" / "house.toml"
    section, kept = "", []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        section = line.partition(" = ")[0] if " = [" in line else section
        if line.strip().strip('",') not in MENDED.get(section, ()):
            kept.append(line)
    path.write_text("".join(kept), encoding="utf-8")


if __name__ == "__main__":
    shrink()


def test_what_is_left_to_the_night_is_there():
    """By file and function: cases are named by what they are parametrised by."""
    names = (ROOT / "tests" / "night.txt").read_text("utf-8").splitlines()
    gone = [
        name
        for name in names
        for file, *_, function in [name.partition("[")[0].split("::")]
        if not re.search(rf"def {function}\b", (ROOT / file).read_text("utf-8"))
    ]
    assert gone == []
    assert len(names) == len({*names})


def named_in(folder: Path) -> set[str]:
    """Give what the tests of a folder name: names that are used, not imports alone."""
    found = set()
    for path in folder.rglob("test_*.py"):
        for node in nodes(tree_of(path)):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
    return found


def untested(parts: dict[str, str], folder: Path) -> set[str]:
    """Give the parts, ``module:attribute`` by name, whose class no test of their room names.

    A name of the registry alone is no test: "uniform" or "posterior" may be said of anything.
    """
    rooms: dict[str, set[str]] = {}
    missing = set()
    for name, target in parts.items():
        made = loaded(target)
        room = made.__module__.split(".")[1]
        if room not in rooms:
            rooms[room] = named_in(folder / room)
        if made.__name__ not in rooms[room]:
            missing.add(f"{room}: {name} ({made.__name__})")
    return missing


def untested_kinds(kinds: dict[str, str], folders: dict[str, Path]) -> set[str]:
    """Give the kinds of study without tests of their own, and those that no test there plays.

    ``folders`` are those of the tests, by package. The tests of ``kinds/NAME`` are
    ``test_NAME.py``, or a folder. They name the kind as a study file does, or import its object.
    """
    missing = set()
    for name, target in kinds.items():
        package, *parts = target.partition(":")[0].split(".")[:-1]
        folder, place = folders[package], Path(*parts)
        files = [folder / place.with_name(f"test_{place.name}.py")]
        files += [*(folder / place).rglob("test_*.py")]
        text = "\n".join(p.read_text(encoding="utf-8") for p in files if p.exists())
        ways = (f'"{name}"', f'kind = "{name}"', f"{'.'.join((package, *parts))}.kind ")
        if not any(way in text for way in ways):
            missing.add(name)
    return missing


def parts_of_studies() -> dict[str, str]:
    """Give every part that a study file can name, by its room of the registry and its name."""
    return {
        f"{room} {name}": target
        for room, kind in ROOMS.items()
        for name, target in kind.parts.items()
    }


def test_every_part_of_a_study_is_tested_in_its_room():
    """Attacks, mechanisms, priors, worlds, criteria and statements: a new one fails without."""
    parts = parts_of_studies()
    assert len(parts) > 150
    assert untested(parts, TESTS["narcissus"]) == set()


def test_every_kind_of_study_is_tested_in_its_place():
    assert untested_kinds(KINDS, TESTS) == set()


def test_a_part_or_kind_without_a_test_is_found(tmp_path):
    """A test of another room, and the name in a comment or a docstring, are no tests of it."""
    parts = {"attack majority": ATTACK["majority"], "world bits": WORLD["bits"]}
    missing = {"attacks: attack majority (Majority)", "worlds: world bits (Bits)"}
    for room in ("attacks", "worlds", "kinds"):
        (tmp_path / room).mkdir()
    (tmp_path / "attacks" / "test_guess.py").write_text('"""Majority."""\nBits(3)  # Majority\n')
    assert untested(parts, tmp_path) == missing
    (tmp_path / "attacks" / "test_guess.py").write_text("Majority()\n")
    (tmp_path / "worlds" / "test_products.py").write_text("worlds.Bits(3)\n")
    assert untested(parts, tmp_path) == set()
    kinds = {name: KINDS[name] for name in ("channel", "image-model")}
    folders = {"narcissus": tmp_path}
    assert untested_kinds(kinds, folders) == set(kinds)
    (tmp_path / "kinds" / "test_channel.py").write_text("FILE = '''kind = \"channel\"'''\n")
    assert untested_kinds(kinds, folders) == {"image-model"}
