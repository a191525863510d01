#!/bin/bash
#SBATCH --job-name=llama2_trainium
#SBATCH --partition=trn1
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
#
# Trains Llama 2 7B on Trainium, from the last checkpoint there is, with a torchrun on each node, whose
# variables Neuron's PyTorch reads (docs/slurm-jobs.md). `hyperpod-cdk train` fills in what depends on
# the cluster.
#
#   sbatch trainium.sh [ARGUMENT OF hyperpod_training]...     which wins over those below
#
# Variables, from the shell that submits:
#   PRECOMPILE  neuron_parallel_compile: fills the cache, trains nothing; once, before the first run
#   FSX         the folder that all nodes share
#   CONTAINER   what pyxis starts: a squash file, or REGISTRY#IMAGE:TAG; empty: `torchrun` of the PATH
#   PROCESSES   of a node, one for each NeuronCore

set -euo pipefail

FSX=${FSX-/fsx}
: "${FSX:?is empty: name a folder that all nodes share}"
CONTAINER=${CONTAINER-$FSX/images/training-neuron.sqsh}
PROCESSES=${PROCESSES-32}
export FI_PROVIDER=efa # else a fabric that does not work is a job that is slow over TCP
export FI_EFA_USE_DEVICE_RDMA=1 FI_EFA_FORK_SAFE=1
export HF_HOME=${HF_HOME-$FSX/hugging-face} NEURON_COMPILE_CACHE_URL=$FSX/neuron-cache

# Slurm starts again what has failed, so torchrun does not, and needs no rendezvous but this.
MASTER_ADDR=$(hostname)
export MASTER_ADDR MASTER_PORT=$((29500 + SLURM_JOB_ID % 100)) PROCESSES

# HyperPod's flag for a step. As an option of sbatch it does nothing.
# shellcheck disable=SC2016 # each node's own SLURM_NODEID
srun --auto-resume=1 --kill-on-bad-exit=1 \
  ${CONTAINER:+--container-image="$CONTAINER" --container-mounts="$FSX:$FSX"} \
  bash -c 'exec ${PRECOMPILE-} torchrun --nnodes "$SLURM_NNODES" --node-rank "$SLURM_NODEID" \
    --nproc-per-node "$PROCESSES" --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" "$@"' - \
  -m hyperpod_training \
  --checkpoints "$FSX/checkpoints/$SLURM_JOB_NAME" \
  --strategy neuron \
  --model meta-llama/Llama-2-7b-hf \
  --dataset allenai/c4 \
  --sequence-length 4096 \
  --max-steps 1000 \
  --checkpoint-every 100 \
  --global-batch-size 128 \
  "$@"
