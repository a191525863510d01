"""The type of a client of an AWS service."""

from typing import Any

AwsClient = Any
"""boto3 makes the methods of its clients at run time, so they have no types."""
