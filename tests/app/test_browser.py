"""The page in a real browser, from an empty folder to a report; at night, and by `make axe`.

Skipped where there is no Chromium; what axe-core finds, where ``make axe`` has not fetched it.
"""

import os
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from narcissus.study.shipped import FOLDER

pytestmark = pytest.mark.nightly
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
AXE = EXAMPLES.parent / "build" / "axe.min.js"
STEPS = ("table", "attacker", "release", "threshold", "run", "reports")
FOUND = """axe.run(document, {resultTypes: ['violations']}).then((found) =>
  found.violations.map((one) => [one.id, one.nodes.length, one.nodes[0].html]))"""
CONTROLS = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter((e) => e.checkVisibility() && !e.disabled && e.type !== 'hidden' && e.type !== 'radio')"""


@pytest.fixture
def page(browser, served):
    """A browser in which the page is open; it says what the console held against it."""

    def there(script):
        try:
            return browser.js(script)
        except AssertionError:  # the page is about to become another
            return False

    def wait(script, seconds=120):
        end = time.monotonic() + seconds
        while not there(script):
            assert time.monotonic() < end, (script, browser.js("document.body.innerText"))
            time.sleep(0.1)

    def enter():
        browser.open(served.address)
        wait("location.search === '' && document.readyState === 'complete'")
        wait("document.querySelector('h1') !== null")
        browser.place = browser.js("location.pathname.split('/')[1]")

    browser.wait, browser.enter = wait, enter
    browser.to = lambda path: browser.open(f"{served.address.split('/?')[0]}/{browser.place}{path}")
    browser.said.clear()
    enter()
    yield browser
    browser("Emulation.clearDeviceMetricsOverride")
    browser("Emulation.setEmulatedMedia", media="", features=[])
    wrong = [one for one in browser.said if one.get("method") == "Log.entryAdded"]
    wrong = [one["params"]["entry"]["text"] for one in wrong]
    assert [one for one in wrong if "net::ERR_" not in one and "status of 4" not in one] == []


def upload(page, path, form="table"):
    node = page("DOM.getDocument")["root"]["nodeId"]
    place = f"[data-drop^={form}] input"
    found = page("DOM.querySelector", nodeId=node, selector=place)["nodeId"]
    page("DOM.setFileInputFiles", nodeId=found, files=[str(path)])


def press(page, text):
    """Press a button by its text, and wait for the next page."""
    page.js("window.old = true")
    page.js(
        f"[...document.querySelectorAll('button')].find((e) => e.innerText === {text!r}).click()"
    )
    page.wait("document.readyState === 'complete' && !window.old")


def to_the_run(page, path):
    upload(page, path)
    page.wait("document.querySelector('#table').value !== ''")
    press(page, "Look at the table")
    for _ in range(4):
        press(page, "Save, and go on")


def test_from_an_empty_folder_to_a_report(page, served, tmp_path):
    source = tmp_path / "people.csv"
    shutil.copy(FOLDER / "invented_people.csv", source)
    to_the_run(page, source)
    assert page.js("document.querySelector('h1').innerText").startswith("Run")
    page.js("document.querySelector('#trials').value = 2000")
    press(page, "Save")
    press(page, "Estimate time and memory")
    assert "GB of memory" in page.js("document.body.innerText")
    press(page, "Start")
    page.wait("document.querySelector('#bar')?.value > 0")  # moves by itself
    served.kill()
    page.wait("document.querySelector('#told').innerText.includes('has ended')")
    served.start()
    page.enter()
    page.to("/study/people/run")
    page.wait("document.querySelector('h2').innerText === 'Running'")
    press(page, "Stop the run")
    page.wait("document.querySelector('h2').innerText === 'Stopped'")
    page.js("document.querySelector('#trials').value = 5")
    press(page, "Save")
    press(page, "Estimate time and memory")
    press(page, "Start")
    page.wait("document.querySelector('h2').innerText === 'Finished'")
    page.to("/study/people/reports")
    assert page.js("document.querySelectorAll('article').length") == 1
    page.open(page.js("document.querySelector('article a').href"))
    assert page.js("document.querySelector('#verdict') !== null && self.origin") == "null"
    assert (served.root / "uploads" / "people.csv").read_bytes() == source.read_bytes()
    for step in ("/", *(f"/study/people/{step}" for step in STEPS)):
        page.to(step)
        look_at(page)


def test_scores_of_a_model_from_an_upload_to_a_report(page, served):
    upload(page, EXAMPLES / "membership" / "shadows.npz", "scores")
    page.wait("document.querySelector('#scores').value === 'uploads/shadows.npz'")
    assert page.js("document.querySelector('#table').value") == ""
    press(page, "Look at the scores")
    page.to("/study/shadows/threshold")
    page.js("document.querySelector('#tpr').value = 5")
    page.js("document.querySelector('#tpr').dispatchEvent(new Event('input')); 0")
    assert "at most 5 of 100 members" in page.js("document.querySelector('#means-tpr').value")
    press(page, "Save, and go on")
    press(page, "Estimate time and memory")
    press(page, "Start")
    page.wait("document.querySelector('h2').innerText === 'Finished'")
    for step in ("/", *(f"/study/shadows/{step}" for step in STEPS)):
        page.to(step)
        look_at(page)
    page("Emulation.setDeviceMetricsOverride", width=1400, height=844, deviceScaleFactor=1,
         mobile=False)  # fmt: skip
    tops = "[...document.querySelectorAll('.steps li')].map((e) => e.getBoundingClientRect().top)"
    assert len(set(page.js(tops))) == 1  # the steps stand in one line


def test_files_of_a_synthetic_study_are_dropped_one_after_another(page, served, tmp_path):
    page.js("document.querySelector('summary').click()")
    for field in ("table", "synthetic", "control"):
        shutil.copy(FOLDER / "invented_people.csv", tmp_path / f"{field} ä.csv")
        upload(page, tmp_path / f"{field} ä.csv")
        page.wait(f"document.querySelector('#{field}').value === 'uploads/{field} ä.csv'")
    press(page, "Look at the table")
    assert page.js("document.querySelector('h1').innerText").startswith("The table")
    page.to("/study/synthetic-ä/release")
    look_at(page)


def look_at(page):
    """Ask axe-core, the tab key, and a phone, on the page that is open."""
    for width, scheme in ((360, "dark"), (640, "light"), (1400, "light"), (1400, "dark")):
        page(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        # 1280 pixels at 200% are 640
        page("Emulation.setDeviceMetricsOverride", width=width, height=844,
             deviceScaleFactor=2 if width == 640 else 1, mobile=width == 360)  # fmt: skip
        assert page.js("document.documentElement.scrollWidth") <= width
        if AXE.exists():
            page.js(AXE.read_text(encoding="utf-8") + "; 0")
            assert page.js(FOUND) == [], (width, scheme, page.js("location.pathname"))
    count = page.js(f"{CONTROLS}.length")
    page.js(f"window.left = new Set({CONTROLS}); document.activeElement.blur(); 0")
    for _ in range(count + 60):
        page.press("Tab", 9)
        page.js("window.left.delete(document.activeElement); 0")
    assert page.js("[...window.left].map((e) => e.outerHTML.slice(0, 200))") == []


def test_two_tabs_and_the_back_button(page, served, tmp_path):
    shutil.copy(FOLDER / "invented_people.csv", served.root / "people.csv")
    page.to("/")
    page.js("document.querySelector('#table').value = 'people.csv'")
    press(page, "Look at the table")
    page.to("/study/people/threshold")
    page.js("document.querySelector('#advantage').value = 5")
    page.js("document.querySelector('#advantage').dispatchEvent(new Event('input')); 0")
    assert "at most 5% of the gap" in page.js("document.querySelector('#means-advantage').value")
    press(page, "Save, and go on")
    page.js("history.back()")
    page.wait("document.querySelector('#advantage')?.value === '5'")
    time.sleep(1)  # it may be asked for anew
    page.wait("document.readyState === 'complete'")
    text = (served.root / "people.toml").read_text()
    (served.root / "people.toml").write_text(text.replace("seed = 1", "seed = 2"))  # another tab
    page.js("document.querySelector('#advantage').value = 9")
    press(page, "Save")
    assert "changed elsewhere" in page.text("error")
    assert "seed = 2" in page.js("document.querySelector('#text').value")


@pytest.mark.parametrize(
    ("name", "content"), [("x.csv", b""), ("x.exe", b"MZ"), ("x.csv", b"\0\1"), ("x.parquet", b"P")]
)
def test_a_wrong_file_is_told(page, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    upload(page, tmp_path / name)
    page.wait("document.querySelector('[role=status]').innerText !== ''")
    if name == "x.exe":
        page.wait(
            "document.querySelector('[role=status]').innerText.includes('no name of a table')"
        )
        return
    page.wait("document.querySelector('#table').value !== ''")
    press(page, "Look at the table")
    assert name in page.text("error")
    assert page.js("document.activeElement.id") == "error"  # a reader of the screen hears it


def test_a_table_of_a_million_rows(page, served, tmp_path):
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, n, 10**6) for n in (90, 2, 5, 7, 4)]
    table = tmp_path / "large.csv"
    np.savetxt(table, np.stack(columns, 1), "%d", ",", header="age,sex,region,job,ill", comments="")
    began = time.monotonic()
    to_the_run(page, table)
    assert (served.root / "uploads" / "large.csv").stat().st_size == table.stat().st_size
    press(page, "Estimate time and memory")
    assert "This takes about" in page.js("document.body.innerText")
    print(f"a million rows: {time.monotonic() - began:.0f} s from upload to estimate")


def test_nothing_is_asked_of_others(page, served):
    asked = {re.match(r"\w+://[^/]*", one["params"]["request"]["url"])[0] for one in page.said
             if one.get("method") == "Network.requestWillBeSent"}  # fmt: skip
    assert asked == {served.address.split("/?")[0]}
    assert os.listdir(served.root) == []
