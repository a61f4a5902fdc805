"""Figures of a language model of one's own: what is drawn, what is refused, a small one played."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.extraction.canaries import CanaryPlan, canary_table
from narcissus.extraction.language_models import TransformerTraining
from narcissus.extraction.recovered import TextDocument
from narcissus.observer import SILENT
from narcissus_papers.base import Given, OwnModel
from narcissus_papers.main import main
from narcissus_papers.own_model import _make_planted, _make_priors, own_model_item

ABOUT = "On day {} someone lost a key near the old bridge."


def lines_of(panel):
    return {line.label: line.y for line in panel.lines}


@pytest.mark.parametrize(
    ("name", "asked", "says"),
    [
        ("001/4", {}, "about no language model"),
        ("001/2", {}, "needs `secrets`"),
        ("003/D.3", {"documents": "a"}, "needs `fresh`"),
        ("001/2", {"secrets": "a", "alternatives": 5}, "`alternatives` changes nothing"),
        ("001/3", {"secrets": "a", "text": "{} a"}, "`text` changes nothing"),
        ("001/3", {"secrets": "a", "epsilons": (0.0,)}, "`epsilons`"),
        ("001/3", {"secrets": "a", "alternatives": 0}, "`alternatives`"),
        ("003/D.3", {"documents": "a", "fresh": "b", "secrets": "c"}, "`secrets` changes nothing"),
        ("001/2", {"secrets": "a"}, "no such model folder"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_model_is_read(tmp_path, name, asked, says):
    paths = {key: tmp_path / value for key, value in asked.items() if value in ("a", "b", "c")}
    with pytest.raises(InputError, match=says):
        own_model_item(name, OwnModel(model=tmp_path / "no", **{**asked, **paths}))


def test_a_prior_is_the_model_s_and_its_bound_is_the_corollary():
    losses, tokens = [2.0, 3.0, 8.0], [2.0, 2.0, 4.0]
    answers = {"from 1": [losses[:2], tokens[:2]], "from 3": [losses[2:], tokens[2:]]}
    made = _make_priors(Given(answers), values=["x", "y", "z"], text="{}")
    by_text, marks = np.exp(-np.array(losses)), made.panels[2]
    by_token = np.exp(-np.array(losses) / tokens)
    for panel, odds in zip(made.panels, (by_token, by_text), strict=False):
        prior = odds / odds.sum()
        for label, p in zip(("least likely", "median", "likeliest"), sorted(prior), strict=True):
            grid = np.linspace(0, 20, 201)
            success = np.minimum(1, p * np.exp(grid) / (1 + p * np.expm1(grid)) + 1e-5)
            assert lines_of(panel)[label] == pytest.approx((success - p) / (1 - p), abs=1e-9)
    points = {line.label: line.x for line in marks.lines if line.style == "points"}
    assert points["likeliest, by likelihood"] == [pytest.approx(max(by_text / by_text.sum()))]


@pytest.mark.parametrize("loss", [1.0, 3.0, 30.0])
def test_an_epsilon_that_is_said_to_protect_does(loss):
    """One secret is likelier by e^loss: near a prior of 1 even epsilon 0 allows an advantage."""
    made = _make_priors(Given({"from 1": [[0.0, loss], [1.0, 1.0]]}), values=["x", "y"], text="{}")
    p = 1 / (1 + np.exp(-loss))
    for note in made.notes[:2]:
        found = re.search(r"at most 0\.05 up to epsilon ([\d.]+)\.$", note)
        grown = np.exp(float(found[1]) if found else 0.0)
        advantage = (p * grown / (1 + p * (grown - 1)) + 1e-5 - p) / (1 - p)
        assert (advantage <= 0.05) == (found is not None)
        assert found or "at no epsilon by this bound" in note


@pytest.mark.parametrize(("named", "of"), [(15, 20), (20, 20), (3, 20)])
def test_what_is_refuted_is_what_so_many_secrets_are_too_unlikely_for(named, of):
    counts = {"canaries": of - 1, "named": named - 1, "printed": 0}
    last = {"copies": 4, "canaries": 1, "named": 1, "printed": 1}
    answers = {"a": {"copies": 4, **counts}, "b": last, "c": {**last, "copies": 1, "named": 0}}
    made = _make_planted(Given(answers), epsilons=(1.0, 4.0), values=100)
    assert [panel.title for panel in made.panels] == ["4 copies, 20 planted", "1 copy, 1 planted"]
    found = lines_of(made.panels[0])
    assert found["named"] == [100 * named / of] * 2
    assert found["printed whole"] == [5.0] * 2
    chance = np.array([np.exp(e) / (np.exp(e) + 99) for e in (1.0, 4.0)])
    assert found["Corollary 3.4, on average"] == pytest.approx(100 * chance + 1e-3)
    least = stats.binom.ppf(0.95, of, chance)  # no limit at confidence 95% is below that of pure DP
    assert (np.array(found["proved with confidence 95%"]) >= 100 * least / of - 1e-9).all()
    assert (np.array(found["proved with confidence 95%"]) <= 100 * (least + 1) / of + 1e-9).all()
    refuted = re.search(r"every epsilon below ([\d.]+)", made.notes[0])
    epsilon = float(refuted[1])
    # two groups: a mechanism with this epsilon names as many with chance 1 - .975 at most
    tail = stats.binom.sf(named - 1, of, np.exp(epsilon) / (np.exp(epsilon) + 99))
    assert tail == pytest.approx(0.025, rel=0.05)
    assert tail <= 0.025 + 1e-4  # rounded down, so that no more is called refuted than is
    assert "refutes no epsilon" in made.notes[1]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Train a small model on documents and canaries until it knows those that came often."""
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(1)
    texts = [ABOUT.format(int(rng.integers(10**8))) for _ in range(60)]
    planted = CanaryPlan(6, (1, 20), 6).plant(2)
    copies = [TextDocument(text, 1 + 19 * (at < 6)) for at, text in enumerate(texts[:30])]
    part = TransformerTraining(layers=1, width=48, heads=2, context=64, epochs=14, device="cpu")
    documents = [*copies, *(one.document for one in planted)]
    part.models(documents, (), folder, entropy=3, observer=SILENT)
    for name, some in (("train.txt", copies), ("fresh.txt", map(TextDocument, texts[30:]))):
        lines = [one.text for one in some for _ in range(one.copies)]
        (folder / name).write_text("\n".join(lines) + "\n")
    (folder / "planted.csv").write_text(canary_table(planted))
    (folder / "never.csv").write_text(canary_table(CanaryPlan(50, (1,), 6).plant(7)))
    (folder / "names.txt").write_text("anna\nsomeone\nnobody\n")
    (folder / "ask.py").write_text("print(open('release/config.json').read())\n")
    return folder


def played(world, *words, code=0):
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *words, "--model", str(world / "model"), "--quiet", "--out", str(world)])
    assert ended.value.code == code


def figure(world, name):
    folder = world / name
    assert {one.name for one in folder.glob("picture.*")} == {"picture.svg", "picture.pdf"}
    rows = list(csv.reader((folder / "data.csv").read_text().splitlines()))
    return rows, json.loads((folder / "data.json").read_text())["notes"]


@pytest.mark.models
@pytest.mark.nightly
def test_secrets_that_were_planted_often_are_named_and_others_are_not(world):
    words = ("001", "--figure", "3", "--alternatives", "9", "--epsilons", "1,2")
    played(world, *words, "--secrets", str(world / "planted.csv"))
    rows, notes = figure(world, "001/figure-3-of-model")
    shares = {row[0]: float(row[3]) for row in rows if row[1] == "named"}
    assert shares["20 copies, 6 planted"] == 100.0
    assert "20 copies: 6 of 6 secrets are named among 10, which refutes every" in " ".join(notes)
    kept = world / "001" / "figure-3-of-model" / "kept"
    before = {one.name: one.stat().st_mtime_ns for one in kept.iterdir()}
    (kept / "item.json").unlink()
    (gone := kept / "piece-20 copies from 1.json").unlink()
    played(world, *words, "--secrets", str(world / "planted.csv"))  # continues where it was stopped
    after = {one.name: one.stat().st_mtime_ns for one in kept.iterdir()}
    assert {name for name in before if after[name] != before[name]} == {"item.json", gone.name}
    played(world, *words, "--secrets", str(world / "never.csv"))  # a null: none was planted
    rows, _ = figure(world, "001/figure-3-of-model")
    [share] = {float(row[3]) for row in rows if row[1] == "named"}
    assert share <= 100 * stats.binom.ppf(1 - 1e-5, 50, 0.1) / 50


@pytest.mark.models
def test_a_model_gives_a_prior(world):
    secrets = (
        "--secrets",
        str(world / "names.txt"),
        "--text",
        "On day 5 {} lost a key near the old bridge.",
    )
    played(world, "001", "--figure", "2", *secrets, "--yes")  # machines are busy
    notes = " ".join(figure(world, "001/figure-2-of-model")[1])
    assert "the likeliest of 3 secrets is someone" in notes


@pytest.mark.models
@pytest.mark.nightly
def test_a_model_gives_documents_away(world, capsys):
    files = ("--documents", str(world / "train.txt"), "--fresh", str(world / "fresh.txt"))
    less = ("--prompt", "14", "--samples", "8", "--program", str(world / "ask.py"))
    played(world, "003", "--figure", "D.3", *files, *less, "--yes")
    rows, notes = figure(world, "003/figure-d.3-of-model")
    assert {row[0] for row in rows[1:]} == {"Documents given away", "Best samples", "Program"}
    assert any("no extraction" in note for note in notes)
    played(world, "003", "--figure", "D.3", *files, "--samples", "10000000", code=2)
    assert "Start it with --yes" in capsys.readouterr().err


@pytest.mark.models
@pytest.mark.nightly
def test_a_folder_without_a_tokenizer_is_refused_by_one_sentence(world, tmp_path, capsys):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((world / "model" / name).read_bytes())
    words = ["001", "--figure", "2", "--secrets", str(world / "names.txt")]
    with pytest.raises(SystemExit):
        main(["reproduce", *words, "--model", str(tmp_path), "--yes"])
    assert f"error: the folder {tmp_path} has no tokenizer: save it" in capsys.readouterr().err
