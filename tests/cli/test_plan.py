"""``narcissus plan``: the file it writes, and the page in a real browser, if there is one."""

import re
import time

import pytest

from narcissus.bounds import best, bounds_on, threat
from narcissus.guarantees import GaussianDP


def test_the_page_is_written(narcissus, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert narcissus("plan")[:2] == (0, "Page: plan.html\n")
    assert narcissus("plan", "--out", "other.html")[0] == 0
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert page == (tmp_path / "other.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "choose a file in a folder that exists" in refused("plan", "--out", "nowhere/plan.html")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    from narcissus.report.plan import plan_html

    path = tmp_path_factory.mktemp("page") / "plan.html"
    path.write_text(plan_html("1.0"), encoding="utf-8")
    return path.as_uri()


GAUSSIAN = "#kind=gaussian&mu=0.5&prior=0.3&people=50&most-advantage=0.2&most-people=20"


def test_a_link_holds_the_settings_and_the_answer_is_the_commands(browser, page, narcissus):
    browser.open(page + GAUSSIAN)
    browser.said.clear()
    proved = best(bounds_on(threat(prior=0.3, exact_match=True), GaussianDP(0.5))).value
    assert float(browser.text("success")) == pytest.approx(proved, abs=1.1e-6)
    words = browser.text("command").split()
    assert words[0] == "narcissus"
    code, out, _ = narcissus(*words[1:])
    assert code == 0
    assert browser.text("before") in out
    assert browser.text("single").partition(" Some")[0] in out
    number = re.search("at most ([0-9]+) of 50 people are reconstructed", out)[1]  # of all theorems
    assert int(browser.text("reached-number")) <= int(number) <= int(browser.text("at-most"))
    assert f"some mechanism with this guarantee reaches {browser.text('reached-number')} " in out
    assert browser.text("of-one-verdict") == "\u2713 Threshold met (proved)."
    assert browser.text("of-one-largest").startswith("The largest mu that keeps it is 0.6")
    # the settings go on in the address, and the link is that address
    link = browser.js("document.getElementById('link').href")
    assert link == browser.js("location.href")
    before = browser.text("count")
    browser.open(link)
    assert browser.text("count") == before
    assert browser.js("document.getElementById('mu').value") == "0.5"


def test_under_pure_dp_it_says_what_the_command_says(browser, page, narcissus):
    browser.open(f"{page}#epsilon=1&prior=0.1&people=100&most-people=10")
    code, out, _ = narcissus(*browser.text("command").split()[1:])
    assert code == 0
    for name in ("before", "count"):
        assert browser.text(name) in out
    for name in ("guarantee", "about-prior"):
        assert f"assuming {browser.text(name)}" in out
    assert browser.text("single").partition(" Some")[0] in out
    assert "above 0.23197 (23.2 of 100)." in out
    assert browser.text("of-count-verdict").startswith("\u00d7 Threshold not kept")
    browser.open(f"{page}#epsilon=1&prior=0.4&others=alike&values=3&people=10")
    code, out, _ = narcissus(*browser.text("command").split()[1:])
    assert code == 0
    assert browser.text("count") in out


def test_between_floor_and_bound_nothing_is_said_to_be_met_or_exceeded(browser, page):
    address = f"{page}#kind=gaussian&mu=0.5&prior=0.3&people=40&most-people="
    browser.open(address)
    assert browser.text("of-count-verdict").startswith("\u2022 No threshold")
    floor, bound = (int(browser.text(name)) for name in ("reached-number", "at-most"))
    assert floor < bound - 1
    for most, said in (
        (floor - 1, "\u00d7 Threshold not kept"),
        (floor, "~ Not shown"),
        (bound - 1, "~ Not shown"),
        (bound, "\u2713 Threshold met (proved)"),
    ):
        browser.open(f"{address}{most}")
        assert browser.text("of-count-verdict").startswith(said), most


def test_what_is_wrong_is_said_beside_it_and_no_number_is_shown(browser, page):
    browser.open(f"{page}#epsilon=-1&kind=pure&people=2.5&<b>=1&others=nothing")
    assert browser.text("epsilon-wrong") == "Give a number from 0 to 20."
    assert browser.text("people-wrong") == "Give a whole number."
    assert browser.js("document.getElementById('epsilon').getAttribute('aria-invalid')") == "true"
    assert browser.js("[...document.querySelectorAll('.answer')].every((part) => part.hidden)")
    assert browser.js("document.getElementById('others').value") == "unknown"
    browser.open(f"{page}#others=alike&values=3&prior=0.2")
    assert "give more values or a better guess" in browser.text("values-wrong")
    browser.open(f"{page}#others=alike&values=3&prior=0.3333")  # a third, as one would type it
    assert browser.text("values-wrong") == ""
    assert "probability 0.333333 " in browser.text("before")


def test_the_keyboard_reaches_everything_in_order_and_moves_it(browser, page):
    browser.open(page)
    visited = []
    for _ in range(18):
        browser.press("Tab", 9)
        visited.append(browser.js(
            "(document.activeElement.id || document.activeElement.dataset.of || "
            "document.activeElement.className || document.activeElement.tagName)"
        ))  # fmt: skip
    assert visited[:15] == [
        "skip", "secret", "kind", "epsilon", "epsilon", "prior", "prior", "others", "people",
        "people", "confidence", "confidence", "most-advantage", "most-people", "link",
    ]  # fmt: skip
    before = browser.text("success")
    browser.js("document.querySelector('[data-of=epsilon]').focus()")
    browser.press("ArrowRight", 39)
    assert float(browser.js("document.getElementById('epsilon').value")) == pytest.approx(1.05)
    assert float(browser.text("success")) > float(before)
    assert "epsilon=1.05" in browser.js("location.hash")
    browser.js("document.getElementById('kind').focus()")
    browser.press("ArrowDown", 40)
    assert browser.js("document.getElementById('mu').checkVisibility()")
    assert not browser.js("document.getElementById('epsilon').checkVisibility()")


def test_a_screen_reader_finds_names_and_hears_the_answer(browser, page):
    browser.open(page + GAUSSIAN)
    nodes = browser("Accessibility.getFullAXTree")["nodes"]
    moved = {
        node["name"]["value"]: node["role"]["value"]
        for node in nodes
        if node.get("role", {}).get("value") in ("spinbutton", "slider", "combobox", "textbox")
    }
    assert moved["Mu"] == "spinbutton"
    assert moved["Mu, slider"] == "slider"
    assert moved["Guarantee"] == "combobox"
    assert len(moved) == 13  # what is hidden is not read
    assert "" not in moved
    end = time.monotonic() + 10
    while "No attacker" not in browser.text("said"):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert browser.text("count") in browser.text("said")


CONTRASTS = """(() => {
  const rgb = (css) => css.match(/[\\d.]+/g).map(Number);
  const light = (css) => rgb(css).slice(0, 3).map((c) => c / 255).map(
    (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  ).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    while (rgb(getComputedStyle(e).backgroundColor)[3] === 0) e = e.parentElement;
    return getComputedStyle(e).backgroundColor;
  };
  return [...document.querySelectorAll('body *')].filter(
    (e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())
  ).map((e) => {
    const [one, other] = [getComputedStyle(e).color, behind(e)].map(light).sort((a, b) => b - a);
    return [e.id || e.tagName, (one + 0.05) / (other + 0.05)];
  });
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_that_is_read_has_contrast_and_fits_a_phone(browser, page, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser("Emulation.setEmulatedMedia", features=features)
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser("Emulation.setDeviceMetricsOverride", **size)
    browser.open(page + GAUSSIAN + "&confidence=2")
    with_error = browser.js(CONTRASTS)
    browser.open(page + GAUSSIAN)
    found = with_error + browser.js(CONTRASTS)
    assert len(found) > 60
    assert [(name, ratio) for name, ratio in found if ratio < 4.5] == []
    assert browser.js("document.documentElement.scrollWidth") <= 360
    browser("Emulation.clearDeviceMetricsOverride")


def test_nothing_is_asked_for_or_complained_about(browser, page):
    browser.said.clear()
    browser.open(page + GAUSSIAN)
    browser.js("document.getElementById('mu').focus()")
    browser.press("ArrowUp", 38)
    asked = [
        m["params"]["request"]["url"]
        for m in browser.said
        if m["method"] == "Network.requestWillBeSent"
    ]
    assert {url.partition("#")[0] for url in asked} <= {page, "about:blank"}
    wrong = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
    assert [m for m in browser.said if m["method"] in wrong] == []


def test_the_page_asks_what_it_was_told_to(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chosen = re.compile(r'<option value="(value|membership)" selected>')
    for more, asked in (((), "value"), (("--secret", "membership"), "membership")):
        assert narcissus("plan", *more)[0] == 0
        assert chosen.findall((tmp_path / "plan.html").read_text(encoding="utf-8")) == [asked]
    assert narcissus("plan", "--secret", "both")[0] == 2


def test_membership_has_two_values(browser, page, narcissus):
    browser.open(page + "#secret=membership&kind=gaussian&mu=0.5&prior=0.6&people=1")
    proved = best(bounds_on(threat(values=[0.6, 0.4]), GaussianDP(0.5))).value
    assert float(browser.text("success")) == pytest.approx(proved, abs=1.1e-6)
    assert "whether a person's record is in the data" in browser.text("question")
    assert "--secret membership" in browser.text("command")
