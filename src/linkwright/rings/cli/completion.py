"""`linkwright completion`: scripts that complete commands, flags, choices, built-in models and files in bash, zsh and fish.

The scripts are written from the parsers of all commands, so that they complete what the program takes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from linkwright.rings.cli import options, outputs
from linkwright.rings.cli.parser import PROGRAM, CliCommand, option

ZSH_LINE = "words"  # name of the array in which zsh has the line


@dataclass(frozen=True)
class CompletedFlag:
    """A flag as a shell completes it."""

    action: argparse.Action
    takes: str  # "" for a switch, "file", "choice" or "value"
    values: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(self.action.option_strings)

    @property
    def about(self) -> str:
        """Return the beginning of its help, which may import what bash, without helps, does not need."""
        says = getattr(self.action, "says", None)
        text = says() if says else (self.action.help or "")
        for end in (":", " (", ";"):
            text = text.partition(end)[0]
        return text.replace("%%", "%")


@dataclass(frozen=True)
class CompletedCommand:
    """A command with its flags and the values that it takes without a flag; `files` if it takes paths, too."""

    name: str
    about: str
    flags: tuple[CompletedFlag, ...]
    values: tuple[str, ...]
    files: bool


def completed() -> list[CompletedCommand]:
    """Return all commands; "page" is `linkwright MODEL`."""
    from linkwright.rings.cli.dispatch import NAMES, command_of

    return [_command(command_of(name), name) for name in (*NAMES, "page")]


def _command(command: CliCommand, name: str) -> CompletedCommand:
    from linkwright.rings.cli.dispatch import parser_of

    actions = parser_of(name)._actions
    values: list[str] = []
    files = False
    for x in (a for a in actions if not a.option_strings):
        values += [*map(str, x.choices or ()), *_named(name, x)]
        files = files or x.metavar in ("MODEL", "FILE", "PATH", "SUBJECT")
    flags = tuple(_flag(x) for x in actions if x.option_strings)
    return CompletedCommand(name, command.help, flags, tuple(values), files)


def _named(command: str, x: argparse.Action) -> list[str]:
    """Names that a value without a flag, or with one, may have."""
    from linkwright.api import library as models
    from linkwright.rings.cli import model_list
    from linkwright.rings.cli.dispatch import NAMES

    if x.metavar == "MODEL" and command != "edit":
        return models.names()
    if (command, x.dest) == ("schema", "what"):
        return ["model", "page", *NAMES]
    if command == "docs" and x.dest == "topic":
        from linkwright.rings.cli.docs import topics

        return list(topics())
    return [*model_list.template_names(), *models.names()] if (command, x.dest) == ("new", "start") else []


def _flag(x: argparse.Action) -> CompletedFlag:
    values = tuple(map(str, x.choices or ())) or tuple(_named("new" if "--from" in x.option_strings else "", x))
    if x.nargs == 0:
        return CompletedFlag(x, "")
    if values:
        return CompletedFlag(x, "choice", values)
    return CompletedFlag(x, "file" if x.metavar in ("FILE", "DIR", "CSV", "FOLDER") else "value")


# -------------------------------------------------------------------- shells


def bash() -> str:
    """Return the script for bash."""
    every = completed()
    cases = [
        f"    {x.name}) values={_lines(x.values)}; flags={_lines(f for y in x.flags for f in y.flags)}; files={'yes' if x.files else ''} ;;"
        for x in every
    ]
    lines = [f"    '{x.name}:{f}') {_bash_value(y)} ;;" for x in every for y in x.flags if y.takes for f in y.flags]
    names = " ".join(x.name for x in every[:-1])
    return "\n".join(
        [
            f"# completion of {PROGRAM} for bash: source <({PROGRAM} completion bash)",
            f"_{PROGRAM}() {{",
            '  local now="$2" before="$3" command="" values="" flags="" files="" IFS=$\'\\n\'',
            "  COMPREPLY=()",
            f'  case " {names} " in *" ${{COMP_WORDS[1]}} "*) command="${{COMP_WORDS[1]}}" ;; *) command=page ;; esac',
            '  case "$command:$before" in',
            *lines,
            "  esac",
            '  case "$command" in',
            *cases,
            "  esac",
            f'  if [ "$COMP_CWORD" -eq 1 ]; then values="$values"{_lines(["", *(x.name for x in every[:-1])])}; files=yes; fi',
            '  if [[ $now == -* ]]; then values="$flags"; files=""; fi',
            '  COMPREPLY=($(compgen -W "$values" -- "$now"))',
            '  [ -n "$files" ] && COMPREPLY+=($(compgen -f -- "$now"))',
            "  return 0",
            "}",
            f"complete -o filenames -F _{PROGRAM} {PROGRAM}",
            "",
        ]
    )


def _bash_value(x: CompletedFlag) -> str:
    if x.takes == "choice":
        return f'COMPREPLY=($(compgen -W {_lines(x.values)} -- "$now")); return 0'
    return 'COMPREPLY=($(compgen -f -- "$now")); return 0' if x.takes == "file" else "return 0"


def zsh() -> str:
    """Return the script for zsh."""
    every = completed()
    lines = [f"#compdef {PROGRAM}", f"# completion of {PROGRAM} for zsh: source <({PROGRAM} completion zsh)", f"_{PROGRAM}() {{"]
    lines += ["  local -a commands", "  commands=("]
    lines += [f"    {_zsh_text(f'{x.name}:{x.about}')}" for x in every[:-1]]
    lines += ["  )", f"  if (( CURRENT == 2 )) && [[ ${ZSH_LINE}[2] != -* ]]; then", "    _describe -t commands command commands"]
    lines += [f"    _values model {' '.join(map(_zsh_text, every[-1].values))}", "    _files", "    return", "  fi"]
    lines += [f'  case "${ZSH_LINE}[2]" in']
    for x in every:
        rest = f"_alternative 'values:value:({' '.join(x.values)})'{' files:file:_files' if x.files else ''}"
        parts = [_zsh_flag(f, y) for y in x.flags for f in y.flags]
        before = [] if x is every[-1] else [f"      shift {ZSH_LINE}; (( CURRENT-- ))"]
        lines += [f"    {x.name if before else '*'})", *before, "      _arguments \\"]
        lines += [f"        {part} \\" for part in parts]
        lines += [f"        {_zsh_text(f'*:word:{{{rest}}}')} ;;"]
    return "\n".join([*lines, "  esac", "}", f"compdef _{PROGRAM} {PROGRAM}", ""])


def _zsh_flag(flag: str, x: CompletedFlag) -> str:
    about = x.about.replace("[", "(").replace("]", ")")
    values = " ".join(w.replace(" ", "\\ ") for w in x.values)
    kind = {"": "", "file": ":file:_files", "value": ":value:", "choice": f":name:({values})"}
    return _zsh_text(f"*{flag}[{about}]{kind[x.takes]}")


def fish() -> str:
    """Return the script for fish."""
    every = completed()
    names = " ".join(x.name for x in every[:-1])
    lines = [f"# completion of {PROGRAM} for fish: {PROGRAM} completion fish | source", f"set -l commands {names}"]
    first = f"-n 'not __fish_seen_subcommand_from {names}'"
    lines += [f"complete -c {PROGRAM} {first} -a {_fish_text(x.name)} -d {_fish_text(x.about)}" for x in every[:-1]]
    for x in every:
        when = first if x is every[-1] else f"-n '__fish_seen_subcommand_from {x.name}'"
        if x.values:
            lines.append(f"complete -c {PROGRAM} {when} -a {_fish_text(' '.join(x.values))}")
        if not x.files:
            lines.append(f"complete -c {PROGRAM} {when} -f")
        lines += [f"complete -c {PROGRAM} {when} {_fish_flag(y)}" for y in x.flags]
    return "\n".join([*lines, ""])


def _fish_flag(x: CompletedFlag) -> str:
    names = " ".join(f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in x.flags)
    values = " ".join(_fish_text(w) if " " in w else w for w in x.values)
    kind = {"": "", "file": " -r -F", "value": " -x", "choice": f" -x -a {_fish_text(values)}"}
    return f"{names}{kind[x.takes]} -d {_fish_text(x.about)}"


def _lines(values: Iterable[str]) -> str:
    """Return values for bash, one on each line, because some have blanks."""
    return "$'" + "\\n".join(w.replace("'", "\\'") for w in values) + "'"


def _zsh_text(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def run(given: argparse.Namespace) -> None:
    script = SHELLS[given.shell]()
    if given.json:
        outputs.print_json("completion", {"shell": given.shell, "script": script})
    else:
        print(script, end="")


COMMAND = CliCommand(
    name="completion",
    topic="command-line",
    help="a script that completes commands, flags and models in bash, zsh or fish",
    about="Print a script that completes commands, flags, choices, built-in models and files. Read it in the start file of the shell: "
    "source <(linkwright completion bash) in ~/.bashrc, source <(linkwright completion zsh) in ~/.zshrc after compinit, and "
    "linkwright completion fish | source in ~/.config/fish/config.fish.",
    examples=("linkwright completion bash", "linkwright completion fish"),
    options=(option("shell", metavar="SHELL", choices=tuple(SHELLS), help=f"shell: {', '.join(SHELLS)}"), options.JSON),
    run=run,
)
