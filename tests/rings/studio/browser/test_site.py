"""The site builds without a warning; every link and anchor leads somewhere; nothing is asked for from outside; the API page is current."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import linkwright as lw
from tests import ROOT
from tests.scripts import docs_script
from tests.typescript import installed

FETCHED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data"), ("video", "src")}


class Page(HTMLParser):
    """Links, things fetched, anchors and paragraphs of one built page."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.paragraphs: list[str] = []
        self._open = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag == "p" or (self._open and tag in {"a", "code", "em", "strong"})
        if tag == "p":
            self.paragraphs.append("")
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif tag == "a" and name == "href":
                self.links.append(value or "")
            elif (tag, name) in FETCHED:
                self.fetched.append(value or "")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.paragraphs[-1] += data


class Site:
    """The built site, read once."""

    def __init__(self, folder: Path):
        self.folder = folder

    @cached_property
    def pages(self) -> dict[Path, Page]:
        """Pages of text; 404.html is made for the root of a server, live pages are tested where they are made."""
        paths = [p for p in sorted(self.folder.rglob("*.html")) if p.name != "404.html" and p.parent.name != "live"]
        return {p: Page(p) for p in paths}

    def target(self, page: Page, link: str) -> Path:
        path = unquote(urlsplit(link).path)
        there = (page.path.parent / path).resolve() if path else page.path
        return there / "index.html" if there.is_dir() else there


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1", "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    # not --quiet: it drops warnings before --strict can count them
    installed("katex/dist/katex.min.js")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"mkdocs complains:\n{done.stdout}{done.stderr}"
    assert "WARNING" not in done.stdout + done.stderr
    yield Site(folder)


def test_all_pages_are_there(site: Site) -> None:
    built = {p.relative_to(site.folder).as_posix() for p in site.pages}
    pages = {p.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    papers = {f"papers/{p.parent.name}/index.html" for p in (ROOT / "papers").glob("*/README.md")}
    examples = {f"examples/{p.stem}.html" for p in (ROOT / "examples").glob("*.py")}
    assert papers and examples and built >= pages | papers | examples


def test_every_link_leads_somewhere(site: Site) -> None:
    broken = []
    for page in site.pages.values():
        for link in [*page.links, *page.fetched]:
            if urlsplit(link).scheme:
                continue
            there, fragment = site.target(page, link), unquote(urlsplit(link).fragment)
            if not there.exists() or (fragment and there in site.pages and fragment not in site.pages[there].anchors):
                broken.append(f"{page.path.name}: {link}")
    assert not broken


def test_notebooks_are_pages_with_their_outputs(site: Site) -> None:
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        page = site.pages[site.folder / "notebooks" / f"{notebook.stem}.html"]
        assert notebook.name in page.links and (page.path.parent / notebook.name).read_bytes() == notebook.read_bytes()
        assert [x for x in page.fetched if x.startswith(f"{notebook.stem}-") and (page.path.parent / x).is_file()]
        assert 'class="language-text output' in page.path.read_text(encoding="utf-8")


def test_pictures_of_the_gallery_lead_to_live_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `make gallery` has written them; else to the page of the script, as on a forge."""
    hooks = docs_script("site_hooks")
    monkeypatch.setattr(hooks, "LIVE", tmp_path)
    (tmp_path / "wiper.html").touch()
    for name, there in (("wiper", "../gallery/live/wiper.html"), ("ankle", "../gallery/ankle.md")):
        card = f"- [![A](../images/gallery/{name}.png)](../../gallery/{name}.py)"
        made = hooks.rewritten(card, "docs/tutorials/gallery.md", "tutorials/gallery.md")
        assert made == f"- [![A](../images/gallery/{name}.png)]({there})"


def test_links_of_llms_txt_lead_to_pages(site: Site) -> None:
    """The file for programs lies beside the pages, and its links are those of the site."""
    links = re.findall(r"\]\(([^)#]+)", (site.folder / "llms.txt").read_text(encoding="utf-8"))
    assert len(links) > 10 and not [link for link in links if not link.endswith(".html") or not (site.folder / link).is_file()]


def test_every_page_can_be_reached(site: Site) -> None:
    """By the navigation alone: from the first page on, links of any page."""
    seen: set[Path] = set()
    waiting = [site.folder / "index.html"]
    while waiting:
        here = waiting.pop()
        if here in seen or here not in site.pages:
            continue
        seen.add(here)
        waiting += [site.target(site.pages[here], link) for link in site.pages[here].links if not urlsplit(link).scheme]
    assert set(site.pages) == seen


def test_nothing_is_fetched_from_outside(site: Site) -> None:
    outside = [
        f"{p.path.name}: {x}" for p in site.pages.values() for x in p.fetched if urlsplit(x).scheme not in {"", "data"} or x[:2] == "//"
    ]
    for sheet in site.folder.rglob("*.css"):
        outside += re.findall(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)"']*""", sheet.read_text(encoding="utf-8"))
    assert not outside


def test_lists_are_lists(site: Site) -> None:
    """What is a list on a forge is one here: no paragraph holds a line that begins like an item."""
    odd = [
        f"{p.path.name}: {line[:60]}"
        for p in site.pages.values()
        for text in p.paragraphs
        for line in re.findall(r"^(?:[-*]|1\.) .*", text, re.M)
    ]
    assert not odd


def test_a_browser_shows_it_without_a_network(site: Site, browser: Any) -> None:
    """Opened as a file on a phone, and searched: nothing is asked for beyond the folder, nothing complains, nothing is too wide."""
    asked: list[str] = []
    complaints: list[str] = []
    tab = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
    tab.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else asked.append(r.url))
    tab.on("console", lambda m: complaints.append(m.text) if m.type in {"error", "warning"} else None)
    tab.on("pageerror", lambda e: complaints.append(str(e)))
    for name in ("index.html", "how-to/simulate.html", "reference/python/mechanism.html"):
        tab.goto((site.folder / name).as_uri(), timeout=120_000)  # all tests run beside it; the site is drawn by one of two cores
        tab.wait_for_selector("h1")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, name
    tab.click("header label[for=__search]")
    tab.wait_for_selector(".md-search-result__meta:has-text('Type to start')")  # the index is loaded in a worker
    tab.locator(".md-search__input").press_sequentially("Hunt and Crossley")
    found = tab.wait_for_selector(".md-search-result__link").get_attribute("href")
    assert found is not None and "drives.html" in found  # the page that names them
    tab.close()
    assert not asked and not complaints


# Pages, and the queries that have one of them first.
QUERIES = {
    "cite": "cite, license, licence, citation",
    "contributing/extension-points": "add a joint",
    "contributing/first-contribution": "ruff, code style, roadmap, first issue",
    "contributing/testing": "run tests",
    "CONTRIBUTING contributing/first-contribution": "build docs",
    "evidence/comparison": "benchmark, performance, how fast is it",
    "evidence/limits": "contact, collision, limitations",
    "evidence/maturity how-to/jax-pytorch-casadi help": "GPU",
    "evidence/verification": "validation, accuracy",
    "explanation/architecture": "architecture",
    "explanation/forward-dynamics": "equations of motion, Lagrange multipliers, forward dynamics",
    "explanation/forward-dynamics explanation/inverse-dynamics": "redundant constraint",
    "explanation/inverse-dynamics": "inverse dynamics",
    "explanation/stabilization": "drift",
    "explanation/topology": "degrees of freedom",
    "help": "help, bug, languages, support",
    "how-to/balancing": "force balance",
    "how-to/bearing-loads": "bearing force, pin force",
    "how-to/belts": "belt",
    "how-to/cams": "cam, cam contact force",
    "how-to/check-a-result": "energy",
    "how-to/controllers": "PID, controller",
    "how-to/cycle": "dead center, Grashof, kinematics",
    "how-to/drawings": "CAD, STEP, DXF, SolidWorks",
    "how-to/drive-sizing": "motor torque, RMS torque, flywheel",
    "how-to/editor": "editor",
    "how-to/fmu-c-javascript": "FMU, Simulink",
    "how-to/gymnasium": "gym, reinforcement learning",
    "how-to/identification": "friction identification",
    "how-to/import how-to/export tutorials/parallel-robot": "URDF, MJCF, MuJoCo",
    "how-to/jax-pytorch-casadi": "vmap",
    "how-to/jax-pytorch-casadi how-to/studies": "gradient, gradient of a simulation",
    "how-to/linearize": "linearization",
    "how-to/motors": "DC motor",
    "how-to/optimization": "optimization",
    "how-to/page": "dark, Colab",
    "how-to/page tutorials/lecture": "notebook",
    "how-to/plots": "plot, how do I plot an angle, animation, GIF, MP4, video, coupler curve",
    "how-to/polygons": "velocity polygon, instant center",
    "how-to/report": "PDF, report",
    "how-to/robot-terms": "mass matrix, jacobian",
    "how-to/ros2": "ROS",
    "how-to/simulate": "integrator, simulation",
    "how-to/singular-positions explanation/singular-positions": "singularity",
    "how-to/springs-dampers-stops": "friction",
    "how-to/springs-dampers-stops reference/model-file": "spring, spring damper, add a spring",
    "how-to/stewart": "Stewart platform",
    "how-to/studies": "tolerance, sensitivity",
    "how-to/synthesis": "synthesis path",
    "how-to/time-optimal": "time-optimal",
    "how-to/workspace": "workspace",
    "reference/channels": "channels",
    "reference/command-line": "command line",
    "reference/errors": "error message, what does this error mean",
    "reference/glossary": "glossary",
    "reference/model-file": "3D, YAML, units, gravity, joint types, gear, hydraulic cylinder, motion law",
    "reference/models": "example, built-in models",
    "reference/models start/first-mechanism": "four-bar",
    "reference/models tutorials/slider-crank": "slider-crank",
    "reference/python/index": "python api",
    "reference/python/mechanism": "Mechanism.simulate",
    "reference/results": "CSV, Excel",
    "reference/versions": "deprecation, changelog",
    "start/first-mechanism": "getting started, tutorial, own four-bar coordinates",
    "start/install": "install, install windows, offline",
    "start/install evidence/maturity": "windows",
    "tutorials/coming-from": "Adams",
    "tutorials/gallery": "gallery, add gallery page",
    "tutorials/lecture": "exercise, teaching, students",
    "tutorials/parallel-robot": "inverse kinematics",
}


def test_the_search_has_the_right_page_first(site: Site, browser: Any) -> None:
    """Opened as files, without a server."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    wrong = []
    tab.goto((site.folder / "index.html").as_uri(), timeout=120_000)
    tab.click(".md-search__input")
    tab.wait_for_selector(".md-search-result__meta:has-text('Type to start')")
    box, links = tab.locator(".md-search__input"), tab.locator(".md-search-result__link")
    for pages, query in ((pages, query) for pages, queries in QUERIES.items() for query in queries.split(", ")):
        box.fill("")
        box.press("Backspace")  # the index answers keys
        tab.wait_for_selector(".md-search-result__meta:has-text('Type to start')")
        box.fill(query)
        box.press("End")
        tab.wait_for_selector(".md-search-result__link, .md-search-result__meta:has-text('No matching')", state="attached")
        found = (links.first.get_attribute("href") or "") if links.count() else "nothing"
        if not any(f"/{page}.html" in f"/{found}" for page in pages.split()):
            wrong.append(f"{query}: {found}, not {pages}")
    tab.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("width", [1400, 390])
def test_equations_are_drawn(site: Site, browser: Any, width: int) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto((site.folder / "reference" / "glossary.html").as_uri(), timeout=120_000)
    tab.wait_for_function("document.documentElement.dataset.equations > 0")
    assert tab.locator(".arithmatex .katex").count() == tab.locator(".arithmatex").count() > 3
    assert not tab.locator(".katex-error").count()
    assert tab.evaluate("document.fonts.check('16px KaTeX_Main')")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


def test_pages_of_the_python_reference_have_less_than_ten_screens(site: Site, browser: Any) -> None:
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    long = []
    for page in sorted((site.folder / "reference" / "python").glob("*.html")):
        tab.goto(page.as_uri(), timeout=120_000)
        screens = tab.evaluate("document.documentElement.scrollHeight / innerHeight")
        long += [f"{page.name}: {screens:.1f} screens"] if screens >= 10 else []
    tab.close()
    assert not long


def test_copy_buttons_copy_commands_only(site: Site) -> None:
    """Neither prompts nor outputs are in a block with a button."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in site.pages}
    assert sum('class="language-sh highlight"' in text for text in pages.values()) > 5
    with_button = re.compile(r'<div class="language-sh highlight">.*?</div>', re.DOTALL)
    blocks = [(name, block) for name, text in pages.items() for block in with_button.findall(text)]
    assert blocks and not [name for name, block in blocks if re.search(r"<code>(?:<[^>]*>)*\$ ", block)]


def test_terms_of_the_glossary_have_tooltips(site: Site) -> None:
    text = (site.folder / "how-to" / "cycle.html").read_text(encoding="utf-8")
    assert re.search(r'<abbr title="[^"]+">dead centers?</abbr>', text)


# ---------------------------------------------------------------- the reference of the Python surface


@pytest.fixture(scope="module")
def make_api() -> ModuleType:
    return docs_script("make_api")


def test_the_api_page_has_every_public_name(make_api: ModuleType) -> None:
    grouped = [name for _, names in make_api.GROUPS.values() for name in names]
    spaces = {"control", "drives", "events", "exchange", "stabilizers"}
    assert {name.partition(".")[0] for name in grouped} == set(lw.__all__) - {"__version__"}
    calls = {f"{s}.{n}" for s in spaces - {"exchange"} for n in getattr(lw, s).__all__ if inspect.isroutine(getattr(getattr(lw, s), n))}
    internal = {"drives.actuation", "drives.drives_of_description", "drives.prescribed", "stabilizers.create"}
    assert calls - set(grouped) <= internal
    pages = make_api.pages()
    assert sorted(g for _, groups in make_api.PAGES.values() for g in groups) == sorted(make_api.GROUPS), "a group has one page"
    text = "\n".join(pages.values())
    for member in (
        "Mechanism.simulate",
        "System.inverse",
        "Trajectory.checks",
        "lw.drives.dc_motor",
    ):  # one of each kind, with its signature
        assert re.search(rf"^### {re.escape(member)}\n\n[^\n]+(?:\n[^\n]+)*\n\n\?\?\? call \"Call\"\n\n    ```py\n", text, re.MULTILINE)
    assert " 0x" not in text
