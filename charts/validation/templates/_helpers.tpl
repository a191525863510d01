{{- define "validation.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* A container that needs no right: EFA and GPUs are devices that their plugins put into it. */}}
{{- define "validation.contained" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end }}

{{- /* What each pod has: no API, no second try, only the nodes that are meant, tainted or not. */}}
{{- define "validation.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
restartPolicy: Never
securityContext:
  seccompProfile: { type: RuntimeDefault }
tolerations:
  - { operator: Exists, effect: NoSchedule }
{{- end }}

{{- define "validation.affinity" -}}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchFields:
          {{- /* One field takes one value; terms are alternatives. */}}
            - { key: metadata.name, operator: In, values: [{{ (index .nodes 0).name }}] }
        {{- range rest .nodes }}
        - matchFields:
            - { key: metadata.name, operator: In, values: [{{ .name }}] }
        {{- end }}
  {{- with .apart }}
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: { {{ . }} }
  {{- end }}
{{- end }}

{{- define "validation.program" -}}
- name: program
  configMap: { name: {{ .Release.Name }}, defaultMode: 0555 }
{{- end }}

{{- define "validation.ends" -}}
backoffLimit: 0
activeDeadlineSeconds: {{ .Values.timeoutSeconds }}
ttlSecondsAfterFinished: {{ .Values.keepSeconds }}
{{- end }}
