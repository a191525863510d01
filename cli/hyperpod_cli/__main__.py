"""`python -m hyperpod_cli`, which is `hyperpod-ops`."""

from hyperpod_cli.main import main

if __name__ == "__main__":
    main()
