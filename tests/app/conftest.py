"""A page over a folder of its own, asked as a browser asks it."""

import contextlib
import html
import json
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette", reason="the extra `app` is not installed")
from starlette.testclient import TestClient

from narcissus.app import pages, work
from narcissus.app.guard import Guard, Keys
from narcissus.app.pages import EXAMPLE, Pages
from narcissus.errors import InputError, NarcissusError
from narcissus.study.shipped import FOLDER


class Visitor:
    """A browser with the key of one server."""

    def __init__(self, root):
        self.root, self.keys = root, Keys(8000)
        self.pages = Pages(root, self.keys.root)
        self.guarded = Guard(self.pages.app(), self.keys)
        self.client = self.browser()
        assert self.client.get("/", params={"key": self.keys.address}).status_code == 200
        self.last = None

    def browser(self, **headers):
        origin = f"http://{self.keys.host}"
        return TestClient(self.guarded, base_url=origin, headers={"origin": origin, **headers})

    def get(self, path):
        self.last = self.client.get(self.keys.root + path)
        return self.last

    def post(self, path, fields=None, **more):
        fields = {"base": self.base, **(fields or {}), **more}
        self.last = self.client.post(self.keys.root + path, data=fields)
        return self.last

    @property
    def base(self):
        found = self.last and re.search(r'name="base" value="(\w+)"', self.last.text)
        return found[1] if found else ""

    @property
    def error(self):
        found = re.search(r'role="alert".*?</h2>(.*?)</div>', self.last.text, re.S)
        return html.unescape(re.sub(r"<[^>]+>", "", found[1])).strip() if found else ""

    def text(self, name="people"):
        return (self.root / f"{name}.toml").read_text(encoding="utf-8")

    def fields(self, path):
        """Give what the form of a page would send, unchanged."""
        return fields_of(self.get(path).text)

    def until(self, *states, study="people"):
        """Wait until the last run of a study is in one of some states."""
        end = time.monotonic() + 120
        while (now := self.pages.jobs.state(self.pages.jobs.last(study))).name not in states:
            assert time.monotonic() < end, now
            time.sleep(0.05)
        return now


def fields_of(page):
    """Read the fields of the last form before the study file, as a browser would send them."""
    from html.parser import HTMLParser

    class Reader(HTMLParser):
        def __init__(self):
            super().__init__()
            self.forms, self.select, self.area = [], None, None

        def handle_starttag(self, tag, attrs):
            at = dict(attrs)
            if tag == "form":
                self.forms.append((at, []))
            elif tag == "input" and self.forms and "name" in at:
                if at.get("type") not in ("checkbox", "radio") or "checked" in at:
                    self.forms[-1][1].append((at["name"], at.get("value", "")))
            elif tag == "select":
                self.select = at["name"]
            elif tag == "option" and "selected" in at and self.select:
                self.forms[-1][1].append((self.select, at["value"]))
            elif tag == "textarea":
                self.area = [at["name"], ""]

        def handle_endtag(self, tag):
            if tag == "select":
                self.select = None
            elif tag == "textarea":
                self.forms[-1][1].append((self.area[0], self.area[1].removeprefix("\n")))
                self.area = None

        def handle_data(self, data):
            if self.area:
                self.area[1] += data

    reader = Reader()
    reader.feed(page)
    mine = [f for at, f in reader.forms if at.get("method") == "post" and "text" not in dict(f)]
    mine.sort(key=len)
    found = {}
    for name, value in mine[-1] if mine else []:
        found.setdefault(name, []).append(value)
    return found


SEEN = {}


def worked_here(root, what, *arguments):
    """Do in this process what a page has done in one of its own, and once what reads the same.

    A plan may read any file, and what an earlier run left: it is done once before the first run.
    """
    names = arguments
    if what == "plan":  # the other argument is where its runs are
        names = () if (root / "results").exists() else sorted(p.name for p in root.iterdir())
    read = [(root / name).read_bytes() for name in names if (root / name).is_file()]
    stamp = (what, *arguments[:1], *names, *read)
    if not read or stamp not in SEEN:
        with contextlib.chdir(root):
            try:
                SEEN[stamp] = json.loads(json.dumps(work.WORK[what](*arguments)))
            except (NarcissusError, OSError) as error:
                raise InputError(str(error)) from error
    return SEEN[stamp]


@pytest.fixture
def visitor(tmp_path, monkeypatch):
    """A page over a folder with the example table, `people.csv`; its runs end with the test."""
    monkeypatch.setattr(pages, "worked", worked_here)
    root = (tmp_path / "opened").resolve()
    root.mkdir(mode=0o700)
    shutil.copyfile(FOLDER / EXAMPLE, root / "people.csv")
    found = Visitor(root)
    yield found
    if (going := found.pages.jobs.running()) is not None:
        found.pages.jobs.stop(going[1])
        found.until("stopped", "finished", "failed", study=going[0])
    for child in [*found.pages.jobs._started.values()]:
        child.wait(60)


STUDY = """\
# Of an example.
[data]
path = "people.csv"
bins.age = { width = 10 } # of years

[threat]
# Chosen by its name.
unknown = ["income"]
targets = 20

[mechanism]
k = 1
epsilon = [1, 10]
delta = 1e-5

[run]
trials = 3
seed = 1
"""


@pytest.fixture
def people(visitor):
    """The same, with a quick study of that table."""
    (visitor.root / "people.toml").write_text(STUDY)
    visitor.get("/study/people/run")
    return visitor


class Served:
    """A server of one folder, which can be killed and started again."""

    def __init__(self, root):
        self.root, self.child = root, None
        self.start()

    def start(self):
        words = [sys.executable, "-m", "narcissus", "app", str(self.root), "--no-browser"]
        self.child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.address = self.child.stdout.readline().split()[1]

    def kill(self, number=signal.SIGKILL):
        self.child.send_signal(number)
        self.child.communicate()


@pytest.fixture
def served(tmp_path):
    found = Served(tmp_path / "opened")
    yield found
    found.kill(signal.SIGTERM)
