"""Section 5 of Swanberg et al. 2025 and D.3 of Cohen et al. 2024, on a language model of one's own.

The model takes the place of the paper's: in figure 2 what it expects is the prior of a secret, in
figure 3 it names secrets that were planted in its training text, beside the bounds, and in D.3 it
gives away documents: to samples, to their beginnings and to a program.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from narcissus._files import read_bytes
from narcissus._random import child
from narcissus._validation import integer, positive
from narcissus.audits import run
from narcissus.bounds import at_most, posterior, threat
from narcissus.errors import InputError
from narcissus.evidence import refute
from narcissus.extraction.canaries import CanaryPlan, named_canaries, read_canaries, require_planted
from narcissus.extraction.language_models import HuggingFaceGenerator, LocalCheckpoint
from narcissus.extraction.ngram import model_prior
from narcissus.extraction.recovered import LARGEST_TEXT, read_documents
from narcissus.guarantees import ApproximateDP
from narcissus.kinds.extraction.program import ProgramDetail
from narcissus.kinds.memorization.engine import groups_of
from narcissus.kinds.memorization.language.kind import KIND
from narcissus.kinds.memorization.language.schema import GenerationSection
from narcissus.observer import SILENT, Observer
from narcissus.priors.secrets import MOST, read_values
from narcissus.report.panels import Line, Panel
from narcissus.study.load import load_study
from narcissus.study.work import timed
from narcissus_papers.base import Given, Item, Needed, OwnModel, Reproduced
from narcissus_papers.swanberg import figures

FITTING: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "001/2": (["secrets"], ["text"]),
    "001/3": (["secrets"], ["documents", "fresh", "alternatives", "epsilons"]),
    "003/D.3": (["documents", "fresh"], ["reference", "program", "prompt", "samples"]),
}
"""What each figure needs of `OwnModel`, and what it takes besides."""
TEXTS = 500  # that are scored in a piece
TIMED = 32  # texts that are scored to see how long each takes
_NOTE = "The model is the user's, so no number in print belongs to it."

Make = Callable[[Given], Reproduced]
Pieces = dict[str, Callable[[Given], Any]]
Plan = tuple[Make, Pieces, Callable[[], float]]
"""What draws the figure, its pieces, and what measures their seconds."""


def own_model_item(
    name: str,
    asked: OwnModel,
    *,
    out: Path | None = None,
    hours: float | None = None,
    observer: Observer = SILENT,
) -> Item:
    """Return a figure of a language model of one's own, with its time as measured on a small part.

    name: a paper and the number of its figure, 001/2, 001/3 or 003/D.3.
    out: the folder of `narcissus_papers.reproduce`, where D.3 keeps its batches; None: nowhere.
    hours, observer: as in `narcissus_papers.reproduce`.
    InputError: the folder holds no model with a tokenizer, or a file or an option does not fit.
    LongWorkError: the small part does not end, and nobody agreed to that.
    """
    _require_fitting(name, asked)
    LocalCheckpoint(str(asked.model), asked.reference and str(asked.reference))
    paper, figure = name.split("/", 1)
    title = f"{figure} of " + re.sub(r"[^\w.-]+", "-", asked.model.resolve().name)[:100]
    place = out and out / paper / f"figure-{title.replace(' ', '-')}".lower() / "audit"
    make, pieces, measure = PLANS[name](asked, place)
    seconds = timed(measure, f"a part of figure {figure}", hours=hours, observer=observer)
    named = [getattr(asked, one) for one in ("secrets", "documents", "fresh", "program")]
    inside = [f for one in (asked.model, asked.reference) if one for f in sorted(one.iterdir())]
    files = [one.resolve() for one in [*named, *inside] if one and one.is_file()]
    needs = tuple(Needed(str(one), "", "your own file") for one in files)
    return Item(paper, "figure", title, f"Figure {title}", seconds or 0.0, make, pieces, needs)


def _require_fitting(name: str, asked: OwnModel) -> None:
    if name not in FITTING:
        raise InputError(
            f"figure {name} is about no language model; a model of your own goes with figures 2 "
            "and 3 of 001 and figure D.3 of 003"
        )
    needed, taken = FITTING[name]
    for one in fields(OwnModel)[1:]:
        value = getattr(asked, one.name)
        if one.name in needed and value is None:
            raise InputError(f"figure {name} of a model needs `{one.name}`: a file")
        if value != one.default and one.name not in {*needed, *taken}:
            raise InputError(f"`{one.name}` changes nothing in figure {name} of a model")
    for count in ("alternatives", "prompt", "samples"):
        integer(count, getattr(asked, count), low=1)
    for epsilon in asked.epsilons:
        positive("epsilons", epsilon)


def _text_seconds(model: Path, texts: Sequence[str], count: int) -> float:
    """Measure the time of scoring so many texts, from the first of them."""
    scored, some = HuggingFaceGenerator(model), texts[:TIMED]
    scored.negative_log_likelihood(some[:1])
    start = time.perf_counter()
    scored.negative_log_likelihood(some)
    return count * (time.perf_counter() - start) / len(some)


def _priors(asked: OwnModel, _place: Path | None) -> Plan:
    assert asked.secrets is not None
    values = list(dict.fromkeys(value for value, _ in read_values(asked.secrets)))
    if not 2 <= len(values) <= MOST:
        raise InputError(
            f"{asked.secrets} must hold 2 to {MOST:,} different secrets, one a line: it holds "
            f"{len(values):,}"
        )
    if "{}" not in asked.text:
        raise InputError(f"`text` must hold the place of the secret, '{{}}', got {asked.text!r}")
    texts = [asked.text.replace("{}", value) for value in values]
    pieces: Pieces = {
        f"secrets from {start + 1}": partial(
            _scored, model=asked.model, texts=texts[start : start + TEXTS]
        )
        for start in range(0, len(texts), TEXTS)
    }
    make = partial(_make_priors, values=values, text=asked.text)
    return make, pieces, partial(_text_seconds, asked.model, texts, len(texts))


def _scored(_given: Given, *, model: Path, texts: Sequence[str]) -> list[list[float]]:
    return [one.tolist() for one in HuggingFaceGenerator(model).negative_log_likelihood(texts)]


def _make_priors(given: Given, *, values: Sequence[str], text: str) -> Reproduced:
    """Draw figures 2a and 2b for what the model expects, read in two ways."""
    losses, tokens = np.concatenate([np.array(one) for one in given.answers.values()], axis=1)
    scored: Any = SimpleNamespace(negative_log_likelihood=lambda _: (losses, tokens))
    panels: list[Panel] = []
    likeliest: dict[str, float] = {}
    notes = [_NOTE]
    for weight in ("perplexity", "likelihood"):
        chances = model_prior(scored, values, template=text, weight=weight)
        marks = {"likeliest": 1.0, "median": 0.5, "least likely": 0.1}
        found = {n: float(np.quantile(chances, q, method="inverted_cdf")) for n, q in marks.items()}
        panels.append(figures.advantages(found, f"Prior by {weight}"))
        likeliest[f"likeliest, by {weight}"] = top = found["likeliest"]
        notes.append(
            f"By {weight} the likeliest of {len(values):,} secrets is {values[chances.argmax()]}, "
            f"with a prior of {top:.4g}; up to epsilon {figures.protecting(top):.3g} its advantage "
            f"is at most {figures.MOST:g}."
        )
    notes.append(
        "Perplexity is the paper's way to a prior; likelihood is what the model implies. The "
        "least likely secret is the tenth percentile, as in the paper. All bounds are those of "
        f"Corollary 3.4 at delta {figures.DELTA:g}, if secrets are drawn by this prior."
    )
    return Reproduced((*panels, figures.protections(likeliest)), cannot=_NOTE, notes=tuple(notes))


def _planted(asked: OwnModel, _place: Path | None) -> Plan:
    assert asked.secrets is not None
    planted = read_canaries(asked.secrets)
    for path, trained in ((asked.documents, True), (asked.fresh, False)):
        if path is not None:
            body = read_bytes(path, largest=LARGEST_TEXT)
            require_planted(planted, str(path), body, trained=trained)
    each = max(1, TEXTS // (asked.alternatives + 1))
    pieces: Pieces = {}
    for copies in dict.fromkeys(one.copies for one in planted):
        alike = [one for one in planted if one.copies == copies]
        for start in range(0, len(alike), each):
            pieces[f"{copies} copies from {start + 1}"] = partial(
                _named, model=asked.model, planted=alike[start : start + each],
                alternatives=asked.alternatives, key=len(pieces),
            )  # fmt: skip
    count = len(planted) * (asked.alternatives + 1)
    texts = [planted[0].text()] * TIMED
    epsilons = asked.epsilons or figures.EPSILONS_3
    make = partial(_make_planted, epsilons=epsilons, values=asked.alternatives + 1)
    return make, pieces, partial(_text_seconds, asked.model, texts, count)


def _named(
    _given: Given, *, model: Path, planted: Any, alternatives: int, key: int
) -> dict[str, Any]:
    reads, plan = HuggingFaceGenerator(model), CanaryPlan.of(planted)
    [found] = named_canaries(
        reads, planted, plan, alternatives=alternatives, completes=reads, rng=child(1, key)
    )
    return {"copies": found.copies, "ranks": found.ranks, "printed": found.completed}


def _make_planted(given: Given, *, epsilons: Sequence[float], values: int) -> Reproduced:
    """Draw figure 3 for secrets that stand equally often in the training text, side by side."""
    together: dict[int, list[Any]] = {}
    for one in given.answers.values():
        together.setdefault(one["copies"], []).append(one)
    level = 1 - 0.05 / len(together)
    panels: list[Panel] = []
    notes = [_NOTE]
    for copies, found in together.items():
        ranks = [rank for one in found for rank in one["ranks"]]
        n, named = len(ranks), sum(rank == 1 for rank in ranks)
        panels.append(
            _bounded(copies, n, named, sum(o["printed"] for o in found), epsilons, values)
        )
        refuted = refute(n, n, named, values=values, delta=figures.DELTA, confidence=level).epsilon
        said = f"every epsilon below {refuted:.3g}" if refuted > 0 else "no epsilon"
        notes.append(
            f"{copies:,} {'copy' if copies == 1 else 'copies'}: {named} of {n} secrets are named "
            f"among {values:,}, which refutes {said} at delta {figures.DELTA:g}."
        )
    notes.append(
        "Epsilon is about a secret with all its copies; a guarantee for one document allows at "
        "most as many times its epsilon. The refuted ones hold together with confidence 95%, if "
        "the secrets were drawn uniformly, each by itself."
    )
    return Reproduced(tuple(panels), cannot=_NOTE, notes=tuple(notes))


def _bounded(
    copies: int, n: int, named: int, printed: int, epsilons: Sequence[float], values: int
) -> Panel:
    """Draw what the model names of ``n`` secrets beside the bounds, per 100 secrets."""
    danger, x = threat(prior=1 / values, targets=n, exact_match=True), list(epsilons)
    mean = [min(1.0, float(posterior(1 / values, e)) + figures.DELTA) for e in x]
    most = [at_most(danger, ApproximateDP(e, figures.DELTA), 0.95).value / n for e in x]
    drawn = [
        ("named", [named / n] * len(x), "line"),
        ("printed whole", [printed / n] * len(x), "line"),
        ("without the model", [1 / values] * len(x), "dotted"),
        ("Corollary 3.4, on average", mean, "dashed"),
        ("proved with confidence 95%", most, "dashed"),
    ]
    lines = [Line(label, x, [100 * y for y in ys], style) for label, ys, style in drawn]
    title = f"{copies:,} {'copy' if copies == 1 else 'copies'}, {n:,} secrets"
    return Panel(title, "epsilon", "of 100 secrets", lines, log_x=True)


def _given_away(asked: OwnModel, place: Path | None) -> Plan:
    files = {one: str(getattr(asked, one).resolve()) for one in ("documents", "fresh")}
    model = {one: getattr(asked, one) for one in ("model", "reference")}
    study: dict[str, Any] = {
        "kind": "language-model",
        "data": files,
        "model": {"name": "folder"} | {k: str(v.resolve()) for k, v in model.items() if v},
        "membership": False,
        "run": {"seed": 1},
    }
    generation = {"samples": asked.samples, "top": max(1, asked.samples // 5)}
    completion = {"prompt": asked.prompt}
    parts: dict[str, Any] = {
        "completion": {"generation": False, "completion": completion},
        "generation": {"generation": generation, "completion": False},
    }
    if asked.program is not None:
        path = {"path": str(asked.program.resolve())}
        parts["program"] = {**parts["completion"], "program": path}
    pieces: Pieces = {
        k: partial(_audited, study=study | one, place=place) for k, one in parts.items()
    }
    load_study(study | [*parts.values()][-1])  # refuses what does not fit
    return _make_given_away, pieces, partial(_audit_seconds, asked)


def _audit_seconds(asked: OwnModel) -> float:
    """Measure a few samples and documents; the runs of a program are not among them."""
    assert asked.documents is not None
    assert asked.fresh is not None
    model, documents = HuggingFaceGenerator(asked.model), read_documents(asked.documents)
    every, few = len(documents) + len(read_documents(asked.fresh)), documents[:TIMED]
    prompts = [model.encode(one.text)[: asked.prompt] for one in few]
    count, tenth = min(TIMED, asked.samples), GenerationSection().length // 10  # pyright: ignore[reportCallIssue]
    start = time.perf_counter()
    drawn = model.sample(count, tenth, rng=1)
    sampled = time.perf_counter()
    model.following(prompts, tenth)
    followed = time.perf_counter()
    scored = _text_seconds(asked.model, drawn, 20 * asked.samples)  # twice, ten times as long
    samples = 10 * asked.samples * (sampled - start) / count + scored
    models = 1 + (asked.reference is not None)
    return models * (samples + every * (followed - sampled) / len(few))


def _audited(_given: Given, *, study: dict[str, Any], place: Path | None) -> dict[str, Any]:
    """Audit the model by an attack or a program, and return what a figure needs of the record."""
    case = KIND.judged(run(load_study(study), folder=place).record)
    detail = case.detail
    groups = [
        {
            "name": name,
            "copies": group.copies,
            "recovered": group.recovered,
            "of": group.total,
            "fresh": group.fresh and [group.fresh.value, group.fresh.low, group.fresh.high],
            "reference": group.of("reference") and group.of("reference").value,
            "gain": group.shown_gain,
        }
        for name, found in groups_of(case, "recovered").items()
        for group in found
    ]
    ranked = [one.model_dump() for attack in detail.attacks for one in attack.ranked]
    return {"groups": groups, "ranked": ranked, "program": _weighed(detail.program)}


def _weighed(program: ProgramDetail | None) -> dict[str, Any] | None:
    if program is None:
        return None
    said = {one: getattr(program, one) for one in ("verdict", "reasons", "caveat", "quality")}
    return {**said, "bytes": program.program_bytes, "complexity": dict(program.complexity)}


def _make_given_away(given: Given) -> Reproduced:
    """Draw D.3: documents given away, the best samples by score, and the length of a program."""
    parts, notes = given.answers, [_NOTE]
    groups = [one for part in ("completion", "generation") for one in parts[part]["groups"]]
    names = [f"{o['name']}, {o['copies'] or 'all'} copies" for o in groups]
    drawn: dict[str, list[float | None]] = {
        "trained on": [100 * one["recovered"] / one["of"] for one in groups],
        "fresh": [one["fresh"] and 100 * one["fresh"][0] for one in groups],
        "fresh, at most": [one["fresh"] and 100 * one["fresh"][2] for one in groups],
        "reference model": [one["reference"] and 100 * one["reference"] for one in groups],
    }
    panels = [_points("Documents given away", "of 100 documents", names, drawn)]
    for one in groups:
        if not one["copies"]:
            gain = f"at least {100 * one['gain']:.3g}" if one["gain"] > 0 else "no"
            notes.append(
                f"{one['name']}: {one['recovered']:,} of {one['of']:,} documents, {gain} of 100 "
                "more than of fresh ones."
            )
    ranked = parts["generation"]["ranked"]
    texts = {side: [one[side] for one in ranked] for side in ("trained", "fresh")}
    held = {
        f"hold a {'fresh document' if k == 'fresh' else 'document trained on'}": v
        for k, v in texts.items()
    }
    best = f"of the {ranked[0]['texts']:,} best" if ranked else ""
    panels.append(_points("Samples, ranked", best, [one["score"] for one in ranked], held))
    if found := parts.get("program", {}).get("program"):
        methods, sizes = list(found["complexity"]), list(found["complexity"].values())
        compared = {"without the model": sizes, "the program": [found["bytes"]] * len(sizes)}
        panels.append(_points("Program", "bytes", methods, compared))
        notes += [
            f"The program: {found['verdict']}, of quality {found['quality']:.3g} at most: "
            f"{'; '.join(found['reasons'])}.",
            found["caveat"],
        ]
    return Reproduced(tuple(panels), cannot=_NOTE, notes=tuple(notes))


def _points(
    title: str, y: str, names: Sequence[str], drawn: Mapping[str, Sequence[float | None]]
) -> Panel:
    """Draw points at names, each where it is known."""
    lines: list[Line] = []
    for label, values in drawn.items():
        there = [(place, value) for place, value in enumerate(values) if value is not None]
        if there:
            lines.append(Line(label, *map(list, zip(*there, strict=True)), "points"))
    return Panel(title, "", y, lines, names=names)


PLANS: Mapping[str, Callable[[OwnModel, Path | None], Plan]] = {
    "001/2": _priors, "001/3": _planted, "003/D.3": _given_away,
}  # fmt: skip
