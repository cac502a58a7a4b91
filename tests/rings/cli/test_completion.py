"""`linkwright completion`: bash is run; the scripts for zsh and fish are held against the parsers."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from linkwright.model import library as models
from linkwright.rings import cli
from linkwright.rings.cli import completion, dispatch
from tests.rings.cli.schemas import disagreements

FLAGS = {(x.name, f) for x in completion.completed() for y in x.flags for f in y.flags}


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bash") / "linkwright.bash"
    path.write_text(completion.bash(), encoding="utf-8")
    return path


def tab(script: Path, *words: str) -> list[str]:
    """What the Tab key offers for the last word."""
    shell = shutil.which("bash")
    assert shell is not None, "bash is on every machine that runs these tests"
    call = '_linkwright "$1" "${@: -1}" "${@: -2:1}"; printf "%s\\n" "${COMPREPLY[@]}"'
    run = f'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); {call}'
    line = [shell, "-c", run, "bash", str(script), "linkwright", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, cwd=script.parent)
    assert not done.stderr
    return [x for x in done.stdout.splitlines() if x]


def test_bash_completes_commands_models_flags_choices_and_files(bash: Path) -> None:
    (bash.parent / "my.yaml").write_text("", encoding="utf-8")
    assert set(tab(bash, "")) >= {*dispatch.NAMES, *models.names(), "my.yaml"}
    assert tab(bash, "cyc") == ["cycle"]
    assert tab(bash, "cycle", "wip") == ["wiper"] and tab(bash, "cycle", "my") == ["my.yaml"]
    assert tab(bash, "cycle", "wiper", "--st") == ["--steps", "--start", "--stop"]
    assert tab(bash, "wiper", "--no") == ["--no-browser"]
    assert tab(bash, "cycle", "wiper", "--sort", "") == ["heat", "mass", "price"]
    assert tab(bash, "time-optimal", "five-bar", "--law", "l") == ["least energy"]
    assert tab(bash, "cycle", "wiper", "-o", "my") == ["my.yaml"] and tab(bash, "cycle", "wiper", "--steps", "") == []
    assert tab(bash, "new", "x.yaml", "--from", "min") == ["minimal"]
    assert tab(bash, "completion", "") == ["bash", "zsh", "fish"] and "cycle" in tab(bash, "schema", "c")


@pytest.mark.parametrize("name", [*dispatch.NAMES, "page"])
def test_bash_has_every_flag_of_a_command(bash: Path, name: str) -> None:
    line = ["wiper"] if name == "page" else [name]
    assert set(tab(bash, *line, "-")) == {f for command, f in FLAGS if command == name}


def test_flags_are_those_of_the_parsers() -> None:
    real = {(name, f) for name in (*dispatch.NAMES, "page") for x in dispatch.parser_of(name)._actions for f in x.option_strings}
    assert real == FLAGS


def test_zsh_has_every_command_and_flag() -> None:
    script = completion.zsh()
    assert script.startswith("#compdef linkwright\n") and script.endswith("compdef _linkwright linkwright\n")
    parts = dict(x.partition(")\n")[::2] for x in script.split('  case "$words[2]" in\n')[1].split(" ;;\n    "))
    parts = {name.strip(): body for name, body in parts.items()}
    for name, flag in FLAGS:
        assert f"'*{flag}[" in parts["*" if name == "page" else name], (name, flag)
    assert script.count("{") == script.count("}") and "least\\ energy" in script
    for name in dispatch.NAMES:
        assert f"\n    '{name}:" in script
    _checked("zsh", script)


def test_fish_has_every_command_and_flag() -> None:
    script = completion.fish()
    for name, flag in FLAGS:
        when = "'not __fish_seen_subcommand_from" if name == "page" else f"'__fish_seen_subcommand_from {name}'"
        how = f" -l {flag[2:]} " if flag.startswith("--") else f" -s {flag[1:]} "
        assert any(when in x and how in x for x in script.splitlines()), (name, flag)
    for line in script.splitlines():
        assert line.startswith(("#", "set -l commands ", "complete -c linkwright ")) and line.replace("\\'", "").count("'") % 2 == 0, line
    _checked("fish", script)


def _checked(shell: str, script: str) -> None:
    """Have the shell read the script without running it, if it is on this machine."""
    if shutil.which(shell) is not None:
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert cli.main(["completion", shell, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("completion", data) == [] and data["script"] == script
