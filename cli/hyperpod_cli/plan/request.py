"""What is to be deployed, and where: made once, for the plan and all that follows from it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.assembly import Stack, chosen, stacks_in
from hyperpod_cli.aws.session import AwsSession, deployer_session
from hyperpod_cli.terminal.options import command_line


@dataclass(frozen=True, kw_only=True)
class DeploymentRequest:
    """What a user wants to deploy, or to see the changes of.

    Attributes:
        path: The configuration file.
        templates: The folder that `cdk synth` wrote.
        command: What the user runs: `deploy` or `diff`.
        only: Names of stacks with spaces, which are deployed with those that they need; "" is for
            all.
        exclusively: Whether those that they need are left out.
        express: Whether CloudFormation's express mode is used.
    """

    path: Path
    templates: Path
    command: str = "deploy"
    only: str = ""
    exclusively: bool = False
    express: bool = False

    @cached_property
    def config(self) -> Config:
        """The configuration."""
        return load_config(self.path)

    @cached_property
    def session(self) -> AwsSession:
        """The session of the account and region."""
        return deployer_session(self.config)

    @cached_property
    def all_stacks(self) -> Sequence[Stack]:
        """The stacks of the configuration, each after those that it needs."""
        return stacks_in(self.templates)

    @cached_property
    def stacks(self) -> Sequence[Stack]:
        """Those to deploy."""
        return chosen(self.all_stacks, self.only.split(), exclusively=self.exclusively)

    @property
    def again(self) -> str:
        """The command that asks for the same, to be copied."""
        options = ["--only", self.only] if self.only else []
        options += ["--exclusively"] if self.exclusively else []
        options += ["--express"] if self.express else []
        return command_line(self.command, self.path, *options)

    @property
    def place(self) -> str:
        """The file and the region, as commands take them."""
        return f"{shlex.quote(str(self.path))} --region {self.session.region}"
