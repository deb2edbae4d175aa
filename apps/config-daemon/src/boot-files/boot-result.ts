// SPDX-License-Identifier: Apache-2.0
/**
 * formatBootResult and parseBootResult write and read the result of the boot phases. The first two fields are those of the
 * Go operator (sriov-operator.md F.7).
 */
import { bootFileHeader, defined } from "@switchyard/api";

export const bootResultPath = "/etc/sriov-operator/sriov-interface-result.yaml";

/** The phases of a boot: before and after the network starts. */
export const bootPhases = ["pre", "post"] as const;
export type BootPhase = (typeof bootPhases)[number];

export interface BootResult {
  /** InProgress until the last phase has ended. */
  readonly syncStatus: "InProgress" | "Succeeded" | "Failed";
  /** One line; "" after a success. */
  readonly lastSyncError: string;
  /** boot_id of the boot in which the phases ran. */
  readonly bootID: string;
  /** Identifies the configuration that the phases used. */
  readonly configDigest: string;
}

export function formatBootResult({ syncStatus, lastSyncError, bootID, configDigest }: BootResult): string {
  const fields = { syncStatus, lastSyncError, bootID, configDigest };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return [bootFileHeader, ...lines, ""].join("\n");
}

/** Returns undefined unless the text is a result of this program. */
export function parseBootResult(text: string): BootResult | undefined {
  const found = new Map<string, string>();
  for (const [, key = "", value = ""] of text.matchAll(/^(\w+): ("(?:[^"\\\n]|\\.)*")$/gm)) {
    const read = parseText(value);
    if (read !== undefined) found.set(key, read);
  }
  const fields = {
    syncStatus: statuses.find((status) => status === found.get("syncStatus")),
    lastSyncError: found.get("lastSyncError"),
    bootID: found.get("bootID"),
    configDigest: found.get("configDigest"),
  };
  const result = defined(fields);
  return isComplete(result) ? result : undefined;
}

const statuses = ["InProgress", "Succeeded", "Failed"] as const;

function isComplete(result: Partial<BootResult>): result is BootResult {
  const { syncStatus, lastSyncError, bootID, configDigest } = result;
  return [syncStatus, lastSyncError, bootID, configDigest].every((field) => field !== undefined);
}

function parseText(quoted: string): string | undefined {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
