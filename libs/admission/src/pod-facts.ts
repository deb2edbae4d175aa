// SPDX-License-Identifier: Apache-2.0
/**
 * Which VFs a pod uses, as far as anybody outside its node can know: by the resources that its containers request.
 * Usage: `const pod = readPod(object, "openshift.io"); pod?.resources` is `["fast"]`.
 */

/** Of a pod, the VF resources that it requests, by the names that policies give them; there is one at least. */
export type PodFacts = readonly string[];

export interface PodOnNode {
  readonly node: string;
  readonly resources: PodFacts;
}

/**
 * Reads a Pod; undefined for one that is on no node, has ended, or requests nothing below `resourcePrefix`. `pod` may be
 * anything, as people write it.
 */
export function readPod(pod: unknown, resourcePrefix: string): PodOnNode | undefined {
  const spec = at(pod, "spec");
  const node = at(spec, "nodeName");
  const phase = at(at(pod, "status"), "phase");
  if (typeof node !== "string" || node === "" || phase === "Succeeded" || phase === "Failed") return undefined;
  const prefix = `${resourcePrefix}/`;
  const resources = new Set<string>();
  for (const container of [...list(at(spec, "containers")), ...list(at(spec, "initContainers"))]) {
    // Of extended resources, requests and limits are the same; either may stand alone.
    for (const kind of ["requests", "limits"]) {
      for (const name of keys(at(at(container, "resources"), kind))) {
        if (name.startsWith(prefix)) resources.add(name.slice(prefix.length));
      }
    }
  }
  return resources.size === 0 ? undefined : { node, resources: [...resources].sort() };
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function keys(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
