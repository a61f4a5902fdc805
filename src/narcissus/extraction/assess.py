"""Whether a program is an extractor, and how strong the evidence is.

A program extracts a data set from a release if it succeeds with probability at least 2/3 given the
release, while no program of its length succeeds without it. The first half is sampled, with
confidence limits. The second cannot be verified: complexity has upper estimates only. So the
quality is an upper estimate too, and a verdict of extraction is as good as the compressors tried.

Source: Cohen et al. 2024, Definitions 1.13, D.7 and D.8, Claim D.9, Lemma 3.2; Narcissus theory 7.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from narcissus._random import RandomSource, generator
from narcissus._validation import between, integer
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.bench import Bench, Taken, Tried, what_it_takes
from narcissus.extraction.complexity import LARGEST, complexity
from narcissus.extraction.evidence import (
    MARGIN,
    NEEDED,
    NO_OTHER_RELEASE,
    ExtractionEvidence,
    Found,
    Rival,
    rule_on,
    would_change,
)
from narcissus.extraction.files import DataSet, check_release
from narcissus.extraction.relations import OutputRelation
from narcissus.extraction.sandbox import Limits, as_file, can_serve, check_isolation, check_source
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate, NotAssessed


def assess_extraction(
    data: DataSet,
    release: Path | str | bytes,
    program: bytes,
    relation: OutputRelation,
    *,
    runs: int = 20,
    quality_needed: float = 0.0,
    margin: int = MARGIN,
    shadows: Sequence[DataSet] = (),
    other_releases: Mapping[str, Path | str | bytes] = MappingProxyType({}),
    rivals: Mapping[str, bytes] = MappingProxyType({}),
    reference: bytes | None = None,
    confidence: float = 0.95,
    limits: Limits | None = None,
    workers: int = 1,
    served: bool = False,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> ExtractionEvidence:
    """Run a program with and without a release, and weigh the evidence that it extracts data.

    data, release: the data behind the release, which is a file, a folder with weights, or bytes.
    program: Python source, run in a sandbox. It finds the release on standard input and as the file
        ``release``, and prints its attempt.
    runs: runs with each release; 2/3 at 95% takes at least 10, all successful.
    quality_needed: quality above which the claim counts, in [0, 1): the ``q`` of Definition 3.1.
    margin: bytes (at least 0) by which it must be shorter than any program without the release.
    shadows: data sets like ``data`` that are independent of the release.
    other_releases: releases made without the data, by name, as further stand-ins.
    rivals: programs said to need no release, by name; each success is an upper estimate.
    reference: public text, which programs may read as the file ``reference``.
    confidence, limits, workers, served: level of the limits; limits of each run; parallel runs;
        whether a worker forks its runs from one process where that is safe (`run_programs`,
        `can_serve`).
    Raises InputError: the program does not parse, or no run with the release printed readable
        output.
    Raises IsolationError: the machine cannot isolate the program.
    """
    release = as_file(release)
    others = {name: as_file(other_release) for name, other_release in other_releases.items()}
    check_source(program)
    for name, source in rivals.items():
        check_source(source, f"the rival program {name}")
    if isinstance(release, Path):
        check_release(release)
    bench = Bench(
        data,
        relation,
        program,
        runs=integer("runs", runs, low=1),
        confidence=between("confidence", confidence, 0, 1, open_low=True, open_high=True),
        quality_needed=between("quality_needed", quality_needed, 0, 1, open_high=True),
        limits=limits or Limits(),
        isolation=check_isolation(),
        reference=reference,
        workers=workers,
        served=served and can_serve(),
        observer=observer,
        margin=integer("margin", margin, low=0),
    )
    return _played(bench, release, others, rivals, shadows, generator(rng))


def _played(
    bench: Bench,
    release: Path | bytes,
    other_releases: Mapping[str, Path | bytes],
    rivals: Mapping[str, bytes],
    shadows: Sequence[DataSet],
    rng: np.random.Generator,
) -> ExtractionEvidence:
    program, observer = bench.program, bench.observer
    replaced = _stand_ins(release, other_releases, rng)
    observer.start("run the program", bench.runs * (1 + len(replaced) + len(rivals)))
    with_release = bench.run(program, release)
    with_release.refuse_silence()
    stand_ins = {
        name: bench.share(bench.run(program, stand_in), f"success with {name}")
        for name, stand_in in replaced.items()
    }
    tried: list[Rival] = []
    for short, source in rivals.items():
        name = f"the rival program {short}"
        share = bench.share(bench.run(source, b""), f"success of {name}")
        tried.append(Rival(name, share, len(source)))
    taken = Taken("", None, ())
    if any(with_release.good):
        taken = what_it_takes(bench, release, with_release.good_outputs, replaced, rng)
    observer.finish()
    evidence = _weigh(bench, with_release, stand_ins, [*tried, *taken.rivals], shadows, taken)
    if other_releases:
        return evidence
    return replace(evidence, not_assessed=(*evidence.not_assessed, NO_OTHER_RELEASE))


def _weigh(
    bench: Bench,
    with_release: Tried,
    stand_ins: dict[str, Estimate],
    rivals: list[Rival],
    shadows: Sequence[DataSet],
    taken: Taken,
) -> ExtractionEvidence:
    estimates, missing = _estimates(bench, bench.data, with_release)
    missing += [rival.not_shown for rival in rivals if not rival.shown]
    without = max(stand_ins.values(), key=lambda e: e.value)
    tried = (Rival("this program without the release", without, len(bench.program)), *rivals)
    # Only what is known to succeed two times in three is an estimate of the complexity.
    estimates |= {rival.name: rival.program_bytes for rival in tried if rival.shown}
    if not estimates:
        raise InputError(
            f"no output at all can satisfy the relation on {bench.data.name} "
            f"({bench.relation.describe()}); loosen it"
        )
    method = min(estimates, key=lambda name: estimates[name])
    finding = Found(
        bench.share(with_release, "success with the release"),
        without,
        len(bench.program),
        estimates[method],
        method,
        bench.quality_needed,
        rivals=tried,
        margin=bench.margin,
        opaque=taken.opaque,
    )
    finding = _against_shadows(finding, shadows, bench, with_release)
    ruling = rule_on(finding)
    margin = max(0, finding.best - finding.program_bytes)
    return ExtractionEvidence(
        verdict=ruling.verdict,
        reasons=ruling.reasons,
        success=finding.success,
        success_without_release=finding.without,
        stand_ins=stand_ins,
        success_on_shadow=finding.on_shadow,
        shadow_rank=finding.rank,
        program_bytes=finding.program_bytes,
        program_bytes_compressed=len(zlib.compress(bench.program, 9, wbits=-15)),
        complexity=estimates,
        complexity_estimate=finding.best,
        complexity_method=finding.method,
        quality=finding.quality,
        extractable_bits=8 * margin,
        margin_bytes=margin,
        deterministic=len({r.output for r in with_release.runs}) == 1,
        endings=dict(Counter(r.ending for r in with_release.runs)),
        isolation=bench.isolation,
        verdict_grade=ruling.grade,
        more=ruling.more,
        would_change=would_change(finding, ruling),
        not_assessed=tuple(missing),
        served=bench.served,
        margin=bench.margin,
        fingerprint=taken.fingerprint,
    )


def _stand_ins(
    release: Path | bytes, others: Mapping[str, Path | bytes], rng: np.random.Generator
) -> dict[str, Path | bytes]:
    """Name the inputs that replace the release.

    An empty one alone is too easy to detect: a program could print memorised content for any input.
    The shuffled one has the same bytes in another order.
    """
    stand_ins: dict[str, Path | bytes] = {"an empty release": b""}
    if isinstance(release, bytes) or release.is_file():
        raw = release if isinstance(release, bytes) else release.read_bytes()
        shuffled = rng.permutation(np.frombuffer(raw, np.uint8)).tobytes()
        stand_ins["the release with its bytes shuffled"] = shuffled
    return stand_ins | {f"the release {name}": path for name, path in others.items()}


def _estimates(
    bench: Bench, data: DataSet, tried: Tried
) -> tuple[dict[str, int], list[NotAssessed]]:
    """Return the least complexity over members of the relation's set, by method."""
    seen = sorted(tried.good_outputs, key=len)[:4]
    members = list(dict.fromkeys([*bench.relation.cheap_members(data), *seen]))
    # Compressing is the expensive part: full effort only for those that one quick look favours.
    members.sort(key=lambda m: len(zlib.compress(m, 6)))
    estimates = dict(bench.relation.program_sizes(data))
    missing: list[NotAssessed] = []
    for member in members[:8]:
        if len(member) > LARGEST:
            missing.append(
                NotAssessed("complexity of a target", f"it is longer than {LARGEST} bytes")
            )
            continue
        complexities = complexity(member, reference=bench.reference)
        for name, size in complexities.estimates.items():
            estimates[name] = min(size, estimates.get(name, size))
        missing += complexities.missing
    return estimates, list(dict.fromkeys(missing))


def _against_shadows(found: Found, shadows: Sequence[DataSet], bench: Bench, tried: Tried) -> Found:
    """Score the same outputs against data that are independent of the release (Lemma 3.2).

    Definition 3.1 applies to the data and the shadows alike. So for a release independent of the
    data all are exchangeable, and the rank is a p-value.
    """
    if not shadows:
        return found
    each: list[int] = []  # runs that are evidence against each shadow
    for shadow in shadows:
        again = bench.against(shadow, tried.runs)
        sizes = _estimates(bench, shadow, again)[0] if any(again.good) else {}
        counts = not sizes or found.suffices(min(sizes.values()))
        each.append(sum(again.good) if counts else 0)
    # The runs against one shadow are not independent: a shadow is one trial.
    share = clopper_pearson(
        sum(h >= NEEDED * len(tried.runs) for h in each),
        len(shadows),
        confidence=bench.confidence,
        quantity="share of shadow data sets against which two outputs in three count",
    )
    as_good = sum(h >= sum(tried.good) for h in each)
    rank = (1 + as_good) / (1 + len(shadows)) if found.suffices(found.best) else 1.0
    return replace(found, on_shadow=share, rank=rank)
