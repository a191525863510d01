"""The lifecycle scripts that nodes fetch."""

from hyperpod_cdk import Config
from hyperpod_cdk.lifecycle_scripts.section import joined
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


def script_key(config: Config) -> str | None:
    """Return the key of the script that new nodes run; None if they run none."""
    entry = next((folder.entry for folder in config.script_folders[0]), None)
    return entry and joined(config.scripts_prefix, entry)


@subject(phase=Phase.CLUSTER, iam=["s3:ListBucket"], of_hyperpod=True)
def scripts(deployment: LiveDeployment) -> Checks:
    """The lifecycle script for new nodes is in the bucket."""
    bucket = deployment.outputs_of("platform")["S3BucketName"]
    key = script_key(deployment.config)
    if key is None:
        return
    listed = deployment.client("s3").list_objects_v2(Bucket=bucket, Prefix=key)
    there = key in [item["Key"] for item in listed.get("Contents", ())]
    yield checked(
        f"aws s3 ls s3://{bucket}: {key}",
        problem=None if there else "is not there",
        advice="No node can be made or replaced without it. Run `hyperpod-cdk deploy` after any "
        "change of "
        "the folder lifecycle/, which uploads all of it",
    )
