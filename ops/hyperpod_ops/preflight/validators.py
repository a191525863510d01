"""The validators, in the order in which they are shown."""

from collections.abc import Mapping

from hyperpod_ops.preflight.kms_key import kms_key
from hyperpod_ops.preflight.validator import Validator

VALIDATORS: Mapping[str, Validator] = {"kms_key": kms_key}
"""By name, which is what `--skip` takes."""
