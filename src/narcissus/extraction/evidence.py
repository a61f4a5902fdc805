"""Is this program an extractor, and how strong is the evidence?

A program counts as an extractor of a data set from a release if it succeeds with probability at
least 2/3 when it is given the release, while no program of its length does without it. The first
half is sampled, with confidence limits. The second cannot be verified: complexity has upper
estimates only, so the quality computed here is an upper estimate too, and a verdict of extraction
is as good as the effort that went into compressing.

Source: Cohen et al. 2024, Definitions 1.13, D.7 and D.8, Claim D.9, Lemma 3.2; Narcissus theory 7.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from narcissus._random import RandomSource, generator
from narcissus._validation import between, integer
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction._verdict import NEEDED, Found, Rival, Verdict, judge, would_change
from narcissus.extraction.complexity import LARGEST, complexity
from narcissus.extraction.files import DataSet, check_release
from narcissus.extraction.relations import Relation
from narcissus.extraction.sandbox import (
    Isolation,
    Limits,
    Run,
    Stop,
    check_isolation,
    check_source,
    run_program,
)
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate, Grade, NotAssessed, Result

CAVEAT = (
    "Complexity can only be estimated from above, by compressing: the true one may be smaller, and "
    "then the quality is smaller than stated and may be nothing at all. No method can verify the "
    "opposite (Cohen et al. 2024, D.4); the evidence is as good as the effort to compress."
)


@dataclass(frozen=True)
class Evidence(Result):
    """What was found out about one program, one release and one data set.

    Attributes
    ----------
    verdict
        "extraction", "no extraction" or "inconclusive".
    reasons
        What the verdict rests on, in words.
    verdict_grade
        The weakest grade of what the verdict rests on: an extraction is 'approximate', since the
        quality is an upper estimate; that there is none may be 'sampled' or, where a compressor
        found a program that is no longer, 'proved'.
    more
        What would settle an inconclusive verdict: ``"10 runs"``; empty where nothing is known to.
    success
        Share of runs with the release whose output counts.
    success_without_release
        The same without it: the stand-in release with which the program did best.
    stand_ins
        Every stand-in for the release, by name.
    success_on_shadow
        Share of the shadow data sets against which two in three of the same outputs count,
        complexity recomputed for each (the relation of Definition 3.1); a `NotAssessed` where
        there is none.
    shadow_rank
        Chance that a release independent of the data would put the data at least as far ahead of
        its shadows as here: a p-value, ``(1 + shadows that do as well) / (1 + shadows)``.
    program_bytes, program_bytes_compressed
        Length of the source as it stands, which is what counts, and after zlib.
    complexity
        Upper estimates, in bytes of a program that needs no release, by method.
    complexity_estimate, complexity_method
        The smallest of them, and which it is.
    quality
        ``1 - program_bytes / complexity_estimate``: an upper estimate.
    extractable_bits
        ``8 (complexity_estimate - program_bytes)``, Claim D.9: an upper estimate, 0 at least.
    margin_bytes
        A program without the release that is shorter than the best by this many bytes would leave
        nothing of the claim.
    deterministic
        Whether all runs with the release printed the same.
    endings
        How the runs with the release ended.
    isolation
        The walls around the program.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    success: Estimate
    success_without_release: Estimate
    stand_ins: dict[str, Estimate]
    success_on_shadow: Estimate | NotAssessed
    shadow_rank: float | None
    program_bytes: int
    program_bytes_compressed: int
    complexity: dict[str, int]
    complexity_estimate: int
    complexity_method: str
    quality: float
    extractable_bits: int
    margin_bytes: int
    deterministic: bool
    endings: dict[str, int]
    isolation: Isolation
    verdict_grade: Grade
    more: str = ""
    would_change: tuple[str, ...] = ()
    not_assessed: tuple[NotAssessed, ...] = ()
    caveat: str = CAVEAT

    @property
    def grade(self) -> Grade:
        """That of the verdict."""
        return self.verdict_grade

    def __str__(self) -> str:
        lines = [f"{self.verdict.upper()}: {self.reasons[0]}", *self.reasons[1:], self.caveat]
        return "\n".join(lines)


@dataclass(frozen=True)
class _Runs:
    """Runs of the program on one release."""

    outputs: list[bytes]
    runs: list[Run]
    successes: list[bool] = field(default_factory=list[bool])


def assess_extraction(
    data: DataSet,
    release: Path | bytes,
    program: bytes,
    relation: Relation,
    *,
    runs: int = 20,
    quality_needed: float = 0.0,
    shadows: Sequence[DataSet] = (),
    other_releases: Mapping[str, Path | bytes] | None = None,
    rivals: Mapping[str, bytes] | None = None,
    reference: bytes | None = None,
    confidence: float = 0.95,
    limits: Limits | None = None,
    workers: int = 1,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> Evidence:
    """Run a program with and without a release, and weigh the evidence that it extracts data.

    Parameters
    ----------
    data
        The data behind the release.
    release
        A file, a folder with weights, or bytes.
    program
        Python source; it finds the release on standard input and as the file ``release``, and
        prints its attempt. It is run in a sandbox.
    relation
        When an attempt counts.
    runs
        Runs with each release; 10 that all succeed are the fewest that can prove 2/3 at 95%.
    quality_needed
        Quality above which the claim counts, in [0, 1): the ``q`` of Definition 3.1.
    shadows
        Data sets like ``data`` that the release has never seen.
    other_releases
        Releases made without the data, by name, as further stand-ins.
    rivals
        Programs that claim to need no release, by name: each that succeeds is an upper estimate.
    reference
        A public text that programs may read, as the file ``reference``.
    confidence
        Level of the limits.
    limits
        What each run may use.
    workers
        Runs at the same time.
    rng
        Shuffles the stand-in for the release; the programs draw their own chance.
    observer
        Hears of progress.

    Raises
    ------
    InputError
        The program does not parse, or no run with the release printed anything that the relation
        could read.
    IsolationError
        The machine cannot isolate the program.
    """
    runs = integer("runs", runs, low=1)
    quality_needed = between("quality_needed", quality_needed, 0, 1, open_high=True)
    confidence = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    check_source(program)
    for name, source in (rivals or {}).items():
        check_source(source, f"the rival program {name}")
    if isinstance(release, Path):
        check_release(release)
    limits = limits or Limits()
    isolation = check_isolation()
    beside = {} if reference is None else {"reference": reference}
    stop = Stop()

    def play(source: bytes, given: Path | bytes) -> _Runs:

        def once(_: int) -> Run:
            done = run_program(source, given, limits, beside=beside, isolation=isolation, stop=stop)
            observer.advance()
            return done

        with ThreadPoolExecutor(workers) as pool:
            try:
                done = list(pool.map(once, range(runs)))
            except BaseException:
                stop.end()  # or the pool would wait until all that run have ended
                raise
        verdicts = {r.output: r.ending == "finished" and relation.holds(data, r.output)
                    for r in done}  # fmt: skip
        return _Runs(
            [r.output for r in done],
            done,
            [r.ending == "finished" and verdicts[r.output] for r in done],
        )

    def share(played: _Runs, quantity: str) -> Estimate:
        return clopper_pearson(
            sum(played.successes), runs, confidence=confidence, quantity=quantity
        )

    replaced = _stand_ins(release, other_releases or {}, rng)
    observer.start("run the program", runs * (1 + len(replaced) + len(rivals or {})))
    with_release = play(program, release)
    _refuse_silence(with_release)
    success = share(with_release, "success with the release")
    stand_ins: dict[str, Estimate] = {}
    for name, given in replaced.items():
        stand_ins[name] = share(play(program, given), f"success with {name}")
    without = max(stand_ins.values(), key=lambda e: e.value)

    estimates, missing = _estimates(data, relation, with_release, reference)
    tried = [Rival("this program without the release", without, len(program))]
    for name, source in (rivals or {}).items():
        named = f"the rival program {name}"
        tried.append(Rival(named, share(play(source, b""), f"success of {named}"), len(source)))
        if not tried[-1].shown:
            which = "may or may not" if tried[-1].possible else "does not"
            missing.append(
                NotAssessed(
                    named,
                    f"it {which} succeed two times in three, so its length says nothing",
                    "more `runs`" if tried[-1].possible else "",
                )
            )
    # Only what is known to succeed two times in three is an estimate of the complexity.
    estimates |= {rival.name: rival.program_bytes for rival in tried if rival.shown}
    observer.finish()
    if not estimates:
        raise InputError(
            f"no output at all can satisfy the relation on {data.name} ({relation.describe()}); "
            "loosen it"
        )
    method = min(estimates, key=lambda name: estimates[name])
    best = estimates[method]
    quality = 1 - len(program) / best

    def counts(shadow: DataSet) -> list[bool]:
        """Say of each run whether it is evidence against ``shadow`` (Definition 3.1)."""
        good = [r.ending == "finished" and relation.holds(shadow, r.output)
                for r in with_release.runs]  # fmt: skip
        if any(good):
            again = _Runs(with_release.outputs, with_release.runs, good)
            sizes, _ = _estimates(shadow, relation, again, reference)
            if 1 - len(program) / min(sizes.values()) <= quality_needed:
                return [False] * len(good)
        return good

    on_shadow, rank = _against_shadows(shadows, with_release, counts, confidence)
    if quality <= quality_needed:
        rank = None if rank is None else 1.0
    found = Found(
        success, without, len(program), best, method, quality_needed, on_shadow, rank, tuple(tried)
    )
    judgement = judge(found)
    margin = max(0, best - len(program))
    return Evidence(
        verdict=judgement.verdict,
        reasons=judgement.reasons,
        success=success,
        success_without_release=without,
        stand_ins=stand_ins,
        success_on_shadow=on_shadow,
        shadow_rank=rank,
        program_bytes=len(program),
        program_bytes_compressed=len(zlib.compress(program, 9, wbits=-15)),
        complexity=estimates,
        complexity_estimate=best,
        complexity_method=method,
        quality=quality,
        extractable_bits=8 * margin,
        margin_bytes=margin,
        deterministic=len(set(with_release.outputs)) == 1,
        endings=dict(Counter(r.ending for r in with_release.runs)),
        isolation=isolation,
        verdict_grade=judgement.grade,
        more=judgement.more,
        would_change=would_change(found, judgement),
        not_assessed=tuple(missing),
    )


def _refuse_silence(played: _Runs) -> None:
    """Refuse a program that never came up with anything, and say what it did instead."""
    runs = played.runs
    if any(played.successes) or any(
        r.output.strip() and r.ending == "finished" and _is_text(r.output) for r in runs
    ):
        return
    last = runs[-1]
    error = last.error.strip().splitlines()[-1] if last.error.strip() else ""
    if last.ending != "finished":
        what = {
            "crashed": f"it crashed ({error or 'no message'})",
            "timeout": f"it was stopped at its time limit after {last.seconds:.1f} s",
            "output limit": f"it was stopped at its output limit of {len(last.output)} bytes",
        }[last.ending]
    elif last.output.strip():
        what = "it printed bytes that are not UTF-8 text"
    else:
        what = "it printed nothing"
    raise InputError(f"the program gave no usable output in any of {len(runs)} runs: {what}")


def _is_text(output: bytes) -> bool:
    try:
        output.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _stand_ins(
    release: Path | bytes, others: Mapping[str, Path | bytes], rng: RandomSource
) -> dict[str, Path | bytes]:
    """Name what is handed to the program in place of the release.

    An empty one alone would be too easy to notice: a program could print what it has by heart
    only when it is given something. The shuffled one has the same bytes in another order.
    """
    stand_ins: dict[str, Path | bytes] = {"an empty release": b""}
    if isinstance(release, bytes) or release.is_file():
        raw = release if isinstance(release, bytes) else release.read_bytes()
        shuffled = generator(rng).permutation(np.frombuffer(raw, np.uint8)).tobytes()
        stand_ins["the release with its bytes shuffled"] = shuffled
    return stand_ins | {f"the release {name}": path for name, path in others.items()}


def _estimates(
    data: DataSet,
    relation: Relation,
    runs: _Runs,
    reference: bytes | None,
) -> tuple[dict[str, int], list[NotAssessed]]:
    """Take the least over members of the relation's set, method by method."""
    seen = [o for o, good in zip(runs.outputs, runs.successes, strict=True) if good]
    members = list(dict.fromkeys([*relation.cheap_members(data), *sorted(seen, key=len)[:4]]))
    # Compressing is the expensive part: full effort only for those that one quick look favours.
    members.sort(key=lambda m: len(zlib.compress(m, 6)))
    estimates = dict(relation.program_sizes(data))
    missing: list[NotAssessed] = []
    for member in members[:8]:
        if len(member) > LARGEST:
            missing.append(
                NotAssessed("complexity of a target", f"it is longer than {LARGEST} bytes")
            )
            continue
        found = complexity(member, reference=reference)
        for name, size in found.estimates.items():
            estimates[name] = min(size, estimates.get(name, size))
        missing += found.missing
    return estimates, list(dict.fromkeys(missing))


def _against_shadows(
    shadows: Sequence[DataSet],
    runs: _Runs,
    counts: Callable[[DataSet], list[bool]],
    confidence: float,
) -> tuple[Estimate | NotAssessed, float | None]:
    """Hold the same outputs against data that the release has never seen (Lemma 3.2).

    An output counts for the data and for a shadow by the same rule, so that for a release that is
    independent of the data all of them are exchangeable, and the rank is a p-value.
    """
    if not shadows:
        reason = NotAssessed(
            "success on shadow data",
            "no shadow data set was given",
            "name some under `shadows`: data of the same kind that the release has not seen",
        )
        return reason, None
    hits = [sum(counts(shadow)) for shadow in shadows]
    as_good = sum(h >= sum(runs.successes) for h in hits)
    # The runs against one shadow are not independent: a shadow is one trial.
    estimate = clopper_pearson(
        sum(h >= NEEDED * len(runs.runs) for h in hits),
        len(shadows),
        confidence=confidence,
        quantity="share of shadow data sets against which two outputs in three count",
    )
    return estimate, (1 + as_good) / (1 + len(shadows))
