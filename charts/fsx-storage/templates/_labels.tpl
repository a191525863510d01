{{- define "fsx-storage.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "fsx-storage.access-mode" -}}
{{ if .readOnly }}ReadOnlyMany{{ else }}ReadWriteMany{{ end }}
{{- end }}
