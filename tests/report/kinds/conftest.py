"""Records of other kinds than a table's audit: those of the tests of studies, read as of today."""

import json
from pathlib import Path

import pytest

from narcissus.study.reading import read_record

RECORDS = Path(__file__).parents[2] / "study" / "records" / "last"


@pytest.fixture
def record_of():
    """Give the function that reads a record, with changes anywhere below its results."""

    def read(name, edit=lambda results: None, **changes):
        record = read_record(RECORDS / f"{name}.json")
        results = record.results.model_dump(mode="json")
        edit(results)
        typed = type(record.results).model_validate_json(json.dumps(results))
        return record.model_copy(update={"results": typed, **changes})

    return read
