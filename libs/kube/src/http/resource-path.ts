// SPDX-License-Identifier: Apache-2.0
/**
 * collectionPath and objectPath make paths of the API: /api/v1/... for the core group, /apis/<group>/<version>/... else.
 * Usage: `objectPath(pods, { namespace: "default", name: "web" }, "eviction")`.
 */
import type { ObjectName, ResourceType } from "../kube-object.ts";

/** Returns the path of all objects of a type, in one namespace or in all. Throws TypeError for a cluster-scoped type. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === "" ? "/api" : `/apis/${segment(type.group)}`;
  const scope = namespace === undefined ? "" : `/namespaces/${segment(namespace)}`;
  if (scope !== "" && !type.namespaced)
    throw new TypeError(`${type.kind} is cluster-scoped, but namespace "${namespace}" was given`);
  return `${root}/${segment(type.version)}${scope}/${segment(type.plural)}`;
}

/** Returns the path of an object or of its subresource ("status", "eviction"). Throws TypeError without a namespace. */
export function objectPath(type: ResourceType, { name, namespace }: ObjectName, subresource?: string): string {
  if (type.namespaced && namespace === undefined) throw new TypeError(`${type.kind} ${name} needs a namespace`);
  const tail = subresource === undefined ? "" : `/${segment(subresource)}`;
  return `${collectionPath(type, namespace)}/${segment(name)}${tail}`;
}

/** One segment of a path. encodeURIComponent keeps dots, and a URL drops "." and ".." with what precedes them. */
function segment(text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError(`"${text}" cannot be part of an API path`);
  return encodeURIComponent(text);
}
