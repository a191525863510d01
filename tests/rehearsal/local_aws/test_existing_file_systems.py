"""An existing file system lets in the nodes of the network that a configuration names."""

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.storage.section import StorageConfig
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.existing_file_systems import existing_file_systems
from hyperpod_emulator.aws.local_aws import LocalAws, aws_clients
from hyperpod_rehearsal.existing_resources import existing_resources
from tests.support.configs import CONFIG_FOLDER

EXAMPLE = load_config(CONFIG_FOLDER / "examples" / "existing-file-system.yaml")


def problems(config: Config, *, aws: LocalAws) -> list[str]:
    clients = aws_clients(aws)
    for resource in existing_resources(config):
        resource.make(clients)
    target = Target(
        partition="aws", account=aws.account, region=clients("ec2").meta.region_name, client=clients
    )
    return [str(finding) for finding, _ in existing_file_systems(config, target)]


def test_nodes_whose_security_group_is_new_are_let_in_by_their_addresses(aws: LocalAws) -> None:
    network = EXAMPLE.network.model_copy(update={"security_group_id": None})
    assert problems(EXAMPLE.model_copy(update={"network": network}), aws=aws) == []


def test_it_is_in_the_zone_of_nodes_whose_subnet_is_new(aws: LocalAws) -> None:
    network = NetworkConfig.model_validate(
        {
            "vpc_id": "vpc-0c1b2c3d4e5f60719",
            "eks_subnet_ids": ["subnet-0c1b2c3d4e5f60011", "subnet-0c1b2c3d4e5f60012"],
            "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az3"}],
            "nat_gateway_ids": ["nat-0c1b2c3d4e5f60013"],
        }
    )
    storage = StorageConfig(file_system_id="fs-0123456789abcdef1")
    config = EXAMPLE.model_copy(update={"network": network, "storage": storage})
    assert problems(config, aws=aws) == []
