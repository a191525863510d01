"""The region of a deployment, where nothing need be asked of AWS."""

import os

import botocore.session
from botocore.exceptions import ProfileNotFound

from hyperpod_cdk import Config


def known_region(config: Config) -> str | None:
    """Return the region of a deployment, as the CDK CLI finds it; None if nobody names one.

    That is the configuration's, else that of AWS_REGION, which botocore ignores, of
    AWS_DEFAULT_REGION, or of the profile.
    """
    region = config.region or os.environ.get("AWS_REGION")
    if region:
        return region
    try:
        found: str | None = botocore.session.get_session().get_config_variable("region")
    except ProfileNotFound:
        return None
    return found
