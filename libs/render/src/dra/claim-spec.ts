// SPDX-License-Identifier: Apache-2.0
/**
 * The CDI specification (Container Device Interface, 0.6.0) of one ResourceClaim: what a container gets with the VFs of the claim. The file
 * is also the record that the claim has these VFs: the DRA driver writes it before it changes a VF, and removes it last. The config
 * daemon reads it.
 *
 * A CDI device has the PCI address as its name, because Multus 4.2 takes that for the id of the device.
 * Usage: `const text = renderClaimSpec(claim); const { devices } = parseClaimSpec(text) ?? {};`
 */
import { draDriverName, parsePciAddress, parseLimitedJson, type PciAddress } from "@switchyard/api";

/** The VFs of a claim. */
export interface ClaimRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** At least one. */
  readonly devices: readonly ClaimDevice[];
}

export interface ClaimDevice {
  readonly pciAddress: PciAddress;
  /** "request", or "request/subrequest". */
  readonly request: string;
  /** Whether the claim only observes the VF, which another claim may have. */
  readonly isAdmin: boolean;
  /** Driver that the claim asks for, as in VfConfig; absent if it asks for none. */
  readonly driver?: string;
}

/** What a container gets with a VF. */
export interface ContainerEdits {
  readonly env: readonly string[];
  /** Paths of character devices on the host, which are the same in the container. */
  readonly deviceNodes: readonly string[];
  readonly mounts: readonly { readonly hostPath: string; readonly containerPath: string }[];
}

/** A claim with the edits of each VF, in the order of the VFs. */
export interface ClaimSpec extends ClaimRecord {
  readonly edits: readonly ContainerEdits[];
}

/** Directory of the host for CDI specifications that programs write. */
export const cdiDirectory = "/run/cdi";

const filePrefix = `${draDriverName}-vf_`;

/** Returns the name of the claim's file; undefined if the text is not the uid of an object. */
export function claimSpecFile(uid: string): string | undefined {
  return isUid(uid) ? `${filePrefix}${uid}.json` : undefined;
}

/** Reports whether a file in the directory is that of a claim. */
export function isClaimSpecFile(name: string): boolean {
  return name.startsWith(filePrefix) && name.endsWith(".json");
}

/** Returns the full name of the CDI device of a VF. */
export function cdiDeviceOf({ pciAddress, isAdmin }: Pick<ClaimDevice, "pciAddress" | "isAdmin">, uid: string): string {
  return isAdmin ? `${kindOf(uid)}=admin-${pciAddress}` : `${kindOf(uid)}=${pciAddress}`;
}

/** Claims that observe a VF have it at the same time as the claim that has it, so each claim has a kind of its own. */
function kindOf(uid: string): string {
  return `${draDriverName}/vf-${uid}`;
}

export function renderClaimSpec({ namespace, name, uid, devices, edits }: ClaimSpec): string {
  const rendered = devices.map((device, index) => ({
    name: cdiDeviceOf(device, uid).split("=")[1],
    annotations: {
      [keys.request]: device.request,
      ...(device.isAdmin && { [keys.isAdmin]: "true" }),
      ...(device.driver !== undefined && { [keys.driver]: device.driver }),
    },
    containerEdits: toCdi(edits[index] ?? noEdits, device),
  }));
  const spec = {
    cdiVersion: "0.6.0",
    kind: kindOf(uid),
    annotations: { [keys.namespace]: namespace, [keys.name]: name, [keys.uid]: uid },
    devices: rendered,
  };
  return `${JSON.stringify(spec, undefined, 2)}\n`;
}

const noEdits: ContainerEdits = { env: [], deviceNodes: [], mounts: [] };

const keys = {
  namespace: "switchyard.io/namespace",
  name: "switchyard.io/name",
  uid: "switchyard.io/uid",
  request: "switchyard.io/request",
  isAdmin: "switchyard.io/admin-access",
  driver: "switchyard.io/driver",
} as const;

/** A device without edits is not valid, so each has a variable. */
function toCdi({ env, deviceNodes, mounts }: ContainerEdits, { pciAddress }: ClaimDevice): object {
  return {
    env: [`SRIOVNETWORK_VF_${pciAddress.toUpperCase().replace(/[:.]/g, "_")}=${pciAddress}`, ...env],
    ...(deviceNodes.length > 0 && { deviceNodes: deviceNodes.map((path) => ({ path })) }),
    ...(mounts.length > 0 && { mounts: mounts.map((mount) => ({ ...mount, options: ["ro", "bind"] })) }),
  };
}

/** Returns undefined for a text that renderClaimSpec() did not write. */
export function parseClaimSpec(text: string): ClaimRecord | undefined {
  let spec: unknown;
  try {
    spec = parseLimitedJson(text);
  } catch {
    return undefined;
  }
  if (!isFields(spec) || !isFields(spec["annotations"]) || !Array.isArray(spec["devices"])) return undefined;
  const [namespace, name, uid] = [keys.namespace, keys.name, keys.uid].map((key) => textAt(spec["annotations"], key));
  if (namespace === undefined || name === undefined || uid === undefined || !isUid(uid)) return undefined;
  const devices = spec["devices"].map(parseDevice);
  const known = devices.filter((device) => device !== undefined);
  return known.length === devices.length && known.length > 0 ? { namespace, name, uid, devices: known } : undefined;
}

function parseDevice(device: unknown): ClaimDevice | undefined {
  if (!isFields(device)) return undefined;
  const pciAddress = parsePciAddress((textAt(device, "name") ?? "").replace(/^admin-/, ""));
  const request = textAt(device["annotations"], keys.request);
  const driver = textAt(device["annotations"], keys.driver);
  if (!pciAddress.ok || request === undefined) return undefined;
  const isAdmin = textAt(device["annotations"], keys.isAdmin) === "true";
  return { pciAddress: pciAddress.value, request, isAdmin, ...(driver !== undefined && { driver }) };
}

/** A uid becomes a part of names of files, and of a CDI kind, which ends with a letter or a digit. */
function isUid(text: string): boolean {
  return text.length <= 64 && /^[0-9a-zA-Z]([0-9a-zA-Z-]*[0-9a-zA-Z])?$/.test(text);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textAt(value: unknown, key: string): string | undefined {
  const found = isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === "string" && found !== "" ? found : undefined;
}
