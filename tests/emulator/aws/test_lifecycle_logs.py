"""What lifecycle scripts say of a node is in CloudWatch, as HyperPod sends it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cli.operate.logs import progress_of
from hyperpod_emulator.aws.local_aws import LocalAws, aws_clients
from hyperpod_emulator.hyperpod import NodeView
from hyperpod_emulator.node.lifecycle_logs import LifecycleLogs
from tests.support.changed_node import SCRIPTS

BUCKET = "sagemaker-scripts-of-nodes"
LOG_GROUP = "/aws/sagemaker/Clusters/c/abcdefghij12"
PACKAGED = {
    str(path.relative_to(SCRIPTS)): path.read_bytes()
    for path in SCRIPTS.rglob("*")
    if path.is_file()
}
OWN = b"#!/bin/sh\nexit 9\n"


def said(
    aws: LocalAws,
    folder: str,
    scripts: Mapping[str, bytes],
    *,
    instance_type: str = "ml.m5.xlarge",
    fails: bool = False,
    **members: Any,
) -> list[str]:
    """Return what is in the log stream of a node that runs scripts."""
    clients = aws_clients(aws)
    if BUCKET not in [each["Name"] for each in clients("s3").list_buckets()["Buckets"]]:
        home = {"LocationConstraint": "us-west-2"}
        clients("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=home)
    for path, content in scripts.items():
        clients("s3").put_object(Bucket=BUCKET, Key=f"{folder}/{path}", Body=content)
    node = NodeView(
        instance_id=f"i-{folder}",
        instance_group="workers",
        instance_type=instance_type,
        private_ip="",
        kubernetes_name="",
        log_group=LOG_GROUP,
        lifecycle={"SourceS3Uri": f"s3://{BUCKET}/{folder}/", "OnCreate": "on_create.sh"},
        mounts=("/opt/sagemaker",),
    )
    node = replace(node, **members)
    with LifecycleLogs(clients, instance_facts) as logs:
        logs.script_runs(node, fails=fails)
        logs.wait()
    events = clients("logs").get_log_events(
        logGroupName=LOG_GROUP,
        logStreamName=f"LifecycleConfig/workers/{node.instance_id}",
        startFromHead=True,
    )
    return [event["message"] for event in events["events"]]


@pytest.mark.slow(seconds=2)
def test_the_real_scripts_say_what_they_do(aws: LocalAws) -> None:
    lines = said(aws, "gpu", PACKAGED, instance_type="ml.p5.48xlarge")
    text = "\n".join(lines)
    assert "Z start: lifecycle scripts, 6 steps" in text
    assert "nvidia is now the default runtime" in text
    assert " of 32 EFA devices for file systems" in text
    assert progress_of(lines[:-1]) == "The scripts are done: every step succeeded."
    assert progress_of(lines) == "The scripts succeeded."


@pytest.mark.slow(seconds=1)
def test_a_script_that_fails_says_which_step(aws: LocalAws) -> None:
    lines = said(aws, "failing", PACKAGED, fails=True)
    assert progress_of(lines) == (
        "Step wait_for_data_volume failed, and the steps after it did not run."
    )
    assert any("yet this disk is attached: /dev/nvme1n1" in line for line in lines)


@pytest.mark.slow(seconds=1)
def test_scripts_of_others_are_not_run(aws: LocalAws, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    foreign = {"on_create.sh": f"touch {touched}\n".encode()}
    downloading, succeeded = said(aws, "foreign", foreign)
    assert "Downloading" in downloading and "succeeded" in succeeded
    assert said(aws, "foreign-failing", foreign, fails=True) == [downloading]
    assert not touched.exists()

    runs_own = {"deployment.env": b"OWN_SCRIPTS=after\n", "own/on_create.sh": OWN}
    lines = said(aws, "own", {**PACKAGED, **runs_own})
    assert any(
        "[own/on_create.sh] a simulated node does not run this script" in line for line in lines
    )
    assert progress_of(lines) == "The scripts succeeded."


AFTER_AMI = b"""#!/bin/bash
set -eu
root=$HYPERPOD_LIFECYCLE_ROOT
cat "$root/opt/ml/config/resource_config.json"
hostname -I
getent passwd alice || useradd --uid 2001 --gid 2001 --home-dir /fsx/alice --shell /bin/bash alice
getent passwd 2001
mountpoint -q "$root/fsx"
"""


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("fails", [False, True])
def test_what_runs_after_the_ami_finds_slurms_node(aws: LocalAws, *, fails: bool) -> None:
    folder = f"slurm-{fails}"
    lines = said(
        aws,
        folder,
        {"on_init_complete.sh": AFTER_AMI, "settings.sh": b"HYPERPOD_LIFECYCLE_ROOT"},
        fails=fails,
        lifecycle={
            "SourceS3Uri": f"s3://{BUCKET}/{folder}",
            "OnInitComplete": "on_init_complete.sh",
        },
        mounts=("/opt/sagemaker", "/fsx"),
        private_ip="10.1.0.7",
        files={"/opt/ml/config/resource_config.json": "{}\n"},
    )

    found = ["{}", "10.1.0.7", "alice:x:2001:2001::/fsx/alice:/bin/bash"]
    assert lines[1:4] == found
    assert (len(lines) == 5) is not fails
