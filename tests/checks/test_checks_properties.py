"""Whatever the groups are, the checks answer in lines."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_cdk.checks import Deployment, Group, Taint, Volume, findings
from hyperpod_cdk.checks.node_addresses import node_addresses
from hyperpod_cdk.schema.errors import key_path
from hyperpod_cdk.facts.instance_types import instance_facts, instance_types
from tests.checks.deployments import BY_NAME, KEY, ONE_ZONE, PLAN, TWO_ZONES, subnets

types = st.sampled_from(instance_types())
keys = st.sampled_from(["a", "kubernetes.io/a", "sagemaker.amazonaws.com/a", "b/" + "c" * 64, ""])
effects = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
groups = st.builds(
    Group,
    path=st.just(("cluster", "instance_groups", 0)),
    name=st.just("g"),
    instance_type=st.none() | types,
    instance_types=st.lists(types, max_size=3).map(tuple),
    instance_count=st.integers(0, 6758),
    min_instance_count=st.none() | st.integers(0, 6758),
    threads_per_core=st.sampled_from([None, 1, 2]),
    deep_health_checks=st.sampled_from([(), ("InstanceStress",)]),
    availability_zone_id=st.sampled_from([None, "usw2-az1", "usw2-az2", "usw2-az9"]),
    training_plan_arn=st.sampled_from([None, PLAN]),
    capacity=st.sampled_from([None, "OnDemand", "Spot"]),
    ebs_volumes=st.lists(
        st.builds(Volume, kms_key_id=st.sampled_from([None, KEY]), root_volume=st.booleans()),
        max_size=2,
    ).map(tuple),
    image_id=st.sampled_from([None, "default", "ami-0123456789abcdef0"]),
    labels=st.dictionaries(keys, st.just("v"), max_size=2),
    taints=st.lists(st.builds(Taint, key=keys, effect=effects), max_size=2).map(tuple),
    network_interface_type=st.sampled_from([None, "efa", "efa-only"]),
    own_subnets=st.integers(0, 2),
    restricted=st.booleans(),
)
deployments = st.builds(
    Deployment,
    groups=st.lists(groups, max_size=4).map(tuple),
    hyperpod_subnets=st.sampled_from([ONE_ZONE, TWO_ZONES, BY_NAME, subnets("10.1.0.0/28")]),
    eks_subnets=st.sampled_from([subnets("10.1.0.0/28"), subnets("10.1.0.0/29")]),
    region=st.sampled_from([None, "us-west-2", "us-gov-west-1", "eu-central-2"]),
    continuous=st.booleans(),
    node_recovery=st.sampled_from(["Automatic", "None"]),
    auto_scaling=st.sampled_from([None, "Karpenter"]),
    storage=st.booleans(),
)


@settings(max_examples=200, deadline=None)
@given(deployment=deployments)
def test_findings_read_as_lines(deployment: Deployment) -> None:
    for finding in findings(deployment):
        assert key_path(finding.path)
        assert finding.message.isprintable()
        assert finding.message[0].islower()
        assert finding.rule


@settings(max_examples=100, deadline=None)
@given(instance_type=types, prefix=st.integers(16, 28))
def test_as_many_nodes_fit_as_the_message_says(instance_type: str, prefix: int) -> None:
    facts = instance_facts(instance_type)
    if facts is None:
        return
    (subnet,) = subnets(f"10.1.0.0/{prefix}")
    fitting = subnet.free_addresses // facts.addresses_per_node

    def refused(count: int) -> bool:
        group = Group(path=(), name="g", instance_type=instance_type, instance_count=count)
        return bool(list(node_addresses(Deployment(groups=(group,), hyperpod_subnets=(subnet,)))))

    assert not refused(fitting)
    assert refused(fitting + 1)
