"""An extra that is not there is named, with how to get it."""

import json

import pytest

from narcissus._optional import optional
from narcissus.errors import MissingExtraError


def test_a_module_that_is_there_is_given():
    assert optional("json", extra="none", purpose="Reading") is json


def test_a_missing_one_names_its_extra():
    with pytest.raises(MissingExtraError) as caught:
        optional("no_such_package.part", extra="parquet", purpose="Reading Parquet")
    assert str(caught.value) == (
        "Reading Parquet needs the package `no_such_package`: "
        "install it with `pip install 'narcissus[parquet]'`"
    )
