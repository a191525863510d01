"""What the owner of a deployment does before all of it goes: consents, and deletes what is kept."""

from collections.abc import Collection, Sequence

from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_shared.owner import CONSENT_TAG


def allow_termination(clients: AwsClients, names: Sequence[str]) -> list[str]:
    """Lift the termination protection of the stacks that have it; return their names."""
    client = clients("cloudformation")
    protected = [
        stack["StackName"]
        for stack in client.describe_stacks()["Stacks"]
        if stack["StackName"] in names and stack.get("EnableTerminationProtection")
    ]
    for name in protected:
        client.update_termination_protection(StackName=name, EnableTerminationProtection=False)
    return protected


def allow_deletion(clients: AwsClients, cluster_name: str) -> bool:
    """Lift the deletion protection of an EKS cluster; return whether it had one."""
    client = clients("eks")
    if cluster_name not in client.list_clusters()["clusters"]:
        return False
    protected = bool(client.describe_cluster(name=cluster_name)["cluster"]["deletionProtection"])
    if protected:
        client.update_cluster_config(name=cluster_name, deletionProtection=False)
    return protected


def allow_loss(clients: AwsClients, cluster_name: str, *, stack_name: str) -> bool:
    """Consent to the loss of users' objects when a stack is deleted; return whether it is there."""
    stacks = clients("cloudformation").describe_stacks()["Stacks"]
    named = [stack for stack in stacks if stack["StackName"] == stack_name]
    client = clients("eks")
    if not named or cluster_name not in client.list_clusters()["clusters"]:
        return False
    arn = client.describe_cluster(name=cluster_name)["cluster"]["arn"]
    creation = named[0]["StackId"].rpartition("/")[2]
    client.tag_resource(resourceArn=arn, tags={CONSENT_TAG: creation})
    return True


def delete_file_systems(clients: AwsClients, *, kept: Collection[str] = ()) -> list[str]:
    """Delete every file system but those of others, which are kept; return their ids."""
    client = clients("fsx")
    ids = [files["FileSystemId"] for files in client.describe_file_systems()["FileSystems"]]
    names = [name for name in ids if name not in kept]
    for name in names:
        client.delete_file_system(FileSystemId=name)
    return names


def delete_databases(clients: AwsClients) -> list[str]:
    """Delete every database, and what it is in; return their ids."""
    rds, ec2 = clients("rds"), clients("ec2")
    databases = rds.describe_db_instances()["DBInstances"]
    for database in databases:
        name, group = database["DBInstanceIdentifier"], database["DBSubnetGroup"]
        rds.modify_db_instance(
            DBInstanceIdentifier=name, DeletionProtection=False, ApplyImmediately=True
        )
        rds.delete_db_instance(DBInstanceIdentifier=name, SkipFinalSnapshot=True)
        rds.delete_db_subnet_group(DBSubnetGroupName=group["DBSubnetGroupName"])
        for subnet in (item["SubnetIdentifier"] for item in group["Subnets"]):
            of_subnet = [{"Name": "association.subnet-id", "Values": [subnet]}]
            for table in ec2.describe_route_tables(Filters=of_subnet)["RouteTables"]:
                for association in table["Associations"]:
                    ec2.disassociate_route_table(
                        AssociationId=association["RouteTableAssociationId"]
                    )
                ec2.delete_route_table(RouteTableId=table["RouteTableId"])
            ec2.delete_subnet(SubnetId=subnet)
        for member in database["VpcSecurityGroups"]:
            ec2.delete_security_group(GroupId=member["VpcSecurityGroupId"])
    return [database["DBInstanceIdentifier"] for database in databases]
