// SPDX-License-Identifier: Apache-2.0
/**
 * The record of the connectivity guard: the change that is being made, with the state of the PFs before it, and the changes that were
 * undone. It is written before the first step, so a daemon that is killed, or a boot, finds what is to be checked.
 */
import { isRecord } from "@switchyard/kube";
import { parsePciAddress, type RolledBackChange } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";
import type { PfBefore } from "@switchyard/plan";
import { isTexts, readJsonFile, writeJsonFile } from "../files/json-file.ts";
import type { VfsBefore } from "../steps/vfs-before.ts";
import { parseProbe, type Probe } from "./probes.ts";

export const guardFile = "/etc/sriov-operator/connectivity-guard.json";

/** A PF before a change. */
export interface GuardedPf extends PfBefore {
  /** What the host uses it for: "default route". */
  readonly use: readonly string[];
  readonly vfs: VfsBefore["vfs"];
  /** The steps of the change, in words. */
  readonly changes: readonly string[];
  /** As in RolledBackChange. */
  readonly specDigest: string;
}

/** A change whose probes were not seen to work after it. */
export interface OpenChange {
  /** boot_id of the boot in which the change was opened. */
  readonly bootId: string;
  /** Whether the next boot makes the change, and not the daemon. */
  readonly isAtBoot: boolean;
  /** Time that the probes have to work again. */
  readonly timeoutMs: number;
  /** Those that worked before the change. */
  readonly probes: readonly Probe[];
  readonly pfs: readonly GuardedPf[];
  /** The probe that failed; set before the first step of the rollback. */
  readonly failed?: Probe;
}

export interface GuardRecord {
  readonly open?: OpenChange;
  /** Changes that were undone, by the PCI address of the PF. */
  readonly rolledBack: Readonly<Record<string, RolledBackChange>>;
}

/** A file that is not a record knows nothing. Rejects with HostError. */
export async function readGuardRecord(files: Pick<HostFiles, "readText">): Promise<GuardRecord> {
  const value = await readJsonFile(files, guardFile);
  if (!isRecord(value)) return { rolledBack: {} };
  const open = parseOpen(value["open"]);
  const entries = isRecord(value["rolledBack"]) ? Object.entries(value["rolledBack"]) : [];
  const rolledBack = entries.filter(
    (entry): entry is [string, RolledBackChange] => parsePciAddress(entry[0]).ok && isRolledBack(entry[1]),
  );
  return { ...(open && { open }), rolledBack: Object.fromEntries(rolledBack) };
}

/** A record without content has no file. Rejects with HostError. */
export async function writeGuardRecord(
  files: Pick<HostFiles, "writeText" | "remove">,
  record: GuardRecord,
): Promise<void> {
  if (record.open === undefined && Object.keys(record.rolledBack).length === 0) await files.remove(guardFile);
  else await writeJsonFile(files, guardFile, record);
}

function parseOpen(value: unknown): OpenChange | undefined {
  if (!isRecord(value) || !Array.isArray(value["probes"]) || !Array.isArray(value["pfs"])) return undefined;
  const { bootId, isAtBoot, timeoutMs } = value;
  if (typeof bootId !== "string" || typeof timeoutMs !== "number" || !(timeoutMs > 0)) return undefined;
  const failed = parseProbe(value["failed"]);
  return {
    bootId,
    isAtBoot: isAtBoot === true,
    timeoutMs: Math.min(timeoutMs, maxTimeoutMs),
    probes: value["probes"].flatMap((each) => parseProbe(each) ?? []),
    pfs: value["pfs"].filter(isGuardedPf),
    ...(failed && { failed }),
  };
}

/** Longest time that the probes can have to work again. */
const maxTimeoutMs = 10 * 60_000;

function isGuardedPf(value: unknown): value is GuardedPf {
  if (!isRecord(value)) return false;
  const { pciAddress, isUp, numVfs, eSwitchMode, mtu, bridges, use, vfs, changes, specDigest } = value;
  return (
    typeof pciAddress === "string" &&
    parsePciAddress(pciAddress).ok &&
    typeof isUp === "boolean" &&
    isCount(numVfs) &&
    (mtu === undefined || isCount(mtu)) &&
    (eSwitchMode === undefined || typeof eSwitchMode === "string") &&
    isRecord(bridges) &&
    isTexts(use) &&
    isTexts(changes) &&
    typeof specDigest === "string" &&
    Array.isArray(vfs) &&
    vfs.every((vf) => isRecord(vf) && isCount(vf["vfId"]) && isTextOrAbsent(vf["driver"]) && isTextOrAbsent(vf["mac"]))
  );
}

function isRolledBack(value: unknown): value is RolledBackChange {
  if (!isRecord(value)) return false;
  const { changes, probe, undone, reachable, error, specDigest, reason, time } = value;
  return (
    isTexts(changes) &&
    isTexts(undone) &&
    [probe, specDigest, time].every((text) => typeof text === "string") &&
    (reason === "ApiServerUnreachable" || reason === "GatewayUnreachable") &&
    typeof reachable === "boolean" &&
    isTextOrAbsent(error)
  );
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
