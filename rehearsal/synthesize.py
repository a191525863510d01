"""The app as a rehearsal synthesizes it: `python -m rehearsal.synthesize CHART [--validate]`."""

import sys
from pathlib import Path

import aws_cdk as cdk

from app import main

if __name__ == "__main__":
    # The bootstrap roles' policies rest on conditions that the local AWS does not evaluate.
    synthesizer = cdk.CliCredentialsStackSynthesizer()
    chart, *options = sys.argv[1:]
    sys.exit(main(chart=Path(chart), synthesizer=synthesizer, validate="--validate" in options))
