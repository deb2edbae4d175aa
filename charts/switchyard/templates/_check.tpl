{{- /*
SPDX-License-Identifier: Apache-2.0

switchyard.check fails with a sentence if values contradict each other or the cluster lacks what they need.
*/ -}}
{{- define "switchyard.check" -}}
{{- $certificates := .Values.operator.admissionControllers.certificates }}
{{- $usesCertificates := .Values.operator.admissionControllers.enabled }}
{{- range $name := list "operator" "sriovConfigDaemon" "webhook" "sriovDraDriver" }}
  {{- $reference := include "switchyard.image" (dict "root" $ "name" $name) }}
  {{- $program := regexReplaceAll "[:@].*$" (splitList "/" $reference | last) "" }}
  {{- if not $reference }}
    {{- fail (printf "images.%s is empty. Remove it to use the default image." $name) }}
  {{- end }}
  {{- if and (not $.Values.allowUpstreamImageNames) (regexMatch "(^|-)(sriov-network-(rhel[0-9]+-)?(operator|config-daemon|webhook)|dra-driver-sriov)" $program) }}
    {{- fail (printf "images.%s is %q, an image of the Go SR-IOV network operator. This chart cannot run its programs. Remove the value to use Switchyard's image, or set it to your mirror of Switchyard's image. If you upgrade with --reuse-values, use --reset-then-reuse-values instead, because --reuse-values keeps the defaults of the previous chart. If it is a mirror of Switchyard's image under this name, set allowUpstreamImageNames to true." $name $reference) }}
  {{- end }}
{{- end }}
{{- $prefix := toString .Values.operator.resourcePrefix }}
{{- if or (gt (len $prefix) 253) (not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" $prefix)) }}
  {{- fail (printf "operator.resourcePrefix is %q, which is no DNS name. Set it to one without a slash, such as openshift.io: pods request the resource PREFIX/NAME." $prefix) }}
{{- end }}
{{- if contains "://" .Values.global.imageRegistry }}
  {{- fail (printf "global.imageRegistry is %q. Remove the scheme before the name: a registry is a host, such as registry.example.com:5000." .Values.global.imageRegistry) }}
{{- end }}
{{- range $name, $image := .Values.images }}
  {{- if and (kindIs "string" $image) (contains "://" $image) }}
    {{- fail (printf "images.%s is %q. Remove the scheme before the name: a registry is a host, such as registry.example.com:5000." $name $image) }}
  {{- end }}
{{- end }}
{{- $gates := splitList " " (include "switchyard.featureGates" . | trim) }}
{{- range $gate := keys .Values.sriovOperatorConfig.featureGates | sortAlpha }}
  {{- if not (has $gate $gates) }}
    {{- fail (printf "sriovOperatorConfig.featureGates.%s is no feature gate. Remove it, or correct its spelling: the feature gates are %s." $gate (join ", " $gates)) }}
  {{- end }}
{{- end }}
{{- if and (gt (int .Values.operator.replicas) 1) (not .Values.operator.leaderElect) }}
  {{- fail (printf "operator.leaderElect is false and operator.replicas is %d. Set operator.leaderElect to true, because only one replica may write, or operator.replicas to 1." (int .Values.operator.replicas)) }}
{{- end }}
{{- if and $usesCertificates $certificates.certManager.enabled $certificates.custom.enabled }}
  {{- fail "operator.admissionControllers.certificates.certManager.enabled and .custom.enabled are both true. Set one of them to false." }}
{{- end }}
{{- if and $usesCertificates $certificates.custom.enabled }}
  {{- range $server := list "operator" "injector" }}
    {{- range $part := list "caCrt" "tlsCrt" "tlsKey" }}
      {{- if not (get (get $certificates.custom $server) $part) }}
        {{- fail (printf "operator.admissionControllers.certificates.custom.%s.%s is not set. With custom.enabled all of caCrt, tlsCrt and tlsKey are required, as PEM." $server $part) }}
      {{- end }}
    {{- end }}
  {{- end }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled }}
  {{- fail "metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are both true. Set one of them to false, because all metrics would be stored twice." }}
{{- end }}
{{- if and (or .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled) (not (include "switchyard.metricsPort" .)) }}
  {{- fail "metrics.serviceMonitor.enabled or metrics.podMonitor.enabled is true, but the operator serves no metrics. Set metrics.enabled to true and remove operator.metricsBindAddress." }}
{{- end }}
{{- if and (include "switchyard.secureMetrics" .) (eq (include "switchyard.metricsPort" .) (toString (int .Values.operator.healthPort))) }}
  {{- fail "metrics.secure is true, but the operator's metrics have the port of its probes, operator.healthPort. Give them another one, or set metrics.secure to false." }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.service.enabled) }}
  {{- fail "metrics.serviceMonitor.enabled is true, but metrics.service.enabled is false. Set metrics.service.enabled to true, or use metrics.podMonitor." }}
{{- end }}
{{- $afxdp := .Values.afxdpOperatorConfig }}
{{- if and $afxdp.deploy (eq $afxdp.provider "upstream") (not .Values.images.afxdpPlugins) }}
  {{- fail "afxdpOperatorConfig.provider is upstream, but images.afxdpPlugins is not set. Set it to your image of afxdp-plugins-for-kubernetes." }}
{{- end }}
{{- if and $afxdp.deploy (eq $afxdp.provider "upstream") (eq $afxdp.loader "bpfman") }}
  {{- fail "afxdpOperatorConfig.loader is bpfman and afxdpOperatorConfig.provider is upstream, whose device plugin loads its own program. Set loader to builtin or provider to switchyard." }}
{{- end }}
{{- if include "switchyard.isOnline" . }}
  {{- if and $usesCertificates $certificates.certManager.enabled (not (.Capabilities.APIVersions.Has "cert-manager.io/v1")) }}
    {{- fail "operator.admissionControllers.certificates.certManager.enabled is true, but the cluster has no cert-manager (API group cert-manager.io/v1). Install cert-manager first, or set the value to false, and the operator creates the certificates." }}
  {{- end }}
  {{- if and $usesCertificates $certificates.custom.enabled }}
    {{- range $server, $secret := $certificates.secretNames }}
      {{- $type := dig "type" "" (lookup "v1" "Secret" $.Release.Namespace $secret | default dict) }}
      {{- if and $type (ne $type "Opaque") }}
        {{- fail (printf "operator.admissionControllers.certificates.custom.enabled is true, but Secret %s exists with type %s, for example with a certificate that the operator created. The type of a Secret cannot be changed. Set operator.admissionControllers.certificates.secretNames.%s to another name." $secret $type $server) }}
      {{- end }}
    {{- end }}
  {{- end }}
  {{- $monitoring := or .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled .Values.metrics.alerts.enabled }}
  {{- if and $monitoring (not (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) }}
    {{- fail "metrics.serviceMonitor, metrics.podMonitor or metrics.alerts is enabled, but the cluster has no Prometheus operator (API group monitoring.coreos.com/v1). Install it first, or set these values to false." }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* "true" if metrics are served over TLS to those who may read them; empty if not, or if they are off. */ -}}
{{- define "switchyard.secureMetrics" -}}
{{- if and .Values.metrics.secure (include "switchyard.metricsPort" .) }}true{{ end }}
{{- end }}

{{- /* Port of the operator's metrics; empty if they are off. */ -}}
{{- define "switchyard.metricsPort" -}}
{{- $address := .Values.operator.metricsBindAddress }}
{{- if eq $address "0" }}
{{- else if $address }}{{ splitList ":" $address | last }}
{{- else if .Values.metrics.enabled }}{{ int .Values.metrics.port }}
{{- end }}
{{- end }}
