"""The command line: `linkwright MODEL` and its commands, one file each.

dispatch.py    which command a line means, exit codes     parser.py      a table of options as an argparse parser, wrong usage
options.py     options that several commands share        loading.py     models, runs, values and drives from the arguments
outputs.py     files checked before work, JSON            console.py     any encoding, any width, signals, waiting
gallery.py     built-in models and templates               run_text.py    what simulate prints
page.py new_model.py info.py cycle.py simulate.py study.py optimize.py report.py reproduce.py bench/ and others: the commands

Exit codes: 0 success, 1 the model or the request cannot be done (one paragraph on stderr), 2 wrong usage, 130 and 143 stopped by a signal.
Adding a command: a file with a `COMMAND`, and a line in `dispatch.COMMANDS`.
"""

from linkwright.rings.cli.dispatch import main

__all__ = ["main"]
