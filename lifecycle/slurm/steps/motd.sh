# shellcheck shell=bash
# The message that users see when they log in: motd.txt, or what this node is and how to submit.
# shellcheck source-path=SCRIPTDIR/../lib source=step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly CONFIG=$ROOT/opt/ml/config

# Print the group of this node and what it is in Slurm. HyperPod writes both files before any script
# runs, when daemons may not run yet.
facts_of_node() {
  python3 - "$CONFIG" "$(hostname -I)" <<'END'
import json, pathlib, sys

sys.tracebacklimit = 0
folder, addresses = pathlib.Path(sys.argv[1]), sys.argv[2].split()
group = next(
    group["Name"]
    for group in json.loads((folder / "resource_config.json").read_text())["InstanceGroups"]
    for instance in group.get("Instances") or ()
    if instance.get("CustomerIpAddress") in addresses
)
slurm = json.loads((folder / "provisioning_parameters.json").read_text())
workers = slurm.get("worker_groups") or ()
partitions = {each["instance_group_name"]: each["partition_name"] for each in workers}
role = {slurm.get("controller_group"): "controller", slurm.get("login_group"): "login"}.get(group)
print(group, role or f"compute (partition {partitions.get(group, 'dev')})", sep="\n")
END
}

if [[ -f $LIFECYCLE/motd.txt ]]; then
  write_file /etc/motd <"$LIFECYCLE/motd.txt"
  exit 0
fi
if ! facts=$(facts_of_node); then
  echo "WARNING $CONFIG does not say what this node is; it keeps the message of its AMI"
  exit 0
fi
{
  read -r group
  read -r role
} <<<"$facts"
write_file /etc/motd <<END
Slurm cluster on SageMaker HyperPod: $role node, instance group $group.

  sinfo                             partitions and their nodes
  sbatch --partition=<name> job.sh  submit a job
  squeue --me                       your jobs
END
