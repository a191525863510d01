"""Trains: `torchrun … -m hyperpod_training ARGS`."""

import os
import sys

from hyperpod_training.options import RefusalError, read_options


def main() -> int:
    """Runs, and returns the exit code: 0 done, 2 refused, 143 stopped by SIGTERM and saved."""
    try:
        options = read_options()
        # What takes seconds to import comes after what takes none to refuse.
        from hyperpod_training.run import run  # noqa: PLC0415

        return run(options)
    except RefusalError as refusal:
        if os.environ.get("LOCAL_RANK", "0") == "0":
            sys.stderr.write(f"error: {refusal}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
