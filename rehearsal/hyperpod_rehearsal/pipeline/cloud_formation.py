"""Runs what CodePipeline's action for CloudFormation does.

https://docs.aws.amazon.com/codepipeline/latest/userguide/action-reference-CloudFormation.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from botocore.exceptions import ClientError, WaiterError

from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.aws.stacks import described_stack
from hyperpod_cli.stack_progress.failures import failure_lines
from hyperpod_cli.stack_progress.operation import Operation
from hyperpod_cli.stack_progress.progress import Followed
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_rehearsal.deployer import client_of
from hyperpod_rehearsal.pipeline.definition import PipelineAction

_POLL = {"Delay": 0.2, "MaxAttempts": 3000}
_NO_CHANGES = ("didn't contain changes", "No updates are to be performed")


class StackFailedError(Exception):
    """CloudFormation refused a change set, or failed to execute it; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StackActions:
    """CloudFormation in one account and region, as the role of the actions sees it.

    The key is the pipeline's, the clients are of the administrator of the environment's account;
    templates are read from the bucket.
    """

    key: Mapping[str, str]
    clients: AwsClients
    endpoint: str
    region: str
    bucket: str

    def run(
        self, action: PipelineAction, *, template: Path | None, configuration: Path | None = None
    ) -> None:
        """Run an action that creates a change set, or executes one.

        The configuration of a template has the stack's tags.

        Raises:
            StackFailedError: CloudFormation refused it, or it failed.
        """
        clients = self._clients(action.role)
        match action.configuration["ActionMode"]:
            case "CHANGE_SET_REPLACE" if template is not None:
                tags = {}
                if configuration is not None:
                    tags = json.loads(configuration.read_text("utf-8")).get("Tags", {})
                self._replace(action, clients=clients, template=template, tags=tags)
            case "CHANGE_SET_EXECUTE":
                self._execute(action, clients=clients)
            case mode:
                raise StackFailedError(f"{action.name}: cannot be rehearsed: {mode}")

    def _clients(self, role: str) -> AwsClients:
        where = {"endpoint": self.endpoint, "region": self.region}
        sts = client_of("sts", self.key, **where)
        made = sts.assume_role(RoleArn=role, RoleSessionName="pipeline")["Credentials"]
        key = {
            "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
            "AWS_SESSION_TOKEN": made["SessionToken"],
        }
        return partial(client_of, key=key, **where)

    def _replace(
        self,
        action: PipelineAction,
        *,
        clients: AwsClients,
        template: Path,
        tags: Mapping[str, str],
    ) -> None:
        """Create a change set in place of one of its name; parameters get their defaults.

        The action sends those of `ParameterOverrides` and of a template configuration alone
        (https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1789).
        """
        client, settings = clients("cloudformation"), action.configuration
        stack, name = settings["StackName"], settings["ChangeSetName"]
        # The local CloudFormation reads buckets of its own account alone.
        self.clients("s3").upload_file(str(template), self.bucket, template.name)
        url = f"{self.endpoint}/{self.bucket}/{template.name}"
        with suppress(client.exceptions.ChangeSetNotFoundException, ClientError):
            client.delete_change_set(StackName=stack, ChangeSetName=name)
        try:
            client.create_change_set(
                StackName=stack,
                ChangeSetName=name,
                ChangeSetType="UPDATE" if _exists(client, stack) else "CREATE",
                TemplateURL=url,
                Capabilities=settings["Capabilities"].split(","),
                RoleARN=settings["RoleArn"],
                Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
            )
            client.get_waiter("change_set_create_complete").wait(
                StackName=stack, ChangeSetName=name, WaiterConfig=_POLL
            )
        except ClientError as error:
            raise StackFailedError(f"{stack}: {error.response['Error']['Message']}") from None
        except WaiterError:
            change_set = client.describe_change_set(StackName=stack, ChangeSetName=name)
            reason = change_set.get("StatusReason", change_set["Status"])
            if not any(text in reason for text in _NO_CHANGES):
                raise StackFailedError(f"{stack}: {reason}") from None

    def _execute(self, action: PipelineAction, *, clients: AwsClients) -> None:
        client, settings = clients("cloudformation"), action.configuration
        stack, name = settings["StackName"], settings["ChangeSetName"]
        change_set = client.describe_change_set(StackName=stack, ChangeSetName=name)
        if change_set["ExecutionStatus"] != "AVAILABLE":  # it has no changes, which is no failure
            return
        creates = not _exists(client, stack)
        operation = Operation(client=client, stacks=[Followed(name=stack, size=0)])
        operation.begin()
        client.execute_change_set(StackName=stack, ChangeSetName=name)
        waiter = client.get_waiter("stack_create_complete" if creates else "stack_update_complete")
        try:
            waiter.wait(StackName=stack, WaiterConfig=_POLL)
        except WaiterError as error:
            operation.read()
            again = f"retry {action.name}"
            reasons = failure_lines(
                operation.events_with_nested(), region=self.region, again=again, paths={}
            )
            raise StackFailedError("\n".join(reasons) or f"{stack}: {error}") from None


def _exists(client: AwsClient, stack: str) -> bool:
    state = described_stack(client, stack)
    return state is not None and state["StackStatus"] != "REVIEW_IN_PROGRESS"
