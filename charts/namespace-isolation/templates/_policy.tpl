{{- define "isolation.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Puts the policy of a name into force, of (root, name). */ -}}
{{- define "isolation.binding" -}}
{{- $root := index . 0 }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $root.Release.Name }}-{{ index . 1 }}
  labels: {{- include "isolation.labels" $root | nindent 4 }}
spec:
  policyName: {{ $root.Release.Name }}-{{ index . 1 }}
  validationActions: [Deny]
{{- end }}

{{- /* Whether a namespace is one of a list of patterns, in CEL. */ -}}
{{- define "isolation.is-one-of" -}}
request.namespace.matches('^({{ join "|" . | replace "*" ".*" }})$')
{{- end }}

{{- /* What only an admin may do, in CEL: whoever may delete the policies themselves. */ -}}
{{- define "isolation.is-admin" -}}
authorizer.group('admissionregistration.k8s.io').resource('validatingadmissionpolicies').check('delete').allowed()
{{- end }}

{{- /* Whether Kubernetes or an add-on asks, by a service account that no editor of the namespace has. */ -}}
{{- define "isolation.is-controller" -}}
(request.userInfo.username.startsWith('system:serviceaccount:') && !request.userInfo.username.startsWith('system:serviceaccount:' + request.namespace + ':'))
{{- end }}

{{- /* What is there already stays as it is, and controllers may label it. */ -}}
{{- define "isolation.is-change" -}}
request.operation != 'UPDATE' || object.spec != oldObject.spec
{{- end }}
