"""What a node that runs lifecycle scripts writes to CloudWatch."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hyperpod_emulator.aws.local_aws import LocalAws, aws_clients
from hyperpod_emulator.hardware import HardwareOf, unknown_hardware
from hyperpod_emulator.hyperpod import NodeView
from hyperpod_emulator.node.lifecycle_logs import LifecycleLogs

_BUCKET = "sagemaker-scripts-of-nodes"
_LOG_GROUP = "/aws/sagemaker/Clusters/c/abcdefghij12"


def lifecycle_lines(
    aws: LocalAws,
    folder: str,
    scripts: Mapping[str, bytes],
    *,
    instance_type: str = "ml.m5.xlarge",
    hardware: HardwareOf = unknown_hardware,
    not_run: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
    fails: bool = False,
    **members: Any,
) -> list[str]:
    """Return what is in the log stream of a node that runs scripts."""
    clients = aws_clients(aws)
    if _BUCKET not in [each["Name"] for each in clients("s3").list_buckets()["Buckets"]]:
        home = {"LocationConstraint": "us-west-2"}
        clients("s3").create_bucket(Bucket=_BUCKET, CreateBucketConfiguration=home)
    for path, content in scripts.items():
        clients("s3").put_object(Bucket=_BUCKET, Key=f"{folder}/{path}", Body=content)
    node = NodeView(
        instance_id=f"i-{folder}",
        instance_group="workers",
        instance_type=instance_type,
        private_ip="",
        kubernetes_name="",
        log_group=_LOG_GROUP,
        lifecycle={"SourceS3Uri": f"s3://{_BUCKET}/{folder}/", "OnCreate": "on_create.sh"},
        mounts=("/opt/sagemaker",),
    )
    node = replace(node, **members)
    with LifecycleLogs(clients, hardware, not_run=not_run, environment=environment or {}) as logs:
        logs.script_runs(node, fails=fails)
        logs.wait()
    events = clients("logs").get_log_events(
        logGroupName=_LOG_GROUP,
        logStreamName=f"LifecycleConfig/workers/{node.instance_id}",
        startFromHead=True,
    )
    return [event["message"] for event in events["events"]]
