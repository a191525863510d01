"""`python -m scripts.critical_path cdk.out/default --config config/default.yaml`."""

import sys
from pathlib import Path

from hyperpod_ops.errors import REFUSED
from scripts.command_line import config_parser, exit_with
from scripts.critical_path.graph import read_graph
from scripts.critical_path.page import lines


def main() -> int:
    """Print the critical path of what was synthesized."""
    parser = config_parser("scripts.critical_path", description=__doc__)
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
