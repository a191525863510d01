"""The CDK CLI deploys and destroys a whole small platform on the local AWS, with IAM enforced."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.aws.local_aws import ACCOUNT, NODE_DIRECTORY, REPOSITORY, LocalAws
from tests.rehearsal.local_aws_support import client

APP = REPOSITORY / "tests" / "rehearsal" / "cdk_app_platform.py"
CLI = REPOSITORY / "node_modules" / ".bin" / "cdk"
DEADLINE_SECONDS = 180

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def aws() -> Iterator[LocalAws]:
    with LocalAws() as running:
        yield running


def cdk(aws: LocalAws, directory: Path, *arguments: str) -> None:
    command: list[str | Path] = [
        NODE_DIRECTORY / "node",
        CLI,
        *arguments,
        "--app",
        f"{sys.executable} {APP}",
        "--output",
        directory / "cdk.out",
        "--context",
        f"account={ACCOUNT}",
        "--context",
        "@aws-cdk/core:defaultCrossStackReferences=weak",
        "--no-notices",
        "--ci",
    ]
    environment = {
        "PATH": os.pathsep.join([str(NODE_DIRECTORY), os.environ["PATH"]]),
        "HOME": os.environ.get("HOME", str(directory)),
        **aws.environment(),
    }
    run = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_bootstrap_deploy_destroy(aws: LocalAws, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.json"
    cdk(aws, tmp_path, "bootstrap", f"aws://{ACCOUNT}/us-west-2")
    cdk(
        aws,
        tmp_path,
        "deploy",
        "--all",
        "--concurrency=3",
        "--require-approval=never",
        "--method=direct",
        f"--outputs-file={outputs}",
    )
    found = json.loads(outputs.read_text())
    platform, storage = found["Platform"], found["Storage"]
    assert platform["ScriptKey"] == "on_create.sh"
    script = client(aws, "s3").get_object(Bucket="sagemaker-scripts", Key="on_create.sh")
    assert script["Body"].read() == b"#!/bin/bash"

    eks = client(aws, "eks")
    cluster = eks.describe_cluster(name=platform["EksClusterName"])["cluster"]
    assert cluster["status"] == "ACTIVE"
    eks.describe_access_entry(clusterName=cluster["name"], principalArn=platform["AdminRoleArn"])
    assert eks.list_addons(clusterName=cluster["name"])["addons"] == ["vpc-cni"]
    gateways = client(aws, "ec2").describe_nat_gateways()["NatGateways"]
    assert [gateway["State"] for gateway in gateways] == ["available", "available"]
    fsx = client(aws, "fsx")
    [file_system] = fsx.describe_file_systems()["FileSystems"]
    [subnet] = client(aws, "ec2").describe_subnets(SubnetIds=file_system["SubnetIds"])["Subnets"]
    assert file_system["FileSystemId"] == storage["FileSystemId"]
    assert (subnet["CidrBlock"], subnet["AvailabilityZoneId"]) == ("10.1.0.0/16", "usw2-az2")

    cdk(aws, tmp_path, "destroy", "Storage", "--force")
    [retained] = fsx.describe_file_systems()["FileSystems"]
    assert retained["FileSystemId"] == storage["FileSystemId"]
    # It would hold the platform's subnet.
    fsx.delete_file_system(FileSystemId=retained["FileSystemId"])
    cdk(aws, tmp_path, "destroy", "--all", "--force")
    assert eks.list_clusters()["clusters"] == []
    stacks = client(aws, "cloudformation").describe_stacks()["Stacks"]
    assert [stack["StackName"] for stack in stacks] == ["CDKToolkit"]
