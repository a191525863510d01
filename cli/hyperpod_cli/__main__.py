"""`python -m hyperpod_cli`, which is `hyperpod-cdk`."""

import gc
import sys


def main() -> None:
    """Run the command line."""
    try:
        # Takes a moment, in which Ctrl-C is no traceback either.
        from hyperpod_cli.main import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    finally:
        # All that lives until the end would be looked through once more, for half a second.
        gc.freeze()


if __name__ == "__main__":
    main()
