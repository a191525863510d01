"""Why each role and each statement is there, for the page that shows them."""

from dataclasses import dataclass

_FRAMEWORK = "ProvisionerProviderframework"


@dataclass(frozen=True, kw_only=True, slots=True)
class Purpose:
    """What a role is for.

    Attributes:
        title: What it is called on the page.
        text: Who uses it, and for what.
        statements: Why each statement is there, by its name.
    """

    title: str
    text: str
    statements: dict[str, str]


_INVOKE = {
    "lambda:InvokeFunction": "CDK's framework calls the provisioner's functions, each version.",
    "lambda:GetFunction": "CDK's framework waits until a function can be invoked.",
}

PURPOSES = {
    "FsxCsiDriverRole": Purpose(
        title="FSx CSI driver",
        text="With `storage.dynamic_provisioning`, the driver's controller, by EKS Pod Identity.",
        statements={
            "CreateFileSystems": "A claim gets a file system, with a tag of the cluster.",
            "ChangeOwnFileSystems": "It grows and deletes file systems with that tag, no others.",
            "DescribeFileSystems": "It waits until a file system can be mounted.",
            "CheckSecurityGroups": "FSx looks at the security group of a new file system.",
            "CreateServiceLinkedRole": "The first file system of an account makes FSx's role.",
        },
    ),
    "ExecutionRole": Purpose(
        title="Nodes",
        text="Every HyperPod node runs as this role, and so does whoever is root on a node or in a "
        "pod with the host's network.",
        statements={
            "ManageNetworkInterfaces": "The VPC CNI gives pods addresses, in the VPC of the "
            "deployment, its node subnets and its security group.",
            "DetachNetworkInterfaces": "The same, for an instance that HyperPod keeps in an "
            "account of the service, which no ARN names.",
            "AttachNetworkInterfaces": "The VPC CNI asks HyperPod for further network interfaces.",
            "TagNetworkInterfaces": "The VPC CNI marks the network interfaces it makes.",
            "DescribeNetwork": "The VPC CNI, the login to ECR and Lustre over EFA look up what is "
            "there. AWS takes no resource for these.",
            "PullImages": "Containers of HyperPod, EKS and your own come from ECR in several "
            "accounts and regions.",
            "PodIdentity": "The Pod Identity agent exchanges a pod's token for its role.",
            "ListDataBuckets": "A node finds data in the buckets of `cluster.data_buckets`.",
            "ListDataPrefix": "A node finds data below a prefix of `cluster.data_buckets`.",
            "ReadData": "A node reads the data of `cluster.data_buckets`.",
            "DecryptData": "A node reads data that a key of yours encrypts, through S3 alone.",
            "ListScripts": "A node finds its lifecycle scripts.",
            "ReadScripts": "A node reads its lifecycle scripts. The managed policy lets it read "
            "all buckets of the account whose names begin with `sagemaker-`.",
        },
    ),
    "ProvisionerRole": Purpose(
        title="Provisioner",
        text="The Lambda functions behind the custom resources. An access entry makes the role "
        "cluster admin in Kubernetes, since charts make CRDs, cluster roles and namespaces.",
        statements={
            "ManageNetworkInterfaces": "In a VPC, Lambda gives the functions network interfaces.",
            "UseCluster": "It finds the Kubernetes API, and HyperPod makes the nodes' access "
            "entries with its rights.",
            "ManageAccessEntries": "HyperPod looks up and deletes the nodes' access entries with "
            "its rights.",
            "AssociateAccessPolicies": "HyperPod fills them. Which access policies it associates "
            "is not documented; those that make an admin are left out.",
            "DescribeCluster": "It asks what became of the HyperPod cluster, and whose it is. The "
            "ARN of a cluster ends in an id that HyperPod draws.",
            "ManageCluster": "It creates, updates and deletes the HyperPod cluster, and none that "
            "is tagged with another deployment's stack.",
            "PassExecutionRole": "It hands the nodes' roles to HyperPod, and to nobody else.",
            "FirstUseOfHyperPod": "The first cluster of an account makes HyperPod's service-linked "
            "role.",
            "FindTaskGovernance": "It names the quotas and policies that keep a cluster from being "
            "deleted. AWS takes no resource for these.",
            "AskForStack": "It asks whether its stack is being deleted or rolled back.",
            "DescribeFileSystem": "It asks whether the file system can be mounted, and under which "
            "names. AWS takes no resource for this.",
            "ReadAsset": "It reads a chart, or the zip file of the lifecycle scripts.",
            "PutAndRemoveScripts": (
                "It puts the lifecycle scripts into their bucket, and removes those that are gone "
                "or renamed, whose keys the template no longer has."
            ),
            "FindScriptVersions": "It removes a script with all its versions.",
            "logs:CreateLogStream": "Its functions write their logs.",
        },
    ),
    f"{_FRAMEWORK}onEventServiceRole": Purpose(
        title="CDK's provider framework: start",
        text="Takes CloudFormation's request and calls the provisioner.",
        statements={**_INVOKE, "states:StartExecution": "It starts the waiter."},
    ),
    f"{_FRAMEWORK}isCompleteServiceRole": Purpose(
        title="CDK's provider framework: poll",
        text="Asks the provisioner whether the work is done.",
        statements=_INVOKE,
    ),
    f"{_FRAMEWORK}onTimeoutServiceRole": Purpose(
        title="CDK's provider framework: end of time",
        text="Tells CloudFormation that the hour is over.",
        statements=_INVOKE,
    ),
    "ProvisionerProviderwaiterstatemachineRole": Purpose(
        title="CDK's provider framework: waiter",
        text="The Step Functions state machine between two polls.",
        statements={
            "lambda:InvokeFunction": "It calls the poll and the end of time.",
            "logs:CreateLogDelivery": "Its steps are logged. AWS takes no resource for log "
            "delivery.",
        },
    ),
    "EksClusterRole": Purpose(
        title="EKS control plane", text="EKS runs the control plane with it.", statements={}
    ),
    "NetworkVpcFlowLogIAMRole": Purpose(
        title="VPC flow log",
        text="The flow log is delivered with it.",
        statements={"logs:CreateLogStream": "It writes to the flow log's own log group."},
    ),
    "AutoScalingRole": Purpose(
        title="Scaling",
        text="HyperPod adds and removes nodes with it. Only with `cluster.auto_scaling`.",
        statements={
            "ScaleClusters": "As AWS documents it. The ARN of a cluster ends in an id that "
            "HyperPod draws.",
        },
    ),
}

OPTIONS = {
    "GrantVolumeKeys": (
        "a KMS key of a volume, or `encryption.node_volumes`",
        "EBS encrypts volumes, through SageMaker alone.",
    ),
    "DescribeVolumeKeys": ("a KMS key of a volume, or `encryption.node_volumes`", "The same."),
    "EncryptScripts": (
        "`encryption.lifecycle_bucket`",
        "The provisioner puts scripts that S3 encrypts with the key, for that bucket alone.",
    ),
    "DecryptScripts": ("`encryption.lifecycle_bucket`", "A node reads them, likewise."),
    "ListOtherScripts": ("`lifecycle.source_s3_uri`", "A node finds scripts of your own."),
    "ReadOtherScripts": ("`lifecycle.source_s3_uri`", "A node reads them, under their prefix."),
    "ReadRollbackAlarms": ("`rollback_alarms`", "HyperPod watches alarms during an update."),
    "PassClusterRole": ("`cluster.auto_scaling`", "HyperPod gets the role of scaling."),
    "UseTrainingPlans": ("`training_plan_arn`", "A cluster draws on the plan's capacity."),
    "FindImages": ("an AMI of your own", "HyperPod looks the AMI up."),
    "ShareImages": ("an AMI of your own", "HyperPod shares the AMI with its own account."),
    "ShareSnapshots": ("an AMI of your own", "The same, for the AMI's snapshot."),
}
"""Statements that keys of the configuration add: which key, and why."""
