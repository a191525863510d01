"""S3 buckets that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from emulator.aws.clients import AwsClients
from hyperpod_cdk import Config


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """An S3 bucket.

    Attributes:
        name: Its name.
        scripts: Keys of lifecycle scripts in it.
    """

    name: str
    scripts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"S3 bucket {self.name}" + "".join(f", {key}" for key in self.scripts)

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there, with a script that does nothing under each key."""
        s3 = clients("s3")
        region = s3.meta.region_name
        # us-east-1 is no LocationConstraint:
        # https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
        where = {"LocationConstraint": region}
        with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            if region == "us-east-1":
                s3.create_bucket(Bucket=self.name)
            else:
                s3.create_bucket(Bucket=self.name, CreateBucketConfiguration=where)
        for key in self.scripts:
            s3.put_object(Bucket=self.name, Key=key, Body=b"#!/bin/bash\n")


def buckets(config: Config) -> Iterator[Bucket]:
    """Yield the buckets of lifecycle scripts and of data."""
    keys: dict[str, list[str]] = {}
    for group in config.cluster.instance_groups:
        lifecycle = group.lifecycle
        if lifecycle is not None and lifecycle.source_s3_uri is not None:
            bucket, prefix = _location(lifecycle.source_s3_uri)
            script = lifecycle.on_create or lifecycle.on_init_complete
            keys.setdefault(bucket, []).append(f"{prefix}/{script}")
    for bucket in config.storage.bucket_names if config.storage is not None else ():
        keys.setdefault(bucket, [])
    for data in config.cluster.data_buckets:
        keys.setdefault(data.name, [])
    if config.lifecycle_scripts.existing_bucket_name is not None:
        keys.setdefault(config.lifecycle_scripts.existing_bucket_name, [])
    for name, scripts in keys.items():
        yield Bucket(name=name, scripts=tuple(dict.fromkeys(scripts)))


def _location(s3_uri: str) -> tuple[str, str]:
    bucket, _, prefix = s3_uri.removeprefix("s3://").partition("/")
    return bucket, prefix.rstrip("/")
