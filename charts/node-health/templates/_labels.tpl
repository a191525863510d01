{{- define "node-health.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "node-health.contained" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
readOnlyRootFilesystem: true
{{- end }}

{{- /* The job that looks at a node: its node, devices and arguments are put in by recurring.py. */}}
{{- define "node-health.job" -}}
{{- $name := printf "%s-recurring" .Release.Name }}
apiVersion: batch/v1
kind: Job
metadata:
  namespace: {{ $name }}
  labels:
    {{- include "node-health.labels" . | nindent 4 }}
spec:
  backoffLimit: 0
  # Also where recurring.py is gone, no job keeps a node's devices.
  activeDeadlineSeconds: {{ .Values.recurring.timeoutSeconds }}
  ttlSecondsAfterFinished: 600
  template:
    metadata:
      labels:
        node-health-recurring: {{ .Release.Name }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      restartPolicy: Never
      priorityClassName: {{ $name }}
      tolerations:
        - { operator: Exists, effect: NoSchedule }
      securityContext:
        seccompProfile: { type: RuntimeDefault }
      containers:
        - name: check
          image: {{ .Values.recurring.image }}
          command: [python3, -B, /check/node_check.py, node]
          # Of a failure, its last lines are in the status of the pod.
          terminationMessagePolicy: FallbackToLogsOnError
          securityContext:
            runAsUser: 0
            {{- include "node-health.contained" . | nindent 12 }}
          resources:
            requests: { cpu: 100m, memory: 256Mi }
            limits: { memory: 2Gi }
          volumeMounts:
            - { name: check, mountPath: /check, readOnly: true }
            - { name: log, mountPath: /host/var/log, readOnly: true }
      volumes:
        - name: check
          configMap: { name: {{ $name }} }
        - name: log
          hostPath: { path: /var/log, type: Directory }
{{- end }}
