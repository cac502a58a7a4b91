"""`linkwright completion`: bash, zsh and fish read their scripts and say what Tab offers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from linkwright.model import library as models
from linkwright.rings import cli
from linkwright.rings.cli import completion, dispatch
from tests.rings.cli.schemas import disagreements

FLAGS = {(x.name, f) for x in completion.completed() for y in x.flags for f in y.flags}


CASES = {  # line -> words that Tab offers for its end
    "linkwright cyc": ["cycle"],
    "linkwright wip": ["wiper"],
    "linkwright my": ["my.yaml"],
    "linkwright cycle wip": ["wiper"],
    "linkwright cycle my": ["my.yaml"],
    "linkwright cycle wiper --st": ["--start", "--steps", "--stop"],
    "linkwright wiper --no": ["--no-browser"],
    "linkwright cycle wiper --sort ": ["heat", "mass", "price"],
    "linkwright time-optimal five-bar --law l": ["least energy"],
    "linkwright cycle wiper -o my": ["my.yaml"],
    "linkwright cycle wiper --steps ": [],
    "linkwright new x.yaml --from min": ["minimal"],
    "linkwright completion ": ["bash", "fish", "zsh"],
    "linkwright schema cy": ["cycle"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the three scripts and a model."""
    path = tmp_path_factory.mktemp("shells")
    for name, script in completion.SHELLS.items():
        (path / f"linkwright.{name}").write_text(script(), encoding="utf-8")
    (path / "my.yaml").write_text("", encoding="utf-8")
    return path


def offered(shell: str, folder: Path, lines: Sequence[str]) -> list[list[str]]:
    """Return what Tab offers at the end of each line, in the shell itself."""
    program = shutil.which(shell)
    assert program is not None, f"{shell} is not installed: `make test` installs it on Debian; elsewhere install zsh and fish"
    script = str(folder / f"linkwright.{shell}")
    if shell == "zsh":
        command = [program, "-f", str(Path(__file__).with_name("completed.zsh")), script, *lines]
    elif shell == "fish":
        each = 'source $argv[1]; for line in $argv[2..-1]; complete -C $line | string replace -r "^" "=> "; echo "=> END"; end'
        command = [program, "--no-config", "-c", each, script, *lines]
    else:
        word = '_linkwright linkwright "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"'
        each = f'eval "COMP_WORDS=($line)"; COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); {word}; printf "=> %s\\n" "${{COMPREPLY[@]}}" END'
        command = [program, "-c", f'source "$1"; shift; for line in "$@"; do {each}; done', "bash", script]
        command += [f"{line}''" if line.endswith(" ") else line for line in lines]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and not done.stderr, done.stderr
    words = [x[3:].partition("\t")[0].replace("\\ ", " ") for x in done.stdout.splitlines() if x.startswith("=> ")]
    ends = [i for i, x in enumerate(words) if x == "END"]
    assert len(ends) == len(lines), done.stdout
    return [[x for x in words[first:last] if x] for first, last in zip([0, *(i + 1 for i in ends)], ends, strict=False)]


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_completes_commands_models_flags_choices_and_files(shell: str, folder: Path) -> None:
    found = offered(shell, folder, list(CASES))
    assert {line: sorted(words) for line, words in zip(CASES, found, strict=True)} == CASES
    (first,) = offered(shell, folder, ["linkwright "])
    assert set(first) >= {*dispatch.NAMES, *models.names(), "my.yaml"}


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_has_every_flag_of_every_command(shell: str, folder: Path) -> None:
    names = [*dispatch.NAMES, "page"]
    lines = [f"linkwright {'wiper' if name == 'page' else name} {dash}" for name in names for dash in ("-", "--")]
    found = offered(shell, folder, lines)  # some shells offer the long flags only after two dashes
    both = {name: {*found[2 * i], *found[2 * i + 1]} for i, name in enumerate(names)}
    assert both == {name: {f for command, f in FLAGS if command == name} for name in names}


def test_flags_are_those_of_the_parsers() -> None:
    real = {(name, f) for name in (*dispatch.NAMES, "page") for x in dispatch.parser_of(name)._actions for f in x.option_strings}
    assert real == FLAGS


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert cli.main(["completion", shell, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("completion", data) == [] and data["script"] == script
