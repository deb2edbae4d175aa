// SPDX-License-Identifier: Apache-2.0
/**
 * The versions of the CNI specification that we speak.
 * Usage: `if (!isSupported(version)) ...; if (atLeast(version, "1.1.0")) ...`.
 */
import type { JsonObject } from "./json.ts";

/** Oldest first. */
export const supportedVersions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** One of them. */
export type CniVersion = (typeof supportedVersions)[number];

/** What a configuration without `cniVersion` means. */
export const impliedVersion: CniVersion = "0.1.0";

/** What VERSION answers to a runtime that does not say which version it speaks. */
export const newestVersion: CniVersion = "1.1.0";

/** Whether `version` is one of ours. Only whole equality counts: "1.0" is none. */
export function isSupported(version: string): version is CniVersion {
  return supportedVersions.some((supported) => supported === version);
}

/** Whether `version` is `least` or newer. */
export function atLeast(version: CniVersion, least: CniVersion): boolean {
  return supportedVersions.indexOf(version) >= supportedVersions.indexOf(least);
}

/** The answer to VERSION: the version of the question comes back when we speak it. */
export function versionObject(asked: string | undefined): JsonObject {
  const cniVersion = asked !== undefined && isSupported(asked) ? asked : newestVersion;
  return { cniVersion, supportedVersions };
}
