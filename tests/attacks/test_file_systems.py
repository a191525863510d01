"""The CSI driver of FSx deletes no file system but those that it made for claims."""

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.storage.section import PROVISIONED_TAG
from hyperpod_shared.owner import STACK_TAG
from tests.attacks.conftest import ActAs, Attacker
from tests.support.configs import CONFIG_FOLDER

FILE_SYSTEM = "arn:aws:fsx:us-west-2:111122223333:file-system/fs-0123456789abcdef0"
CONFIG = load_config(CONFIG_FOLDER / "examples" / "file-systems.yaml")
OWN = f"{PROVISIONED_TAG}={CONFIG.eks_cluster_name}"
STACK = "arn:aws:cloudformation:us-west-2:111122223333:stack/other-storage/1"


@pytest.fixture
def driver(act_as: ActAs) -> Attacker:
    return act_as(CONFIG, "FsxCsiDriverRole")


def test_it_makes_and_deletes_file_systems_of_claims(driver: Attacker) -> None:
    assert [
        driver.decision("fsx:CreateFileSystem", FILE_SYSTEM, asked=OWN),
        driver.decision("fsx:TagResource", FILE_SYSTEM, asked=OWN),
        driver.decision("fsx:UpdateFileSystem", FILE_SYSTEM, tag=OWN),
        driver.decision("fsx:DeleteFileSystem", FILE_SYSTEM, tag=OWN),
    ] == ["allowed"] * 4


@pytest.mark.parametrize(
    ("tag", "decision"),
    [
        (f"{STACK_TAG}={STACK}", "explicitDeny"),
        (f"aws:cloudformation:stack-id={STACK}", "implicitDeny"),
        ("Name=of-somebody", "implicitDeny"),
    ],
)
def test_it_marks_no_other_file_system_as_its_own(
    driver: Attacker, tag: str, decision: str
) -> None:
    assert driver.decision("fsx:TagResource", FILE_SYSTEM, tag=tag, asked=OWN) == decision
    assert driver.decision("fsx:DeleteFileSystem", FILE_SYSTEM, tag=tag) == decision
