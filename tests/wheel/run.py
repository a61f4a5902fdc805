"""Build the wheels and do the main job with nothing but the first, on every Python it is made for.

    python tests/wheel/run.py                   # dist/narcissus-VERSION-py3-none-any.whl, tried
    python tests/wheel/run.py --python 3.12     # on this one alone, which must be there

For each version: a fresh environment outside the repository, the wheel with what it depends on
(from wherever pip is told to look), an empty folder; then `narcissus init --example audit-a-table`,
`narcissus audit`, and a look at the report and the record. A study of the papers' package is
refused by name; then the wheel of that package is added, and makes a figure again. A Python that is
not on this machine is skipped, and said to be. Exit code 1 if a try fails, or if there was none.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "packages" / "narcissus-papers"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
UNDECLARED = ("3.14",)  # every locked package has a wheel for it, and nobody has run it
STUDY = "audit-a-table"
STATUS = "met"  # proved at the level that the study plans: no matter of chance
SECONDS = 900  # most that one command may take


class FailedError(Exception):
    """Something did not work; the text says what."""


def said(*command: str | Path, folder: Path | None = None) -> str:
    """Run a command without what this Python was told of modules; give what it prints."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    try:
        done = subprocess.run(
            list(map(str, command)),
            cwd=folder,
            env=kept,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FailedError(str(error)) from error
    if done.returncode:
        shown = " ".join(map(str, command))
        raise FailedError(f"{shown}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(out: Path, source: Path = ROOT) -> Path:
    """Build a wheel into a folder, with what `make audit` installs for this."""
    with tempfile.TemporaryDirectory() as folder:
        said(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=source)
        [wheel] = Path(folder).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, out))


def candidates(version: str) -> Iterator[str]:
    """Yield where a Python of this version may be: on the path, of pyenv, of uv."""
    name = f"python{version}"
    yield from filter(None, [shutil.which(name)])
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/{name}"), reverse=True))
    if uv := shutil.which("uv"):
        try:
            yield said(uv, "python", "find", "--no-python-downloads", version).strip()
        except FailedError:
            return


def found(version: str) -> str | None:
    """Give a Python of this version that can make environments, or None."""
    asked = "import ensurepip, sys, venv; print('{}.{}'.format(*sys.version_info))"
    for python in candidates(version):
        try:  # the name alone says nothing: pyenv has one that runs nothing for each it ever had
            if said(python, "-c", asked).strip() == version:
                return python
        except FailedError:
            continue
    return None


def agree(what: str, is_so: bool) -> None:
    """Fail if something is not so."""
    if not is_so:
        raise FailedError(f"not so: {what}")


def try_papers(papers: Path, bin_: Path, folder: Path) -> None:
    """Ask for what is in the wheel of the papers without it, and with it."""
    (folder / "case.toml").write_text('kind = "copyright"\n', encoding="utf-8")
    for words in (["reproduce", "--list"], ["scale"], ["audit", "case.toml"]):
        lacks = subprocess.run(
            [bin_ / "narcissus", *words], cwd=folder, capture_output=True, text=True, check=False
        )
        agree(
            f"without the papers `{words[0]}` names the package",
            "packages/narcissus-papers" in " ".join(lacks.stderr.split()),
        )
        agree("that is bad input", lacks.returncode == 2)
    said(bin_ / "python", "-m", "pip", "install", "-q", "--no-deps", papers)
    said(bin_ / "python", "-m", "pip", "check")
    made = said(bin_ / "narcissus-papers", "reproduce", "001", "--figure", "1", folder=folder)
    agree("a figure is made again", "001 figure 1" in made)


def try_wheel(wheel: Path, papers: Path, python: str, folder: Path) -> None:
    """Install the wheel into an environment of its own, and audit a table from an empty folder."""
    said(python, "-m", "venv", folder / "venv")
    bin_ = folder / "venv" / "bin"
    said(bin_ / "python", "-m", "pip", "install", "-q", wheel)
    said(bin_ / "python", "-m", "pip", "check")
    empty = folder / "empty"
    empty.mkdir()
    own = said(bin_ / "python", "-c", "import narcissus; print(narcissus.__file__)", folder=empty)
    agree("the package is the one in the environment", Path(own).is_relative_to(folder))
    agree("the wheel says that it is typed", (Path(own.strip()).parent / "py.typed").is_file())

    version = wheel.name.split("-")[1]
    command = bin_ / "narcissus"
    agree("the command has the version of the wheel", version in said(command, "--version"))
    said(command, "init", "--example", STUDY, folder=empty)
    said(command, "audit", f"{STUDY}.toml", "--yes", folder=empty)
    results = empty / "results" / STUDY
    record = json.loads((results / "record.json").read_text(encoding="utf-8"))
    report = (results / "report.html").read_text(encoding="utf-8")
    agree(
        "the record says by which version it was made", record["provenance"]["narcissus"] == version
    )
    agree(f"the threshold is {STATUS}: {record['verdict']}", record["status"] == STATUS)
    agree("the report is a page with the title", "</html>" in report and record["title"] in report)
    try_papers(papers, bin_, empty)


def main() -> int:
    """Build the wheel and try it on each Python."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    parser.add_argument("--python", choices=PYTHONS, action="append", help="only these, all there")
    given = parser.parse_args()
    try:
        wheel = build(given.out.resolve())
        papers = build(given.out.resolve(), PAPERS)
    except FailedError as error:
        print(f"the wheel cannot be built: {error}")
        return 1
    print(f"built {wheel} and {papers.name}", flush=True)
    worked, failed = 0, 0
    for version in given.python or PYTHONS:
        python = found(version)
        if python is None:
            print(
                f"Python {version}: {'missing' if given.python else 'skipped, not on this machine'}"
            )
            failed += bool(given.python)
            continue
        start = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="narcissus-wheel-") as folder:
                try_wheel(wheel, papers, python, Path(folder).resolve())
        except FailedError as error:
            failed += 1
            print(f"Python {version} ({python}): FAILED: {error}", flush=True)
        else:
            worked += 1
            print(
                f"Python {version} ({python}): works, {time.monotonic() - start:.0f} s", flush=True
            )
    return 0 if worked and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
