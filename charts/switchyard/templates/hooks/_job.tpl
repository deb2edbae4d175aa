{{- /*
SPDX-License-Identifier: Apache-2.0

switchyard.hookJob returns a Job: dict "root" $, "name" NAME, "account" SERVICE ACCOUNT, "hook" EVENTS, "weight" WEIGHT, "args" LIST,
and for commands that need it "namespaced" true, "moreSeconds" NUMBER, which is added to the time limit, and "lastExitCode" CODE, with
which the Job fails at once, as trying again would not help.
*/ -}}
{{- define "switchyard.hookJob" -}}
{{- $root := .root }}
{{- $operator := $root.Values.operator }}
{{- $hooks := $root.Values.hooks }}
{{- $annotations := dict "helm.sh/hook" .hook "helm.sh/hook-weight" (.weight | toString) "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" }}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "switchyard.metadata" (dict "root" $root "name" .name "component" "hook" "annotations" $annotations) | nindent 2 }}
spec:
  activeDeadlineSeconds: {{ add (int $hooks.activeDeadlineSeconds) (int (.moreSeconds | default 0)) }}
  backoffLimit: 3
  {{- with .lastExitCode }}
  podFailurePolicy:
    rules:
      - action: FailJob
        onExitCodes: { containerName: hook, operator: In, values: [{{ . }}] }
  {{- end }}
  template:
    metadata:
      labels:
        {{- $labels := include "switchyard.labels" (dict "root" $root "component" "hook") | fromYaml }}
        {{- toYaml (merge (omit $labels "helm.sh/chart") $root.Values.commonLabels) | nindent 8 }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ .account }}
      {{- include "switchyard.imagePullSecrets" $root | nindent 6 }}
      {{- with $operator.priorityClassName }}
      priorityClassName: {{ . | quote }}
      {{- end }}
      {{- with $operator.podSecurityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      affinity:
        {{- include "switchyard.hookAffinity" $root | nindent 8 }}
      {{- with $operator.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $hooks.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: hook
          image: {{ include "switchyard.image" (dict "root" $root "name" "operator") | quote }}
          {{- include "switchyard.pullPolicy" (dict "root" $root "name" "operator") | nindent 10 }}
          args: {{ .args | toJson }}
          env:
            - { name: MALLOC_ARENA_MAX, value: "1" }
            {{- if .namespaced }}
            - name: NAMESPACE
              valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
            {{- end }}
          {{- with $hooks.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with $operator.securityContext }}
          securityContext:
            {{- toYaml . | nindent 12 }}
          {{- end }}
{{- end }}

{{- /*
Affinity of a Job to the control plane, because its token can do more than that of a node. If the cluster has control plane nodes
on which the Job can run, it runs there only. Otherwise, and without access to a cluster, they are preferred.
*/ -}}
{{- define "switchyard.hookAffinity" -}}
{{- $labels := list "node-role.kubernetes.io/control-plane" "node-role.kubernetes.io/master" }}
{{- if not (hasKey .Values "switchyardHasControlPlane") }}
{{- $wanted := .Values.operator.nodeSelector | default dict }}
{{- $toleratesAll := false }}
{{- range .Values.hooks.tolerations }}
{{- if and (eq (get . "operator") "Exists") (not (get . "key")) (not (get . "effect")) }}{{ $toleratesAll = true }}{{ end }}
{{- end }}
{{- $isFound := false }}
{{- range $node := dig "items" list (lookup "v1" "Node" "" "" | default dict) }}
{{- $has := dig "metadata" "labels" dict $node }}
{{- $isFit := or (hasKey $has (first $labels)) (hasKey $has (last $labels)) }}
{{- range $key, $value := $wanted }}{{ if ne (get $has $key) $value }}{{ $isFit = false }}{{ end }}{{ end }}
{{- range dig "spec" "taints" list $node }}
{{- if and (not $toleratesAll) (ne .effect "PreferNoSchedule") }}{{ $isFit = false }}{{ end }}
{{- end }}
{{- if $isFit }}{{ $isFound = true }}{{ end }}
{{- end }}
{{- /* Kept for the other Jobs, because the list of nodes can be long. */}}
{{- $_ := set .Values "switchyardHasControlPlane" $isFound }}
{{- end }}
nodeAffinity:
  {{- if .Values.switchyardHasControlPlane }}
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      {{- range $labels }}
      - matchExpressions: [{ key: {{ . }}, operator: Exists }]
      {{- end }}
  {{- else }}
  preferredDuringSchedulingIgnoredDuringExecution:
    {{- range $labels }}
    - weight: 100
      preference:
        matchExpressions: [{ key: {{ . }}, operator: Exists }]
    {{- end }}
  {{- end }}
{{- end }}
