"""The region of a deployment, where nothing need be asked of AWS."""

import os

import boto3
from botocore.exceptions import ProfileNotFound

from hyperpod_cdk import Config


def known_region(config: Config, *, session: boto3.Session | None = None) -> str | None:
    """Return the region of a deployment, as the CDK CLI finds it; None if nobody names one.

    That is the configuration's, else that of AWS_REGION, which botocore ignores, of
    AWS_DEFAULT_REGION, or of the profile.

    Args:
        config: The configuration.
        session: With the profile. Default: the one that the environment names, if there is one.
    """
    region = config.region or os.environ.get("AWS_REGION")
    if region:
        return region
    try:
        return (session if session is not None else boto3.Session()).region_name
    except ProfileNotFound:
        return None
