"""What `mkdocs build` does to these pages beyond Markdown; `mkdocs.yml` names it as its hook.

Pages that lie outside this folder come along, with the links to them; every public name of the
reference leads to its whole docstring; and a site that would load anything from another host, or
lets a browser do so, is an error.
"""

from __future__ import annotations

import posixpath
import re
import runpy
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

PDFS = {
    "explanation/errata.md": ("../errata.pdf", "The errata in full: a PDF"),
    "explanation/theory.md": ("../theory.pdf", "The theory as an article: a PDF"),
}
NAMES = "reference/names.md"
BESIDE = "project"
"""Where pages from outside this folder are on the site."""
ROOMS = runpy.run_path(str(DOCS / "build.py"))["rooms"]
OUTSIDE = (
    *("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md"),
    "examples/data/README.md",
    "packages/narcissus-papers/README.md",
)
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)]*)?\))")
FILE = re.compile(r"^(```\w+) (\S+\.\w+)$", re.MULTILINE)
ROOM = re.compile(r"^## (\S+)$", re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
ELSEWHERE = re.compile(r"^\s*(?:https?:)?//")
IN_STYLE = re.compile(r"(?:@import|url\()\s*[\"']?\s*((?:https?:)?//[^\s\"')]+)")
POLICY = "Content-Security-Policy"


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside, and one for each room of the package."""
    from mkdocs.structure.files import File, InclusionLevel

    aside = InclusionLevel.NOT_IN_NAV
    for path in OUTSIDE:
        here = f"{BESIDE}/{path}"
        files.append(File.generated(config, here, abs_src_path=str(ROOT / path), inclusion=aside))
    for room, _, public in ROOMS():
        text = "".join(f"::: {module}.{name}\n\n" for module, name in public.values())
        made = File.generated(config, page_of(room), content=f"# {room}\n\n{text}", inclusion=aside)
        files.append(made)
    return files


def on_config(config: Any) -> Any:
    """Put the rooms of the package next to the page of public names."""
    [reference] = [part["Reference"] for part in config.nav if "Reference" in part]
    reference.append({"Rooms": [{room: page_of(room)} for room, _, _ in ROOMS()]})
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links as they are in the repository into those of the site."""
    here = page.file.src_uri
    text = FILE.sub(r'\1 title="\2"', markdown)  # a code block with the name of its file
    if here in PDFS:  # `make site` lays them there
        text += f'\n<p><a href="{PDFS[here][0]}">{PDFS[here][1]}</a></p>\n'
    return named(text) if here == NAMES else linked(text, here)


def on_post_build(config: Any) -> None:
    """Look at every page and style of the site for what is loaded from elsewhere."""
    from mkdocs.exceptions import PluginError

    found = list(slips(Path(config.site_dir)))
    if found:
        raise PluginError("the site asks other hosts:\n" + "\n".join(found))


def page_of(room: str) -> str:
    """Give the page that holds the docstrings of a room, next to that of the names."""
    return f"reference/{room}.md"


def named(markdown: str) -> str:
    """Let each room and each name of the reference lead to its docstring."""
    parts = ROOM.split(markdown)
    said = parts[:1]
    places = {room: public for room, _, public in ROOMS()}
    for room, rows in zip(parts[1::2], parts[2::2], strict=True):
        page, public = posixpath.basename(page_of(room)), places[room]
        said += [
            f"## [{room}]({page})",
            ROW.sub(lambda r: f"| [`{r[1]}`]({page}#{'.'.join(public[r[1]])}) |", rows),  # noqa: B023
        ]
    return "".join(said)


def linked(markdown: str, here: str) -> str:
    """Give a page with its links, which are those of the repository, as the site has them.

    >>> linked("[safety](../SECURITY.md#scope)", "security.md")
    '[safety](project/SECURITY.md#scope)'
    >>> linked("[rules](docs/develop/developing.md)", "project/CONTRIBUTING.md")
    '[rules](../develop/developing.md)'
    """
    is_outside = here.startswith(f"{BESIDE}/")
    source = here.removeprefix(f"{BESIDE}/") if is_outside else f"docs/{here}"

    def link(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[2]))
        there = target.removeprefix("docs/") if target.startswith("docs/") else f"{BESIDE}/{target}"
        return found[1] + posixpath.relpath(there, posixpath.dirname(here) or ".") + found[3]

    return LINK.sub(link, markdown)


class _Loads(HTMLParser):
    """Collects what a page loads from elsewhere, and whether it has a policy."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.has_policy = False
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at the attributes of a tag; a link that a reader follows loads nothing."""
        given = {name: value or "" for name, value in attrs}
        self.has_policy |= given.get("http-equiv") == POLICY
        self.in_style = tag == "style"
        if tag == "a" or given.get("rel") in ("canonical", "alternate"):
            return
        for name in ("src", "srcset", "href", "xlink:href", "data", "poster", "action"):
            if ELSEWHERE.match(given.get(name, "")):
                self.found.append(f"<{tag} {name}={given[name]}>")
        self.found += IN_STYLE.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Look at the styles within a page."""
        self.found += IN_STYLE.findall(data) if self.in_style else []


def slips(site: Path) -> Iterator[str]:
    """Yield what a built site would load from other hosts, and pages without a policy."""
    for path in sorted(site.rglob("*.html")):
        page = _Loads()
        page.feed(path.read_text(encoding="utf-8"))
        name = path.relative_to(site).as_posix()
        yield from (f"{name}: {what}" for what in page.found)
        if not page.has_policy:
            yield f"{name}: no {POLICY}"
    for path in sorted(site.rglob("*.css")):
        for what in IN_STYLE.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site).as_posix()}: {what}"
