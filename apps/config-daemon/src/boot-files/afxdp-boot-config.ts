// SPDX-License-Identifier: Apache-2.0
/**
 * formatAfxdpBootConfig and parseAfxdpBootConfig write and read the file from which AF_XDP devices are configured while
 * the node boots, without an API server. It has the header of all files of the systemd mode, then JSON with the
 * interfaces of the AfxdpNetworkNodeState. It is a file of its own, because the other one has the format of the Go
 * operator.
 */
import { bootFileHeader, err, ok, parseLimitedJson, type AfxdpInterfaceSpec, type Result } from "@switchyard/api";
import { isAfxdpInterfaceSpec, parseAfxdpDevice } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import { deviceIdOf } from "@switchyard/plan";
import { maxPfs } from "@switchyard/policy";

export const afxdpBootConfigPath = "/etc/sriov-operator/afxdp-interface-config.yaml";
export const afxdpBootResultPath = "/etc/sriov-operator/afxdp-interface-result.yaml";

/** A config that was read. */
export interface ParsedAfxdpBootConfig {
  readonly interfaces: readonly AfxdpInterfaceSpec[];
  /** Entries that are not valid and are left out, one sentence each. */
  readonly problems: readonly string[];
}

/** The limits of the API, which no API server checks here. */
const limits = { numSfs: 1024, mtu: 65_535, queues: 1024 } as const;

/** Returns the same text for the same interfaces. */
export function formatAfxdpBootConfig(interfaces: readonly AfxdpInterfaceSpec[]): string {
  return `${bootFileHeader}\n${JSON.stringify({ interfaces }, undefined, 2)}\n`;
}

/** Never throws. Returns why the file cannot be read at all. */
export function parseAfxdpBootConfig(text: string): Result<ParsedAfxdpBootConfig, string> {
  let fields: unknown;
  try {
    fields = parseLimitedJson(text.replace(/^(?:#[^\n]*\n)+/, ""));
  } catch {
    return err("the file is not valid JSON");
  }
  const entries = isRecord(fields) ? fields["interfaces"] : undefined;
  if (!Array.isArray(entries)) return err("the file has no list of interfaces");
  if (entries.length > maxPfs) return err(`the file has ${entries.length} interfaces; at most ${maxPfs} are allowed`);
  const interfaces: AfxdpInterfaceSpec[] = [];
  const problems: string[] = [];
  for (const [index, entry] of (entries as readonly unknown[]).entries()) {
    const isSpec = isAfxdpInterfaceSpec(entry);
    const problem = isSpec ? problemOf(entry) : " is not the spec of an interface";
    if (isSpec && problem === undefined) interfaces.push(entry);
    else problems.push(`interfaces[${index}]${problem ?? ""}`);
  }
  return ok({ interfaces, problems });
}

function problemOf(entry: AfxdpInterfaceSpec): string | undefined {
  if (parseAfxdpDevice(deviceIdOf(entry)) === undefined)
    return " has neither a PCI address nor the name of an interface";
  for (const field of ["numSfs", "mtu", "queues"] as const) {
    const value = entry[field] ?? 0;
    const isValid = Number.isInteger(value) && value >= 0 && value <= limits[field];
    if (!isValid) return `.${field} is not a whole number from 0 to ${limits[field]}`;
  }
  return undefined;
}
