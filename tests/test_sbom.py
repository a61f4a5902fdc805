"""The software bill of materials lists what the lock files pin, no more and no less."""

import json
import re
import runpy
from pathlib import Path

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


def test_every_component_has_its_hashes():
    for part in SBOM["components"]:
        found = {p["name"]: p["value"] for p in part["properties"]}
        assert re.fullmatch(
            r"[0-9a-f]{64}( [0-9a-f]{64})*", found["narcissus:distributions:sha256"]
        )
