"""Make PDFs: errata.pdf, of docs/theory/errata.md by Pandoc and Typst, and theory.pdf, the article.

python docs/paper/make.py [--out FOLDER] [--only errata|theory] [--pages FOLDER]
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent
ROOT = DOCS.parent
PAPERS = ("errata", "theory")


LETTERS = {"eps": "ε", "delta": "δ", "alpha": "α", "beta": "β", "gamma": "γ", "theta": "θ"}
LETTERS |= {
    "Theta": "Θ",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "xi": "ξ",
    "tau": "τ",
    "Omega": "Ω",
}
NAMES = re.compile(rf"(?<![A-Za-z_\\])({'|'.join(LETTERS)})(?![A-Za-z]|_protect)")
FENCED = re.compile(r"(```.*?```)", flags=re.S)
FORMULA = re.compile(r"`[^`\n]+`|^    .*$", flags=re.M)
TABLE = re.compile(r"(?:^\|.*\n)+", flags=re.M)
SHORT = 34  # letters of a column that is as wide as its longest cell


def of_release() -> tuple[str, str]:
    """Give the version of the sources, and the day on which it was released, or today."""
    source = (ROOT / "src" / "narcissus" / "_version.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', source)
    assert found is not None
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    day = re.search(rf"^## {re.escape(found[1])}.*?(\d{{4}}-\d\d-\d\d)", log, flags=re.M)
    return found[1], day[1] if day else datetime.now(UTC).date().isoformat()


def in_signs(formula: re.Match[str]) -> str:
    """Write a formula's words as signs."""
    text = formula[0].replace("<=", "≤").replace(">=", "≥").replace("!=", "≠")
    return re.sub(r"(?<!\\)\bsum(?=[_ ])", "Σ", re.sub(r"\bint(?=[_ ])", "∫", text))


def for_print(page: str) -> str:
    """Greek letters and signs outside what programs print; no links to other pages."""
    pieces = FENCED.split(page)
    for i in range(0, len(pieces), 2):
        text = re.sub(r"\[([^\]]+)\]\((?!http)[^)]+\)", r"\1", pieces[i])
        text = FORMULA.sub(in_signs, text)
        text = NAMES.sub(lambda name: LETTERS[name[1]], text)
        pieces[i] = re.sub(r"^#(?=#)", "", text, flags=re.M)  # the title is set apart
    return "".join(pieces)


def columns(table: str) -> str:
    """Give the widths of a table's columns: short ones their own, the others by their words."""
    rows = [line.strip("|").split(" | ") for line in table.splitlines() if set(line) - set("|-")]
    longest = [max(len(cell.strip()) for cell in cells) for cells in zip(*rows, strict=True)]
    many = len(longest) < 4  # four columns share the page
    return ", ".join("auto" if many and n <= SHORT else f"{n**0.5:.1f}fr" for n in longest)


def source() -> str:
    """Give the page in Typst's language."""
    import pypandoc

    page = (DOCS / "theory" / "errata.md").read_text(encoding="utf-8")
    title, _, text = page.removeprefix("# ").partition("\n")
    body = pypandoc.convert_text(for_print(text), "typst", format="gfm", extra_args=["--wrap=none"])
    widths = iter([columns(table) for table in TABLE.findall(text)])
    body = re.sub(r"columns: [^\n]+,\n", lambda _: f"columns: ({next(widths)}),\n", body)
    body = re.sub(r"align: \([^)]*\),", "align: left,", body)
    template = (HERE / "paper.typ").read_text(encoding="utf-8")
    version, day = of_release()
    for name, value in (("title", title), ("version", version), ("date", day), ("body", body)):
        template = template.replace(f"${name}$", value)
    return template


def made(name: str, out: Path, **how: Any) -> None:
    """Write one of the two, as a PDF or as pictures of its pages."""
    import typst

    version, day = of_release()
    inputs = {"version": version, "date": day}
    if name == "theory":
        inputs["numbers"] = json.dumps(runpy.run_path(str(HERE / "article.py"))["computed"]())
        typst.compile(HERE / "theory.typ", output=out, sys_inputs=inputs, **how)
    else:
        typst.compile(source().encode("utf-8"), output=out, **how)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--out", type=Path, default=ROOT / "build")
    asked.add_argument("--only", choices=PAPERS)
    asked.add_argument("--pages", type=Path, help="write pictures of the pages there instead")
    options = asked.parse_args()
    folder = options.pages or options.out
    folder.mkdir(parents=True, exist_ok=True)
    for name in (options.only,) if options.only else PAPERS:
        if options.pages:
            made(name, folder / f"{name}-{{n}}.png", format="png", ppi=80.0)
        else:
            made(name, folder / f"{name}.pdf")


if __name__ == "__main__":
    main()
