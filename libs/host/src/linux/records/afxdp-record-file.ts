// SPDX-License-Identifier: Apache-2.0
/**
 * Formats and parses the record of an AF_XDP device: JSON.
 * Usage: `parseAfxdpRecord(formatAfxdpRecord({ spec, subfunctions: [0, 1] }))`.
 */
import { err, isInterfaceName, ok, parsePciAddress, type AfxdpInterfaceSpec, type Result } from "@switchyard/api";
import type { AfxdpRecord } from "../../ports/records.ts";
import { have, isFields, isListOf, parseJson, type RecordProblem } from "./record-directory.ts";

export function formatAfxdpRecord(record: AfxdpRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

export function parseAfxdpRecord(text: string): Result<AfxdpRecord, RecordProblem> {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  return isAfxdpRecord(parsed.value) ? ok(parsed.value) : err({ code: "not-a-record" });
}

/** Returns the device if the text is a PCI address or the name of an interface, and can be the name of a file. */
export function parseAfxdpDevice(text: string): string | undefined {
  return parsePciAddress(text).ok || isInterfaceName(text) ? text : undefined;
}

/** Reports whether the record is that of the device. */
export function isAfxdpRecordOf({ spec: { pciAddress, name } }: AfxdpRecord, device: string): boolean {
  return (pciAddress ?? name) === device;
}

function isAfxdpRecord(value: unknown): value is AfxdpRecord {
  if (!isFields(value)) return false;
  const { spec, initial, subfunctions, macs, names } = value;
  return (
    isAfxdpInterfaceSpec(spec) &&
    (initial === undefined ||
      (isFields(initial) && have(initial, "number", ["mtu", "queues"]) && have(initial, "string", ["eSwitchMode"]))) &&
    isListOf(subfunctions, "number") &&
    (macs === undefined || (isFields(macs) && Object.values(macs).every((mac) => typeof mac === "string"))) &&
    isListOf(names, "string") &&
    have(value, "string", ["card", "permanentMac", "replacedCard"])
  );
}

/** Reports whether the value has the fields of the spec of an interface, without a check of their values. */
export function isAfxdpInterfaceSpec(spec: unknown): spec is AfxdpInterfaceSpec {
  return (
    isFields(spec) &&
    (spec["mode"] === "primary" || spec["mode"] === "subfunction") &&
    typeof spec["poolName"] === "string" &&
    have(spec, "string", ["pciAddress", "name", "policyName", "bridge"]) &&
    have(spec, "number", ["mtu", "numSfs", "queues"]) &&
    have(spec, "boolean", ["externallyManaged"])
  );
}
