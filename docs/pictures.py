"""Draw docs/report.png, the first screen of the report that `make audit` leaves.

    python docs/pictures.py

A browser draws a kept record of that study. `pictures.json` keeps the text of that screen, and
the digest of the picture: a test compares both, so that no picture is left behind.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from narcissus.report import page_of, render_html
from narcissus.report.first_screen import markdown
from narcissus.study.reading import read_record

DOCS = Path(__file__).resolve().parent
KEPT = DOCS / "pictures.json"
RECORDS = {"report.png": "docs/records/affairs.json"}
"""Of each picture, the record that it shows, from the root of the project."""
SIZE = "1100,980"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def screen_of(picture: str) -> str:
    """Return the text of the first screen that a picture shows."""
    return markdown(page_of(read_record(DOCS.parent / RECORDS[picture])).first)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a picture."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def draw(picture: str, browser: str) -> None:
    """Draw a record's report with a browser, and keep the top of the page."""
    record = read_record(DOCS.parent / RECORDS[picture])
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(render_html(record), encoding="utf-8")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={folder}/profile", f"--window-size={SIZE}"]
        command += [f"--screenshot={DOCS / picture}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> int:
    """Draw every picture; return 1 where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"no browser: install one of {', '.join(BROWSERS)}", file=sys.stderr)
        return 1
    kept = {}
    for picture in RECORDS:
        draw(picture, browser)
        kept[picture] = {"sha256": digest_of(DOCS / picture), "screen": screen_of(picture)}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
