"""The function that tells a topic what happens to the cluster, and what it needs."""

import json
from collections.abc import Sequence
from typing import Any

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_cdk.hyperpod.access import any_hyperpod_cluster, arn_of
from hyperpod_cdk.synthesis.function_code import function_code
from hyperpod_cdk.synthesis.function_table import function_table
from hyperpod_cdk.synthesis.logs import LogGroups
from hyperpod_cdk.synthesis.reasons import (
    NIST,
    acknowledge,
    acknowledge_inline_policies,
    skip_checkov,
    statement,
)
from hyperpod_shared.clusters import CLUSTER_EVENT, NODE_HEALTH, STATE_CHANGE

_LOOKS_EVERY = Duration.minutes(5)
# Waits for the second event of a fault, and repeats refused calls. Who has not told of a fault by
# then is taken to have failed: LONGEST_RUN_SECONDS of lambda/notifier/memory.py.
_LONGEST_RUN = Duration.minutes(1)


class Notifier(Construct):
    """Tells a topic of faults of a HyperPod cluster, each once, with its cause.

    Missing and faulty nodes are told after the minutes of patience. Each EKS node group is looked
    at by its EKS cluster and its name. The topic's key is None if it is not the deployment's. With
    Slurm, HyperPod sends no event about a faulty node, which the nodes' log group tells of.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        topic: sns.ITopic,
        topic_key: kms.IKey | None,
        cluster_name: str,
        training_plan_arns: Sequence[str],
        patience_minutes: int,
        node_groups: Sequence[tuple[str, str]],
        on_slurm: bool,
        log_groups: LogGroups,
    ) -> None:
        super().__init__(scope, construct_id)
        health_logs = f"/aws/sagemaker/Clusters/{cluster_name}/" if on_slurm else ""
        table = function_table(
            self,
            "Told",
            partition_key="cluster_arn",
            sort_key="fault",
            holds="names of groups and instances",
            not_recovered="It holds which messages were sent in the last day; without it, one is "
            "sent again.",
        )
        role = iam.Role(
            self,
            "Role",
            description="Reads what happens to the HyperPod cluster, and tells a topic",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        log_group = log_groups.add(
            self,
            "Logs",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        log_group.grant_write(role)
        self._grant(
            role,
            table=table,
            topic=topic,
            topic_key=topic_key,
            training_plan_arns=training_plan_arns,
        )
        if node_groups:
            self._let_look_at(node_groups, role)
        if health_logs:
            self._let_read(health_logs, role)
        function = lambda_.Function(
            self,
            "Function",
            description="Tells of faults of the HyperPod cluster",
            code=function_code("notifier"),
            handler="notifier.handler.notify",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            role=role,
            timeout=_LONGEST_RUN,
            memory_size=256,
            log_group=log_group,
            environment={
                "CLUSTER_NAME": cluster_name,
                "TABLE_NAME": table.table_name,
                "TOPIC_ARN": topic.topic_arn,
                "PATIENCE_MINUTES": str(patience_minutes),
                **({"NODE_GROUPS": json.dumps(node_groups)} if node_groups else {}),
                **({"HEALTH_LOGS": health_logs} if health_logs else {}),
            },
        )
        self._call(function, cluster_name=cluster_name)
        self._watch(function, topic)
        log_groups.acknowledge(self)
        acknowledge_inline_policies(self)
        _acknowledge_function(self)

    def _grant(
        self,
        role: iam.Role,
        *,
        table: dynamodb.Table,
        topic: sns.ITopic,
        topic_key: kms.IKey | None,
        training_plan_arns: Sequence[str],
    ) -> None:
        key = "`observability.notifications`"

        def allow(**allowed: Any) -> None:
            role.add_to_policy(statement(self, **{"added_by": key, **allowed}))

        allow(
            sid="LookAtCluster",
            why=(
                "It asks for the cause of a fault, and what the cluster lacks. The ARN of a "
                "cluster ends in an id that HyperPod draws."
            ),
            actions=[
                "sagemaker:DescribeCluster",
                "sagemaker:DescribeClusterEvent",
                "sagemaker:DescribeClusterNode",
                "sagemaker:ListClusterEvents",
            ],
            resources=[any_hyperpod_cluster(self)],
            wildcard="The ARN of a HyperPod cluster ends in an id that is drawn at its creation.",
        )
        if training_plan_arns:
            allow(
                sid="LookAtPlans",
                why="It asks when a training plan ends.",
                added_by=f"{key} with `training_plan_arn`",
                actions=["sagemaker:DescribeTrainingPlan"],
                resources=[
                    arn_of(self, "sagemaker", "training-plan", each) for each in training_plan_arns
                ],
            )
        allow(
            sid="RememberWhatWasTold",
            why="It notes which messages were sent, so that none is sent twice.",
            actions=["dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"],
            resources=[table.table_arn],
        )
        allow(
            sid="Tell",
            why="It publishes messages.",
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
        )
        if topic_key is not None:
            allow(
                sid="EncryptMessages",
                why="The topic encrypts messages with a key of the deployment.",
                added_by=f"{key} without `topic_arn`",
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=[topic_key.key_arn],
            )

    def _let_look_at(self, node_groups: Sequence[tuple[str, str]], role: iam.Role) -> None:
        arns = [arn_of(self, "eks", "nodegroup", f"{'/'.join(each)}/*") for each in node_groups]
        role.add_to_policy(
            statement(
                self,
                sid="LookAtNodeGroups",
                why=(
                    "It asks for the health of EKS node groups, of which no event tells. The ARN "
                    "of one ends in an id that EKS draws."
                ),
                added_by="`observability.notifications` with `node_groups`",
                actions=["eks:DescribeNodegroup"],
                resources=arns,
                wildcard="The ARN of an EKS node group ends in an id that is drawn at creation.",
            )
        )

    def _let_read(self, health_logs: str, role: iam.Role) -> None:
        groups = Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"{health_logs}*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        role.add_to_policy(
            statement(
                self,
                sid="ReadFaultsOfNodes",
                why="Nodes of Slurm write their faults to a log group that ends in a drawn id.",
                added_by="`observability.notifications` with Slurm",
                actions=["logs:FilterLogEvents"],
                resources=[groups],
                wildcard="The name of the log group ends in an id that HyperPod draws.",
            )
        )

    def _call(self, function: lambda_.Function, *, cluster_name: str) -> None:
        """Call the function for the cluster's events, and by a schedule."""
        target = targets.LambdaFunction(function)
        named = {"ClusterName": [cluster_name]}
        faults = {"EventDetails": {**named, "EventLevel": ["Error", "Warn"]}}
        for construct_id, description, kinds, detail in (
            (
                "Events",
                "Faults and changes of state of the HyperPod cluster",
                [CLUSTER_EVENT],
                faults,
            ),
            (
                "States",
                "State of the HyperPod cluster, and health of its nodes",
                [STATE_CHANGE, NODE_HEALTH],
                named,
            ),
        ):
            events.Rule(
                self,
                construct_id,
                description=description,
                event_pattern=events.EventPattern(
                    source=["aws.sagemaker"], detail_type=kinds, detail=detail
                ),
                targets=[target],
            )
        events.Rule(
            self,
            "Schedule",
            description="Looks at the HyperPod cluster for what sends no event",
            schedule=events.Schedule.rate(_LOOKS_EVERY),
            targets=[target],
        )

    def _watch(self, function: lambda_.Function, topic: sns.ITopic) -> None:
        """Have an alarm of CloudWatch tell of it when the function fails for good.

        An invocation that fails is repeated twice; what fails then is dropped.
        https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#async-invocation-metrics
        """
        alarm = cloudwatch.Alarm(
            self,
            "Fails",
            alarm_description=(
                "The function that tells of faults of the cluster fails each time, so they "
                f"go untold. Its log group is {function.log_group.log_group_name}."
            ),
            metric=function.metric("AsyncEventsDropped", statistic="Sum", period=_LOOKS_EVERY),
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(topic))


def _acknowledge_function(notifier: Notifier) -> None:
    """Acknowledge what does not fit a function that calls AWS's APIs alone, a few times an hour."""
    reasons = {
        ("CKV_AWS_115", "LambdaConcurrency"): (
            "It runs a few times an hour; a reservation fails in new accounts."
        ),
        ("CKV_AWS_116", "LambdaDLQ"): (
            "An alarm tells of what fails three times, and the schedule looks at what lasts; a "
            "queue would be one more place to look at."
        ),
        ("CKV_AWS_117", "LambdaInsideVPC"): "It calls AWS APIs alone.",
        ("CKV_AWS_173", ""): "Its environment holds names, no secret.",
    }
    acknowledge(notifier, {f"{NIST}{rule}": text for (_, rule), text in reasons.items() if rule})
    skip_checkov(
        notifier,
        resource_type="AWS::Lambda::Function",
        reasons={check: text for (check, _), text in reasons.items()},
    )
