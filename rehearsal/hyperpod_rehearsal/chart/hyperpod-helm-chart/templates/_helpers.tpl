{{/* Whether a component is on: (dict "values" .Values "component" "mpi-operator") */}}
{{- define "stand-in.enabled" -}}
{{- $component := index .values .component -}}
{{- $switch := $component.devicePlugin | default $component -}}
{{- if $switch.enabled }}true{{ end -}}
{{- end }}

{{/* Node affinity to instance types, one JSON list: families as {family: [sizes]}, or ready names. */}}
{{- define "stand-in.types" -}}
{{- $types := list -}}
{{- range $family, $sizes := . -}}
{{- range $sizes -}}
{{- $types = append $types (printf "ml.%s.%s" $family .) -}}
{{- end -}}
{{- end -}}
{{- $types | toJson -}}
{{- end }}

{{- define "stand-in.affinity" -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions:
          - key: node.kubernetes.io/instance-type
            operator: In
            values: {{ toJson . }}
{{- end }}

{{/* A DaemonSet: name, namespace, image; optional affinity, tolerations, nodeSelector, account, and labels: the official selector. */}}
{{- define "stand-in.daemonset" -}}
{{- $labels := .labels | default (dict "name" .name) -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    app.kubernetes.io/name: {{ .name }}
spec:
  selector:
    matchLabels: {{ toJson $labels }}
  template:
    metadata:
      labels: {{ toJson $labels }}
    spec:
      {{- with .account }}
      serviceAccountName: {{ . }}
      {{- end }}
      priorityClassName: system-node-critical
      {{- with .nodeSelector }}
      nodeSelector: {{ toJson . }}
      {{- end }}
      {{- with .affinity }}
      affinity: {{ toJson . }}
      {{- end }}
      {{- with .tolerations }}
      tolerations: {{ toJson . }}
      {{- end }}
      containers:
        - name: {{ .name | trunc 63 | trimSuffix "-" }}
          image: {{ .image }}
          resources:
            requests:
              cpu: 50m
              memory: 64Mi
{{- end }}

{{/* A service account with a cluster role: name, account, namespace, rules. */}}
{{- define "stand-in.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .account }}
  namespace: {{ .namespace }}
---
{{ include "stand-in.role" . }}
{{- end }}

{{/* A cluster role with its binding: name, binding, rules, and account + namespace or user. */}}
{{- define "stand-in.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .name }}
rules: {{ toJson .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .binding | default .name }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .name }}
subjects:
  {{- if .user }}
  - apiGroup: rbac.authorization.k8s.io
    kind: User
    name: {{ .user }}
  {{- else }}
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .namespace }}
  {{- end }}
{{- end }}

{{/* A role of a user group: kind (Role or ClusterRole), name, binding, group; a Role's namespace. */}}
{{- define "stand-in.group-role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ .binding }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: {{ .group }}
{{- end }}

{{/* An image: repository and tag. */}}
{{- define "stand-in.image" -}}
{{ .repository }}:{{ .tag }}
{{- end }}
