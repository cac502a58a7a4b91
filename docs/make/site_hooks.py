"""What the site needs beyond docs/: papers, examples, notebooks and the gallery as pages, with links that are right on a forge as well.

Markdown is written for the forge: `../papers/Koul2013/README.md`, `../examples/10_simulate.py`. Here every such file becomes a page (a
script as its own text with highlighted code; one of the gallery leads to its live page if `make gallery` has written it) and links
are rewritten to it. Patterns in the navigation (`../examples/*.py`) stand for all files that fit. Lists may follow a line of text
directly, as forges allow. A console block becomes its commands, which the copy button copies, and their output. Terms of the
glossary get tooltips, equations are drawn by KaTeX from build/node, and the search index gets further words (site_search.py).
"""

from __future__ import annotations

import ast
import json
import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIVE = ROOT / "build" / "gallery"  # written by `make gallery`
MODELS = ROOT / "build" / "models"  # live pages of the built-in models, written by docs/make/make_models.py
KATEX = ROOT / "build" / "node" / "node_modules" / "katex" / "dist"  # installed by npm
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
HABITS = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")  # of the repository's root
PAGES = ("papers/*/README.md", "benchmarks/*/README.md", *HABITS, "examples/*.py", "gallery/*.py")
PYTHON = "reference/python/*.md"  # made from docstrings
GUIDE = "llms.txt"  # what programs read first
FILES = ("papers/*/*.png", "papers/*/*.svg")
NOTEBOOKS = "notebooks/*.ipynb"  # pages with their stored outputs, and files to download

FENCE = re.compile(r"^ *(```|~~~)")  # in tabs it is indented
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
PICTURE_OF_SCRIPT = re.compile(r"(\[!\[[^\]]*\]\([^)]*\)\]\()(?:\.\./)*gallery/(\w+)\.py\)")  # leads to the live page, where there is one
SOURCE_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)*src/[^)\s]+\)")  # sources are on the forge only: their links become plain text
OUTSIDE = re.compile(r"[a-z]+:|/", re.IGNORECASE)
CONSOLE = re.compile(r"^( *)```console\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
TERM = re.compile(r"^- \*\*(?P<term>[^*]+)\*\*: (?P<meaning>.+)$", re.MULTILINE)
ABBREVIATION = re.compile(r'<abbr title="[^"]*">([^<]*)</abbr>')
HEADING = re.compile(r"<h[1-6][ >].*?</h[1-6]>", re.DOTALL)
SCHEMAS = re.compile(r"<!-- table: schemas -->.*?<!-- end -->", re.DOTALL)  # of the page on the command line
CALL = ("python ", "    ")  # how a script is called keeps its form
ITEM = re.compile(r"(?:[-*+]|1[.)]) ")


def site_path(repository_path: str) -> str | None:
    """Place of a file of the repository on the site, as a path of mkdocs; None if it is not there."""
    if repository_path == "README.md":
        return "index.md"
    if repository_path.startswith("docs/"):
        return repository_path.removeprefix("docs/")
    path = Path(repository_path)
    if any(path.match(pattern) for pattern in (*PAGES, *FILES, NOTEBOOKS)):
        return path.with_suffix(".md").as_posix() if path.suffix in (".py", ".ipynb") else repository_path
    return None


def repository_path(src_uri: str) -> str:
    """The other way round; pages made of scripts have no links of their own to follow."""
    return src_uri if src_uri.startswith(("papers/", "benchmarks/", "notebooks/", *HABITS)) else f"docs/{src_uri}"


# ---------------------------------------------------------------- hooks that mkdocs calls


def on_config(config: Any) -> Any:
    sys.path.append(str(HERE))
    config.nav = expanded(config.nav)
    return config


def on_files(files: Any, config: Any) -> Any:
    for path in found(*PAGES):
        text = path.read_text(encoding="utf-8")
        src_uri = str(site_path(relative(path)))
        files.append(File.generated(config, src_uri, content=script_page(path, text) if path.suffix == ".py" else text))
    files.append(File.generated(config, GUIDE, content=guide((ROOT / GUIDE).read_text(encoding="utf-8"))))
    for name, text in python_reference().items():
        files.append(File.generated(config, f"reference/python/{name}.md", content=text))
    for path in found(NOTEBOOKS):
        text, pictures = import_module("make_notebooks").page(json.loads(path.read_text(encoding="utf-8")), path.stem)
        files.append(File.generated(config, str(site_path(relative(path))), content=text))
        files.append(File.generated(config, relative(path), abs_src_path=str(path)))
        for name, data in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=data))
    for path in found(*FILES):
        files.append(File.generated(config, relative(path), abs_src_path=str(path)))
    for path in live_pages():
        files.append(File.generated(config, f"gallery/live/{path.name}", abs_src_path=str(path)))
    for path in sorted(MODELS.glob("*.html")):
        files.append(File.generated(config, f"reference/live/{path.name}", abs_src_path=str(path)))
    for name, text in json_schemas().items():
        files.append(File.generated(config, f"reference/schemas/{name}.json", content=text))
    for name, content in katex():
        files.append(File.generated(config, f"assets/katex/{name}", content=content))
    return files


def on_page_content(html: str, page: Any, **_: Any) -> str:
    return explained_once(html)


def on_post_build(config: Any) -> None:
    import_module("site_search").improve(Path(config.site_dir) / "search" / "search_index.json")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    src_uri = page.file.src_uri
    page.meta["search"] = import_module("site_search").settings(src_uri)
    if src_uri.startswith(("examples/", "gallery/")):
        return markdown
    text = separated(rewritten(consoles(markdown), repository_path(src_uri), src_uri))
    if src_uri == "reference/models.md":
        text = opening_pages(text)
    if src_uri == "reference/command-line.md":
        text = SCHEMAS.sub(lambda m: re.sub(r"`([\w-]+)`", r"[`\1`](schemas/\1.json)", m[0]), text)
    return text if src_uri == "reference/glossary.md" else f"{text}\n\n{tooltips()}\n"


def python_reference() -> dict[str, str]:
    """Pages of the Python surface, from its docstrings."""
    return import_module("make_api").pages()


def json_schemas() -> dict[str, str]:
    """Schemas of what commands print, as files of the site."""
    schemas = import_module("linkwright.rings.cli.schemas")
    names = [name for name in schemas.tables() if "-front" not in name]
    return {name: json.dumps(schemas.json_schema(name), indent=1) for name in names}


# ---------------------------------------------------------------- navigation


def expanded(nav: Any) -> Any:
    """The navigation with patterns replaced by the files that fit, and paths as mkdocs wants them."""
    if isinstance(nav, list):
        out: list[Any] = []
        for entry in nav:
            out += pages_of(entry) if isinstance(entry, str) and "*" in entry else [expanded(entry)]
        return out
    if isinstance(nav, dict):
        return {title: expanded(content) for title, content in nav.items()}
    return site_path(posixpath.normpath(f"docs/{nav}"))


def pages_of(pattern: str) -> list[dict[str, str]]:
    if pattern == PYTHON:
        return [{title: f"reference/python/{name}.md"} for name, (title, _) in import_module("make_api").PAGES.items()]
    return [{title(path): str(site_path(relative(path)))} for path in found(posixpath.normpath(f"docs/{pattern}"))]


def title(path: Path) -> str:
    """Short, for the navigation: the key of a paper, the heading of a notebook, the text of a script's name."""
    if path.suffix == ".ipynb":
        return str(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"][0]).strip("# \n")
    return (
        path.parent.name if path.name == "README.md" else re.sub(r"^\d+_", "", path.stem).replace("_", " ").replace("-", " ").capitalize()
    )


# ---------------------------------------------------------------- pages


def script_page(path: Path, text: str) -> str:
    """A script as a page: what its docstring says, the way to its live page, how it is called, its code."""
    paragraphs = (ast.get_docstring(ast.parse(text)) or path.stem).strip().split("\n\n")
    calls = [f"```text\n{p}\n```" for p in paragraphs if p.startswith(CALL)]
    body = text.split('"""', 2)[2].lstrip("\n") if text.startswith('"""') else text
    parts = [f"# {title(path)}", *(p for p in paragraphs if not p.startswith(CALL)), *live_page(path), *calls]
    return "\n\n".join([*parts, f"`{relative(path)}`:\n\n```python\n{body.rstrip()}\n```"]) + "\n"


def live_page(path: Path) -> list[str]:
    """The picture of a script of the gallery and the button that opens its live page, as far as they have been made."""
    live, picture = f"live/{path.stem}.html", f"images/gallery/{path.stem}.png"
    is_live = (LIVE / f"{path.stem}.html").exists() and path.parent.name == "gallery"
    parts = [f"[Open the live page]({live}){{ .md-button .md-button--primary }}"] if is_live else []
    if path.parent.name == "gallery" and (ROOT / "docs" / picture).exists():
        shown = f"![{title(path)}](../{picture})"
        parts.append(f"[{shown}]({live})" if is_live else shown)
    return parts


def rewritten(markdown: str, repository: str, src_uri: str) -> str:
    """Links between files of the repository as links between pages of the site; what is not on the site is left to mkdocs to report."""

    def moved(match: re.Match[str]) -> str:
        opening, target, closing = match.groups()
        if OUTSIDE.match(target):
            return match.group(0)
        there = site_path(posixpath.normpath(posixpath.join(posixpath.dirname(repository), target)))
        return match.group(0) if there is None else opening + posixpath.relpath(there, posixpath.dirname(src_uri) or ".") + closing

    def live(match: re.Match[str]) -> str:
        page = f"{match[2]}.html"
        there = posixpath.relpath(f"gallery/live/{page}", posixpath.dirname(src_uri) or ".")
        return f"{match[1]}{there})" if (LIVE / page).exists() else match[0]

    return per_line(markdown, lambda line: LINK.sub(moved, PICTURE_OF_SCRIPT.sub(live, SOURCE_LINK.sub(r"\1", line))))


def guide(text: str) -> str:
    """llms.txt with links to the pages of the site."""
    return LINK.sub(lambda m: m[1] + re.sub(r"\.md\Z", ".html", m[2]) + m[3], rewritten(text, GUIDE, GUIDE))


def separated(markdown: str) -> str:
    """A blank line before every list that follows a line of text: python-markdown needs one, forges do not."""
    previous = ""

    def apart(line: str) -> str:
        nonlocal previous
        begins = ITEM.match(line) and previous.strip() and not ITEM.match(previous) and not previous.startswith((" ", "\t", "#"))
        inside, previous = begins and in_list(previous), line
        return f"\n{line}" if begins and not inside else line

    return per_line(markdown, apart)


def in_list(line: str) -> bool:
    return bool(re.match(r"(?:[-*+]|\d+[.)]) ", line))


def per_line(markdown: str, change: Callable[[str], str]) -> str:
    """Each line outside of fenced code changed."""
    return "\n".join(line if code else change(line) for code, line in fenced(markdown))


def fenced(markdown: str) -> Iterator[tuple[bool, str]]:
    """(is code, line) of every line."""
    code = False
    for line in markdown.split("\n"):
        fence = bool(FENCE.match(line))
        yield code or fence, line
        code ^= fence


def consoles(markdown: str) -> str:
    """Each console block as blocks of commands without their prompt, and blocks of what they print, which are not copied."""

    def parts(match: re.Match[str]) -> str:
        indent, out, previous = match[1], [], ""
        for line in match[2].splitlines():
            text = line.removeprefix(indent)
            kind = "sh" if text.startswith("$ ") else "text .no-copy .output"
            if kind != previous:
                out += [*([f"{indent}```", ""] if previous else []), f"{indent}``` {{ .{kind} }}"]
            out.append(indent + text.removeprefix("$ "))
            previous = kind
        return "\n".join([*out, f"{indent}```"])

    return CONSOLE.sub(parts, markdown)


@cache
def tooltips() -> str:
    """Terms of several words, or in capitals, of the glossary as abbreviations, singular and plural."""
    rows = [(m["term"], plain(m["meaning"])) for m in TERM.finditer(GLOSSARY.read_text(encoding="utf-8"))]
    chosen = [(term, meaning) for term, meaning in rows if " " in term or term.isupper()]
    return "\n".join(f"*[{form}]: {meaning}" for term, meaning in chosen for form in (term, f"{term}s"))


def plain(markdown: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).replace("`", "").replace("*", "").replace("$", "").replace('"', "'")


def explained_once(html: str) -> str:
    """A term has its tooltip at its first place below a heading only."""
    seen: set[str] = set()

    def first(match: re.Match[str]) -> str:
        term = match[1].removesuffix("s")
        known = term in seen
        seen.add(term)
        return match[1] if known else match[0]

    bare = HEADING.sub(lambda m: ABBREVIATION.sub(r"\1", m[0]), html)
    return ABBREVIATION.sub(first, bare)


def opening_pages(markdown: str) -> str:
    """Pictures of the built-in models lead to their live pages, as far as these have been made."""
    there = {path.stem for path in MODELS.glob("*.html")}

    def link(match: re.Match[str]) -> str:
        return f"[{match[0]}](live/{match[1]}.html)" if match[1] in there else match[0]

    return re.sub(r"!\[[^\]]*\]\(\.\./images/models/([\w-]+)\.\w+\)", link, markdown)


# ---------------------------------------------------------------- files


def katex() -> Iterator[tuple[str, str | bytes]]:
    """Script, style and fonts of KaTeX."""
    if not (KATEX / "katex.min.js").is_file():
        raise PluginError("KaTeX is missing, which draws the equations: run make build/node/installed")
    yield "katex.min.js", (KATEX / "katex.min.js").read_bytes()
    style = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    yield "katex.min.css", re.sub(r",url\([^)]*\.(?:woff|ttf)\) format\(\"\w+\"\)", "", style)  # woff2 is known to every browser
    for path in sorted((KATEX / "fonts").glob("*.woff2")):
        yield f"fonts/{path.name}", path.read_bytes()


def found(*patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if not path.name.startswith("_")]


def live_pages() -> list[Path]:
    pages = (LIVE / f"{path.stem}.html" for path in found("gallery/*.py"))
    return [path for path in pages if path.exists()]


def relative(path: Path) -> str:
    return os.path.relpath(path, ROOT).replace(os.sep, "/")
