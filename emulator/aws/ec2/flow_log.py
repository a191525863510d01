"""AWS::EC2::FlowLog."""

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused, ResourceType
from emulator.aws.ec2 import api as ec2_api
from emulator.aws.iam import role_trust
from emulator.aws.ministack import ec2, get_account_id, provisioners

_STORES = {
    "VPC": ec2.vpcs,
    "Subnet": ec2.subnets,
    "NetworkInterface": ec2.network_interfaces,
}
_SERVICE = "vpc-flow-logs.amazonaws.com"


def _create(properties: Properties) -> Created:
    resource_type, resource_id = (
        properties.get("ResourceType", ""),
        properties.get("ResourceId", ""),
    )
    if resource_type not in _STORES:
        raise Refused(f"InvalidParameter: ResourceType {resource_type}: use {', '.join(_STORES)}.")
    if resource_id not in _STORES[resource_type]:
        raise Refused(f"InvalidResourceId.NotFound: {resource_type} {resource_id} does not exist.")
    destination_type = properties.get("LogDestinationType", "cloud-watch-logs")
    if destination_type == "cloud-watch-logs":
        role_arn = properties.get("DeliverLogsPermissionArn", "")
        # https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
        sent = {"aws:SourceAccount": get_account_id()}
        if not role_trust.allows(role_arn=role_arn, service=_SERVICE, sent=sent):
            raise Refused(
                f"InvalidParameter: DeliverLogsPermissionArn '{role_arn}' is not a role that "
                f"{_SERVICE} may assume; CloudWatch Logs needs one."
            )
    answer = ec2_api.call(
        "CreateFlowLogs",
        ResourceId__1=resource_id,
        ResourceType=resource_type,
        TrafficType=properties.get("TrafficType", "ALL"),
        LogDestinationType=destination_type,
        LogDestination=properties.get("LogDestination", ""),
        LogGroupName=properties.get("LogGroupName", ""),
    )
    flow_log_id = answer["item"]
    provisioners.ec2_apply_tags(flow_log_id, properties)
    return flow_log_id, {"Id": flow_log_id}


def _update(flow_log_id: str, old: Properties, new: Properties) -> Created:
    provisioners.ec2_apply_tags(flow_log_id, new, old)
    return flow_log_id, {"Id": flow_log_id}


def _delete(flow_log_id: str, _properties: Properties) -> None:
    ec2_api.call("DeleteFlowLogs", FlowLogId__1=flow_log_id)


TYPE = ResourceType(
    name="AWS::EC2::FlowLog",
    create=_create,
    update=_update,
    delete=_delete,
)
