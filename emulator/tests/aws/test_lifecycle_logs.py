"""What lifecycle scripts say of a node is in CloudWatch, as HyperPod sends it."""

from pathlib import Path

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.lifecycle import lifecycle_lines


def test_scripts_of_others_are_not_run(aws: LocalAws, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    foreign = {"on_create.sh": f"touch {touched}\n".encode()}
    downloading, succeeded = lifecycle_lines(aws, "foreign", foreign)
    assert "Downloading" in downloading and "succeeded" in succeeded
    assert lifecycle_lines(aws, "foreign-failing", foreign, fails=True) == [downloading]
    assert not touched.exists()


AFTER_AMI = b"""#!/bin/bash
set -eu
root=$HYPERPOD_LIFECYCLE_ROOT
cat "$root/opt/ml/config/resource_config.json"
hostname -I
getent passwd alice || useradd --uid 2001 --gid 2001 --home-dir /fsx/alice --shell /bin/bash alice
getent passwd 2001
mountpoint -q "$root/fsx"
"""


@pytest.mark.parametrize("fails", [False, True])
def test_what_runs_after_the_ami_finds_slurms_node(aws: LocalAws, *, fails: bool) -> None:
    folder = f"slurm-{fails}"
    lines = lifecycle_lines(
        aws,
        folder,
        {"on_init_complete.sh": AFTER_AMI, "settings.sh": b"HYPERPOD_LIFECYCLE_ROOT"},
        fails=fails,
        lifecycle={
            "SourceS3Uri": f"s3://sagemaker-scripts-of-nodes/{folder}",
            "OnInitComplete": "on_init_complete.sh",
        },
        mounts=("/opt/sagemaker", "/fsx"),
        private_ip="10.1.0.7",
        files={"/opt/ml/config/resource_config.json": "{}\n"},
    )

    found = ["{}", "10.1.0.7", "alice:x:2001:2001::/fsx/alice:/bin/bash"]
    assert lines[1:4] == found
    assert (len(lines) == 5) is not fails
