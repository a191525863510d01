"""Instance groups that are unusual and right."""

from pathlib import Path

import pytest
import yaml

from hyperpod_cdk import load_config
from tests.support.configs import DATA, FIREWALL, PLAN, ROLE, ROOT, SUBNET, default_document, mounts


def deployed(deployment: object) -> dict[str, object]:
    return {"schedule_expression": "cron(0 3 ? * SUN *)", "deployment": deployment}


@pytest.mark.parametrize(
    "group",
    [
        {"instance_type": None, "instance_types": ["ml.g5.xlarge", "ml.g5.2xlarge"]},
        {"ebs_volumes": [{**DATA, "kms_key_id": "mrk-1234abcd"}, ROOT]},
        {"fsx_lustre_mounts": mounts(3)},
        {"override_vpc": {"subnet_ids": [SUBNET], "security_group_ids": [FIREWALL]}},
        {"availability_zone_id": "usw2-az2"},
        {"lifecycle": {}},
        {"lifecycle": {"source_s3_uri": "s3://scripts/a/b/", "on_create": "x.sh"}},
        {"image_id": "default"},
        {"image_id": "ami-12345678"},
        {"image_release_version": "10.20.30"},
        {
            "labels": {"example.com/a.b": "C_d-e"},
            "taints": [{"key": "k", "effect": "PreferNoSchedule"}],
        },
        {"instance_type": "ml.p5.48xlarge", "network_interface_type": "efa"},
        {"scheduled_update": deployed({"rollback_alarms": ["an alarm / with signs"]})},
        {"auto_patch": {"strategy": "WhenAllIdle", "next_patch_date": "2027-01-31T03:00:00+01:00"}},
        {"instance_type": "ml.p5.48xlarge", "training_plan_arn": PLAN, "execution_role_arn": ROLE},
    ],
)
def test_allowed_group_loads(group: dict[str, object], tmp_path: Path) -> None:
    document = default_document()
    base = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}
    document["cluster"]["instance_groups"] = [base | group]
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")

    assert load_config(path).cluster.instance_groups[0].name == "g"


def test_dates_may_stand_without_quotes(tmp_path: Path) -> None:
    document = default_document()
    path = tmp_path / "config.yaml"
    text = yaml.safe_dump(document["cluster"]["instance_groups"][0])
    group = "".join(f"      {line}\n" for line in text.splitlines()).replace("      ", "    - ", 1)
    patch = "      auto_patch: {strategy: WhenIdle, next_patch_date: 2027-01-31T03:00:00Z}\n"
    path.write_text(f"name: ml\ncluster:\n  instance_groups:\n{group}{patch}", encoding="utf-8")

    (loaded,) = load_config(path).cluster.instance_groups

    assert loaded.auto_patch
    assert loaded.auto_patch.next_patch_date == "2027-01-31T03:00:00Z"
