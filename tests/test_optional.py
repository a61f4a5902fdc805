"""An extra that is not there is named by its packages, with how to get them."""

import re
from pathlib import Path

import pytest

from narcissus._optional import optional, requirements
from narcissus.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[1]


def test_a_module_that_is_there_is_given():
    assert optional("json", extra="none", purpose="Reading").__name__ == "json"


def test_a_missing_one_names_what_to_install():
    with pytest.raises(MissingExtraError) as caught:
        optional("no_such_package.part", extra="parquet", purpose="Reading Parquet")
    assert re.fullmatch(
        r"Reading Parquet needs the package `no_such_package`: "
        r"install it with `pip install 'pyarrow>=\d+'`",
        str(caught.value),
    )


def test_without_an_installation_the_package_itself_is_named():
    assert requirements("no-such-extra") == []
    with pytest.raises(MissingExtraError, match="`pip install no_such_package`"):
        optional("no_such_package", extra="no-such-extra", purpose="It")


def test_nothing_tells_users_to_install_a_name_that_nobody_owns():
    """From an index, that is; a wheel and a folder are named by their path."""
    texts = [
        path
        for folder in ("src", "packages", "docs", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".txt", ".html", ".toml", ".ipynb"}
        and not {"build", ".venv"} & {*path.parts}
    ]
    named = re.compile(
        r"(?:pip install|pipx run|pipx install|uvx)[^`\n]*[\s'\"]narcissus(?![-\w/])"
    )
    wrong = [
        (path.relative_to(ROOT).as_posix(), line)
        for path in [*texts, ROOT / "README.md", ROOT / "Makefile"]
        for line in path.read_text(encoding="utf-8").splitlines()
        if named.search(line) and ".whl" not in line
    ]
    assert wrong == []
    assert named.search("pip install 'narcissus[parquet]'")
    assert named.search("pip install narcissus")
