// SPDX-License-Identifier: Apache-2.0
/**
 * Paths of the API: /api/v1/... for core, /apis/<group>/<version>/... for the rest.
 * Usage: `objectPath(pods, { namespace: "default", name: "web" }, "eviction")`.
 */
import type { ObjectName, ResourceType } from "../kube-object.ts";

/** All objects of a kind, in one namespace or in all. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === "" ? "/api" : `/apis/${encodeURIComponent(type.group)}`;
  const scope = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  if (scope !== "" && !type.namespaced)
    throw new TypeError(`${type.kind} has no namespaces, but ${namespace} was given`);
  return `${root}/${encodeURIComponent(type.version)}${scope}/${encodeURIComponent(type.plural)}`;
}

/** One object, or a subresource of it ("status", "eviction"). */
export function objectPath(type: ResourceType, { name, namespace }: ObjectName, subresource?: string): string {
  if (type.namespaced && namespace === undefined) throw new TypeError(`${type.kind} ${name} lacks its namespace`);
  const tail = subresource === undefined ? "" : `/${encodeURIComponent(subresource)}`;
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}${tail}`;
}
