"""What tests of several kinds share."""

import pytest

from narcissus.evidence import clopper_pearson
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.sandbox import Isolation


@pytest.fixture
def blocks():
    """Give the function that finds the blocks of a kind in a page."""
    return lambda page, kind: [block for block in page.blocks if isinstance(block, kind)]


@pytest.fixture
def evidence():
    """Evidence of extraction, made up."""
    return ExtractionEvidence(
        verdict="extraction",
        reasons=("it does", "nothing shorter was found"),
        success=clopper_pearson(20, 20, quantity="success"),
        success_without_release=clopper_pearson(0, 20, quantity="success"),
        stand_ins={"an empty release": clopper_pearson(0, 20, quantity="success")},
        success_on_shadow=clopper_pearson(0, 3, quantity="success"),
        shadow_rank=0.25,
        program_bytes=100,
        program_bytes_compressed=80,
        complexity={"lzma": 400},
        complexity_estimate=400,
        complexity_method="lzma",
        quality=0.75,
        extractable_bits=2400,
        margin_bytes=300,
        deterministic=True,
        endings={"finished": 20},
        isolation=Isolation("namespaces", ("seccomp",), checks=(("forks", "refused"),)),
        verdict_grade="approximate",
    )
