"""The protected database in a stack whose creation failed, and could not be rolled back."""

import json

import pytest
from botocore.exceptions import ClientError

from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.slurm.failed_database import failed_database
from tests.support.configs import CONTROLLER, configured
from tests.support.local_aws import database, resource, settled

STACK = "ml-storage"


def test_a_protected_database_of_a_failed_creation(target: Target) -> None:
    accounted = {"orchestrator": "slurm", "slurm": {"accounting": {}}}
    config = configured({"cluster": {**accounted, "instance_groups": [CONTROLLER]}})
    stacks, rds = target.client("cloudformation"), target.client("rds")
    assert list(failed_database(config, target)) == []
    nowhere = resource(
        "AWS::RDS::DBSubnetGroup", DBSubnetGroupDescription="nowhere", SubnetIds=["subnet-1"]
    )
    resources = {**database(), "Nowhere": {**nowhere, "DependsOn": "Database"}}
    stacks.create_stack(StackName=STACK, TemplateBody=json.dumps({"Resources": resources}))
    assert settled(stacks, STACK)["StackStatus"] == "ROLLBACK_FAILED"

    [found] = rds.describe_db_instances()["DBInstances"]
    name = found["DBInstanceIdentifier"]
    (problem,) = failed_database(config, target)
    assert str(problem[0]) == (
        f"cluster.slurm.accounting.delete_with_stack: false protects {name}, which the rollback of "
        f"{STACK} could not delete (ROLLBACK_FAILED); a deployment deletes the stack first and "
        "leaves the database in its subnets, whose CIDRs the new ones need. Nothing has used it; "
        'delete it as docs/destroy.md says: "An accounting database that stayed"'
    )
    # What it keeps from happening: a deployment deletes the stack first.
    with pytest.raises(ClientError, match="DeletionProtection is enabled"):
        rds.delete_db_instance(DBInstanceIdentifier=name, SkipFinalSnapshot=True)

    rds.modify_db_instance(
        DBInstanceIdentifier=name, DeletionProtection=False, ApplyImmediately=True
    )
    assert list(failed_database(config, target)) == []
    rds.delete_db_instance(DBInstanceIdentifier=name, SkipFinalSnapshot=True)
    assert list(failed_database(config, target)) == []
