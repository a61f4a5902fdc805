"""The page to plan with: its script's numbers are the library's; it is well formed and closed."""

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest
from scipy import optimize

from narcissus._outwards import lower, upper
from narcissus.bounds import (
    Limit,
    at_most,
    best,
    bounds_on,
    domination,
    interpolation,
    interpolation_tails,
    largest_epsilon,
    largest_mu,
    reached_number,
    reached_tails,
    threat,
)
from narcissus.bounds.one_target import profile_cost
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.report.plan import plan_html, plan_script

PRIORS = [(0.5, None), (0.5, 2), (0.3, None), (0.1, None), (0.9, 10), (0.2, 5), (0.002, 500),
          (0.5, 500), (0.334, 3), (0.999, 2)]  # fmt: skip
EVERY = pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.nightly)])
STRENGTHS = {"pure": (0, 0.01, 0.5, 1, 3, 8, 20), "gaussian": (0, 0.01, 0.2, 0.5, 1, 2, 5, 10)}


def in_node(expression):
    """Run the page's script, without a page, and give the value of an expression."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node, which runs the page's script, is not installed")
    said = subprocess.run(
        [node, "-e", f"{plan_script()}\nconsole.log(JSON.stringify({expression}))"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return json.loads(said.stdout)


def answers(settings):
    """Give the page's answers, and beside each the setting as the library has it."""
    plain = {"n": 1, "confidence": 0.95, "mostAdvantage": None, "mostPeople": None}
    asked = [plain | setting for setting in settings]
    found = in_node(f"{json.dumps(asked)}.map(answer)")
    return [(*of(**q), q, a) for q, a in zip(asked, found, strict=True)]


def of(*, kind, strength, p, values, n, **_):
    guarantee = PureDP(strength) if kind == "pure" else GaussianDP(strength)
    if values is None:
        return threat(prior=p, exact_match=True, targets=n), guarantee
    row = [p, *[(1 - p) / (values - 1)] * (values - 1)]
    return threat(values=row, targets=n), guarantee


@EVERY
def test_one_person_has_the_librarys_success(every):
    grid = [
        {"kind": kind, "strength": s, "p": p, "values": v}
        for kind, strengths in STRENGTHS.items()
        for s, (p, v) in product(strengths, PRIORS)
    ]
    for danger, guarantee, q, a in answers(grid[::every]):
        proved = best(bounds_on(danger, guarantee, expensive=False)).value
        assert a["success"] == pytest.approx(proved, rel=2e-6), q
        assert a["success"] <= proved * (1 + 1e-9), q  # the search goes as far as the library's
        floor = reached_tails(danger.values, guarantee, repeats=[1])[
            1
        ]  # the page has that law alone
        assert a["reachedSuccess"] == pytest.approx(floor, rel=1e-9), q
        assert a["reachedSuccess"] <= a["success"] * (1 + 1e-12), q
        assert a["advantage"] == pytest.approx((a["success"] - q["p"]) / (1 - q["p"]), abs=1e-12)
        assert a["odds"] == pytest.approx(a["success"] / (1 - a["success"]), rel=1e-6)


@EVERY
@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
def test_the_success_is_a_value_of_the_theorem(mu, every):
    """Found by another search over epsilon: the page's number is neither above nor below it."""
    for danger, guarantee, q, a in answers(
        [
            {"kind": "gaussian", "strength": mu, "p": p, "values": v}
            for p, v in PRIORS[:: min(every, 4)]
        ]
    ):

        def value(e, row=danger.values, dp=guarantee):
            return sum(float(part[0]) for part in profile_cost(row, dp, max(e, 0.0)))

        grid = np.linspace(0, guarantee.tangents()[-1], 500)
        near = grid[int(np.argmin([value(e) for e in grid]))]
        around, fine = (near - grid[1], near + grid[1]), {"xatol": 1e-10}
        least = optimize.minimize_scalar(value, bounds=around, method="bounded", options=fine).fun
        assert a["success"] == pytest.approx(max(least, q["p"]), rel=1e-8), q


@EVERY
def test_under_pure_dp_the_count_is_exact(every):
    grid = [
        {"kind": "pure", "strength": s, "p": p, "values": v, "n": n, "confidence": c}
        for s, (p, v), (n, c) in product(
            (0.01, 0.7, 3), PRIORS[::3], [(1, 0.95), (37, 0.9), (700, 0.99), (10_000, 0.95)]
        )
    ]
    for danger, guarantee, q, a in answers(grid[::every]):
        row, count = [danger.values], a["atMost"] + 1
        assert a["reachedNumber"] == a["atMost"]
        assert a["atMost"] == reached_number(row, guarantee, q["confidence"], repeats=[q["n"]])
        tail = domination(row, guarantee, count, repeats=[q["n"]]).value
        assert a["tail"] == pytest.approx(tail, rel=1e-9, abs=1e-30), q
        if q["n"] < 1000:
            assert a["atMost"] == at_most(danger, guarantee, q["confidence"]).value, q


@EVERY
def test_under_gaussian_dp_the_count_is_the_interpolation_theorems(every):
    grid = [
        {"kind": "gaussian", "strength": s, "p": p, "values": v, "n": n, "confidence": c}
        for s, (p, v), (n, c) in product(
            (0.05, 0.5, 2), PRIORS[::3], [(2, 0.9), (60, 0.95), (300, 0.99)]
        )
    ]
    for danger, guarantee, q, a in answers(grid[::every]):
        n, allowed = q["n"], 1 - q["confidence"]
        tables = [
            interpolation_tails([min(1.0, float(o[0]))] * n, [float(c[0])] * n)
            for o, c in (profile_cost(danger.values, guarantee, e) for e in guarantee.tangents())
        ]
        tails = np.min(tables, axis=0)
        assert a["atMost"] == np.argmax(tails[1:] <= allowed), q
        assert a["tail"] == pytest.approx(tails[a["atMost"] + 1], rel=1e-7, abs=1e-12), q
        tails = reached_tails([danger.values], guarantee, repeats=[n])
        assert a["reachedNumber"] == np.argmax(tails[1:] <= 1 - q["confidence"]) <= a["atMost"], q


def test_ten_thousand_people():
    danger, guarantee, q, a = answers(
        [{"kind": "gaussian", "strength": 0.5, "p": 0.3, "values": None, "n": 10_000}]
    )[0]
    row, many, level = [danger.values], [q["n"]], q["confidence"]
    at = [interpolation(row, guarantee, a["atMost"] + k, repeats=many).value for k in (0, 1)]
    assert at[0] > 1 - level >= at[1]
    assert a["tail"] == pytest.approx(at[1], rel=1e-8)
    tails = reached_tails(row, guarantee, repeats=many)  # the page has this law alone
    assert a["reachedNumber"] == np.argmax(tails[1:] <= 1 - level)
    assert a["reachedNumber"] < reached_number(row, guarantee, level, repeats=many) <= a["atMost"]
    assert a["reachedTail"] == pytest.approx(tails[a["atMost"] + 1], rel=1e-7)


@EVERY
def test_the_largest_epsilon_and_mu_are_the_librarys(every):
    grid = [
        {"kind": kind, "strength": 1, "p": p, "values": v, "n": 80, "mostAdvantage": 0.1,
         "mostPeople": round(80 * p) + 12}
        for kind, (p, v) in product(STRENGTHS, PRIORS[:6])
    ]  # fmt: skip
    for danger, _, q, a in answers(grid[:: min(every, 5)]):
        one, all_of_them = Limit(0.1), Limit(None, q["mostPeople"], q["confidence"])
        if q["kind"] == "gaussian":
            mu = largest_mu(danger, one)
            assert a["largestAdvantage"] == pytest.approx(mu, rel=1e-5), q
            assert "largestPeople" not in a  # another theorem may allow more
            continue
        assert a["largestAdvantage"] == pytest.approx(largest_epsilon(danger, one), rel=1e-6), q
        if q["mostPeople"] < q["n"]:
            epsilon = largest_epsilon(danger, all_of_them)
            assert a["largestPeople"] == pytest.approx(epsilon, rel=1e-6), q
    kept = in_node("[largest((s) => false), largest((s) => true)]")
    assert kept == [None, 50]


def test_numbers_are_rounded_outwards_like_the_librarys():
    numbers = [0.0, 1.0, 0.7310581, 0.1 + 0.2, 0.3 - 0.2, 9.9999995e-5, 123456.7, 1e-9]
    numbers += (10.0 ** np.random.default_rng(3).uniform(-8, 4, 200)).tolist()
    found = in_node(f"{json.dumps(numbers)}.map((x) => [outwards(x, 1), outwards(x, -1)])")
    for number, (above, below) in zip(numbers, found, strict=True):
        assert (float(above), float(below)) == (float(upper(number)), float(lower(number)))


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_nothing_from_outside_and_only_this_script():
    page = plan_html("1.0")
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    tags = Tags(page).found
    assert any(a.get("content") == policy for t, a in tags if t == "meta")
    assert not [a for _, a in tags if "src" in a or any(name.startswith("on") for name in a)]
    assert {a["href"][0] for _, a in tags if "href" in a} == {"#"}
    assert not re.search(r"https?:|@import|url\(|fetch|localStorage|sessionStorage|cookie", page)
    assert len(page) < 45_000


def test_everything_that_is_moved_has_a_name_and_what_is_referred_to_is_there():
    tags = Tags(plan_html("1.0")).found
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    labelled = {a["for"] for t, a in tags if t == "label"}
    for tag, attributes in tags:
        for name in ("aria-describedby", "aria-labelledby", "for", "data-of"):
            assert set(attributes.get(name, "").split()) <= set(ids), attributes
        if tag in ("input", "select"):
            assert attributes.get("id") in labelled or attributes["aria-label"], attributes
        assert int(attributes.get("tabindex", 0)) <= 0
    assert any(a.get("role") == "status" and a.get("aria-live") == "polite" for _, a in tags)
