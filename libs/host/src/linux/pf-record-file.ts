// SPDX-License-Identifier: Apache-2.0
/**
 * Formats and parses the record of a PF: upstream's JSON of the applied spec (sriov-operator.md F.7), and the additional key
 * "switchyard", which upstream's decoder ignores.
 * Usage: `parsePfRecord(formatPfRecord({ spec, initial: { mtu: 1500 } }))`.
 */
import { err, ok, type InterfaceSpec, type Result, type VfGroup } from "@switchyard/api";
import type { FirmwareRecord, PfRecord } from "../ports/pf-records.ts";

/** Why a text is not a record: it is not JSON, or the JSON is not the spec of an interface. */
export interface PfRecordProblem {
  readonly code: "not-json" | "not-a-record";
}

export function formatPfRecord({ spec, ...own }: PfRecord): string {
  const hasOwn = Object.keys(own).length > 0;
  return `${JSON.stringify({ ...spec, ...(hasOwn && { switchyard: own }) }, undefined, 2)}\n`;
}

/** Parses records of Switchyard and of the Go operator. */
export function parsePfRecord(text: string): Result<PfRecord, PfRecordProblem> {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return err({ code: "not-a-record" });

  const { switchyard, ...spec } = parsed.value;
  if (!isInterfaceSpec(spec)) return err({ code: "not-a-record" });
  if (switchyard === undefined) return ok({ spec });
  return isOwn(switchyard) ? ok({ spec, ...switchyard }) : err({ code: "not-a-record" });
}

function parseJson(text: string): Result<unknown, PfRecordProblem> {
  try {
    const value: unknown = JSON.parse(text);
    return ok(value);
  } catch {
    return err({ code: "not-json" });
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isInterfaceSpec(value: Fields): value is Fields & InterfaceSpec {
  return (
    typeof value["pciAddress"] === "string" &&
    have(value, "number", ["numVfs", "mtu"]) &&
    have(value, "string", ["name", "linkType", "eSwitchMode"]) &&
    have(value, "boolean", ["externallyManaged"]) &&
    (value["vfGroups"] === undefined || (Array.isArray(value["vfGroups"]) && value["vfGroups"].every(isVfGroup)))
  );
}

function isVfGroup(value: unknown): value is VfGroup {
  return (
    isObject(value) &&
    have(value, "string", ["resourceName", "deviceType", "vfRange", "policyName", "vdpaType"]) &&
    have(value, "number", ["mtu"]) &&
    have(value, "boolean", ["isRdma", "needVhostNet", "excludeTopology"])
  );
}

function isOwn(value: unknown): value is Omit<PfRecord, "spec"> {
  if (!isObject(value)) return false;
  const { initial, names, firmware, guids } = value;
  return (
    (initial === undefined ||
      (isObject(initial) && have(initial, "number", ["mtu"]) && have(initial, "string", ["eSwitchMode"]))) &&
    (names === undefined || (Array.isArray(names) && names.every((name) => typeof name === "string"))) &&
    (firmware === undefined || (isObject(firmware) && Object.values(firmware).every(isFirmwareRecord))) &&
    (guids === undefined || (isObject(guids) && Object.values(guids).every((guid) => typeof guid === "string"))) &&
    have(value, "string", ["card"]) &&
    have(value, "number", ["numVfsWithoutMemory"])
  );
}

function isFirmwareRecord(value: unknown): value is FirmwareRecord {
  return isObject(value) && typeof value["before"] === "number" && typeof value["after"] === "number";
}

/** Reports whether each of `keys` is absent or has this type. */
function have(value: Fields, type: "string" | "number" | "boolean", keys: readonly string[]): boolean {
  return keys.every((key) => value[key] === undefined || typeof value[key] === type);
}
