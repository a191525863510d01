"""`python -m hyperpod_cli`, which is `hyperpod-cdk`, and the entry points of both scripts."""

import sys


def main(name: str = "hyperpod-cdk") -> None:
    """Run the command line, under the name of the script that was run."""
    try:
        # Takes a moment, in which Ctrl-C is no traceback either.
        from hyperpod_cli.main import main as run  # noqa: PLC0415

        run(name)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)


def ops() -> None:
    """Run the commands for a cluster that is deployed."""
    main("hyperpod-ops")


if __name__ == "__main__":
    main()
