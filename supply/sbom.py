"""A software bill of materials: every crate, every Python distribution, and every package in the explorer's pages, as CycloneDX 1.5. `make sbom`.

`cargo cyclonedx` tells the crates, `uv export` the distributions, and the pages' own list the rest; they become one document, which is validated against CycloneDX's schema.
Crates that only test are not in it; distributions that only check or build are, in the scope `excluded`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from supply import licences
from supply.licences import ROOT

UV = ROOT / ".venv/bin/uv"
VALIDATOR = "cyclonedx-python-lib[json-validation]==11.11.0"
_PART = "sbom-part"


def main() -> int:
    """Writes the bill and validates it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "results/sbom.cdx.json")
    out = parser.parse_args().out
    python = of_distributions()
    bill = merged({**python, "components": [*python["components"], *of_pages()]}, of_crates())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
    fault = fault_of(out)
    if fault:
        print(f"{out} is no CycloneDX {bill['specVersion']}: {fault}", file=sys.stderr)
        return 1
    kinds = [component.get("purl", "").partition("/")[0].removeprefix("pkg:") for component in bill["components"]]
    counted = f"{kinds.count('cargo')} crates, {kinds.count('pypi')} distributions and {kinds.count('npm')} packages of pages"
    print(f"{out}: {counted}, valid CycloneDX {bill['specVersion']}")
    return 0


def of_distributions() -> dict[str, Any]:
    """The bill of the Python side, with licences where they are known."""
    exported = _run(
        str(UV), "export", "--frozen", "--quiet", "--preview-features", "sbom-export", "--format", "cyclonedx1.5", "--all-groups"
    )
    bill: dict[str, Any] = json.loads(exported)
    known = {each.name: each for each in licences.distributions()}
    for component in bill["components"]:
        # The source distribution stands for the version: validating the wheels of all platforms takes minutes.
        component["externalReferences"] = component.get("externalReferences", [])[:1]
        found = known.get(component["name"])
        if found is None:
            continue
        if found.licence:
            component["licenses"] = [{"expression": found.licence}] if " " in found.licence else [{"license": {"id": found.licence}}]
        component["scope"] = "required" if found.runs else "excluded"
    return bill


def of_pages() -> list[dict[str, Any]]:
    """The packages of the explorer's pages."""
    return [_page(each) for each in licences.pages()]


def of_crates() -> list[dict[str, Any]]:
    """The bills of the workspace's crates, which the tool writes beside their manifests."""
    written = [manifest.parent / f"{_PART}.json" for manifest in (ROOT / "crates").glob("*/Cargo.toml")]
    try:
        _run("cargo-cyclonedx", "cyclonedx", "--format", "json", "--spec-version", "1.5", "--override-filename", _PART, "--quiet")
        # Where the project lies on this machine is nobody's business.
        texts = (path.read_text(encoding="utf-8").replace(f"file://{ROOT}/", "file:///") for path in sorted(written))
        return [json.loads(text) for text in texts]
    finally:
        for path in written:
            path.unlink(missing_ok=True)


def merged(first: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """One bill of several: components and dependencies of all, each once, below the first one's subject."""
    components = {component["bom-ref"]: component for component in first["components"]}
    dependencies = {each["ref"]: set(each.get("dependsOn", ())) for each in first["dependencies"]}
    subject = first["metadata"]["component"]["bom-ref"]
    for bill in others:
        own = {key: value for key, value in bill["metadata"]["component"].items() if key != "components"}
        for component in (own, *bill.get("components", ())):
            components.setdefault(component["bom-ref"], component)
        for each in bill.get("dependencies", ()):
            dependencies.setdefault(each["ref"], set()).update(each.get("dependsOn", ()))
        dependencies.setdefault(subject, set()).add(own["bom-ref"])
    known = {subject, *components}
    return {
        **first,
        "components": [components[ref] for ref in sorted(components)],
        "dependencies": [{"ref": ref, "dependsOn": sorted(on & known)} for ref, on in sorted(dependencies.items()) if ref in known],
    }


def fault_of(path: Path) -> str:
    """What is wrong with a bill by CycloneDX's schema; empty if nothing is."""
    program = (
        "import sys; from pathlib import Path; from cyclonedx.schema import SchemaVersion; from cyclonedx.validation.json import JsonStrictValidator\n"
        "found = JsonStrictValidator(SchemaVersion.V1_5).validate_str(Path(sys.argv[1]).read_text(encoding='utf-8'))\n"
        "print(str(found)[:2000] if found else '')"
    )
    return _run(str(UV), "run", "--quiet", "--no-project", "--with", VALIDATOR, "python", "-c", program, str(path.resolve())).strip()


def _page(each: licences.Distribution) -> dict[str, Any]:
    """A package of the explorer's pages."""
    purl = f"pkg:npm/{each.name.replace('@', '%40')}@{each.version}"
    licence = [{"expression": each.licence}] if " " in each.licence else [{"license": {"id": each.licence}}]
    return {
        "type": "library",
        "bom-ref": purl,
        "name": each.name,
        "version": each.version,
        "purl": purl,
        "licenses": licence,
        "scope": "required",
    }


def _run(*command: str) -> str:
    """What a program prints; its complaint goes to ours if it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name} failed, with exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
