{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- /*
switchyard.digests has the digests of Switchyard's own images by their keys in the values. It is empty in the sources; a release fills it
(npm run release -- chart --pin).
*/ -}}
{{- define "switchyard.digests" -}}
{}
{{- end }}
