"""Add what the wheel brings with it to the list of its dependencies: python -m tests.sbom linkwright.cdx.json

`cyclonedx-py` lists the packages of an environment. The copy of three.js in the page is not a package, so it is added here.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from tests import ROOT

VENDOR = ROOT / "src" / "linkwright" / "rings/studio" / "vendor"
# a row of VERSION.md: file, package, version, where from, license, checksum
ROW = re.compile(r"^\| (\S+\.js) \| (\S+) \| ([\d.]+) \| npm[^|]*\| (\w+)[^|]*\| ([0-9a-f]{64}) \|$", re.MULTILINE)


def bundled() -> list[dict[str, Any]]:
    """Components of CycloneDX for the scripts that the wheel brings; raise ValueError where one is not the file that the table lists."""
    out = []
    for file, name, version, license, digest in ROW.findall((VENDOR / "VERSION.md").read_text(encoding="utf-8")):
        if hashlib.sha256((VENDOR / file).read_bytes()).hexdigest() != digest:
            raise ValueError(f"{file} is not the file that VERSION.md lists")
        key = f"{name}@{version}"
        hashes, licenses = [{"alg": "SHA-256", "content": digest}], [{"license": {"id": license}}]
        out.append({"type": "library", "bom-ref": key, "name": name, "version": version, "purl": f"pkg:npm/{key}", "licenses": licenses,
                    "hashes": hashes})  # fmt: skip
    return out


def completed(bom: dict[str, Any]) -> dict[str, Any]:
    """The list with the bundled scripts, each once, as dependencies of the package itself."""
    added = [x for x in bundled() if x["bom-ref"] not in {c["bom-ref"] for c in bom["components"]}]
    own = bom["metadata"]["component"]["bom-ref"]
    refs = [x["bom-ref"] for x in added]
    tree = [{**d, "dependsOn": sorted([*d.get("dependsOn", []), *refs])} if d["ref"] == own else d for d in bom["dependencies"]]
    return {**bom, "components": [*bom["components"], *added], "dependencies": [*tree, *({"ref": r} for r in refs)]}


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(json.dumps(completed(json.loads(path.read_text(encoding="utf-8"))), indent=2) + "\n", encoding="utf-8")
