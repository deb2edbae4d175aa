// SPDX-License-Identifier: Apache-2.0
/**
 * Formats and parses the record of a PF: upstream's JSON of the applied spec (sriov-operator.md F.7), and the additional key
 * "switchyard", which upstream's decoder ignores.
 */
import { err, ok, type InterfaceSpec, type Result, type VfGroup } from "@switchyard/api";
import type { FirmwareRecord, PfRecord } from "../../ports/records.ts";
import { have, isFields, isListOf, isOfType, parseJson, type Fields, type RecordProblem } from "./record-directory.ts";

export function formatPfRecord({ spec, ...own }: PfRecord): string {
  const hasOwn = Object.keys(own).length > 0;
  return `${JSON.stringify({ ...spec, ...(hasOwn && { switchyard: own }) }, undefined, 2)}\n`;
}

/** Parses records of Switchyard and of the Go operator. */
export function parsePfRecord(text: string): Result<PfRecord, RecordProblem> {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  if (!isFields(parsed.value)) return err({ code: "not-a-record" });

  const { switchyard, ...spec } = parsed.value;
  if (!isInterfaceSpec(spec)) return err({ code: "not-a-record" });
  if (switchyard === undefined) return ok({ spec });
  return isOwn(switchyard) ? ok({ spec, ...switchyard }) : err({ code: "not-a-record" });
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
    isFields(value) &&
    have(value, "string", ["resourceName", "deviceType", "vfRange", "policyName", "vdpaType"]) &&
    have(value, "number", ["mtu"]) &&
    have(value, "boolean", ["isRdma", "needVhostNet", "excludeTopology"])
  );
}

function isOwn(value: unknown): value is Omit<PfRecord, "spec"> {
  if (!isFields(value)) return false;
  const { initial, names, firmware, guids, macs, unassignedMacs, fewerVfs, vfsBefore, initialVfs } = value;
  return (
    (initial === undefined ||
      (isFields(initial) && have(initial, "number", ["mtu"]) && have(initial, "string", ["eSwitchMode"]))) &&
    isListOf(names, "string") &&
    (firmware === undefined || (isFields(firmware) && Object.values(firmware).every(isFirmwareRecord))) &&
    isTexts(guids) &&
    isTexts(macs) &&
    isListOf(unassignedMacs, "number") &&
    (fewerVfs === undefined ||
      (isFields(fewerVfs) &&
        isOfType(fewerVfs["requested"], "number") &&
        isOfType(fewerVfs["created"], "number") &&
        have(fewerVfs, "string", ["error"]))) &&
    (vfsBefore === undefined || isVfsBefore(vfsBefore)) &&
    (initialVfs === undefined || isInitialVfs(initialVfs)) &&
    have(value, "string", ["card"]) &&
    have(value, "number", ["numVfsWithoutMemory"])
  );
}

function isVfsBefore(value: unknown): value is NonNullable<PfRecord["vfsBefore"]> {
  return (
    isFields(value) &&
    isOfType(value["count"], "number") &&
    Array.isArray(value["vfs"]) &&
    value["vfs"].every(
      (vf: unknown) => isFields(vf) && isOfType(vf["vfId"], "number") && have(vf, "string", ["driver", "mac"]),
    )
  );
}

function isInitialVfs(value: unknown): value is NonNullable<PfRecord["initialVfs"]> {
  return (
    isFields(value) &&
    typeof value["bootId"] === "string" &&
    isFields(value["vfs"]) &&
    Object.values(value["vfs"]).every(
      (vf) =>
        isFields(vf) && have(vf, "string", ["adminMac", "spoofChk", "name", "mac"]) && have(vf, "number", ["mtu"]),
    )
  );
}

function isTexts(value: unknown): boolean {
  return value === undefined || (isFields(value) && Object.values(value).every((text) => typeof text === "string"));
}

function isFirmwareRecord(value: unknown): value is FirmwareRecord {
  return isFields(value) && isOfType(value["before"], "number") && isOfType(value["after"], "number");
}
