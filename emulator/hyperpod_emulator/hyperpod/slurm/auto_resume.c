/* HyperPod's option of srun, --auto-resume=1, as a plugin of Slurm. It is no option of sbatch.
 *
 * A step that fails is started again if HyperPod replaces a node of its job. Nodes with generic
 * resources, such as GPUs, cannot be exchanged within a job: such a job is requeued.
 * https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html
 * https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-release-notes.html
 *
 * HyperPod shrinks a job without such resources to its healthy nodes, and then expands it. Here the
 * job keeps its nodes and waits, since a replacement has the name of the node that it replaces.
 */
#include <errno.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

SPANK_PLUGIN(auto_resume, 1)

static bool wanted;

/* Says whether to ask again after a second, at most 30 times, since a call found Slurm's daemons too
 * busy to answer. Errors of Slurm's own, such as of a step that is over, have higher numbers. */
static bool again(int result, int *asked) {
  return result && errno < ESLURM_INVALID_PARTITION_NAME && ++*asked <= 30 && !sleep(1);
}

static int take(int value, const char *text, int remote) {
  if (strcmp(text, "0") && strcmp(text, "1")) {
    slurm_error("--auto-resume is 1 or 0, not %s", text);
    return ESPANK_BAD_ARG;
  }
  wanted = *text == '1';
  return ESPANK_SUCCESS;
}

int slurm_spank_init(spank_t spank, int argc, char **argv) {
  struct spank_option option = {"auto-resume", "1|0", "Start a step again whose node HyperPod replaces.", 1, 0, take};
  bool of_a_step = spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_REMOTE;
  return of_a_step ? spank_option_register(spank, &option) : ESPANK_SUCCESS;
}

/* Returns how often a job has been requeued; -1 if that is not known. */
static int restarts_of(uint32_t job) {
  job_info_msg_t *jobs;
  if (slurm_load_job(&jobs, job, SHOW_DETAIL)) return -1;
  int restarts = jobs->job_array[0].restart_cnt;
  slurm_free_job_info_msg(jobs);
  return restarts;
}

/* On a node: the other tasks do not wait for one that failed. A process of its own asks for that, for
 * the node's daemon waits for this one before it answers. The step of a job that is requeued
 * meanwhile has the same number, and is not ended. */
int slurm_spank_task_exit(spank_t spank, int argc, char **argv) {
  int status = 0, asked = 0;
  uint32_t job = 0, step = 0;
  char restarts[16] = "0";
  spank_get_item(spank, S_TASK_EXIT_STATUS, &status);
  spank_get_item(spank, S_JOB_ID, &job);
  spank_get_item(spank, S_JOB_STEPID, &step);
  spank_getenv(spank, "SLURM_RESTART_COUNT", restarts, sizeof restarts);
  if (!wanted || !status || fork()) return ESPANK_SUCCESS;
  while (restarts_of(job) <= atoi(restarts) && again(slurm_terminate_job_step(job, step), &asked));
  _exit(0);
}

/* Says whether HyperPod replaces a node of the job, and whether one of these has resources. */
static bool replaces(uint32_t job, bool *has_resources) {
  bool found = false;
  char *name;
  int failed, asked = 0;
  job_info_msg_t *jobs;
  while (again(failed = slurm_load_job(&jobs, job, SHOW_DETAIL), &asked));
  if (failed) return false;
  hostlist_t names = slurm_hostlist_create(jobs->job_array[0].nodes);
  slurm_free_job_info_msg(jobs);
  while ((name = slurm_hostlist_shift(names))) {
    node_info_msg_t *nodes;
    while (again(failed = slurm_load_node_single(&nodes, name, SHOW_DETAIL), &asked));
    if (!failed) {
      node_info_t *node = nodes->node_array;
      if ((node->node_state & NODE_STATE_FAIL) && node->reason && strstr(node->reason, "Action:Replace")) {
        found = true;
        *has_resources |= node->gres && *node->gres;
      }
      slurm_free_node_info_msg(nodes);
    }
    free(name);
  }
  slurm_hostlist_destroy(names);
  return found;
}

/* In srun: each attempt is a process of its own, which this one waits for. */
int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv) {
  const char *id = getenv("SLURM_JOB_ID");
  if (!wanted || !id || spank_context() != S_CTX_LOCAL) return ESPANK_SUCCESS;
  uint32_t job = strtoul(id, NULL, 10);
  for (int attempt = 1;; attempt++) {
    pid_t child = fork();
    if (child < 0) return ESPANK_ERROR;
    if (!child) return ESPANK_SUCCESS;
    int status;
    signal(SIGINT, SIG_IGN); /* which the attempt answers */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR);
    signal(SIGINT, SIG_DFL);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    bool has_resources = false;
    bool retry = code && replaces(job, &has_resources);
    if (code) slurm_info("[Auto Resume] Info: JobID: %u ResumeAction=%s", job, retry ? "RETRYSTEP" : "NONE");
    if (!retry) _exit(code);
    if (has_resources) {
      if (slurm_requeue(job, 0)) slurm_error("[Auto Resume] Error: JobID: %u %s", job, slurm_strerror(errno));
      else pause(); /* until Slurm ends the job's processes */
      _exit(code);
    }
    while (replaces(job, &has_resources)) sleep(1);
    slurm_info("[Auto Resume] Info: JobID: %u Retrying step. Attempt number: %d", job, attempt);
  }
}
