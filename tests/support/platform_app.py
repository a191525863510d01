"""Two small stacks with everything the local AWS adds to MiniStack, and a custom resource."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import custom_resources
from constructs import Construct

# botocore alone: the local AWS runs functions in MiniStack's environment, which has no boto3.
SCRIPT_PROVIDER = """
import botocore.session

def on_event(event, context):
    bucket = event["ResourceProperties"]["Bucket"]
    client = botocore.session.get_session().create_client("s3")
    if event["RequestType"] == "Delete":
        client.delete_object(Bucket=bucket, Key="on_create.sh")
    else:
        client.put_object(Bucket=bucket, Key="on_create.sh", Body=b"#!/bin/bash")
    return {"PhysicalResourceId": "script"}

def is_complete(event, context):
    return {"IsComplete": True, "Data": {"Key": "on_create.sh"}}
"""


class Network(Construct):
    """A VPC with a secondary CIDR, two NAT gateways, a flow log and an EFA-style group."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr("10.192.0.0/16"),
            max_azs=2,
            nat_gateways=2,
            restrict_default_security_group=False,
        )
        self.vpc.add_flow_log("FlowLog")
        self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        cidr = ec2.CfnVPCCidrBlock(
            self, "SecondaryCidr", vpc_id=self.vpc.vpc_id, cidr_block="10.1.0.0/16"
        )
        self.nodes = ec2.CfnSubnet(
            self,
            "Nodes",
            vpc_id=self.vpc.vpc_id,
            cidr_block="10.1.0.0/16",
            availability_zone_id="usw2-az2",
        )
        self.nodes.add_resource_dependency(cidr)
        self.group = ec2.SecurityGroup(self, "Group", vpc=self.vpc, allow_all_outbound=False)
        self.group.add_ingress_rule(self.group, ec2.Port.all_traffic())
        self.group.add_egress_rule(self.group, ec2.Port.all_traffic())
        ec2.CfnSecurityGroupEgress(
            self,
            "Outbound",
            group_id=self.group.security_group_id,
            ip_protocol="-1",
            cidr_ip="0.0.0.0/0",
        )


class Platform(cdk.Stack):
    """Network, EKS cluster and a TLS-only bucket with a script in it."""

    def __init__(self, scope: Construct, construct_id: str, *, env: cdk.Environment) -> None:
        super().__init__(
            scope, construct_id, env=env, synthesizer=cdk.CliCredentialsStackSynthesizer()
        )
        self.network = Network(self, "Network")
        self.bucket = s3.Bucket(
            self,
            "Scripts",
            bucket_name="sagemaker-scripts",
            enforce_ssl=True,
            versioned=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self._add_cluster()
        self._add_script()

    def _add_cluster(self) -> None:
        cluster = eks.Cluster(
            self,
            "Cluster",
            vpc=self.network.vpc,
            version=eks.KubernetesVersion.V1_34,
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            bootstrap_self_managed_addons=False,
            security_group=self.network.group,
        )
        role = iam.Role(self, "Admin", assumed_by=iam.AccountRootPrincipal())
        cluster.grant_access(
            "AdminAccess",
            role.role_arn,
            [
                eks.AccessPolicy.from_access_policy_name(
                    "AmazonEKSClusterAdminPolicy", access_scope_type=eks.AccessScopeType.CLUSTER
                )
            ],
        )
        eks.CfnAddon(self, "VpcCni", cluster_name=cluster.cluster_name, addon_name="vpc-cni")
        cdk.CfnOutput(self, "EksClusterName", value=cluster.cluster_name)
        cdk.CfnOutput(self, "AdminRoleArn", value=role.role_arn)

    def _add_script(self) -> None:
        functions = [
            lambda_.Function(
                self,
                name,
                runtime=lambda_.Runtime.PYTHON_3_13,
                handler=f"index.{handler}",
                code=lambda_.Code.from_inline(SCRIPT_PROVIDER),
                log_group=logs.LogGroup(
                    self, f"{name}Logs", removal_policy=cdk.RemovalPolicy.DESTROY
                ),
            )
            for name, handler in (("OnEvent", "on_event"), ("IsComplete", "is_complete"))
        ]
        on_event, is_complete = functions
        self.bucket.grant_read_write(on_event)
        provider = custom_resources.Provider(
            self, "Provider", on_event_handler=on_event, is_complete_handler=is_complete
        )
        script = cdk.CustomResource(
            self,
            "Script",
            service_token=provider.service_token,
            resource_type="Custom::Script",
            properties={"Bucket": self.bucket.bucket_name},
        )
        cdk.CfnOutput(self, "ScriptKey", value=script.get_att_string("Key"))


class Storage(cdk.Stack):
    """A file system in the other stack's subnet: values cross between the stacks."""

    def __init__(
        self, scope: Construct, construct_id: str, *, platform: Platform, env: cdk.Environment
    ) -> None:
        super().__init__(
            scope, construct_id, env=env, synthesizer=cdk.CliCredentialsStackSynthesizer()
        )
        file_system = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="LUSTRE",
            file_system_type_version="2.15",
            storage_capacity=1200,
            subnet_ids=[platform.network.nodes.ref],
            security_group_ids=[platform.network.group.security_group_id],
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type="PERSISTENT_2",
                per_unit_storage_throughput=250,
                data_compression_type="LZ4",
            ),
        )
        file_system.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        fsx.CfnDataRepositoryAssociation(
            self,
            "Repository",
            file_system_id=file_system.ref,
            file_system_path="/scripts",
            data_repository_path=f"s3://{platform.bucket.bucket_name}",
        )
        cdk.CfnOutput(self, "FileSystemId", value=file_system.ref)
        cdk.CfnOutput(self, "FileSystemDnsName", value=file_system.attr_dns_name)
        cdk.CfnOutput(self, "FileSystemMountName", value=file_system.attr_lustre_mount_name)


app = cdk.App()
environment = cdk.Environment(account=app.node.get_context("account"), region="us-west-2")
Storage(app, "Storage", platform=Platform(app, "Platform", env=environment), env=environment)
app.synth()
