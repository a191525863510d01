# shellcheck shell=bash
# How much memory users lock, as EFA and NCCL do, and how many files they open. Slurm gives a job the
# limits of where it is submitted: https://slurm.schedmd.com/slurm.conf.html#OPT_PropagateResourceLimits
# shellcheck source-path=SCRIPTDIR/../lib source=step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

write_file /etc/security/limits.d/90-hyperpod.conf <<END
* - memlock unlimited
* - nofile $OPEN_FILES
END
