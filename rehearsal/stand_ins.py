"""What a configuration names and no deployment makes, put into the local AWS."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.schema.named_resources import named_resources
from rehearsal.aws.chosen_ids import KMS_KEY_ID
from rehearsal.aws.clients import AwsClients
from rehearsal.aws.local_aws import ACCOUNT
from rehearsal.own_networks import SecurityGroup, Subnet, own_networks

DEFAULT_REGION = "us-west-2"
"""Where a configuration without a region is rehearsed."""
_PRINCIPAL = re.compile(r"arn:[^:]+:iam::(?P<account>\d{12}):(?P<kind>role|user)/(?P<path>.*)")
_PLAN_HOURS = 24
_GROWTH = 2
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


@dataclass(frozen=True, kw_only=True, slots=True)
class KmsKey:
    """A symmetric KMS key.

    Attributes:
        key: Its ARN or id.
    """

    key: str

    def __str__(self) -> str:
        return f"KMS key {self.key}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        kms = clients("kms")
        name = self.key.rpartition("/")[2]
        try:
            kms.describe_key(KeyId=name)
        except kms.exceptions.NotFoundException:
            kms.create_key(Tags=[{"TagKey": KMS_KEY_ID, "TagValue": name}])


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingPlan:
    """A training plan for a HyperPod cluster that is active at once.

    Attributes:
        arn: Its ARN.
        instance_type: Type of its instances.
        count: How many it has.
        zone_id: Id of their zone; None for the one of that number.
        zone_number: Place of their zone among the region's by name, from 0.
    """

    arn: str
    instance_type: str
    count: int
    zone_id: str | None = None
    zone_number: int = 0

    def __str__(self) -> str:
        where = self.zone_id or f"the region's zone {self.zone_number + 1} by name"
        return f"Training plan {self.arn}, {self.count} {self.instance_type} in {where}"

    def make(self, clients: AwsClients) -> None:
        """Buy it unless it is there."""
        sagemaker = clients("sagemaker")
        name = self.arn.rpartition("/")[2]
        with suppress(sagemaker.exceptions.ResourceInUse):
            sagemaker.create_training_plan(
                TrainingPlanName=name, TrainingPlanOfferingId=self._offering(clients)
            )

    def _offering(self, clients: AwsClients) -> str:
        found = clients("ec2").describe_availability_zones()["AvailabilityZones"]
        zones = sorted(found, key=lambda zone: str(zone["ZoneName"]))
        names = [zone["ZoneName"] for zone in zones if zone["ZoneId"] == self.zone_id]
        zone = names[0] if names else zones[self.zone_number]["ZoneName"]
        offerings = clients("sagemaker").search_training_plan_offerings(
            InstanceType=self.instance_type,
            InstanceCount=self.count,
            DurationHours=_PLAN_HOURS,
            TargetResources=["hyperpod-cluster"],
        )["TrainingPlanOfferings"]
        return next(
            str(offering["TrainingPlanOfferingId"])
            for offering in offerings
            if offering["ReservedCapacityOfferings"][0]["AvailabilityZone"] == zone
        )


StandIn = Principal | Bucket | KmsKey | TrainingPlan | Subnet | SecurityGroup


def named_account(config: Config) -> str | None:
    """Return the account that the configuration's ARNs name most, or None when none has one."""
    arns = [each.value for each in named_resources(config) if each.value.startswith("arn:")]
    accounts = Counter(arn.split(":")[4] for arn in arns)
    return accounts.most_common(1)[0][0] if accounts else None


def account_of(config: Config) -> str:
    """Return the account for the local AWS: the one that the configuration names, if any."""
    return named_account(config) or ACCOUNT


def stand_ins(config: Config) -> list[StandIn]:
    """Return what the configuration names of its account, in the order in which it is made."""
    named = list(named_resources(config))
    found = (
        (Principal(arn=each.value) for each in named if each.kind == "principal"),
        _buckets(config),
        (KmsKey(key=each.value) for each in named if each.kind == "KMS key"),
        _training_plans(config),
        own_networks(config),
    )
    return list(dict.fromkeys(itertools.chain(*found)))


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
    for data in config.cluster.data_buckets:
        keys.setdefault(data.name, [])
    for name, scripts in keys.items():
        yield Bucket(name=name, scripts=tuple(dict.fromkeys(scripts)))


def _training_plans(config: Config) -> Iterator[TrainingPlan]:
    """Yield each plan where its first group is, with room for that group to grow."""
    network = config.network
    cidrs = [subnet.cidr for subnet in network.hyperpod_subnets]
    zones = network.zone_count
    for arn in config.cluster.training_plan_arns:
        groups = [group for group in config.cluster.all_groups if group.training_plan_arn == arn]
        subnet = subnet_for(groups[0], network)
        place = 0 if subnet is None else cidrs.index(subnet.cidr)
        yield TrainingPlan(
            arn=arn,
            instance_type=groups[0].possible_instance_types[0],
            count=_GROWTH * max(1, sum(group.instance_count for group in groups)),
            zone_id=network.hyperpod_zone_ids[place],
            zone_number=place % zones,
        )


def _location(s3_uri: str) -> tuple[str, str]:
    bucket, _, prefix = s3_uri.removeprefix("s3://").partition("/")
    return bucket, prefix.rstrip("/")


def _policy(statement: Mapping[str, object]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
