"""Section 5 of Swanberg et al. 2025 and D.3 of Cohen et al. 2024, on a language model of one's own.

The model takes the place of the paper's: in figure 2 what it expects is the prior of a secret, in
figure 3 it names secrets that were planted in its training text, next to the bounds, and in D.3 it
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
from narcissus._outwards import lower
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
from narcissus.observer import SILENT, Observer
from narcissus.priors.secrets import MOST, read_values
from narcissus.report.panels import Line, Panel
from narcissus.study.load import load_study
from narcissus.study.work import timed
from narcissus_papers.base import Given, Item, Needed, OwnModel, Reproduced, Told, yields
from narcissus_papers.swanberg import figures

TEXTS = 500  # that are scored in a piece
TIMED = 32  # texts by which the time is measured
LENGTH = 150  # tokens of a sample

Pieces = dict[str, Callable[[Given], Any]]
Plan = tuple[Callable[[Given], Reproduced], Pieces, Callable[[], float]]
"""What draws a figure, its pieces, and what measures their seconds."""


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
    plan = _fitting(name, asked)
    LocalCheckpoint(str(asked.model), asked.reference and str(asked.reference))
    paper, figure = name.split("/", 1)
    title = f"{figure} of " + re.sub(r"[^\w.-]+", "-", asked.model.resolve().name)[:100]
    place = out and out / paper / f"figure-{title.replace(' ', '-')}".lower() / "audit"
    make, pieces, measure = plan(asked, place)
    seconds = timed(measure, f"a part of figure {figure}", hours=hours, observer=observer)
    named = [getattr(asked, one) for one in ("secrets", "documents", "fresh", "program")]
    inside = [f for one in (asked.model, asked.reference) if one for f in sorted(one.iterdir())]
    files = [str(one.resolve()) for one in [*named, *inside] if one and one.is_file()]
    needs = tuple(Needed(one, "", "your own file") for one in files)
    return Item(paper, "figure", title, f"Figure {title}", seconds or 0.0, make, pieces, needs)


def _fitting(name: str, asked: OwnModel) -> Callable[..., Plan]:
    """Return the plan of a figure; refuse what it lacks, and what changes nothing in it."""
    if name not in PLANS:
        raise InputError(
            f"figure {name} is about no language model; your own model goes with figures 2 "
            "and 3 of 001 and figure D.3 of 003"
        )
    plan, needed, taken = PLANS[name]
    for one in fields(OwnModel)[1:]:
        value = getattr(asked, one.name)
        if one.name in needed and value is None:
            raise InputError(f"figure {name} of a model needs `{one.name}`, a file")
        if value != one.default and one.name not in {*needed, *taken}:
            raise InputError(f"`{one.name}` changes nothing in figure {name} of a model")
    for count in ("alternatives", "prompt", "samples"):
        integer(count, getattr(asked, count), low=1)
    for epsilon in asked.epsilons:
        positive("epsilons", epsilon)
    return plan


def _text_seconds(model: Path, texts: Sequence[str], count: int) -> float:
    """Measure the time of scoring so many texts, from the first of them."""
    scored, some = HuggingFaceGenerator(model), texts[:TIMED]
    scored.negative_log_likelihood(some[:1])
    start = time.perf_counter()
    scored.negative_log_likelihood(some)
    return count * (time.perf_counter() - start) / len(some)


def _priors(asked: OwnModel, _place: Path | None) -> Plan:
    values = list(dict.fromkeys(value for value, _ in read_values(Path(str(asked.secrets)))))
    if not 2 <= len(values) <= MOST:
        raise InputError(
            f"{asked.secrets} must hold 2 to {MOST:,} different secrets, one a line: it holds "
            f"{len(values):,}"
        )
    if "{}" not in asked.text:
        raise InputError(f"`text` must hold the place of the secret, {{}}: got {asked.text!r}")
    texts = [asked.text.replace("{}", value) for value in values]
    pieces: Pieces = {
        f"from {at + 1}": partial(_scored, model=asked.model, texts=texts[at : at + TEXTS])
        for at in range(0, len(texts), TEXTS)
    }
    make = partial(_make_priors, values=values, text=asked.text)
    return make, pieces, partial(_text_seconds, asked.model, texts, len(texts))


def _scored(_given: Given, *, model: Path, texts: Sequence[str]) -> list[list[float]]:
    return [one.tolist() for one in HuggingFaceGenerator(model).negative_log_likelihood(texts)]


@yields
def _make_priors(given: Given, *, values: Sequence[str], text: str) -> Told:
    """Draw figures 2a and 2b for what the model expects, read in two ways."""
    losses, tokens = np.concatenate([np.array(one) for one in given.answers.values()], axis=1)
    scored: Any = SimpleNamespace(negative_log_likelihood=lambda _: (losses, tokens))
    marks = {"likeliest": 1.0, "median": 0.5, "least likely": 0.1}
    top: dict[str, float] = {}
    for weight in ("perplexity", "likelihood"):
        chances = model_prior(scored, values, template=text, weight=weight)
        found = {n: float(np.quantile(chances, q, method="inverted_cdf")) for n, q in marks.items()}
        top[f"likeliest, by {weight}"] = most = found["likeliest"]
        yield figures.advantages(found, f"Prior by {weight}")
        up_to = figures.protecting(most)
        which = f"up to epsilon {lower(up_to, 3)}" if up_to > 0 else "at no epsilon by this bound"
        yield (
            f"By {weight} the likeliest of {len(values):,} secrets is "
            f"{values[int(chances.argmax())]}, with a prior of {most:.4g}; its advantage is at "
            f"most {figures.MOST:g} {which}."
        )
    yield figures.protections(top)
    yield (
        "Perplexity is the paper's way to a prior; likelihood is what the model implies. The "
        "least likely secret is the tenth percentile, as in the paper. The bounds are those of "
        f"Corollary 3.4 at delta {figures.DELTA:g}, if secrets are drawn by this prior."
    )


def _planted(asked: OwnModel, _place: Path | None) -> Plan:
    planted = read_canaries(Path(str(asked.secrets)))
    for path, trained in ((asked.documents, True), (asked.fresh, False)):
        if path is not None:
            body = read_bytes(path, largest=LARGEST_TEXT)
            require_planted(planted, str(path), body, trained=trained)
    each, values = max(1, TEXTS // (asked.alternatives + 1)), asked.alternatives + 1
    pieces: Pieces = {}
    for copies in dict.fromkeys(one.copies for one in planted):
        alike = [one for one in planted if one.copies == copies]
        for at in range(0, len(alike), each):
            some, key = alike[at : at + each], len(pieces)
            pieces[f"{copies} copies from {at + 1}"] = partial(
                _named, model=asked.model, planted=some, values=values, key=key
            )
    make = partial(_make_planted, epsilons=asked.epsilons or figures.EPSILONS_3, values=values)
    texts = [planted[0].text()] * TIMED
    return make, pieces, partial(_text_seconds, asked.model, texts, len(planted) * values)


def _named(_given: Given, *, model: Path, planted: Any, values: int, key: int) -> dict[str, Any]:
    reads, plan, rng = HuggingFaceGenerator(model), CanaryPlan.of(planted), child(1, key)
    [found] = named_canaries(
        reads, planted, plan, alternatives=values - 1, completes=reads, rng=rng
    )
    counts = {"canaries": found.canaries, "named": found.named, "printed": found.completed}
    return {"copies": found.copies, **counts}


@yields
def _make_planted(given: Given, *, epsilons: Sequence[float], values: int) -> Told:
    """Draw figure 3 for secrets that stand equally often in the training text, side by side."""
    together: dict[int, list[Any]] = {}
    for one in given.answers.values():
        together.setdefault(one["copies"], []).append(one)
    level, delta, x = 1 - 0.05 / len(together), figures.DELTA, list(epsilons)
    for copies, found in together.items():
        n, named, printed = (sum(o[k] for o in found) for k in ("canaries", "named", "printed"))
        danger = threat(prior=1 / values, targets=n, exact_match=True)
        mean = [min(1.0, float(posterior(1 / values, e)) + delta) for e in x]
        most = [at_most(danger, ApproximateDP(e, delta), 0.95).value / n for e in x]
        title = f"{copies:,} {'copy' if copies == 1 else 'copies'}"
        lines = (
            Line("named", x, [100 * named / n] * len(x)),
            Line("printed whole", x, [100 * printed / n] * len(x)),
            Line("without the model", x, [100 / values] * len(x), "dotted"),
            Line("Corollary 3.4, on average", x, [100 * one for one in mean], "dashed"),
            Line("proved with confidence 95%", x, [100 * one for one in most], "dashed"),
        )
        yield Panel(f"{title}, {n:,} planted", "epsilon", "of 100 secrets", lines, log_x=True)
        refuted = refute(n, n, named, values=values, delta=delta, confidence=level).epsilon
        said = f"every epsilon below {lower(refuted, 3)}" if refuted > 0 else "no epsilon"
        yield (
            f"{title}: {named} of {n} secrets are named among {values:,}, which refutes {said} at "
            f"delta {delta:g}; {printed} are printed whole."
        )
    yield (
        "Epsilon and delta are about a secret with all its copies: where one document has epsilon, "
        "c copies have c epsilon, and a delta of more than c times its delta. What is refuted "
        "holds together with confidence 95%, if the secrets were drawn uniformly, each by itself."
    )


def _given_away(asked: OwnModel, place: Path | None) -> Plan:
    files = {one: str(getattr(asked, one).resolve()) for one in ("documents", "fresh")}
    model = {one: str(getattr(asked, one).resolve()) for one in ("model", "reference")
             if getattr(asked, one)}  # fmt: skip
    study: dict[str, Any] = {
        "kind": "language-model", "data": files, "model": {"name": "folder", **model},
        "generation": False, "completion": {"prompt": asked.prompt}, "membership": False,
        "run": {"seed": 1},
    }  # fmt: skip
    drawn = {"samples": asked.samples, "length": LENGTH, "top": max(1, asked.samples // 5)}
    parts: dict[str, Any] = {
        "completion": {},
        "generation": {"generation": drawn, "completion": False},
    }
    if asked.program is not None:
        parts["program"] = {"program": {"path": str(asked.program.resolve())}}
    load_study(study | [*parts.values()][-1])  # refuses what does not fit
    pieces: Pieces = {
        name: partial(_audited, study=study | part, place=place) for name, part in parts.items()
    }
    return _make_given_away, pieces, partial(_audit_seconds, asked, files)


def _audit_seconds(asked: OwnModel, files: Mapping[str, str]) -> float:
    """Measure a few samples and documents; the runs of a program are not among them."""
    model, documents = HuggingFaceGenerator(asked.model), [*map(read_documents, files.values())]
    room = max(1, min(asked.prompt, model.context - LENGTH // 10))
    known = [model.encode(document.text)[:room] for document in documents[0][:TIMED]]
    times = [time.perf_counter()]
    drawn = model.sample(min(TIMED, asked.samples), LENGTH // 10, rng=1)
    times.append(time.perf_counter())
    model.following(known, LENGTH // 10)
    times.append(time.perf_counter())
    sampling, following = np.diff(times)
    seconds = 10 * asked.samples * sampling / len(drawn)  # ten times as long
    seconds += _text_seconds(asked.model, drawn, 20 * asked.samples)  # lower-cased, too
    seconds += sum(map(len, documents)) * following / len(known)
    return float(seconds) * (1 + (asked.reference is not None))


def _audited(_given: Given, *, study: dict[str, Any], place: Path | None) -> dict[str, Any]:
    """Audit the model by an attack or a program, and return what the figure needs of the record."""
    audit = run(load_study(study), folder=place)
    record = audit.record
    program, groups = record.result.program, []
    for attack in record.result.attacks:
        for group in attack.groups:
            beside = {k: q and [q.value, q.high] for k, q in group.others.items()}
            label = f"{attack.name}: {group.words('documents')}"
            groups.append({"name": label, "share": group.share, **beside})
    ranked = [text.model_dump() for attack in record.result.attacks for text in attack.ranked]
    more = {"ranked": ranked, "program": program and program.model_dump()}
    return {"verdict": audit.verdict, "groups": groups, **more}


@yields
def _make_given_away(given: Given) -> Told:
    """Draw D.3: documents given away, the best samples by score, and the length of a program."""
    parts = given.answers
    groups = [one for part in ("completion", "generation") for one in parts[part]["groups"]]
    shares = {
        "trained on": [one["share"] for one in groups],
        "fresh": [one["fresh"] and one["fresh"][0] for one in groups],
        "fresh, upper limit": [one["fresh"] and one["fresh"][1] for one in groups],
        "reference model": [one["reference"] and one["reference"][0] for one in groups],
    }
    yield _points("Documents given away", "share", [one["name"] for one in groups], shares)
    ranked = parts["generation"]["ranked"]
    sides = {"hold one trained on": "trained", "hold a fresh one": "fresh"}
    held = {label: [one[side] for one in ranked] for label, side in sides.items()}
    scores = [one["score"] for one in ranked]
    yield _points("Best samples", f"of {max(o['texts'] for o in ranked):,}", scores, held)
    for part in ("completion", "generation"):
        yield f"By {part}: {parts[part]['verdict']}"
    if "program" in parts:
        found = parts["program"]["program"]
        (methods, sizes), ours = (
            zip(*found["complexity"].items(), strict=True),
            found["program_bytes"],
        )
        compared = {"without the model": sizes, "the program": [ours] * len(sizes)}
        yield _points("Program", "bytes", methods, compared)
        yield (
            f"The program, of quality {max(0.0, 1 - ours / min(sizes)):.3g} at most: "
            f"{found['verdict']}. {'; '.join(found['reasons'])}. {found['caveat']}"
        )


def _points(
    title: str, y: str, names: Sequence[str], drawn: Mapping[str, Sequence[float | None]]
) -> Panel:
    """Draw points at names, each where it is known."""
    lines: list[Line] = []
    for label, values in drawn.items():
        there = {at: value for at, value in enumerate(values) if value is not None}
        if there:
            lines.append(Line(label, [*there], [*there.values()], "points"))
    return Panel(title, "", y, lines, names=names)


PLANS: Mapping[str, tuple[Callable[..., Plan], Sequence[str], Sequence[str]]] = {
    "001/2": (_priors, ["secrets"], ["text"]),
    "001/3": (_planted, ["secrets"], ["documents", "fresh", "alternatives", "epsilons"]),
    "003/D.3": (
        _given_away, ["documents", "fresh"], ["reference", "program", "prompt", "samples"]
    ),
}  # fmt: skip
"""The plan of each figure, what it needs of `OwnModel`, and what it takes besides."""
