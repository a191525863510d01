"""An existing file system lets in the nodes of the network that a configuration names."""

from hyperpod_cdk import load_config
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.existing_file_systems import existing_file_systems
from hyperpod_emulator.aws.local_aws import LocalAws, aws_clients
from hyperpod_rehearsal.existing_resources import existing_resources
from tests.support.configs import CONFIG_FOLDER


def test_nodes_whose_security_group_is_new_are_let_in_by_their_addresses(aws: LocalAws) -> None:
    example = load_config(CONFIG_FOLDER / "examples" / "existing-file-system.yaml")
    network = example.network.model_copy(update={"security_group_id": None})
    config = example.model_copy(update={"network": network})
    clients = aws_clients(aws)
    for resource in existing_resources(config):
        resource.make(clients)
    target = Target(
        partition="aws", account=aws.account, region=clients("ec2").meta.region_name, client=clients
    )

    assert [str(finding) for finding, _ in existing_file_systems(config, target)] == []
