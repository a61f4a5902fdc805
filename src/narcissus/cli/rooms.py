"""The libraries that commands use, each loaded at its first use: a help page needs none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from narcissus._pandas import Lazy

__all__ = [
    "audits",
    "bounds",
    "channels",
    "counts",
    "covered",
    "disclosure",
    "drawing",
    "evidence",
    "extraction",
    "guarantees",
    "leakage",
    "np",
    "priors",
    "profiles",
    "propose",
    "results",
    "shadows",
    "studies",
]

if TYPE_CHECKING:
    import numpy as np

    from narcissus import (
        audits,
        bounds,
        channels,
        counts,
        disclosure,
        evidence,
        extraction,
        guarantees,
        priors,
        profiles,
        results,
    )
    from narcissus import membership as shadows
    from narcissus import report as drawing
    from narcissus import study as studies
    from narcissus.kinds.game import covered
    from narcissus.kinds.table import propose
    from narcissus.report import leakage
else:
    np = Lazy("numpy")
    audits, bounds = Lazy("narcissus.audits"), Lazy("narcissus.bounds")
    channels, counts = Lazy("narcissus.channels"), Lazy("narcissus.counts")
    covered = Lazy("narcissus.kinds.game.covered")
    disclosure = Lazy("narcissus.disclosure")
    drawing, evidence = Lazy("narcissus.report"), Lazy("narcissus.evidence")
    extraction, guarantees = Lazy("narcissus.extraction"), Lazy("narcissus.guarantees")
    leakage, priors = Lazy("narcissus.report.leakage"), Lazy("narcissus.priors")
    profiles, propose = Lazy("narcissus.profiles"), Lazy("narcissus.kinds.table.propose")
    results, shadows = Lazy("narcissus.results"), Lazy("narcissus.membership")
    studies = Lazy("narcissus.study")
