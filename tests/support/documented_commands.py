"""The verify commands of the documents that this project starts from, for the default config."""

RELEASE = "hyperpod-dependencies"
DOCUMENTED = {
    "kubectl get ds health-monitoring-agent -n aws-hyperpod",
    f"kubectl get ds {RELEASE}-nvidia-device-plugin -n kube-system",
    "kubectl get ds neuron-device-plugin-daemonset -n kube-system",
    f"kubectl get ds {RELEASE}-aws-efa-k8s-device-plugin -n kube-system",
    f"kubectl get deploy {RELEASE}-training-operators -n kubeflow",
    f"kubectl get deploy {RELEASE}-mpi-operator -n kube-system",
    "kubectl get crd mpijobs.kubeflow.org mxjobs.kubeflow.org paddlejobs.kubeflow.org"
    " pytorchjobs.kubeflow.org tfjobs.kubeflow.org xgboostjobs.kubeflow.org",
    "kubectl get priorityclass system-node-critical",
    "kubectl get priorityclass inference training best-effort",
}
