// SPDX-License-Identifier: Apache-2.0
/**
 * parseVfConfig reads the parameters that a ResourceClaim or a DeviceClass has for the driver of VFs: the kind VfConfig of
 * dra-driver-sriov, sriovnetwork.k8snetworkplumbingwg.io/v1alpha1 (dra.md 2). Users write them, and the API server does not check them.
 * Usage: `parseVfConfig({ apiVersion, kind: "VfConfig", driver: "vfio-pci" }, "parameters")`.
 */
import { defined, draDriverName, err, isInterfaceName, ok, type Result } from "@switchyard/api";

/** What a claim asks for a VF. */
export interface VfConfig {
  /** Driver that the VF must have; "default" is the kernel's network driver. Absent: the driver that the policy of the VF says. */
  readonly driver?: VfConfigDriver;
  /** NetworkAttachmentDefinition of the VF, whose namespace is that of the claim if it is absent. */
  readonly netAttachDefName?: string;
  readonly netAttachDefNamespace?: string;
  /** Name of the interface in the pod. */
  readonly ifName?: string;
  /** Whether containers also get /dev/vhost-net and /dev/net/tun. */
  readonly addVhostMount?: boolean;
}

/**
 * A claim is written by users of a namespace, so it cannot name any driver: uio_pci_generic and igb_uio would give a container access to
 * all memory of the node.
 */
export type VfConfigDriver = (typeof drivers)[number];

const drivers = ["vfio-pci", "default"] as const;

const apiVersion = `${draDriverName}/v1alpha1`;

/** `field` is the path of the parameters, with which the error begins. */
export function parseVfConfig(parameters: unknown, field: string): Result<VfConfig, string> {
  if (!isFields(parameters)) return err(`${field} is not an object`);
  const { apiVersion: version, kind, ...fields } = parameters;
  if (version !== apiVersion) return err(`${field}.apiVersion is ${shown(version)}, and must be "${apiVersion}"`);
  if (kind !== "VfConfig") return err(`${field}.kind is ${shown(kind)}, and must be "VfConfig"`);
  for (const [name, value] of Object.entries(fields)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) return err(`${field}.${name.slice(0, 63)} is not a field of VfConfig`);
    if (!rule.isValid(value)) return err(`${field}.${name} is ${shown(value)}, and must be ${rule.must}`);
  }
  return ok(configOf(fields));
}

interface Rule {
  readonly isValid: (value: unknown) => boolean;
  readonly must: string;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === "";
const dnsName: Rule = {
  isValid: (value) =>
    isAbsent(value) ||
    (typeof value === "string" && value.length <= 253 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(value)),
  must: "the name of an object",
};

const rules: Readonly<Record<string, Rule>> = {
  driver: {
    isValid: (value) => isAbsent(value) || drivers.some((driver) => driver === value),
    must: `"vfio-pci", or "default" for the kernel's network driver`,
  },
  netAttachDefName: dnsName,
  netAttachDefNamespace: dnsName,
  ifName: {
    isValid: (value) => isAbsent(value) || (typeof value === "string" && isInterfaceName(value)),
    must: "the name of a network interface",
  },
  addVhostMount: { isValid: (value) => isAbsent(value) || typeof value === "boolean", must: "true or false" },
};

function configOf(fields: Readonly<Record<string, unknown>>): VfConfig {
  const text = (name: string): string | undefined => {
    const value = fields[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return defined({
    driver: drivers.find((driver) => driver === fields["driver"]),
    netAttachDefName: text("netAttachDefName"),
    netAttachDefNamespace: text("netAttachDefNamespace"),
    ifName: text("ifName"),
    addVhostMount: typeof fields["addVhostMount"] === "boolean" ? fields["addVhostMount"] : undefined,
  });
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value on at most 66 characters. */
function shown(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > 66 ? `${text.slice(0, 63)}...` : text;
}
