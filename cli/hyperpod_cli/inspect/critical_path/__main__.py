"""`python -m hyperpod_cli.inspect.critical_path cdk.out/default --config config/default.yaml`."""

import sys
from pathlib import Path

from hyperpod_cli.inspect.critical_path.graph import read_graph
from hyperpod_cli.inspect.critical_path.page import lines
from hyperpod_cli.terminal.command_line import config_parser, exit_with
from hyperpod_cli.terminal.errors import REFUSED


def main() -> int:
    """Print the critical path of what was synthesized."""
    parser = config_parser("hyperpod_cli.inspect.critical_path", description=__doc__)
    parser.add_argument("assembly", type=Path, help="directory that `cdk synth` wrote")
    parser.add_argument("--express", action="store_true", help="in CloudFormation's express mode")
    arguments = parser.parse_args()
    try:
        graph = read_graph(arguments.assembly)
    except OSError as error:
        print(f"error: {error}; run `make synth` first", file=sys.stderr)
        return REFUSED
    for line in lines(graph, name=str(arguments.config), express=arguments.express):
        print(line)
    return 0


if __name__ == "__main__":
    exit_with(main)
