{{- define "grafana.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* What of Grafana's settings is not its default, by environment variables. */}}
{{- define "grafana.settings" -}}
{{- /* Nobody but who forwards the port of the pod reaches it; there is no account to sign in with. */ -}}
GF_SERVER_HTTP_ADDR: 127.0.0.1
GF_AUTH_ANONYMOUS_ENABLED: "true"
GF_AUTH_ANONYMOUS_ORG_ROLE: Viewer
GF_AUTH_BASIC_ENABLED: "false"
GF_AUTH_DISABLE_LOGIN_FORM: "true"
GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: "true"
{{- /* Queries are signed with the role of the pod. */}}
GF_AUTH_SIGV4_AUTH_ENABLED: "true"
GF_AWS_ALLOWED_AUTH_PROVIDERS: default
GF_AWS_ASSUME_ROLE_ENABLED: "false"
{{- /* It asks nobody on the internet, and sends nothing there. */}}
GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES: "false"
GF_ANALYTICS_CHECK_FOR_UPDATES: "false"
GF_ANALYTICS_FEEDBACK_LINKS_ENABLED: "false"
GF_ANALYTICS_REPORTING_ENABLED: "false"
GF_NEWS_NEWS_FEED_ENABLED: "false"
GF_PLUGINS_PREINSTALL_DISABLED: "true"
GF_SECURITY_DISABLE_GRAVATAR: "true"
GF_SNAPSHOTS_EXTERNAL_ENABLED: "false"
GF_LOG_MODE: console
{{- end }}
