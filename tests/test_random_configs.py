"""Random configurations: each gives valid templates or errors of one line, never a traceback.

A few by default; `make random-configs COUNT=10000` tries that many. What is synthesized must pass
CDK's validation and cfn-lint. A part is reproducible: its number is its seed.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, event, given, seed, settings
from hypothesis import strategies as st

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.facts.instance_types import instance_types
from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_cdk.synthesis.refusals import TooLargeError
from hyperpod_stacks.table import stack_names
from tests.support.assembly import merged, synthesized
from tests.support.configs import EVERY_FIELD, SHIPPED
from tests.support.linter import findings
from tests.support.schema_values import places, values, with_value

_BASES: list[dict[str, Any]] = [
    yaml.safe_load(path.read_text("utf-8")) for path in (*SHIPPED, EVERY_FIELD)
]
_MOST_CHANGED_KEYS = 3
_ARN = "arn:aws:iam::111122223333:role/Admin"


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def _usually(good: st.SearchStrategy[Any], bad: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 9).flatmap(lambda draw: bad if draw == 0 else good)


_names = st.from_regex(r"[a-z][a-z0-9-]{0,24}", fullmatch=True)
_taints = st.fixed_dictionaries(
    {"key": _names, "effect": st.sampled_from(["NoSchedule", "NoExecute", "Never"])}
)
_groups = st.builds(
    lambda needed, more: {**needed, **more},
    st.fixed_dictionaries(
        {
            "name": _names,
            "instance_type": st.sampled_from([*instance_types(), "ml.none.large"]),
            "instance_count": _usually(st.integers(0, 40), st.just(-1)),
        }
    ),
    _some(
        volume_size_gib=_usually(st.sampled_from([1, 500, 16384]), st.sampled_from([0, 16385])),
        threads_per_core=_usually(st.just(1), st.sampled_from([2, 3])),
        deep_health_checks=_usually(
            st.just([]), st.lists(st.sampled_from(["InstanceStress", "Other"]), max_size=2)
        ),
        capacity=st.sampled_from(["Spot", "OnDemand"]),
        min_instance_count=st.integers(0, 3),
        labels=st.dictionaries(_names, _names, max_size=2),
        taints=_usually(st.just([]), st.lists(_taints, max_size=2)),
        availability_zone_id=_usually(
            st.just("usw2-az2"), st.sampled_from(["usw2-az1", "use1-az1"])
        ),
    ),
)
_changes = _some(
    name=_names,
    tags=st.dictionaries(_names, _names, max_size=3),
    network=_some(
        vpc_cidr=_usually(st.just("10.192.0.0/16"), st.sampled_from(["10.0.0.0/8", "10.1.0.0/16"])),
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
    eks=_some(
        version=_usually(st.sampled_from(["1.30", "1.35"]), st.just("1.29")),
        endpoint_access=st.sampled_from(["private", "public", "public_and_private"]),
        public_access_cidrs=st.sampled_from([["0.0.0.0/0"], ["203.0.113.0/24"], []]),
        admins=_usually(st.just([_ARN]), st.just(["nobody"])),
    ),
    storage=st.none()
    | _some(
        capacity_gib=_usually(st.sampled_from([1200, 2400, 4800]), st.just(1300)),
        compression=st.sampled_from(["LZ4", "NONE"]),
        data_repositories=st.lists(
            _some(
                path=st.sampled_from(["/s3", "/data", "/data/a"]),
                s3_uri=_usually(st.just("s3://bucket/prefix"), st.just("bucket")),
            ),
            max_size=2,
        ),
        metadata_iops=_usually(st.sampled_from([1500, 12000]), st.just(2000)),
    ),
    cluster=_some(
        node_recovery=_usually(st.sampled_from(["Automatic", "None"]), st.just("Never")),
        node_provisioning_mode=st.sampled_from(["Continuous", None]),
        wait_for=st.sampled_from(["accepted", "in_service", "nodes"]),
        instance_groups=st.lists(_groups, min_size=1, max_size=4),
    ),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a configuration file's content.

    A shipped configuration, or the one with every field, with changes that usually fit together and
    then up to three keys of any section set to anything that the schema allows.
    """
    base = draw(st.sampled_from(_BASES))
    document = merged(base, draw(st.just({}) | _changes))
    for _ in range(draw(st.integers(0, _MOST_CHANGED_KEYS))):
        place = draw(st.sampled_from(places(document)))
        document = with_value(document, place=place, value=draw(values(place.schema)))
    return document


EXAMPLES = int(os.environ.get("RANDOM_CONFIGS", "12"))
MOST_A_PART = 500
PARTS = -(-EXAMPLES // MOST_A_PART)


@pytest.mark.whole
@pytest.mark.slow(seconds=10)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_random_configuration_deploys_or_is_refused_in_lines(part: int, chart: Path) -> None:
    @seed(part)
    @settings(
        max_examples=-(-EXAMPLES // PARTS),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(documents())
    def each(document: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "config.yaml"
            path.write_text(yaml.safe_dump(document), encoding="utf-8")
            try:
                config = load_config(path)
                made = synthesized(config, chart=chart, directory=Path(scratch), validate=True)
                templates = made.texts()
            except (ConfigError, HyperPodChartError, TooLargeError) as error:
                lines = str(error).splitlines()
                assert lines
                assert all(line.isprintable() for line in lines)
                event("refused")
                return
            event("deployable")
            check(config, templates)

    each()


def check(config: Config, templates: dict[str, str]) -> None:
    assert templates.keys() == {*stack_names(config).values()}
    for name, template in templates.items():
        found = findings(template, region=config.region or "us-west-2")
        assert not found, f"{name}: {found}"
