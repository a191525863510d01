"""A stage that deploys as the CDK CLI does, without the seconds that the CLI takes to start."""

import io
import json
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from botocore.exceptions import ClientError

from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.errors import LinesError
from hyperpod_rehearsal.stage import Stage
from hyperpod_stacks.app import main

_PAUSE_SECONDS = 0.25
_EMPTY = ("didn't contain changes", "No updates are to be performed")


@dataclass(kw_only=True, slots=True)
class LifeStage(Stage):
    """A stage that synthesizes in this process and asks CloudFormation itself.

    The events are those of its last deployment.
    """

    events: Mapping[str, Sequence[StackEvent]] = field(init=False, default_factory=dict)
    _published: set[str] = field(init=False, default_factory=set)

    def _synthesize(self) -> None:
        said = io.StringIO()
        with redirect_stderr(said):
            # Another orchestrator has other scripts.
            code = main(config=self.current, output=self.assembly, chart=self.chart.path)
        if code != 0:
            raise LinesError(said.getvalue().strip())

    def synthesize(self) -> Path:
        """Return the assembly of what is in force; LinesError if the app refuses it."""
        self._synthesize()
        return self.assembly

    def deploy_stacks(
        self, stacks: Iterable[Stack], *, former: Mapping[str, Deployed | None]
    ) -> str | None:
        """Deploy stacks, those at once that need none of the others; return why that failed."""
        self._publish()
        operation = self._operation()
        left = {stack.name: stack for stack in stacks}
        while left:
            ready = [each for each in left.values() if not left.keys() & set(each.needs)]
            try:
                begun = [each for each in ready if self._begun(each, former=former.get(each.name))]
            except (ClientError, LinesError) as error:
                return str(error)
            failed = [each.name for each in begun if not self._succeeds(each.name)]
            operation.read()
            self.events = operation.events
            if failed:
                said = self._failure(operation, again="hyperpod-cdk deploy")
                return said or f"{', '.join(failed)} failed"
            for each in ready:
                del left[each.name]
        return None

    def _begun(self, stack: Stack, *, former: Deployed | None) -> bool:
        """Execute a change set of a stack; return whether it has changes."""
        client = self.environment.clients("cloudformation")
        if former is not None and former.status in FAILED_CREATIONS:
            client.delete_stack(StackName=stack.name)
            self.settled(stack.name)
            former = None
        manifest = json.loads((self.assembly / "manifest.json").read_text("utf-8"))
        properties = manifest["artifacts"][stack.name]["properties"]
        template = self._in_account(properties["stackTemplateAssetObjectUrl"])
        known = {} if former is None else former.parameters
        asked = {"StackName": stack.name, "ChangeSetName": f"life-{uuid4().hex}"}
        client.create_change_set(
            **asked,
            ChangeSetType="CREATE" if former is None else "UPDATE",
            TemplateURL=template.replace("s3:/", self.environment.aws.endpoint),
            Capabilities=["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
            RoleARN=self._in_account(stack.execution_role),
            Tags=[{"Key": name, "Value": value} for name, value in stack.tags.items()],
            Parameters=[
                {"ParameterKey": name, "UsePreviousValue": True}
                for name in stack.template.get("Parameters", {})
                if name in known
            ],
        )
        while (found := client.describe_change_set(**asked))["Status"].endswith("_IN_PROGRESS"):
            time.sleep(_PAUSE_SECONDS)
        is_protected = former is not None and former.is_protected
        if is_protected != stack.is_protected:
            client.update_termination_protection(
                StackName=stack.name, EnableTerminationProtection=stack.is_protected
            )
        if found["ExecutionStatus"] == "AVAILABLE":
            client.execute_change_set(**asked)
            return True
        reason = found.get("StatusReason", found["Status"])
        client.delete_change_set(**asked)
        if not any(text in reason for text in _EMPTY):
            raise LinesError(f"{stack.name}: {reason}")
        return False

    def _succeeds(self, name: str) -> bool:
        return self.settled(name) in ("CREATE_COMPLETE", "UPDATE_COMPLETE")

    def delete_stacks(self, stacks: Iterable[Stack]) -> str | None:
        """Delete stacks, one after the other; return why one is still there."""
        client = self.environment.clients("cloudformation")
        operation = self._operation()
        for stack in stacks:
            asked = (
                {"RoleARN": self._in_account(stack.execution_role)} if stack.execution_role else {}
            )
            client.delete_stack(StackName=stack.name, **asked)
            status = self.settled(stack.name)
            if status != "DELETE_COMPLETE":
                said = self._failure(operation, again="hyperpod-cdk destroy --all")
                return said or f"{stack.name} is {status}"
        return None

    def _in_account(self, text: str) -> str:
        """Return a name with the account, which a synthesis leaves open."""
        account = self.environment.aws.account
        return text.replace("${AWS::AccountId}", account).replace("${AWS::Partition}", "aws")

    def _publish(self) -> None:
        """Put the files of the assembly into the bucket of the bootstrap, each once."""
        s3 = self.environment.clients("s3")
        for place, key, bucket in self._files():
            if key not in self._published:
                s3.put_object(Bucket=bucket, Key=key, Body=_body(place))
                self._published.add(key)

    def _files(self) -> Iterator[tuple[Path, str, str]]:
        for manifest in sorted(self.assembly.glob("*.assets.json")):
            for file in json.loads(manifest.read_text("utf-8"))["files"].values():
                for target in file["destinations"].values():
                    place = self.assembly / file["source"]["path"]
                    yield place, target["objectKey"], self._in_account(target["bucketName"])


def _body(place: Path) -> bytes:
    """Return a file, or a packed folder."""
    if place.is_file():
        return place.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(place.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(place))
    return packed.getvalue()
