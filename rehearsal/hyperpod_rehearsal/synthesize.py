"""The app as a rehearsal synthesizes it.

`python -m hyperpod_rehearsal.synthesize CHART SCRIPTS` runs it.
"""

import argparse
import gc
import sys
from pathlib import Path

from hyperpod_stacks.app import main

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("chart", type=Path)
    parser.add_argument("scripts", type=Path)
    parser.add_argument("--validate", action="store_true")
    arguments = parser.parse_args()
    code = main(**vars(arguments))
    # All that lives until the end would be looked through once more.
    gc.freeze()
    sys.exit(code)
