"""`python -m linkwright`: the command line."""

import sys

from linkwright.cli import main

if __name__ == "__main__":
    sys.exit(main())
