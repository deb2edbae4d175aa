// SPDX-License-Identifier: Apache-2.0
/**
 * renderPairTemplates renders ResourceClaimTemplates for pods that need a VF beside a device of another driver, such as a GPU: both on one
 * PCIe root, by the constraint that docs/guide/dra.md explains. It is a pure function.
 */

/** A ResourceClaimTemplate (resource.k8s.io/v1) without a namespace: it belongs to that of the pods. */
export interface PairTemplate {
  readonly apiVersion: "resource.k8s.io/v1";
  readonly kind: "ResourceClaimTemplate";
  readonly metadata: { readonly name: string };
  readonly spec: { readonly spec: { readonly devices: object } };
}

/** Devices of one DeviceClass, and where they are. */
export interface DevicesOfClass {
  /** Name of the DeviceClass. */
  readonly deviceClass: string;
  /** PCIe roots of the devices, by node. Empty if it is not known. */
  readonly roots: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Returns for each class of VFs and each class of others a template for one pair. If a node has devices of both on more than one root,
 * another template is for as many pairs as the node with most of them has. Classes that share no root on any node get none, unless the
 * roots of one of them are not known.
 */
export function renderPairTemplates(
  vfs: readonly DevicesOfClass[],
  others: readonly DevicesOfClass[],
): readonly PairTemplate[] {
  return others.flatMap((other) =>
    vfs.flatMap((vf) => {
      const isUnknown = other.roots.size === 0 || vf.roots.size === 0;
      const most = Math.max(0, ...[...vf.roots].map(([node, roots]) => sharedRoots(roots, other.roots.get(node))));
      if (most === 0 && !isUnknown) return [];
      const name = `${other.deviceClass}-and-${vf.deviceClass}`;
      const one = template(name, requestsFor(other.deviceClass, vf.deviceClass, [""]));
      const numbers = Array.from({ length: most }, (_, index) => `${index}`);
      return most < 2
        ? [one]
        : [one, template(`${name}-x${most}`, requestsFor(other.deviceClass, vf.deviceClass, numbers))];
    }),
  );
}

function sharedRoots(roots: ReadonlySet<string>, others: ReadonlySet<string> = new Set()): number {
  return [...roots].filter((root) => others.has(root)).length;
}

/** One pair of requests, with a constraint, for each suffix. */
function requestsFor(other: string, vf: string, suffixes: readonly string[]): object {
  return {
    requests: suffixes.flatMap((suffix) => [
      { name: `gpu${suffix}`, exactly: { deviceClassName: other } },
      { name: `nic${suffix}`, exactly: { deviceClassName: vf } },
    ]),
    constraints: suffixes.map((suffix) => ({
      requests: [`gpu${suffix}`, `nic${suffix}`],
      matchAttribute: "resource.kubernetes.io/pcieRoot",
    })),
  };
}

function template(name: string, devices: object): PairTemplate {
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    metadata: { name },
    spec: { spec: { devices } },
  };
}
