"""Write the software bill of materials from the lock files, as CycloneDX JSON.

What `make audit` installs (run.lock) has the scope "required"; what only tests and checks need
(dev.lock, mutants.lock, paper.lock, site.lock, torch.lock) has the scope "excluded", for it never
runs with the product.
The file follows from the lock files alone, so that the same lock gives the same bytes.

    python requirements/sbom.py            # write
    python requirements/sbom.py --check    # exit 1 if it is out of date
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

FOLDER = Path(__file__).resolve().parent
TARGET = FOLDER / "sbom.cdx.json"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(?:;\s*([^\\]*?))?\s*\\?$")
_OURS = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def locked(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Read a lock file: name and version -> marker and hashes of its distributions."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    entry: dict[str, Any] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if pin := _PIN.match(line):
            entry = {"marker": (pin[3] or "").strip(), "hashes": []}
            found[pin[1].lower().replace("_", "-"), pin[2]] = entry
        elif line.strip() and not line.lstrip().startswith(("#", "--hash=")):
            raise ValueError(f"{path}, line {number} is no pin: {line}")
        if entry is not None:
            entry["hashes"] += _HASH.findall(line)
    return found


def component(name: str, version: str, entry: dict[str, Any], scope: str) -> dict[str, Any]:
    """Describe one package."""
    purl = f"pkg:pypi/{name}@{quote(version)}"  # a local version has a plus
    hashes = " ".join(entry["hashes"])
    properties = [{"name": "narcissus:distributions:sha256", "value": hashes}]
    if entry["marker"]:
        properties.insert(0, {"name": "narcissus:marker", "value": entry["marker"]})
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "scope": scope,
        "purl": purl,
        # One release has many distributions, each with a hash; none is that of "the" component.
        "properties": properties,
    }


def bill() -> str:
    """Give the bill of materials as text."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    about = project["project"]
    run = locked(FOLDER / "run.lock")
    every = run
    for name in ("build.lock", "dev.lock", "mutants.lock", "paper.lock", "site.lock", "torch.lock"):
        every = locked(FOLDER / name) | every
    components = [
        component(*key, entry, "required" if key in run else "excluded")
        for key, entry in sorted(every.items())
    ]
    source = FOLDER.parent / project["tool"]["hatch"]["version"]["path"]
    [version] = _OURS.findall(source.read_text(encoding="utf-8"))
    root = f"pkg:pypi/{about['name']}@{version}"
    body: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": about["name"],
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": about["license"]}}],
            }
        },
        "components": components,
        "dependencies": [
            {
                "ref": root,
                "dependsOn": [c["bom-ref"] for c in components if c["scope"] == "required"],
            }
        ],
    }
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
    serial = {"serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"}
    return json.dumps({**body, **serial}, indent=1) + "\n"


def main() -> int:
    """Write the file, or check it."""
    text = bill()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            print(f"requirements/{TARGET.name} is out of date: run `make sbom`")
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
