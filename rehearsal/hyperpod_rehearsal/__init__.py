"""Rehearse the whole deployment on this machine, against a local AWS."""

from pathlib import Path

from hyperpod_cdk.synthesis.assets import CHECKOUT

REPOSITORY = CHECKOUT or Path.cwd()
"""The checkout that is rehearsed; of an installed package, the folder that it works in."""
