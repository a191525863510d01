"""CDK app of this checkout: what `cdk deploy`, `cdk synth` and `cdk diff` run."""

import sys
from pathlib import Path

try:
    from hyperpod_stacks.app import main
except ModuleNotFoundError as missing:
    print(  # noqa: T201 - the user's only channel
        f"{missing.name}: is not installed for {sys.executable}; run `make setup`", file=sys.stderr
    )
    sys.exit(2)

if __name__ == "__main__":
    sys.exit(main(project=Path(__file__).absolute().parent))
