"""The command line: `linkwright MODEL` and its commands, one file each.

dispatch.py    which command a line means, exit codes     parser.py      options as an argparse parser, old flags, wrong usage
verb_options.py options from the signature of a verb       options.py     options that commands share, reading of values
loading.py     models, runs and drives from arguments     outputs.py     files checked before work, JSON
schemas/       fields of the JSON of each command         completion.py  scripts for bash, zsh and fish
console.py     any encoding and width, signals, waiting   model_list.py  built-in models and templates
run_text.py    text and data of a simulation              cycle.py, simulate.py, study.py and others: the commands

Exit codes: 0 success, 1 the model or the request cannot be done (one paragraph on stderr), 2 wrong usage, 130 and 143 stopped by a signal.
Adding a command: a file with a `COMMAND`, a line in `dispatch.PLACES`, a schema in `schemas`, then `python docs/make/make_command_line.py`.
A flag means the same thing in every command, and a command names the verb that its flags come from.
"""

from linkwright.rings.cli.dispatch import main

__all__ = ["main"]
