{{- define "training.name" -}}
{{ .Values.name | default .Release.Name }}{{ if .Values.precompile }}-precompile{{ end }}
{{- end }}

{{- define "training.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ include "training.name" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* What a pod requests: what is given, else what its instance type has. */ -}}
{{- define "training.resources" -}}
{{- $resources := dig .Values.instanceType dict (.Files.Get "files/resources.json" | fromJson) }}
{{- range $name, $value := .Values.resources }}
  {{- $_ := set $resources $name $value }}
{{- end }}
{{- if not $resources.accelerator }}
  {{- fail (printf "instanceType: %s has no accelerators that are known; name one that has, or set resources" .Values.instanceType) }}
{{- end }}
{{- include "training.secrets" . }}
{{- if and (eq .Values.arguments.backend "smddp") (not (has (trimPrefix "ml." .Values.instanceType) (list "p4d.24xlarge" "p4de.24xlarge"))) }}
  {{- fail (printf "arguments.backend: smddp is for p4d.24xlarge and p4de.24xlarge, not for %s; leave it to auto" .Values.instanceType) }}
{{- end }}
{{- if has "hyperpod_training" .Values.entrypoint }}
  {{- include "training.check" (dict "values" .Values "accelerator" $resources.accelerator "families" (.Files.Get "files/neuron-families.json" | fromJsonArray)) }}
{{- end }}
{{- toJson $resources }}
{{- end }}

{{- /* Refuse what looks like a secret, by its name or as services write their tokens. */ -}}
{{- define "training.secrets" -}}
{{- $name := "(?i)(password|passwd|passphrase|secret|token|credentials?|(api|access|private|secret)[-_]?key|(^|_)pat)$" }}
{{- $value := "^(hf_|gh[opsu]_|github_pat_|glpat-|sk-|xox[abps]-|AKIA|ASIA|eyJ)[A-Za-z0-9_-]{10}|PRIVATE KEY|://[^/@ ]+:[^/@ ]+@" }}
{{- range $key, $values := dict "env" .Values.env "arguments" .Values.arguments }}
  {{- range $option, $given := $values }}
    {{- if or (and (eq $key "env") (regexMatch $name $option)) (regexMatch $value (toString $given)) }}
      {{- fail (printf "%s.%s: a token or password does not belong into values, where others read it; put it into a Secret, and name that in secret (a Hugging Face token) or envFrom" $key $option) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* What the training program would refuse on the nodes: a strategy for other accelerators, and a
model of a family that does not train on Trainium, by its name at Hugging Face. */ -}}
{{- define "training.check" -}}
{{- $strategy := .values.arguments.strategy | default "fsdp" }}
{{- $isNeuron := hasPrefix "aws.amazon.com/" .accelerator }}
{{- if ne $isNeuron (eq $strategy "neuron") }}
  {{- fail (printf "arguments.strategy: %s is not for %s, which has %s; take %s" $strategy .values.instanceType (ternary "Trainium" "GPUs" $isNeuron) (ternary "neuron" "fsdp or deepspeed" $isNeuron)) }}
{{- end }}
{{- $model := .values.arguments.model | toString }}
{{- $family := .values.modelFamily | default $model }}
{{- $trains := hasPrefix "/" $family }}
{{- range .families }}
  {{- $trains = or $trains (contains . (lower $family)) }}
{{- end }}
{{- if and $isNeuron (not $trains) }}
  {{- fail (printf "arguments.model: %s is not of a family that trains on Trainium: %s; take another model, or set modelFamily if it is of one that its name does not contain" $family (join ", " .families)) }}
{{- end }}
{{- end }}

{{- /* What only the pods of the job have. */ -}}
{{- define "training.own" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ include "training.name" . }}
{{- end }}

{{- /* Of the namespace: what one team caches, no other runs. */ -}}
{{- define "training.caches" -}}
{{ .Values.claim.mountPath }}/caches/{{ .Release.Namespace }}
{{- end }}

{{- define "training.neuronCache" -}}
{{- $neuron := hasPrefix "aws.amazon.com/" (include "training.resources" . | fromJson).accelerator }}
{{- .Values.env.NEURON_COMPILE_CACHE_URL | default (ternary (printf "%s/neuron" (include "training.caches" .)) "" $neuron) }}
{{- end }}

{{- define "training.metadata" -}}
name: {{ include "training.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "training.labels" . | nindent 2 }}
  {{- with .Values.queue }}
  kueue.x-k8s.io/queue-name: {{ . | quote }}
  {{- end }}
  {{- with .Values.queuePriority }}
  kueue.x-k8s.io/priority-class: {{ . | quote }}
  {{- end }}
{{- end }}

{{- define "training.pod" -}}
{{- $resources := include "training.resources" . | fromJson }}
metadata:
  labels:
    {{- include "training.labels" . | nindent 4 }}
spec:
  # Training calls no Kubernetes API.
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    seccompProfile:
      type: RuntimeDefault
    {{- if .Values.userOwnsClaim }}
    runAsUser: {{ int .Values.user }}
    runAsGroup: {{ int .Values.user }}
    {{- end }}
  terminationGracePeriodSeconds: {{ int .Values.terminationGracePeriodSeconds }}
  {{- with .Values.priorityClass }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  tolerations:
    # Nodes may keep off what needs no accelerators.
    - { key: {{ $resources.accelerator }}, operator: Exists, effect: NoSchedule }
    {{- with .Values.tolerations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - key: node.kubernetes.io/instance-type
                operator: In
                values: [{{ .Values.instanceType | quote }}]
              {{- $isHyperPod := hasPrefix "ml." .Values.instanceType }}
              {{- with .Values.group }}
              - key: {{ ternary "sagemaker.amazonaws.com/instance-group-name" "eks.amazonaws.com/nodegroup" $isHyperPod }}
                operator: In
                values: [{{ . | quote }}]
              {{- end }}
              {{- if $isHyperPod }}
              # Neither a node that HyperPod is about to replace, nor one that it still checks.
              - key: sagemaker.amazonaws.com/node-health-status
                operator: In
                values: [Schedulable]
              {{- end }}
  initContainers:
    # A new file system belongs to root, and the job does not run as root. What belongs to a user
    # stays theirs, and in a user's folder the job makes its own.
    - name: folders
      image: {{ .Values.image | quote }}
      securityContext:
        {{- if not .Values.userOwnsClaim }}
        runAsUser: 0
        {{- end }}
        allowPrivilegeEscalation: false
        capabilities:
          drop: [ALL]
          {{- if not .Values.userOwnsClaim }}
          add: [CHOWN]
          {{- end }}
      command:
        - sh
        - -c
        - 'for f; do { [ -d "$f" ] || mkdir -p "$f"; } && [ -O "$f" ] && chown "$USER_ID" "$f"; done; true'
        - folders
      args:
        {{- range $folder := list (include "training.arguments" . | fromJson).checkpoints (printf "%s/hugging-face" (include "training.caches" .)) (include "training.neuronCache" .) | compact }}
        - {{ $folder | quote }}
        {{- end }}
      env:
        - name: USER_ID
          value: {{ int .Values.user | quote }}
      resources:
        requests:
          cpu: 100m
          memory: 128Mi
        limits:
          memory: 128Mi
      volumeMounts:
        - name: claim
          mountPath: {{ .Values.claim.mountPath }}
  containers:
    # By this name, the Kubeflow operator finds where its variables belong.
    - name: pytorch
      image: {{ required "image: is missing; name an image that has the training program (--image), or build it (workloads: {})" .Values.image | quote }}
      securityContext:
        runAsUser: {{ int .Values.user }}
        runAsNonRoot: {{ ne 0 (int .Values.user) }}
        allowPrivilegeEscalation: false
        capabilities:
          drop: [ALL]
      {{- if eq .Values.kind "HyperPodPyTorchJob" }}
      command: [hyperpodrun]
      ports:
        # Where the operator reaches the agent that hyperpodrun is.
        - containerPort: 8080
      {{- else if .Values.precompile }}
      command: [neuron_parallel_compile, torchrun]
      {{- else }}
      command: [torchrun]
      {{- end }}
      args:
        {{- if eq .Values.kind "HyperPodPyTorchJob" }}
        - --nnodes={{ int .Values.nodes }}
        - --rdzv-backend=hyperpod
        # The agent reads the steps in these files, and kills without them:
        # https://pypi.org/project/hyperpod-elastic-agent/1.1.3
        - --tee=3
        - --log-dir=/tmp/hyperpod
        - --shutdown-signal=SIGTERM
        - --shutdown-timeout={{ max 15 (sub .Values.terminationGracePeriodSeconds 30) }}
        {{- end }}
        # Kubeflow's operator 1.7.0 tells nprocPerNode to jobs with a master alone:
        # https://github.com/kubeflow/training-operator/blob/v1.7.0/pkg/controller.v1/pytorch/envvar.go
        - --nproc-per-node={{ include "training.processes" . }}
        {{- range .Values.entrypoint }}
        - {{ . | quote }}
        {{- end }}
        {{- $arguments := include "training.arguments" . | fromJson }}
        {{- if .Values.precompile }}
        # As many as see every graph; nothing is trained.
        {{- $_ := set $arguments "max-steps" 10 }}
        {{- end }}
        {{- range $option, $value := $arguments }}
        {{- if kindIs "bool" $value }}{{ if $value }}
        - --{{ $option }}
        {{- end }}{{ else }}
        - {{ printf "--%s=%s" $option (include "training.text" $value) | quote }}
        {{- end }}
        {{- end }}
      env:
        - name: HF_HOME
          value: {{ include "training.caches" . }}/hugging-face
        - name: HYPERPOD_CHECKPOINT_KEY
          value: /etc/checkpoints/key
        {{- with .Values.secret }}
        - name: HF_TOKEN
          valueFrom:
            secretKeyRef:
              name: {{ . | quote }}
              key: token
        {{- end }}
        # Else processes that start again look for those before them, which have gone:
        # https://github.com/pytorch/pytorch/issues/135712
        - name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE
          value: "1"
        {{- if $resources.efa }}
        # Else a fabric that does not work is a job that is slow over TCP.
        - name: FI_PROVIDER
          value: efa
        {{- end }}
        {{- with include "training.neuronCache" . }}
        - name: NEURON_COMPILE_CACHE_URL
          value: {{ . | quote }}
        {{- end }}
        {{- range $name, $value := omit .Values.env "NEURON_COMPILE_CACHE_URL" }}
        - name: {{ $name }}
          value: {{ include "training.text" $value | quote }}
        {{- end }}
      {{- with .Values.envFrom }}
      envFrom:
        {{- range . }}
        - secretRef:
            name: {{ . | quote }}
        {{- end }}
      {{- end }}
      resources:
        {{- $limits := dict $resources.accelerator $resources.accelerators "memory" $resources.memory }}
        {{- with $resources.efa }}{{ $_ := set $limits "vpc.amazonaws.com/efa" . }}{{ end }}
        {{- with $resources.hugepages2Mi }}{{ $_ := set $limits "hugepages-2Mi" . }}{{ end }}
        limits:
          {{- range $name, $value := $limits }}
          {{ $name }}: {{ include "training.text" $value | quote }}
          {{- end }}
        requests:
          # Without a limit, so that the loaders of data may use what nobody else does.
          cpu: {{ include "training.text" $resources.cpu | quote }}
          {{- range $name, $value := $limits }}
          {{ $name }}: {{ include "training.text" $value | quote }}
          {{- end }}
      volumeMounts:
        - name: claim
          mountPath: {{ .Values.claim.mountPath }}
        - name: checkpoint-key
          mountPath: /etc/checkpoints
          readOnly: true
        {{- if include "training.hasEtcd" . }}
        - name: rendezvous
          mountPath: {{ include "training.rendezvous" . }}
          readOnly: true
        {{- end }}
        - name: shared-memory
          mountPath: /dev/shm
  volumes:
    - name: claim
      persistentVolumeClaim:
        claimName: {{ .Values.claim.name }}
    - name: checkpoint-key
      secret:
        secretName: {{ include "training.name" . }}-checkpoints
    {{- if include "training.hasEtcd" . }}
    - name: rendezvous
      secret:
        secretName: {{ include "training.name" . }}-etcd
    {{- end }}
    # Processes of a node exchange data in it, more than the 64 MiB of the default.
    - name: shared-memory
      emptyDir:
        medium: Memory
{{- end }}

{{- /* Where pods have the certificate of etcd, which is also theirs. */ -}}
{{- define "training.rendezvous" -}}
/etc/rendezvous
{{- end }}

{{- define "training.hasEtcd" -}}
{{- if and (eq .Values.rendezvous.backend "etcd") (eq .Values.kind "PyTorchJob") }}true{{ end }}
{{- end }}

{{- define "training.arguments" -}}
{{- $checkpoints := printf "%s/checkpoints/%s/%s" .Values.claim.mountPath .Release.Namespace (include "training.name" .) }}
{{- merge (deepCopy .Values.arguments) (dict "checkpoints" $checkpoints) | toJson }}
{{- end }}

{{- define "training.processes" -}}
{{- int (.Values.processesPerNode | default (include "training.resources" . | fromJson).accelerators) }}
{{- end }}

{{- /* A value as it is written: 1000000 and 64, not 1e+06 and 64.0. */ -}}
{{- define "training.text" -}}
{{- if kindIs "float64" . }}{{ if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}{{ else }}{{ . }}{{ end }}
{{- end }}
