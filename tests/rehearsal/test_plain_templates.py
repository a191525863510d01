"""What `templates` writes, deployed by the AWS CLI alone: no CDK, no bootstrap stack."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config
from hyperpod_rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from hyperpod_rehearsal.owner import allow_termination, delete_file_systems
from hyperpod_rehearsal.verification import left_behind, wait_for_nodes
from hyperpod_stacks.table import stack_names
from tests.conftest import Configure
from tests.support.assembly import synthesized
from tests.support.patience import PATIENCE_SECONDS
from tests.support.template_package import template_package

ACCOUNT = "111122223333"
BUCKET = "our-assets"
KEYS = f"hyperpod-cdk/{version('hyperpod-cdk')}/assets/"
# Its waiters ask every 30 seconds; a local AWS needs seconds where AWS needs minutes.
_OFTEN = {"Delay": 0.5, "MaxAttempts": int(PATIENCE_SECONDS / 0.5)}
_AWS = f"""#!{sys.executable}
import sys
from awscli.botocore.waiter import Waiter
from awscli.clidriver import main
wait = Waiter.wait
Waiter.wait = lambda self, **given: wait(self, **given | {{"WaiterConfig": {_OFTEN}}})
sys.exit(main())
"""
# Logical ids in which the CDK has the name of the stack, and a digest of it.
_RULE = re.compile(r"(Group(?:from|to))\w*Group[0-9A-F]{8}(ALLTRAFFIC|988|10181023)[0-9A-F]{8}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """An account of somebody who has the templates, the AWS CLI, and nothing of the CDK."""

    environment: RehearsalEnvironment
    package: Path
    home: Path

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command with the AWS CLI at hand."""
        program = self.home / "aws"
        program.write_text(_AWS)
        program.chmod(0o755)
        return subprocess.run(
            command,
            env={
                **self.environment.aws.environment(),
                "HOME": str(self.home),
                "PATH": f"{self.home}{os.pathsep}{os.defpath}",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def aws(self, *arguments: str | Path) -> str:
        """Run the AWS CLI; return what it prints."""
        done = self.run("aws", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def deploy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the script."""
        return self.run(self.package / "deploy.sh", "--bucket", BUCKET, *arguments)

    def resources(self, stacks: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the type of each resource of some stacks, by its logical id."""
        cloudformation = self.environment.clients("cloudformation")
        pages = cloudformation.get_paginator("list_stack_resources")
        return {
            stack.rpartition("-")[2]: {
                _RULE.sub(r"\1\2", found["LogicalResourceId"]): found["ResourceType"]
                for page in pages.paginate(StackName=stack)
                for found in page["StackResourceSummaries"]
            }
            for stack in stacks
        }


@contextmanager
def account(config: Config, *, region: str, package: Path, home: Path) -> Iterator[Account]:
    with rehearsal_environment(
        account=ACCOUNT,
        region=region,
        kubernetes_version=config.eks.version,
        eks_cluster_name=f"{config.name}-eks",
        log_file=home / "local-aws.log",
    ) as environment:
        made = Account(environment=environment, package=package, home=home)
        made.aws("s3", "mb", f"s3://{BUCKET}")
        yield made


def by_the_cdk(config: Config, *, chart: Path, directory: Path) -> dict[str, dict[str, str]]:
    """Return the type of each resource that the CDK would deploy, by stack and logical id."""
    templates = synthesized(config, chart=chart, directory=directory).templates()
    return {
        stack.rpartition("-")[2]: {
            _RULE.sub(r"\1\2", name): body["Type"] for name, body in template["Resources"].items()
        }
        for stack, template in templates.items()
    }


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the default configuration."""
    return template_package(tmp_path_factory)


@pytest.mark.whole
@pytest.mark.slow(seconds=25)
def test_they_are_deployed_updated_and_destroyed(
    package: Path, configure: Configure, chart: Path, tmp_path: Path
) -> None:
    subnets = [{"cidr": "10.1.0.0/16"}]
    by_name = {"availability_zone_ids": None, "hyperpod_subnets": subnets}
    config = configure({"network": by_name})
    stacks = list(stack_names(config).values())
    with account(config, region="us-west-2", package=package, home=tmp_path) as own:
        clients = own.environment.clients
        done = own.deploy()
        assert done.returncode == 0, done.stderr

        assert own.resources(stacks) == by_the_cdk(config, chart=chart, directory=tmp_path / "cdk")
        protected = {
            stack["StackName"]: stack["EnableTerminationProtection"]
            for stack in clients("cloudformation").describe_stacks()["Stacks"]
        }
        assert protected == {name: name == "ml-storage" for name in stacks}
        [vpc] = clients("ec2").describe_vpcs(Filters=[filtered("cidr", "10.192.0.0/16")])["Vpcs"]
        default = [filtered("vpc-id", vpc["VpcId"]), filtered("group-name", "default")]
        [group] = clients("ec2").describe_security_groups(Filters=default)["SecurityGroups"]
        assert (group["IpPermissions"], group["IpPermissionsEgress"]) == ([], [])
        wait_for_nodes(config, clients=clients)

        asset = min((package / "assets").iterdir())
        [held] = clients("s3").list_objects_v2(Bucket=BUCKET, Prefix=KEYS + asset.name)["Contents"]
        planted = {"Bucket": BUCKET, "Key": held["Key"], "Body": b"x" * held["Size"]}
        clients("s3").put_object(**planted)

        done = own.deploy("WorkerGroup2InstanceCount=3")
        assert done.returncode == 0, done.stderr
        found = clients("s3").get_object(Bucket=BUCKET, Key=held["Key"])["Body"].read()
        assert found == asset.read_bytes()
        assert "Successfully created/updated stack - ml-hyperpod" in done.stdout
        assert done.stdout.count("No changes to deploy") == len(stacks) - 1
        assert counts(clients) == {"worker-group-1": 1, "worker-group-2": 3}

        text = (package / "templates" / "platform.json").read_text("utf-8")
        (tmp_path / "other.json").write_text(text.replace("10.1.0.0/16", "10.3.0.0/16"), "utf-8")
        done = own.run(
            *("aws", "cloudformation", "deploy", "--stack-name", "ml-platform"),
            *("--template-file", tmp_path / "other.json", "--s3-bucket", BUCKET),
            *("--capabilities", "CAPABILITY_NAMED_IAM"),
        )
        assert "network.hyperpod_subnets[0].cidr: '10.3.0.0/16'" in done.stderr

        allow_termination(clients, ["ml-storage"])
        for stack in ("ml-hyperpod", "ml-storage", "ml-addons", "ml-platform"):
            if stack == "ml-platform":
                delete_file_systems(clients)
            own.aws("cloudformation", "delete-stack", "--stack-name", stack)
            waiter = clients("cloudformation").get_waiter("stack_delete_complete")
            waiter.wait(StackName=stack, WaiterConfig=_OFTEN)
        assert left_behind(own.environment, stacks=stacks) == []


@pytest.mark.whole
@pytest.mark.slow(seconds=18)
def test_parameters_change_what_is_deployed_and_where(
    package: Path, configure: Configure, tmp_path: Path
) -> None:
    config = configure({"name": "lab", "eks": {"version": "1.33"}})
    with account(config, region="eu-west-1", package=package, home=tmp_path) as own:
        clients = own.environment.clients
        done = own.deploy(
            "DeploymentName=lab",
            "AvailabilityZoneId1=euw1-az3",
            "AvailabilityZoneId2=euw1-az1",
            "KubernetesVersion=1.33",
            "StorageCapacityGiB=2400",
            "StorageThroughput=500",
            "WorkerGroup1InstanceType=ml.g5.24xlarge",
            "WorkerGroup1InstanceCount=2",
            "WorkerGroup2InstanceType=ml.m5.4xlarge",
            "WorkerGroup2VolumeSizeGiB=120",
        )
        assert done.returncode == 0, done.stderr

        subnets = clients("ec2").describe_subnets()["Subnets"]
        zones = {subnet["CidrBlock"]: subnet["AvailabilityZoneId"] for subnet in subnets}
        assert zones["10.192.7.0/28"] == zones["10.192.10.0/24"] == "euw1-az3"
        assert zones["10.192.8.0/28"] == zones["10.1.0.0/16"] == "euw1-az1"
        eks = clients("eks")
        assert eks.describe_cluster(name="lab-eks")["cluster"]["version"] == "1.33"
        proxy = eks.describe_addon(clusterName="lab-eks", addonName="kube-proxy")["addon"]
        assert proxy["addonVersion"].startswith("v1.33.")
        (files,) = clients("fsx").describe_file_systems()["FileSystems"]
        assert files["StorageCapacity"] == 2400
        assert files["LustreConfiguration"]["PerUnitStorageThroughput"] == 500
        assert counts(clients, name="lab-cluster") == {"worker-group-1": 2, "worker-group-2": 1}
        first, second = clients("sagemaker").describe_cluster(ClusterName="lab-cluster")[
            "InstanceGroups"
        ]
        assert (first["InstanceType"], second["InstanceType"]) == (
            "ml.g5.24xlarge",
            "ml.m5.4xlarge",
        )
        assert second["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 120}}]


def filtered(name: str, value: str) -> dict[str, Any]:
    """Return a filter of EC2."""
    return {"Name": name, "Values": [value]}


def counts(clients: Any, *, name: str = "ml-cluster") -> dict[str, int]:  # noqa: ANN401 - clients
    """Return how many instances of each group there are to be."""
    found = clients("sagemaker").describe_cluster(ClusterName=name)["InstanceGroups"]
    return {group["InstanceGroupName"]: group["TargetCount"] for group in found}
