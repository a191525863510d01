"""Somebody who runs `hyperpod-cdk` on a rehearsed deployment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner, Result

from hyperpod_cli.main import app
from hyperpod_rehearsal.stage import Stage
from tests.support.commands import kept_signals


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """Runs commands in the process of the tests, as an administrator of account and EKS cluster.

    Attributes:
        stage: What is deployed.
        home: Gets the kubeconfig and other files.
        credentials: As environment variables.
    """

    stage: Stage
    home: Path
    credentials: Mapping[str, str]

    def environment(self) -> dict[str, str]:
        """Return the variables with which commands reach the local AWS."""
        return {
            **self.stage.environment.aws.environment(),
            **self.credentials,
            "HOME": str(self.home),
        }

    def run(self, *arguments: str, **variables: str) -> Result:
        """Run a command on the deployment; an error that it does not tell is raised.

        Args:
            arguments: Of `hyperpod-cdk`.
            variables: Of the environment, besides those with which AWS is reached.
        """
        environment = {**self.environment(), **variables}
        names_it = {"--config", "--cluster"} & {*arguments} or arguments[-1].endswith(".yaml")
        file = [] if names_it else [str(self.stage.config_path)]
        with kept_signals():
            return CliRunner().invoke(
                app(), [*arguments, *file], env=environment, catch_exceptions=False
            )

    def output(self, *arguments: str, **variables: str) -> str:
        """Run a command that must succeed, and return what it prints."""
        result = self.run(*arguments, **variables)
        assert result.exit_code == 0, result.output
        return result.stdout
