"""`python -m hyperpod_ops`, which is `hyperpod-ops`."""

from hyperpod_ops.cli import main

if __name__ == "__main__":
    main()
