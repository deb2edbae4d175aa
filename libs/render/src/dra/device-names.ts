// SPDX-License-Identifier: Apache-2.0
/**
 * Names of VFs and of their classes in the API of dynamic resource allocation. They are those of dra-driver-sriov and of the operators
 * that deploy it, so that claims and classes of users keep working (dra.md 2).
 */
import { parsePciAddress, type DeviceClass, draDriverName } from "@switchyard/api";
import { createHash } from "node:crypto";

/** Domain of the attributes that Multus reads. */
export const multusDomain = "k8s.cni.cncf.io";

/** On DeviceClasses that an operator has created; `value` is that of the Go operators and of Switchyard. */
const generatedBy = { key: "sriovnetwork.openshift.io/generated-by", value: "sriov-network-operator" } as const;

/** Returns "0000-3b-00-2" for the VF "0000:3b:00.2"; undefined if the text is no PCI address. */
export function deviceNameOf(pciAddress: string): string | undefined {
  const address = parsePciAddress(pciAddress);
  return address.ok ? address.value.replace(/[:.]/g, "-") : undefined;
}

/** Returns "0000:3b:00.2" for the device "0000-3b-00-2"; undefined if the name is not that of a VF. */
export function addressOfDevice(device: string): string | undefined {
  const parts = /^([0-9a-f]{4,8})-([0-9a-f]{2})-([0-9a-f]{2})-([0-7])$/.exec(device);
  if (parts === null) return undefined;
  const address = parsePciAddress(`${parts[1] ?? ""}:${parts[2] ?? ""}:${parts[3] ?? ""}.${parts[4] ?? ""}`);
  return address.ok ? address.value : undefined;
}

export interface DeviceClassesInput {
  /** Prefix of resource names, without the slash. */
  readonly prefix: string;
  /** Names of resources, without prefix. */
  readonly resourceNames: Iterable<string>;
}

/**
 * Returns the class of all VFs, and one for each resource. Pods that request the resource in `resources.limits` get a claim of its
 * class. Of two resources whose classes would have the same name, the second one gets a hash of its name at the end.
 */
export function renderDeviceClasses({ prefix, resourceNames }: DeviceClassesInput): readonly DeviceClass[] {
  const isOurs = `device.driver == ${JSON.stringify(draDriverName)}`;
  const taken = new Set([draDriverName]);
  const ofResources = [...new Set(resourceNames)].sort().flatMap((resource): readonly DeviceClass[] => {
    if (!isResourceName(resource)) return [];
    const extendedResourceName = `${prefix}/${resource}`;
    const plain = classNameOf(resource);
    const name = taken.has(plain) ? `${plain}-${hashOf(resource)}` : plain;
    taken.add(name);
    const isOfResource =
      `device.attributes[${JSON.stringify(multusDomain)}].resourceName == ` + JSON.stringify(extendedResourceName);
    const labels = { [generatedBy.key]: generatedBy.value };
    return [deviceClass(name, [`${isOurs} && ${isOfResource}`], { labels, extendedResourceName })];
  });
  return [deviceClass(draDriverName, [isOurs], {}), ...ofResources];
}

interface ClassParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly extendedResourceName?: string;
}

function deviceClass(name: string, expressions: readonly string[], { labels, ...rest }: ClassParts): DeviceClass {
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    metadata: { name, ...(labels && { labels }) },
    spec: { selectors: expressions.map((expression) => ({ cel: { expression } })), ...rest },
  };
}

/** What the device plugin and the names of extended resources accept. */
function isResourceName(name: string): boolean {
  return /^[a-zA-Z0-9]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?$/.test(name);
}

/** As the Go operator: in lower case, with "-" for "_". */
function classNameOf(resource: string): string {
  return resource
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/[^a-z0-9-]/g, "");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
