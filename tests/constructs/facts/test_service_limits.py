"""Limits come from the pinned service models, and reading them does not import botocore."""

import subprocess
import sys

import pytest

from hyperpod_cdk.facts.service_limits import regions, shape


def test_shape_carries_its_limits() -> None:
    name = shape("sagemaker.ClusterName")

    assert (name.minimum, name.maximum) == (1, 63)
    assert name.matches("ml-cluster")
    assert not name.matches("ml-cluster\n")
    assert shape("sagemaker.ClusterNodeRecovery").values == ("Automatic", "None")


def test_pattern_may_name_unicode_categories() -> None:
    assert shape("sagemaker.TagKey").matches("größe 名前")
    assert not shape("sagemaker.TagKey").matches("a;b")


def test_pattern_may_look_ahead() -> None:
    assert shape("sagemaker.AlarmName").matches("an alarm")
    assert not shape("sagemaker.AlarmName").matches("  ")
    assert not shape("sagemaker.AlarmName").matches("an alarm\n")


def test_classes_of_a_pattern_are_ascii_as_in_the_service() -> None:
    no_break_space = "\N{NO-BREAK SPACE}"

    assert shape("sagemaker.AlarmName").matches(no_break_space)


def test_unknown_shape_is_refused() -> None:
    with pytest.raises(KeyError):
        shape("sagemaker.NoSuchShape")


def test_regions_know_their_partition() -> None:
    assert regions()["us-west-2"] == "aws"
    assert regions()["us-gov-west-1"] == "aws-us-gov"
    assert not [region for region in regions() if region.startswith("fips")]


def test_importing_the_configuration_leaves_the_sdk_and_the_cdk_alone() -> None:
    script = "import sys; from hyperpod_cdk import Config, load_config; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )

    assert {"botocore", "boto3", "aws_cdk"}.isdisjoint(result.stdout.split())
