#!/bin/bash
#
# Prolog of Slurm: looks at a node before a job runs on it (docs/slurm-jobs.md). A node that fails is
# drained, with the reason, and gets no job; its job waits for others. slurmd runs it as root.
# `hyperpod-cdk train` fills in what a node must have.

# slurmd gives a prolog no PATH.
export PATH=/opt/slurm/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# Empty: no such folder.
FSX=/fsx
GPUS=8
NEURON_DEVICES=0
EFA=32

fail() {
  scontrol update nodename="$SLURMD_NODENAME" state=drain reason="prolog: $1"
  # Else Slurm holds the job until an administrator releases it.
  scontrol requeue "$SLURM_JOB_ID"
  exit
}

expect() { # WHAT WANTED FOUND
  [ "$3" -ge "$2" ] || fail "$3 of $2 $1"
}

# `timeout`: what is broken often hangs.
if [ -n "$FSX" ]; then
  timeout 10 mountpoint --quiet "$FSX" || fail "$FSX is not mounted"
fi
expect GPUs "$GPUS" "$(timeout 30 nvidia-smi --list-gpus 2>/dev/null | grep --count '^GPU ')"
expect "Neuron devices" "$NEURON_DEVICES" "$(find /dev -maxdepth 1 -name 'neuron[0-9]*' | wc --lines)"
expect "EFA interfaces" "$EFA" "$(find /sys/class/infiniband -mindepth 1 2>/dev/null | wc --lines)"
