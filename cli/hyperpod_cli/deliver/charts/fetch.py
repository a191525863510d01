"""Fetches the package from S3, where a pipeline's configuration pins it."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk.pipeline.section import ChartArchiveConfig
from hyperpod_cli.deliver.charts.archives import sha256_of
from hyperpod_cli.deliver.charts.errors import ChartError
from hyperpod_cli.deliver.charts.publish import ARCHIVE_NAME, replace


def fetch(
    chart: ChartArchiveConfig,
    *,
    session: boto3.Session,
    output: Path,
    report: Callable[[str], None],
) -> None:
    """Write the archive into a folder, unless it is there.

    Raises:
        ChartError: It cannot be read, or is another file than the pinned one.
    """
    archive, place = output / ARCHIVE_NAME, f"s3://{chart.bucket}/{chart.key}"
    if archive.is_file() and sha256_of(archive) == chart.sha256:
        return
    try:
        found = session.client("s3").get_object(Bucket=chart.bucket, Key=chart.key)
        content = found["Body"].read()
    except (BotoCoreError, ClientError) as error:
        raise ChartError(f"{place}: cannot be read: {error}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != chart.sha256:
        raise ChartError(
            f"{place}: has SHA-256 {digest}, but pipeline.chart.sha256 pins {chart.sha256}; upload "
            "the pinned file, or pin this one"
        )
    output.mkdir(parents=True, exist_ok=True)
    replace(archive, content=content)
    report(f"{archive}: from {place}, {len(content) / 1e6:.1f} MB")
