{{- define "hookline.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "hookline.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "hookline.labels" -}}
{{ include "hookline.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "hookline.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The secrets by the names of their settings, with those that this chart makes. */}}
{{- define "hookline.secrets" -}}
{{- $made := dict -}}
{{- if .Values.generateKeys -}}
{{- $keys := printf "%s-keys" (include "hookline.name" .) -}}
{{- $_ := set $made "HOOKLINE_SECRET_KEYS" (dict "name" $keys "key" "secret-keys") -}}
{{- $_ := set $made "HOOKLINE_PAYLOAD_KEYS" (dict "name" $keys "key" "payload-keys") -}}
{{- end -}}
{{ merge (deepCopy .Values.secrets) $made | toJson }}
{{- end -}}

{{/* What the pod of a process and that of the migration have in common. */}}
{{- define "hookline.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "hookline.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* What this chart sets by itself. */}}
{{- define "hookline.ownEnv" -}}
- name: POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
- name: HOOKLINE_HOST
  value: 0.0.0.0
- name: HOOKLINE_PORT
  value: "8080"
- name: HOOKLINE_INTERNAL_URL
  value: http://$(POD_IP):8080
# What Node.js keeps of compiled code: the rest of the file system cannot be written to.
- name: XDG_CACHE_HOME
  value: /tmp
{{- range $name, $from := include "hookline.secrets" . | fromJson }}
- name: {{ $name }}_FILE
  value: /run/secrets/hookline/{{ $name }}
{{- end }}
{{- with .Values.temporalTls }}
{{- if .existingSecret }}
- name: TEMPORAL_TLS_CLIENT_CERT_PATH
  value: /run/secrets/temporal/tls.crt
- name: TEMPORAL_TLS_CLIENT_KEY_PATH
  value: /run/secrets/temporal/tls.key
{{- if .withCa }}
- name: TEMPORAL_TLS_SERVER_CA_CERT_PATH
  value: /run/secrets/temporal/ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "hookline.env" -}}
{{ include "hookline.ownEnv" . }}
{{- range $name, $value := .Values.settings }}
{{- if ne $value "" }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
The versions that Kubernetes has of the Secrets that are read, as a checksum: pods read them once, at their start. Not of what is in
them, which could be found out by guessing. It is empty where the cluster is not asked, as by `helm template`.
*/}}
{{- define "hookline.secretVersions" -}}
{{- $names := dict -}}
{{- range include "hookline.secrets" . | fromJson -}}{{- $_ := set $names .name true -}}{{- end -}}
{{- with .Values.temporalTls.existingSecret -}}{{- $_ := set $names . true -}}{{- end -}}
{{- $versions := list -}}
{{- range $name := keys $names | sortAlpha -}}
{{- with lookup "v1" "Secret" $.Release.Namespace $name -}}
{{- $versions = append $versions (printf "%s %s %s" $name .metadata.uid .metadata.resourceVersion) -}}
{{- end -}}
{{- end -}}
{{- with $versions -}}{{ join "\n" . | sha256sum }}{{- end -}}
{{- end -}}

{{- define "hookline.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: secrets
  mountPath: /run/secrets/hookline
  readOnly: true
{{- if .Values.temporalTls.existingSecret }}
- name: temporal-tls
  mountPath: /run/secrets/temporal
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "hookline.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range $name, $from := include "hookline.secrets" . | fromJson }}
      - secret:
          name: {{ $from.name }}
          items: [{ key: {{ $from.key }}, path: {{ $name }} }]
      {{- end }}
{{- with .Values.temporalTls.existingSecret }}
- name: temporal-tls
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "hookline.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
# Hookline asks nothing of Kubernetes.
automountServiceAccountToken: false
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A container that runs one command and ends: context, name, arguments. */}}
{{- define "hookline.command" -}}
{{- $ := index . 0 -}}
- name: {{ index . 1 }}
  image: {{ include "hookline.image" $ }}
  imagePullPolicy: {{ $.Values.image.pullPolicy }}
  args: {{ index . 2 | toJson }}
  env:
    {{- include "hookline.env" $ | nindent 4 }}
  resources:
    requests: { cpu: 100m, memory: 256Mi }
    limits: { memory: 512Mi }
  securityContext:
    {{- include "hookline.containerSecurity" $ | nindent 4 }}
  volumeMounts:
    {{- include "hookline.mounts" $ | nindent 4 }}
{{- end -}}

{{/* The seconds of a setting that is a duration: 250ms, 5s, 2m, 1h, 7d. Context, name, default. */}}
{{- define "hookline.seconds" -}}
{{- $name := index . 1 }}
{{- $text := get (index . 0).Values.settings $name | default (index . 2) | trim }}
{{- if not (regexMatch `^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$` $text) }}
{{- fail (printf "settings.%s: %q is not a duration; write a number and a unit, such as 5s, 30m or 2h." $name $text) }}
{{- end }}
{{- $units := dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0 }}
{{- $number := regexFind "^[0-9.]+" $text }}
{{- mulf (float64 $number) (get $units (trimPrefix $number $text)) }}
{{- end }}
