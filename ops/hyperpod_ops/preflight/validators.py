"""The validators, in the order in which they are shown."""

from collections.abc import Mapping

from hyperpod_ops.preflight.existing_bucket import existing_bucket
from hyperpod_ops.preflight.existing_control_plane import existing_control_plane
from hyperpod_ops.preflight.existing_role import existing_role
from hyperpod_ops.preflight.taken_names import taken_names
from hyperpod_ops.preflight.validator import Validator

VALIDATORS: Mapping[str, Validator] = {
    "taken_names": taken_names,
    "existing_control_plane": existing_control_plane,
    "existing_bucket": existing_bucket,
    "existing_role": existing_role,
}
"""By name, which is what `--skip` takes."""
