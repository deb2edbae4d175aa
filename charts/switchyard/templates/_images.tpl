{{- /*
SPDX-License-Identifier: Apache-2.0

switchyard.image returns a reference: dict "root" $, "name" KEY below images. An object is completed from the default reference.
global.imageRegistry replaces the registry of the default, and of objects without a registry, but not of texts.
*/ -}}
{{- define "switchyard.image" -}}
{{- $root := .root }}
{{- $default := index (include "switchyard.defaults" $root | fromYaml) (printf "images.%s" .name) }}
{{- $given := index $root.Values.images .name }}
{{- if and (kindIs "string" $given) (ne $given $default) }}
  {{- if and $given (include "switchyard.isOwnImage" .) }}{{ include "switchyard.withVersion" (dict "root" $root "reference" $given) }}
  {{- else }}{{ $given }}
  {{- end }}
{{- else }}
  {{- $object := kindIs "map" $given | ternary $given dict }}
  {{- $parts := include "switchyard.parseReference" $default | fromYaml }}
  {{- $registry := $object.registry | default $root.Values.global.imageRegistry | default $parts.registry }}
  {{- $repository := $object.repository | default $parts.repository }}
  {{- $tag := $object.tag | default (ternary "" $parts.tag (not (empty $object.digest))) }}
  {{- if $repository }}
    {{- $reference := $repository }}
    {{- if $registry }}{{- $reference = printf "%s/%s" (trimSuffix "/" $registry) $repository }}{{- end }}
    {{- if $tag }}{{- $reference = printf "%s:%s" $reference $tag }}{{- end }}
    {{- if $object.digest }}{{- $reference = printf "%s@%s" $reference $object.digest }}{{- end }}
    {{- if include "switchyard.isOwnImage" . }}{{ include "switchyard.withVersion" (dict "root" $root "reference" $reference) }}
      {{- $isElsewhere := or $object.registry $object.repository $object.tag $object.digest $root.Values.global.imageRegistry }}
      {{- $digest := index (include "switchyard.digests" $root | fromYaml) .name }}
      {{- if and $digest (not $isElsewhere) }}@{{ $digest }}{{- end }}
    {{- else }}{{ $reference }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "switchyard.isOwnImage" -}}
{{- if has .name (list "operator" "sriovConfigDaemon" "devicePluginConfig" "sriovDraDriver" "afxdpDevicePlugin" "webhook" "ovnOffload" "eveBridge") }}true{{ end }}
{{- end }}

{{- /* Adds the version of the chart if the reference has neither tag nor digest. */ -}}
{{- define "switchyard.withVersion" -}}
{{- $last := splitList "/" .reference | last }}
{{- if or (contains "@" .reference) (contains ":" $last) }}{{ .reference }}
{{- else }}{{ printf "%s:%s" .reference .root.Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* The parts of a reference. The first segment is a registry if it has a dot or a port, or is localhost. */ -}}
{{- define "switchyard.parseReference" -}}
{{- $path := regexReplaceAll "@.*$" . "" }}
{{- $last := splitList "/" $path | last }}
{{- $tag := ternary (splitList ":" $last | last) "" (contains ":" $last) }}
{{- $untagged := trimSuffix (printf ":%s" $tag) $path }}
{{- $first := splitList "/" $untagged | first }}
{{- $hasRegistry := and (contains "/" $untagged) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) }}
registry: {{ $hasRegistry | ternary $first "" | quote }}
repository: {{ $hasRegistry | ternary (trimPrefix (printf "%s/" $first) $untagged) $untagged | quote }}
tag: {{ $tag | quote }}
{{- end }}

{{- define "switchyard.pullPolicy" -}}
{{- $given := index .root.Values.images .name }}
{{- if kindIs "map" $given }}
{{- with $given.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}
{{- end }}
