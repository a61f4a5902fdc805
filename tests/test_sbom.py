"""The software bill of materials lists what the lock files pin, no more and no less."""

import json
import re
import runpy
import sys
from importlib import metadata
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "requirements"
SBOM = json.loads((FOLDER / "sbom.cdx.json").read_text(encoding="utf-8"))


def test_it_is_up_to_date():
    written = runpy.run_path(str(FOLDER / "sbom.py"))["bill"]()
    assert written == (FOLDER / "sbom.cdx.json").read_text(encoding="utf-8"), "run `make sbom`"


def test_every_pin_is_a_component_with_its_scope():
    pinned = {
        name: set(re.findall(r"^(\S+==\S+)", (FOLDER / name).read_text(), re.MULTILINE))
        for name in (
            *("run.lock", "dev.lock", "build.lock"),
            *("mutants.lock", "paper.lock", "site.lock", "torch.lock"),
        )
    }
    scopes = {f"{c['name']}=={c['version']}": c["scope"] for c in SBOM["components"]}
    assert set(scopes) == set.union(*pinned.values())
    assert {pin for pin, scope in scopes.items() if scope == "required"} == pinned["run.lock"]
    assert len({c["bom-ref"] for c in SBOM["components"]}) == len(SBOM["components"])


def test_every_component_has_its_hashes_and_a_licence():
    for part in SBOM["components"]:
        assert part["hashes"]
        assert all(h["alg"] == "SHA-256" for h in part["hashes"])
        assert all(re.fullmatch("[0-9a-f]{64}", h["content"]) for h in part["hashes"])
        [licence] = part["licenses"]
        assert licence.get("expression") or licence["license"]["name"]
    hashes = {h["content"] for part in SBOM["components"] for h in part["hashes"]}
    locks = "".join(path.read_text() for path in FOLDER.glob("*.lock"))
    assert hashes == set(re.findall("sha256:([0-9a-f]{64})", locks))


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="a wheel for another Python may state it otherwise"
)
def test_the_licences_are_those_of_what_is_installed():
    licence_of = runpy.run_path(str(FOLDER / "sbom.py"))["licence_of"]
    looked = 0
    for part in SBOM["components"]:
        try:
            found = metadata.metadata(part["name"]).json
        except metadata.PackageNotFoundError:
            continue
        if found["version"] == part["version"]:
            licence = licence_of(found)
            assert part["licenses"] in ([licence], [{"license": licence}]), part["name"]
            looked += 1
    assert looked > 10


def test_the_words_of_a_licence_that_is_a_whole_text_are_its_class():
    licence_of = runpy.run_path(str(FOLDER / "sbom.py"))["licence_of"]
    classes = ["License :: OSI Approved :: BSD License", "Topic :: Text"]
    for text in ("Copyright (c) 1999\n...", "UNKNOWN", None, "x" * 60):
        assert licence_of({"license": text, "classifier": classes}) == {"name": "BSD License"}
    assert licence_of({}) == {"name": "not stated"}


def test_no_release_is_a_preliminary_one():
    """Every version that any lock pins is a final one; a local label may follow."""
    pins = [
        (path.name, name, version)
        for path in FOLDER.glob("*.lock")
        for name, version in re.findall(r"^(\S+)==([^\s;]+)", path.read_text(), re.MULTILINE)
    ]
    assert len(pins) > 100
    assert not [pin for pin in pins if not re.fullmatch(r"[0-9.]+(\.?post\d+)?(\+\w+)?", pin[2])]
