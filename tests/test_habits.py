"""Files around the product: workflows, forms, citation, recipe and container agree with pyproject.toml and the Makefile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT
from tests.installed import left_out, needed, reason
from tests.oldest import constraints, declared, project
from tests.release import differences, versions
from tests.sbom import completed

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [p for p in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if p.name != "config.yml"]
ELEMENTS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def read(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # texts only: `on` stays a key


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_workflows_are_well_formed(path: Path) -> None:
    workflow = read(path)
    assert workflow["name"] == path.stem and workflow["on"] and workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert set(job.get("needs", "").split()) <= workflow["jobs"].keys(), name
        assert job["runs-on"] and all(("uses" in s) != ("run" in s) for s in job["steps"]), name
        for variable in re.findall(r"matrix\.(\w+)", yaml.safe_dump(job)):
            assert variable in job["strategy"]["matrix"], (name, variable)
    for action in (s["uses"] for s in steps(workflow) if "uses" in s):
        pinned = re.fullmatch(r"([\w-]+/[\w-]+)@([0-9a-f]{40})", action)
        assert pinned, f"{action}: name the commit"
        assert re.search(rf"{action}  # v\d+\.\d+\.\d+$", path.read_text(encoding="utf-8"), re.MULTILINE), "and its version"
    assert "secrets." not in path.read_text(encoding="utf-8"), "releases need no stored password"


def test_workflows_run_targets_and_files_that_exist() -> None:
    known = targets()
    assert {p.stem for p in WORKFLOWS} >= {"lint", "test", "docs", "release"} and {"test", "check", "docs", "test-oldest"} <= known
    called = []
    for path in WORKFLOWS:
        for job in read(path)["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            for line in "\n".join(s.get("run", "") for s in job["steps"]).splitlines():
                for name in re.findall(r"^make ([\w-]+|\$\{\{ matrix\.\w+ \}\})", line.strip()):
                    variable = re.search(r"matrix\.(\w+)", name)
                    called += matrix[variable[1]] if variable else [name]
                for module in re.findall(r"python -m (tests\.\w+)", line):
                    assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), line
                for file in re.findall(r"\btests/[\w/]+\.py\b", line):
                    assert (ROOT / file).is_file(), line
    assert {"test", "check", "docs", "test-oldest", "test-all"} <= set(called) <= known


def test_uploads_are_by_trusted_publishing_with_attestations() -> None:
    workflow = read(ROOT / ".github" / "workflows" / "release.yml")
    job = workflow["jobs"]["publish"]
    assert job["permissions"] == {"contents": "write", "id-token": "write", "attestations": "write"} and job["environment"]
    (upload,) = [s for s in job["steps"] if "pypi-publish" in s.get("uses", "")]
    assert upload["with"] == {"attestations": "true"}, "neither a password nor another registry"
    assert any(s.get("uses", "").startswith("actions/attest-build-provenance@") for s in job["steps"])


def test_build_tools_have_versions_and_hashes_and_releases_a_list_of_dependencies() -> None:
    """Every requirement of the release's own tools is one version with its hashes, and what is built is listed and attested."""
    folder = ROOT / ".github" / "requirements"
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    for wanted in sorted(folder.glob("*.in")):
        lines = wanted.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
        entries = [x for x in lines if x and not x.startswith((" ", "#"))]
        assert entries and all(re.fullmatch(r"[\w.-]+==[\w.]+ \\", x) for x in entries)
        assert {x.split("==")[0] for x in entries} >= set(wanted.read_text(encoding="utf-8").split())
        assert sum("--hash=sha256:" in x for x in lines) >= len(entries)
        assert f"--require-hashes -r .github/requirements/{wanted.stem}.txt" in text
    assert "--no-isolation" in text and "actions/attest-sbom@" in text and "sbom/linkwright.cdx.json --verify-tag" in text


def test_jobs_that_build_and_publish_install_pinned_tools_only() -> None:
    """`make test` installs packages at their newest versions: in the job that builds, any of them could change what is published."""
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    for name in ("build", "publish"):
        lines = [line for step in jobs[name]["steps"] for line in step.get("run", "").splitlines()]
        installs = [line for line in lines if re.search(r"\b(install|uvx?|npm|npx|apt-get|make)\b", line)]
        assert all("pip install --require-hashes -r .github/requirements/" in line for line in installs), name
    uploads = {job: [s["with"]["name"] for s in jobs[job]["steps"] if "upload-artifact" in s.get("uses", "")] for job in jobs}
    assert [job for job, names in uploads.items() if "dist" in names] == ["build"]
    order = ["publish"]
    while jobs[order[-1]].get("needs"):
        order.append(jobs[order[-1]]["needs"])
    assert order == ["publish", "install", "list", "build", "test"] and jobs["test"]["steps"][-1]["run"].startswith("make test")


def test_the_list_of_dependencies_has_the_scripts_of_the_page() -> None:
    own = {"metadata": {"component": {"bom-ref": "own"}}, "components": [{"bom-ref": "numpy"}]}
    bom = {**own, "dependencies": [{"ref": "own", "dependsOn": ["numpy"]}]}
    done = completed(bom)
    assert [c["name"] for c in done["components"][1:]] == ["three"] and completed(done) == done
    assert done["dependencies"][0] == {"ref": "own", "dependsOn": ["numpy", done["components"][1]["bom-ref"]]}


def test_first_commands_are_ones_that_exist() -> None:
    """Nothing is published yet, so texts begin with a clone, and say where it was not tried. Change this with the first release."""
    for name in ("README.md", "docs/start/install.md", "llms.txt"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        clone = text.index("pip install .")
        assert "not on PyPI yet" in text[:clone] and "pip install linkwright" not in text[:clone] and "uvx" not in text[:clone], name
        said = text[: clone + 1500]
        assert ("untested" in said and "Windows" in said) or "tested on Linux x86-64 only" in said, name


@pytest.mark.parametrize("path", FORMS, ids=lambda p: p.stem)
def test_forms_are_well_formed(path: Path) -> None:
    form = read(path)
    assert form.keys() >= {"name", "description", "body"}
    ids = [e["id"] for e in form["body"] if e["type"] != "markdown"]
    assert len(ids) == len(set(ids)) > 0
    for element in form["body"]:
        assert element["type"] in ELEMENTS
        wanted = {"markdown": "value", "dropdown": "options", "checkboxes": "options"}.get(element["type"], "label")
        assert element["attributes"][wanted], path
        if element["type"] == "checkboxes":
            assert all(set(option) <= {"label", "required"} for option in element["attributes"]["options"])


def test_there_are_forms_for_defects_and_features_and_requests() -> None:
    assert {p.stem for p in FORMS} >= {"defect", "wanted"}
    text = (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`make ([\w-]+)`", text)) <= targets()
    for name in re.findall(r"`([\w/.-]+\.md)`", text):
        assert (ROOT / name).is_file(), name


def test_the_citation_has_what_the_format_asks_for() -> None:
    given = read(ROOT / "CITATION.cff")
    assert given["cff-version"] == "1.2.0" and given["type"] == "software" and given["license"] == project()["license"]
    assert given["authors"] == [{"name": project()["authors"][0]["name"]}]
    needed = {"authors", "cff-version", "message", "title"}
    assert needed <= given.keys() <= {*needed, "abstract", "date-released", "doi", "keywords", "license", "type", "url", "version"}
    assert len(given["keywords"]) == len(set(given["keywords"]))


def test_all_places_have_one_version() -> None:
    assert len(set(versions().values())) == 1, versions()
    wrong = differences("v9.9.9")
    assert len(wrong) == len(versions()) + 1 and all("9.9.9" in x for x in wrong)


def test_the_recipe_asks_for_the_versions_of_the_project() -> None:
    recipe = read(ROOT / "recipe" / "recipe.yaml")
    asked = dict(x.split(" >=") for x in recipe["requirements"]["run"])
    asked["matplotlib"] = asked.pop("matplotlib-base")  # conda's name for it without a window system
    assert asked.pop("python") == "${{ python_min }}" and recipe["context"]["python_min"] == project()["requires-python"].removeprefix(">=")
    core = {re.match(r"[\w-]+", x)[0] for x in project()["dependencies"]}  # ty: a requirement begins with a name
    assert asked == {name: version for name, version in constraints(project()).items() if name in core}
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"linkwright = {project()['scripts']['linkwright']}"


def test_the_container_has_a_supported_python() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(set(bases)) == 1, bases
    version = re.fullmatch(r"python:(3\.\d+)-slim", bases[0])
    assert version and f"Programming Language :: Python :: {version[1]}" in project()["classifiers"]
    left = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert not {"src", "pyproject.toml", "README.md", "LICENSE"} & set(left), "the wheel is built from these"


def test_the_paper_cites_what_it_lists_and_has_the_sections_of_its_journal() -> None:
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    given = yaml.safe_load(head)
    assert given.keys() >= {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    assert given["authors"][0]["name"] == project()["authors"][0]["name"]
    keys = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / given["bibliography"]).read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(set(re.findall(r"@(\w+)", re.sub(r"`[^`]*`", "", body)))) == sorted(keys)
    headings = re.findall(r"^# (.+)$", body, re.MULTILINE)
    assert headings[:2] == ["Summary", "Statement of need"] and {"State of the field", "References"} <= set(headings)
    for name in re.findall(r"`(docs/[\w./-]+)`|python (docs/[\w./-]+)", body):
        assert (ROOT / "".join(name)).is_file(), name
    assert 750 <= len(body.split()) <= 1750  # asked for by the journal


def test_lowest_versions_are_read_from_the_project() -> None:
    given = {
        "dependencies": ["numpy>=1.26", "foo[a,b]>=2.1,<3; sys_platform == 'win32'"],
        "optional-dependencies": {"x": ["Bar==4"], "test": ["pytest"]},
    }
    assert constraints(given) == {"bar": "4", "foo": "2.1", "numpy": "1.26"}
    with pytest.raises(SystemExit, match="'baz<3' has no lower bound"):
        constraints({**given, "dependencies": ["baz<3"]})
    with pytest.raises(SystemExit, match=r"numpy has the lower bounds 1.26 and 2"):
        constraints({**given, "dependencies": ["numpy>=1.26", "numpy>=2; python_version > '3.12'"]})
    assert len(constraints(project())) > 15 and sum(1 for _ in declared(project())) >= len(constraints(project()))


@pytest.mark.slow
def test_tests_that_need_missing_packages_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that compares with Pinocchio, one that imports it through another module, and one that needs nothing."""
    from tests import installed

    names = ("mechanics/dynamics/test_pinocchio.py", "rings/exchange/reading/urdf/test_trees.py", "topology/test_tree.py")
    places = [ROOT / "tests" / name for name in names]
    assert all(p.is_file() for p in places)
    monkeypatch.setattr(installed, "missing", lambda package: package == "pinocchio")
    needed.cache_clear()
    try:
        direct, through, none = [reason(p) for p in places]
        assert direct == "imports pinocchio" and "pinocchio" in through and none == ""
        assert 3 <= len(left_out()) < 30
    finally:
        needed.cache_clear()
