"""`linkwright` and `python -m linkwright`: the command line, quiet when it is interrupted before it has begun."""

import sys


def main() -> int:
    """Run a command and return its exit code. Ctrl-C counts from the first import on, which takes the first part of a second."""
    try:
        if sys.argv[1:] == ["--version"]:  # answered before anything is imported
            from linkwright import __version__

            print(f"linkwright {__version__}")
            return 0
        from linkwright.rings.cli import main as run

        return run()
    except KeyboardInterrupt:  # before a command has begun, or while it reports an interrupt
        if sys.stderr is not None:
            print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
