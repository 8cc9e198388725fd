{{- define "sitewright.name" -}}
{{- if contains "sitewright" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-sitewright" (.Release.Name | trunc 40 | trimSuffix "-") }}{{ end -}}
{{- end }}

{{/* What selects the pods of a component; of all of them without one. */}}
{{- define "sitewright.selector" -}}
app.kubernetes.io/name: sitewright
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "sitewright.labels" -}}
{{ include "sitewright.selector" . }}
app.kubernetes.io/version: {{ .tag | default .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "sitewright.image" -}}
{{- $image := .root.Values.image -}}
{{- $tag := .tag | default $image.tag | default .root.Chart.AppVersion -}}
{{ $image.repository }}:{{ $tag }}{{ if and $image.digest (not .tag) }}@{{ $image.digest }}{{ end }}
{{- end }}

{{/* SITEWRIGHT_… for each setting of a mapping, as lines of a mapping of texts. */}}
{{- define "sitewright.variables" -}}
{{- $prefix := .prefix -}}
{{- range $key, $value := .settings }}
{{- $name := printf "%s_%s" $prefix (upper $key) }}
{{- if kindIs "map" $value }}
{{- include "sitewright.variables" (dict "prefix" $name "settings" $value) }}
{{- else if kindIs "bool" $value }}
{{ $name }}: {{ ternary "on" "off" $value | quote }}
{{- else if kindIs "float64" $value }}
{{ $name }}: {{ eq $value (floor $value) | ternary (int64 $value | toString) (toString $value) | quote }}
{{- else if not (kindIs "invalid" $value) }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The sections of settings whose files a component reads, as {"list": [...]}. */}}
{{- define "sitewright.sections" -}}
{{- $sections := dict
  "api" (list "temporal" "maas" "deploy" "yaql" "tags" "notices" "api" "access")
  "worker" (list "temporal" "maas" "deploy" "yaql" "tags" "notices")
  "gateway" (list "temporal")
  "master-agent" (list "temporal") -}}
{{- dict "list" (get $sections .) | toJson -}}
{{- end }}

{{/* The files of a component: {"maas.key_file": {"secret": …, "key": …}}. */}}
{{- define "sitewright.files" -}}
{{- $sections := (include "sitewright.sections" .component | fromJson).list -}}
{{- $files := dict -}}
{{- range $path, $file := .root.Values.files }}
{{- if has (splitList "." $path | first) $sections }}{{ $_ := set $files $path $file }}{{ end }}
{{- end }}
{{- toJson $files -}}
{{- end }}

{{- define "sitewright.storeVariable" -}}
- name: SITEWRIGHT_STORE_URL
  {{- if .Values.store.secret.name }}
  valueFrom: { secretKeyRef: { name: {{ .Values.store.secret.name }}, key: {{ .Values.store.secret.key }} } }
  {{- else }}
  value: {{ .Values.settings.store.url | quote }}
  {{- end }}
{{- end }}

{{/* No container runs as root, writes outside of its volumes, or may gain rights. */}}
{{- define "sitewright.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "sitewright.podSecurity" -}}
automountServiceAccountToken: false
# Variables of services, e.g. SITEWRIGHT_API_PORT, would be read as settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.runAsUser }}
  runAsGroup: {{ .Values.runAsUser }}
  fsGroup: {{ .Values.runAsUser }}
  # Only for a new volume: later it would let the group read private keys, which are then refused.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
The pod of a component. Takes root, component, seconds of grace (grace), and as YAML: env, ports, probes, mounts, volumes;
tag of another image, and version as a label.
*/}}
{{- define "sitewright.pod" -}}
{{- $root := .root -}}
{{- $values := get $root.Values .component -}}
{{- $files := include "sitewright.files" (dict "root" $root "component" .component) | fromJson -}}
metadata:
  labels:
    {{- include "sitewright.labels" . | nindent 4 }}
    {{- with .version }}
    sitewright.io/version: {{ . }}
    {{- end }}
    {{- with $root.Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/settings: {{ include (print $root.Template.BasePath "/settings.yaml") $root | sha256sum }}
    {{- with $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "sitewright.name" $root }}
  {{- include "sitewright.podSecurity" $root | nindent 2 }}
  terminationGracePeriodSeconds: {{ .grace }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "sitewright.selector" (dict "root" $root "component" .component) | nindent 10 }}
  containers:
    - name: {{ .component }}
      image: {{ include "sitewright.image" (dict "root" $root "tag" .tag) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ .component }}]
      {{- include "sitewright.containerSecurity" $root | nindent 6 }}
      resources: {{ toYaml $values.resources | nindent 8 }}
      envFrom:
        - configMapRef: { name: {{ include "sitewright.name" $root }} }
        {{- if and $root.Values.taskSecrets (ne .component "api") }}
        - secretRef: { name: {{ $root.Values.taskSecrets }} }
          prefix: SW_SECRET_
        {{- end }}
      env:
        {{- include "sitewright.storeVariable" $root | nindent 8 }}
        - { name: SITEWRIGHT_TASK_LOGS_FOLDER, value: /var/lib/sitewright/task-logs }
        {{- range $path, $file := $files }}
        - { name: SITEWRIGHT_{{ $path | replace "." "_" | upper }}, value: /etc/sitewright/files/{{ $path }}/{{ $file.key }} }
        {{- end }}
        {{- .env | nindent 8 }}
        {{- with $root.Values.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      ports: {{- .ports | nindent 8 }}
      {{- .probes | nindent 6 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: task-logs, mountPath: /var/lib/sitewright/task-logs }
        {{- if $files }}
        - { name: files, mountPath: /etc/sitewright/files, readOnly: true }
        {{- end }}
        {{- with .mounts }}{{ . | nindent 8 }}{{ end }}
        {{- with $root.Values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: tmp
      emptyDir: {}
    - name: task-logs
      persistentVolumeClaim:
        claimName: {{ $root.Values.persistence.taskLogs.existingClaim | default (printf "%s-task-logs" (include "sitewright.name" $root)) }}
    {{- if $files }}
    - name: files
      projected:
        # The group of the pod may read them. A change of the Secret arrives without a restart.
        defaultMode: 0440
        sources:
          {{- range $path, $file := $files }}
          - {{ empty $file.secret | ternary "configMap" "secret" }}:
              name: {{ $file.secret | default $file.configMap }}
              items: [{ key: {{ $file.key | quote }}, path: {{ $path }}/{{ $file.key }} }]
          {{- end }}
    {{- end }}
    {{- with .volumes }}{{ . | nindent 4 }}{{ end }}
    {{- with $root.Values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}

{{/* The folder that gateway and workers share. */}}
{{- define "sitewright.gatewayMount" -}}
- { name: gateway, mountPath: /var/lib/sitewright/gateway }
{{- end }}

{{- define "sitewright.gatewayVolume" -}}
- name: gateway
  persistentVolumeClaim:
    claimName: {{ .Values.persistence.gatewayData.existingClaim | default (printf "%s-gateway" (include "sitewright.name" .)) }}
{{- end }}

{{/* Port of an address or URL. */}}
{{- define "sitewright.port" -}}
{{- $url := contains "://" . | ternary . (printf "tcp://%s" .) | urlParse -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $usual := dict "http" "80" "https" "443" "postgres" "5432" "postgresql" "5432" -}}
{{- $port | default (get $usual $url.scheme) -}}
{{- end }}

{{/* What values.schema.json cannot say. All problems at once. */}}
{{- define "sitewright.checks" -}}
{{- $settings := .Values.settings -}}
{{- $problems := list -}}
{{- if not (dig "temporal" "address" "" $settings) }}
{{- $problems = append $problems "settings.temporal.address is missing: host and port of the Temporal server, e.g. temporal-frontend.temporal.svc:7233" }}
{{- end }}
{{- $url := dig "store" "url" "" $settings -}}
{{- if and (not $url) (not .Values.store.secret.name) }}
{{- $problems = append $problems "the store is missing: set store.secret.name, a Secret with its URL, or settings.store.url without a password" }}
{{- end }}
{{- if and $url .Values.store.secret.name }}
{{- $problems = append $problems "store.secret.name and settings.store.url are both set: remove one" }}
{{- end }}
{{- if and .Values.gateway.enabled (not (dig "gateway" "url" "" $settings)) }}
{{- $problems = append $problems "settings.gateway.url is missing: the URL under which nodes reach the gateway, e.g. https://gateway.example:8443; without agents set gateway.enabled to false" }}
{{- end }}
{{- if and (not .Values.gateway.enabled) (dig "gateway" "url" "" $settings) }}
{{- $problems = append $problems "settings.gateway.url is set, but gateway.enabled is false" }}
{{- end }}
{{- range $pair := list (list "api.tls.cert_file" "api.tls.key_file") (list "temporal.tls.cert_file" "temporal.tls.key_file") }}
{{- if ne (hasKey $.Values.files (first $pair)) (hasKey $.Values.files (last $pair)) }}
{{- $problems = append $problems (printf "files has only one of %s and %s: set both or neither" (first $pair) (last $pair)) }}
{{- end }}
{{- end }}
{{- if $problems }}
{{- fail (printf "\n- %s\nSee docs/how-to/install.md." (join "\n- " $problems)) }}
{{- end }}
{{- end }}
