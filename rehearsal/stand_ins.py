"""What a configuration names and no deployment makes, put into the local AWS."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from rehearsal.aws.clients import AwsClients
from rehearsal.aws.local_aws import ACCOUNT

DEFAULT_REGION = "us-west-2"
"""Where a configuration without a region is rehearsed."""
_PRINCIPAL = re.compile(r"arn:[^:]+:iam::(?P<account>\d{12}):(?P<kind>role|user)/(?P<path>.*)")
# The services that assume a role that a configuration names.
_SERVICES = ("sagemaker.amazonaws.com", "hyperpod.sagemaker.amazonaws.com")


@dataclass(frozen=True, kw_only=True, slots=True)
class Principal:
    """An IAM role or user.

    Attributes:
        arn: Its ARN; in the local AWS its account is the one that the configuration names most.
    """

    arn: str

    def __str__(self) -> str:
        return f"IAM {self._parts['kind']} {self.arn}"

    @property
    def account(self) -> str:
        """The account of the ARN."""
        return self._parts["account"]

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there.

        SageMaker and HyperPod may assume a role, and it reads every bucket.
        """
        iam = clients("iam")
        path, _, name = f"/{self._parts['path']}".rpartition("/")
        with suppress(iam.exceptions.EntityAlreadyExistsException):
            self._create(iam, name=name, path=f"{path}/")

    def _create(self, iam: Any, *, name: str, path: str) -> None:  # noqa: ANN401 - a client
        if self._parts["kind"] == "user":
            iam.create_user(UserName=name, Path=path)
            return
        trust = {"Effect": "Allow", "Principal": {"Service": [*_SERVICES]}}
        iam.create_role(
            RoleName=name,
            Path=path,
            AssumeRolePolicyDocument=_policy({**trust, "Action": "sts:AssumeRole"}),
        )
        read = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*"}
        iam.put_role_policy(RoleName=name, PolicyName="Read", PolicyDocument=_policy(read))

    @property
    def _parts(self) -> dict[str, str]:
        found = _PRINCIPAL.fullmatch(self.arn)
        return {} if found is None else found.groupdict()


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


def account_of(config: Config) -> str:
    """Return the account for the local AWS: the one that the configuration's ARNs name most."""
    accounts = Counter(principal.account for principal in _principals(config))
    return accounts.most_common(1)[0][0] if accounts else ACCOUNT


def stand_ins(config: Config) -> list[Principal | Bucket]:
    """Return what the configuration names of its account, in the order in which it is made."""
    return [*dict.fromkeys(_principals(config)), *_buckets(config)]


def _principals(config: Config) -> Iterator[Principal]:
    named = [
        *config.eks.admins,
        *config.lifecycle_scripts.writers,
        config.cluster.role_arn,
        *(group.execution_role_arn for group in config.cluster.all_groups),
    ]
    yield from (Principal(arn=arn) for arn in named if arn is not None)


def _buckets(config: Config) -> Iterator[Bucket]:
    keys: dict[str, list[str]] = {}
    for group in config.cluster.instance_groups:
        lifecycle = group.lifecycle
        if lifecycle is not None and lifecycle.source_s3_uri is not None:
            bucket, prefix = _location(lifecycle.source_s3_uri)
            script = lifecycle.on_create or lifecycle.on_init_complete
            keys.setdefault(bucket, []).append(f"{prefix}/{script}")
    if config.storage is not None and config.storage.data_repository_s3_uri is not None:
        keys.setdefault(_location(config.storage.data_repository_s3_uri)[0], [])
    for name, scripts in keys.items():
        yield Bucket(name=name, scripts=tuple(dict.fromkeys(scripts)))


def _location(s3_uri: str) -> tuple[str, str]:
    bucket, _, prefix = s3_uri.removeprefix("s3://").partition("/")
    return bucket, prefix.rstrip("/")


def _policy(statement: Mapping[str, object]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
