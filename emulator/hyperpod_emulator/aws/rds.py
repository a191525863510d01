"""RDS: where a database may be, the secret of its password, and what is not deleted.

https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSubnetGroup.html
https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBInstance.html
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-secrets-manager.html
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, boolean
from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.encryption import key_problem
from hyperpod_emulator.aws.ministack import ec2, provisioners, rds, secretsmanager, wrap
from hyperpod_emulator.aws.refused import Refused

_LEAST_ZONES = 2


def interfaces() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the subnets and the security groups in which a database has network interfaces."""
    for record in rds._instances.values():
        subnets = record["DBSubnetGroup"]["Subnets"]
        groups = [each["VpcSecurityGroupId"] for each in record["VpcSecurityGroups"]]
        yield [each["SubnetIdentifier"] for each in subnets], groups


def install() -> None:
    """Refuse what RDS refuses, and keep a password that RDS manages in a secret."""
    groups = provisioners._RESOURCE_HANDLERS["AWS::RDS::DBSubnetGroup"]
    for operation in ("create", "update"):
        wrap(groups, operation, _put_subnet_group)
    instances = provisioners._RESOURCE_HANDLERS["AWS::RDS::DBInstance"]
    wrap(instances, "create", _create)
    wrap(instances, "update", _update)
    wrap(instances, "delete", _delete)
    wrap(rds, "_instance_xml", _instance_xml)


def _put_subnet_group(put: Callable[..., Created], *given: Any) -> Created:
    # Of the properties, the new ones come last; the name of the stack follows.
    properties: Properties = [each for each in given if isinstance(each, dict)][-1]
    found = [
        ec2_api.existing(ec2._subnets, each, code="InvalidSubnet", noun="subnet ID")
        for each in properties["SubnetIds"]
    ]
    if len({each["AvailabilityZone"] for each in found}) < _LEAST_ZONES:
        raise Refused(
            "DBSubnetGroupDoesNotCoverEnoughAZs: The DB subnet group doesn't meet Availability "
            "Zone (AZ) coverage requirement. Please add subnets to cover at least 2 AZs."
        )
    return put(*given)


def _create(
    create: Callable[..., Created], logical_id: str, properties: Properties, stack: str
) -> Created:
    key = properties.get("KmsKeyId")
    problem = None if key is None else key_problem(key)
    if problem:
        raise Refused(f"KMSKeyNotAccessibleFault: The specified KMS key {key} {problem}.")
    identifier, attributes = create(logical_id, properties, stack)
    record = rds._instances[identifier]
    if boolean(properties.get("ManageMasterUserPassword", False)):
        record["MasterUserSecret"] = _new_secret(record, properties)
    return identifier, {**attributes, **_of_secret(record)}


def _update(update: Callable[..., Created], *changed: Any) -> Created:
    name, attributes = update(*changed)
    return name, {**attributes, **_of_secret(rds._instances[name])}


def _delete(delete: Callable[..., None], identifier: str, properties: Properties) -> None:
    record = rds._instances.get(identifier, {})
    if record.get("DeletionProtection"):
        raise Refused(
            "InvalidParameterCombination: Cannot delete protected DB Instance, please disable "
            "deletion protection and try again."
        )
    delete(identifier, properties)
    secretsmanager._secrets.pop(_secret_name(record), None)


def _instance_xml(xml: Callable[..., str], record: Mapping[str, Any]) -> str:
    secret = record.get("MasterUserSecret", {})
    members = "".join(f"<{name}>{value}</{name}>" for name, value in secret.items())
    # RDS leaves it out for what is no replica.
    known = xml(record).replace("<ReplicaMode></ReplicaMode>", "")
    return f"{known}<MasterUserSecret>{members}</MasterUserSecret>"


def _secret_name(record: Mapping[str, Any]) -> str:
    return f"rds!{record.get('DbiResourceId', '').lower()}"


def _new_secret(record: Mapping[str, Any], properties: Properties) -> dict[str, str]:
    key = (properties.get("MasterUserSecret") or {}).get("KmsKeyId")
    value = {"username": record["MasterUsername"], "password": secrets.token_urlsafe(24)}
    arn, _ = secretsmanager._store_new_secret(
        _secret_name(record),
        secret_string=json.dumps(value),
        secret_binary=None,
        description=f"RDS instance {record['DBInstanceArn']}",
        tags=[{"Key": "aws:rds:primaryDBInstanceArn", "Value": record["DBInstanceArn"]}],
        kms_key_id=key,
    )
    # Without a key of one's own, an AWS managed one.
    return {"SecretArn": arn, "SecretStatus": "active", "KmsKeyId": key or str(uuid4())}


def _of_secret(record: Mapping[str, Any]) -> dict[str, str]:
    secret = record.get("MasterUserSecret")
    return {} if secret is None else {"MasterUserSecret.SecretArn": secret["SecretArn"]}
