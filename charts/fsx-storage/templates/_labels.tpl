{{- define "fsx-storage.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- /* The claims, and that of all files with which the directories of others are made; in YAML. */ -}}
{{- define "fsx-storage.claims" -}}
{{- $claims := .Values.claims }}
{{- $own := list }}
{{- range $claims }}{{ with .directory }}{{ $own = append $own . }}{{ end }}{{ end }}
{{- if $own }}
{{- $name := printf "%s-directories" .Values.name }}
{{- $claims = append $claims (dict "namespace" .Release.Namespace "name" $name "volume" $name "readOnly" false) }}
{{- end }}
{{- toYaml $claims }}
{{- end }}
{{- define "fsx-storage.access-mode" -}}
{{ if .readOnly }}ReadOnlyMany{{ else }}ReadWriteMany{{ end }}
{{- end }}
