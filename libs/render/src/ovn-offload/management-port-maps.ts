// SPDX-License-Identifier: Apache-2.0
/**
 * The values by which ovnkube on a host finds its management port, in ConfigMaps that others also write. They are
 * `ovn-management-ports` (of the proposal) and `env-overrides` (OpenShift 4.10 to 4.13), one key per node (smartnic.md
 * 4.1). Each function returns a JSON merge patch of `data`, which contains no key that is as it should be, and null for
 * a key to be removed.
 * Usage: `const { patch } = managementPortsPatch(configMap?.data ?? {}, { published: new Set(["worker-0"]), kept: new Set() });`
 */
import { managementPortName } from "./offload-units.ts";

/** The nodes that a ConfigMap concerns. Our values of other nodes are removed. */
export interface ManagementPortNodes {
  /** Hosts whose VF 0 exists under its permanent name: they get a value. */
  readonly published: ReadonlySet<string>;
  /** Nodes of which too little is known: their values stay as they are. */
  readonly kept: ReadonlySet<string>;
}

/** `foreign` are nodes whose value another program or person has set differently; it stays. */
export interface MapPatch {
  readonly patch: Readonly<Record<string, string | null>>;
  readonly foreign: readonly string[];
}

type Data = Readonly<Record<string, string>>;

const openshiftOvn = "openshift-ovn-kubernetes";

/** The ConfigMaps of OpenShift. */
export const offloadConfigMaps = {
  managementPorts: { namespace: openshiftOvn, name: "ovn-management-ports" },
  envOverrides: { namespace: openshiftOvn, name: "env-overrides" },
  hardwareOffload: { namespace: "openshift-network-operator", name: "hardware-offload-config" },
} as const satisfies Readonly<Record<string, ConfigMapName>>;

/** Name of the proposal's ConfigMap in the namespace of OVN-Kubernetes, in clusters without OpenShift. */
export const plainManagementPorts = offloadConfigMaps.managementPorts.name;

/**
 * The ConfigMaps in which OVN-Kubernetes or OpenShift's network operator look for the management ports, and which of them a
 * release of OpenShift reads (smartnic.md 1, 4.1). Others also write these ConfigMaps.
 * Namespace and name of a ConfigMap.
 */
export interface ConfigMapName {
  readonly namespace: string;
  readonly name: string;
}

/** Value of a node's key in ConfigMap ovn-management-ports. */
export function managementPortEntry(): string {
  return JSON.stringify({ "ovnkube-node-mgmt-port": managementPortName });
}

/** Line of a node's value in ConfigMap env-overrides, which ovnkube's shell script reads. */
export function managementPortLine(): string {
  return `${variable}=${managementPortName}`;
}

/** Patch of ConfigMap ovn-management-ports. A value that is not exactly ours belongs to others. */
export function managementPortsPatch(data: Data, nodes: ManagementPortNodes): MapPatch {
  return patchOf(data, nodes, (present, isWanted) => {
    const own = managementPortEntry();
    if (isWanted) return present === undefined || present === own ? own : foreign;
    return present === own ? undefined : present;
  });
}

/** Patch of ConfigMap env-overrides. Other lines of a node's value stay, in their order and to the byte. */
export function envOverridesPatch(data: Data, nodes: ManagementPortNodes): MapPatch {
  return patchOf(data, nodes, (present, isWanted) =>
    isWanted ? withManagementPort(present) : withoutManagementPort(present),
  );
}

const variable = "OVNKUBE_NODE_MGMT_PORT_NETDEV";

/** Another value than ours was chosen by others. */
const foreign = Symbol("foreign");

/** Our line comes first and ends with a newline only if others follow, so removing it leaves what was there before. */
function withManagementPort(present: string | undefined): string | typeof foreign {
  const line = managementPortLine();
  if (present === undefined) return line;
  const lines = present.split("\n");
  // The shell uses the last assignment.
  if (lines.some((other) => other !== line && isAssignment(other))) return foreign;
  return lines.includes(line) ? present : `${line}\n${present}`;
}

function isAssignment(line: string): boolean {
  return line
    .trim()
    .replace(/^export\s+/, "")
    .startsWith(`${variable}=`);
}

function withoutManagementPort(present: string | undefined): string | undefined {
  const line = managementPortLine();
  if (present === undefined || present === line) return undefined;
  const lines = present.split("\n");
  const index = lines.indexOf(line);
  return index === -1 ? present : lines.toSpliced(index, 1).join("\n");
}

type Wish = (present: string | undefined, isWanted: boolean) => string | undefined | typeof foreign;

function patchOf(data: Data, { published, kept }: ManagementPortNodes, wish: Wish): MapPatch {
  const patch = new Map<string, string | null>();
  const others: string[] = [];
  const known = new Map(Object.entries(data));
  for (const node of [...new Set([...known.keys(), ...published])].sort()) {
    if (kept.has(node) && !published.has(node)) continue;
    const present = known.get(node);
    const wanted = wish(present, published.has(node));
    if (wanted === foreign) others.push(node);
    else if (wanted !== present) patch.set(node, wanted ?? null);
  }
  return { patch: Object.fromEntries(patch), foreign: others };
}

/**
 * "resource": from OpenShift 4.14 on, the network operator reads VF 0's resource from hardware-offload-config. "name": until
 * then, and if the version is unknown, ovnkube reads VF 0's name from env-overrides. The proposal's ConfigMap is always written.
 */
export function managementPortForm(openshiftVersion: string | undefined): "name" | "resource" {
  const [, major = "0", minor = "0"] = /^(\d{1,4})\.(\d{1,4})(?:\.|$)/.exec(openshiftVersion ?? "") ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 14) ? "resource" : "name";
}
