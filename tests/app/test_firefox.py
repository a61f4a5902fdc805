"""The page in Firefox, which is spoken to by its own protocol (Marionette); at night."""

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from narcissus.study.shipped import FOLDER

pytestmark = pytest.mark.nightly
AXE = Path(__file__).resolve().parents[2] / "build" / "axe.min.js"
STEPS = ("table", "attacker", "release", "threshold", "run", "reports")
FOUND = """;const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(
  (found) => done(found.violations.map((one) => [one.id, one.nodes[0].html])));"""


class Firefox:
    """A browser without a window, with a profile of its own."""

    def __init__(self, program, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (folder / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
        words = [program, "--headless", "--marionette", "--profile", str(folder), "about:blank"]
        self.child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.1)
        self.said, self.number = self.socket.makefile("rb"), 0
        self.read()
        self("NewSession", capabilities={})

    def read(self):
        size = b""
        while (letter := self.said.read(1)) != b":":
            size += letter
        return json.loads(self.said.read(int(size)))

    def __call__(self, command, **params):
        self.number += 1
        asked = json.dumps([0, self.number, f"WebDriver:{command}", params]).encode()
        self.socket.sendall(b"%d:%b" % (len(asked), asked))
        _, _, error, found = self.read()
        assert error is None, error
        return found

    def js(self, expression):
        return self("ExecuteScript", script=f"return {expression}", args=[])["value"]

    def wait(self, expression):
        end = time.monotonic() + 120
        while True:
            try:
                if self.js(expression):
                    return
            except AssertionError:  # the page is about to become another
                pass
            assert time.monotonic() < end, expression
            time.sleep(0.1)

    def press(self, text):
        self.js("window.old = true")
        found = f"[...document.querySelectorAll('button')].find((e) => e.innerText === {text!r})"
        self.js(f"{found}.click()")
        self.wait("document.readyState === 'complete' && !window.old")

    def close(self):
        self.said.close()
        self.socket.close()
        self.child.kill()
        self.child.wait()


@pytest.fixture
def firefox(tmp_path):
    program = shutil.which("firefox") or shutil.which("firefox-esr")
    if program is None:
        pytest.skip("no Firefox is installed")
    (tmp_path / "profile").mkdir()
    found = Firefox(program, tmp_path / "profile")
    yield found
    found.close()


def test_from_a_table_to_a_report(firefox, served):
    shutil.copy(FOLDER / "invented_people.csv", served.root / "people.csv")
    firefox("Navigate", url=served.address)
    firefox.wait("location.search === '' && document.querySelector('h1')")
    firefox.js("document.querySelector('#table').value = 'people.csv'")
    firefox.press("Look at the table")
    for _ in range(4):
        firefox.press("Save, and go on")
    firefox.js("document.querySelector('#trials').value = 3")
    for button in ("Save", "Estimate time and memory", "Start"):
        firefox.press(button)
    firefox.wait("document.querySelector('h2').innerText === 'Finished'")
    place = firefox.js("location.href").rpartition("/")[0]
    for step in STEPS:
        firefox("Navigate", url=f"{place}/{step}")
        assert firefox.js("document.documentElement.scrollWidth <= innerWidth")
        if AXE.exists():
            script = AXE.read_text(encoding="utf-8") + FOUND
            assert firefox("ExecuteAsyncScript", script=script, args=[])["value"] == [], step
    firefox("Navigate", url=firefox.js("document.querySelector('article a').href"))
    assert firefox.js("document.querySelector('#verdict') && self.origin") == "null"
