"""The scenario in which the last release is deployed, and this version updates it."""

from collections.abc import Iterator, Mapping

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.stacks import resources_of
from hyperpod_rehearsal.releases import releases
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import Scenario, all_nodes_run, has_status, succeeds
from hyperpod_rehearsal.stage import Stage

# What users would lose, or wait for again, if an upgrade replaced it.
_LASTING = (
    "AWS::EC2::NatGateway",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::Subnet",
    "AWS::EC2::VPC",
    "AWS::EKS::Cluster",
    "AWS::FSx::FileSystem",
    "AWS::S3::Bucket",
    "Custom::HelmRelease",
    "Custom::HyperPodCluster",
)


def _lasting(stage: Stage) -> Mapping[tuple[str, str], str]:
    """Return the physical id of each lasting resource, by stack and logical id."""
    cloudformation = stage.environment.clients("cloudformation")
    return {
        (stack, resource.logical_id): resource.physical_id
        for stack in stage.stacks
        for resource in resources_of(cloudformation, stack)
        if resource.type in _LASTING
    }


def _lacks_what_the_release_deploys(config: Config) -> str | None:
    released = load_config(releases()[-1].config)
    wanted = released.cluster.orchestrator
    if config.cluster.orchestrator != wanted:
        return f"cluster.orchestrator: {wanted}, as the release has it"
    if (config.name, config.region) != (released.name, released.region):
        return f"name: {released.name} and region: {released.region}, as the release has them"
    return None


@Scenario(begins="anyhow", also_lacking=_lacks_what_the_release_deploys)
def version_upgrade(stage: Stage) -> Iterator[Fact]:
    """The last release is deployed, and this version updates it in place."""
    release = releases()[-1]
    if stage.reports():
        yield succeeds("what is there is destroyed", stage.destroy())
    stage.change_version(release)
    error = stage.deploy()
    yield succeeds(f"version {release.version} is deployed", error)
    if error is not None:
        return
    yield all_nodes_run(stage)
    before, nodes = _lasting(stage), [node.id for node in stage.nodes()]
    stage.change_to(release.config)
    yield succeeds("this version updates it, with the same configuration", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE", "CREATE_COMPLETE")
    after = _lasting(stage)
    changed = [
        f"{stack}: {name}"
        for (stack, name), was in before.items()
        if after.get((stack, name)) != was
    ]
    yield Fact(
        title="cluster, releases, file system, buckets, EKS cluster and network are the same"
        + (f", but {', '.join(changed)}" if changed else ""),
        ok=not changed,
    )
    yield Fact(title="no node was replaced", ok=[node.id for node in stage.nodes()] == nodes)
    yield all_nodes_run(stage)
    # The configuration of the rehearsal may have other groups of the same names, and another
    # Kubernetes version, whose add-ons no node would run.
    yield succeeds("what was updated is destroyed", stage.destroy())
