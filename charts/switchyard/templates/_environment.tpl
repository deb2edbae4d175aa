{{- /*
SPDX-License-Identifier: Apache-2.0

switchyard.environment returns the operator's variables as a map of name to EnvVar fields. operator.extraEnv replaces variables with
the same name, so no name repeats.
*/ -}}
{{- define "switchyard.environment" -}}
{{- $operator := .Values.operator }}
{{- $admission := $operator.admissionControllers }}
{{- $exporter := $operator.metricsExporter }}
{{- $metricsPort := include "switchyard.metricsPort" . }}
{{- $texts := dict
  "CLUSTER_TYPE" $operator.clusterType
  "RESOURCE_PREFIX" $operator.resourcePrefix
  "SRIOV_CNI_BIN_PATH" $operator.cniBinPath
  "STALE_NODE_STATE_CLEANUP_DELAY_MINUTES" ($operator.staleNodeStateCleanupDelayMinutes | toString)
  "OPERATOR_SERVICE_ACCOUNT" (include "switchyard.serviceAccountName" .)
  "IMAGE_PULL_SECRETS" (include "switchyard.pullSecretNames" . | fromJsonArray | join ",")
  "LEADER_ELECT" ($operator.leaderElect | toString)
  "LOG_LEVEL" $operator.logLevel
  "DEV_MODE" ($operator.devMode | toString)
  "WRITE_CONFIGMAP" ($operator.writeConfigMap | toString)
  "HEALTH_ADDRESS" (printf ":%d" (int $operator.healthPort))
  "METRICS_ADDRESS" ($operator.metricsBindAddress | default (ternary "0" (printf ":%s" $metricsPort) (empty $metricsPort)))
  "METRICS_SECURE" (include "switchyard.secureMetrics" . | default "false")
  "TLS_CIPHER_SUITES" $operator.tls.cipherSuites
  "TLS_MIN_VERSION" $operator.tls.minVersion
  "TLS_CURVE_PREFERENCES" $operator.tls.curvePreferences
  "METRICS_EXPORTER_PORT" ($exporter.port | toString)
  "METRICS_EXPORTER_SECRET_NAME" $exporter.certificates.secretName
  "MALLOC_ARENA_MAX" "1"
}}
{{- $images := dict
  "sriovConfigDaemon" "SRIOV_NETWORK_CONFIG_DAEMON_IMAGE"
  "devicePluginConfig" "DEVICE_PLUGIN_CONFIG_IMAGE"
  "sriovDraDriver" "SRIOV_DRA_DRIVER_IMAGE"
  "afxdpDevicePlugin" "AFXDP_DEVICE_PLUGIN_IMAGE"
  "afxdpPlugins" "AFXDP_PLUGINS_IMAGE"
  "webhook" "SRIOV_NETWORK_WEBHOOK_IMAGE"
  "sriovCni" "SRIOV_CNI_IMAGE"
  "ibSriovCni" "SRIOV_INFINIBAND_CNI_IMAGE"
  "ovsCni" "OVS_CNI_IMAGE"
  "rdmaCni" "RDMA_CNI_IMAGE"
  "acceleratedBridgeCni" "ACCELERATED_BRIDGE_CNI_IMAGE"
  "sriovDevicePlugin" "SRIOV_DEVICE_PLUGIN_IMAGE"
  "resourcesInjector" "NETWORK_RESOURCES_INJECTOR_IMAGE"
  "metricsExporter" "METRICS_EXPORTER_IMAGE"
  "metricsExporterKubeRbacProxy" "METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE"
}}
{{- range $name, $variable := $images }}
  {{- $_ := set $texts $variable (include "switchyard.image" (dict "root" $ "name" $name)) }}
{{- end }}
{{- if not $operator.attachNetworks }}{{- $_ := set $texts "ATTACH_NETWORKS" "false" }}{{- end }}
{{- with $operator.kubeletDirectory }}{{- $_ := set $texts "KUBELET_DIRECTORY" . }}{{- end }}
{{- with $operator.ovsdbSocketPath }}{{- $_ := set $texts "OVSDB_SOCKET_PATH" . }}{{- end }}
{{- with $operator.maxCacheAge }}{{- $_ := set $texts "MAX_CACHE_AGE" . }}{{- end }}
{{- if $operator.externalDrainer.enabled }}{{- $_ := set $texts "USE_EXTERNAL_DRAINER" "true" }}{{- end }}
{{- if $exporter.prometheusOperator.enabled }}
  {{- $_ := set $texts "METRICS_EXPORTER_PROMETHEUS_OPERATOR_ENABLED" "true" }}
  {{- $_ := set $texts "METRICS_EXPORTER_PROMETHEUS_DEPLOY_RULES" ($exporter.prometheusOperator.deployRules | toString) }}
  {{- $_ := set $texts "METRICS_EXPORTER_PROMETHEUS_OPERATOR_SERVICE_ACCOUNT" $exporter.prometheusOperator.serviceAccount }}
  {{- $_ := set $texts "METRICS_EXPORTER_PROMETHEUS_OPERATOR_NAMESPACE" $exporter.prometheusOperator.namespace }}
{{- end }}
{{- $references := dict "NAMESPACE" (dict "fieldRef" (dict "fieldPath" "metadata.namespace")) }}
{{- if $admission.enabled }}
  {{- $_ := set $texts "ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_SECRET_NAME" $admission.certificates.secretNames.operator }}
  {{- $_ := set $texts "ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME" $admission.certificates.secretNames.injector }}
  {{- $_ := set $texts "OPERATOR_WEBHOOK_NETWORK_POLICY_PORT" ($admission.networkPolicy.operator.port | toString) }}
  {{- $_ := set $texts "INJECTOR_WEBHOOK_NETWORK_POLICY_PORT" ($admission.networkPolicy.injector.port | toString) }}
  {{- $placement := dict }}
  {{- range $field := list "nodeSelector" "tolerations" "affinity" }}
    {{- with index $admission $field }}{{- $_ := set $placement $field . }}{{- end }}
  {{- end }}
  {{- with $placement }}{{- $_ := set $texts "ADMISSION_CONTROLLERS_PLACEMENT" (toJson .) }}{{- end }}
  {{- if $admission.certificates.certManager.enabled }}
    {{- $_ := set $texts "ADMISSION_CONTROLLERS_CERTIFICATES_CERT_MANAGER_ENABLED" "true" }}
  {{- else if $admission.certificates.custom.enabled }}
    {{- range $server, $secret := $admission.certificates.secretNames }}
      {{- $reference := dict "name" $secret "key" "ca.crt" "optional" true }}
      {{- $_ := set $references (printf "ADMISSION_CONTROLLERS_CERTIFICATES_%s_CA_CRT" (upper $server)) (dict "secretKeyRef" $reference) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- $variables := dict }}
{{- range $name, $text := $texts }}{{- $_ := set $variables $name (dict "value" $text) }}{{- end }}
{{- range $name, $reference := $references }}{{- $_ := set $variables $name (dict "valueFrom" $reference) }}{{- end }}
{{- range $name, $given := $operator.extraEnv }}
  {{- $_ := set $variables $name (kindIs "map" $given | ternary $given (dict "value" ($given | toString))) }}
{{- end }}
{{- range $name := keys $variables | sortAlpha }}
- {{ merge (dict "name" $name) (get $variables $name) | toJson }}
{{- end }}
{{- end }}
