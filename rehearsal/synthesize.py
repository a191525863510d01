"""The app as a rehearsal synthesizes it: `python -m rehearsal.synthesize CHART SCRIPTS`."""

import argparse
import sys
from pathlib import Path

import aws_cdk as cdk

from app import main

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("chart", type=Path)
    parser.add_argument("scripts", type=Path)
    parser.add_argument("--validate", action="store_true")
    arguments = parser.parse_args()
    # The bootstrap roles' policies rest on conditions that the local AWS does not evaluate.
    synthesizer = cdk.CliCredentialsStackSynthesizer()
    sys.exit(main(**vars(arguments), synthesizer=synthesizer))
