"""Random configurations: each gives valid templates or errors of one line, never a traceback.

A few by default; `RANDOM_CONFIGS=10000 pytest tests/unit/test_random_configs.py` tries that many.
CDK's own validation is on, so a template that breaks CloudFormation's schemas fails the test.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from hyperpod_cdk.config import ConfigError, load_config
from hyperpod_cdk.instance_types import instance_types
from tests.unit.assembly import merged, synthesized

EXAMPLES = int(os.environ.get("RANDOM_CONFIGS", "12"))
REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT: dict[str, Any] = yaml.safe_load(
    (REPOSITORY / "config" / "default.yaml").read_text("utf-8")
)
ARN = "arn:aws:iam::111122223333:role/Admin"


def some(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=values)


def usually(good: st.SearchStrategy[Any], bad: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 9).flatmap(lambda draw: bad if draw == 0 else good)


names = st.from_regex(r"[a-z][a-z0-9-]{0,24}", fullmatch=True)
taints = st.fixed_dictionaries(
    {"key": names, "effect": st.sampled_from(["NoSchedule", "NoExecute", "Never"])}
)
groups = st.builds(
    lambda needed, more: {**needed, **more},
    st.fixed_dictionaries(
        {
            "name": names,
            "instance_type": st.sampled_from([*instance_types(), "ml.none.large"]),
            "instance_count": usually(st.integers(0, 40), st.just(-1)),
        }
    ),
    some(
        volume_size_gib=usually(st.sampled_from([1, 500, 16384]), st.sampled_from([0, 16385])),
        threads_per_core=usually(st.just(1), st.sampled_from([2, 3])),
        deep_health_checks=usually(
            st.just([]), st.lists(st.sampled_from(["InstanceStress", "Other"]), max_size=2)
        ),
        capacity=st.sampled_from(["Spot", "OnDemand"]),
        min_instance_count=st.integers(0, 3),
        labels=st.dictionaries(names, names, max_size=2),
        taints=usually(st.just([]), st.lists(taints, max_size=2)),
        availability_zone_id=usually(
            st.just("usw2-az2"), st.sampled_from(["usw2-az1", "use1-az1"])
        ),
    ),
)
changes = some(
    name=names,
    tags=st.dictionaries(names, names, max_size=3),
    network=some(
        vpc_cidr=usually(st.just("10.192.0.0/16"), st.sampled_from(["10.0.0.0/8", "10.1.0.0/16"])),
        hyperpod_subnets=st.lists(
            st.fixed_dictionaries(
                {
                    "cidr": st.sampled_from(["10.1.0.0/16", "10.2.0.0/20", "10.192.64.0/18"]),
                    "availability_zone_id": st.sampled_from(["usw2-az1", "usw2-az2"]),
                }
            ),
            min_size=1,
            max_size=3,
            unique_by=lambda subnet: str(subnet["cidr"]),
        ),
    ),
    eks=some(
        version=usually(st.sampled_from(["1.30", "1.35"]), st.just("1.29")),
        endpoint_access=st.sampled_from(["private", "public", "public_and_private"]),
        public_access_cidrs=st.sampled_from([["0.0.0.0/0"], ["203.0.113.0/24"], []]),
        admins=usually(st.just([ARN]), st.just(["nobody"])),
    ),
    storage=st.none()
    | some(
        capacity_gib=usually(st.sampled_from([1200, 2400, 4800]), st.just(1300)),
        compression=st.sampled_from(["LZ4", "NONE"]),
        data_repository_s3_uri=usually(st.just("s3://bucket/prefix"), st.just("bucket")),
    ),
    cluster=some(
        node_recovery=usually(st.sampled_from(["Automatic", "None"]), st.just("Never")),
        node_provisioning_mode=st.sampled_from(["Continuous", None]),
        wait_for=st.sampled_from(["accepted", "in_service", "nodes"]),
        instance_groups=st.lists(groups, min_size=1, max_size=4),
    ),
)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES < 100,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(changes)
def test_a_random_configuration_deploys_or_is_refused_in_lines(change: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "config.yaml"
        path.write_text(yaml.safe_dump(merged(DEFAULT, change)), encoding="utf-8")
        try:
            config = load_config(path)
        except ConfigError as error:
            assert error.lines
            assert all(line.startswith(str(path)) and "\n" not in line for line in error.lines)
            event("refused")
            return
        event("deployable")
        chart = REPOSITORY / "rehearsal" / "chart" / "hyperpod-helm-chart"
        templates = synthesized(config, chart=chart, directory=Path(scratch) / "out").templates()
        assert len(templates) == (2 if config.storage is None else 3)
