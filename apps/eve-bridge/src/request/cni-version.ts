// SPDX-License-Identifier: Apache-2.0
/**
 * The versions of the CNI specification that eve-bridge supports.
 * Usage: `if (!isSupported(version)) ...; if (atLeast(version, "1.1.0")) ...`.
 */
import type { JsonObject } from "./json.ts";

/** The supported versions, oldest first. */
export const supportedVersions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** A supported version. */
export type CniVersion = (typeof supportedVersions)[number];

/** The version of a configuration without `cniVersion`. */
export const impliedVersion: CniVersion = "0.1.0";

/** The version of the answer to a runtime that does not name a supported version. */
export const newestVersion: CniVersion = "1.1.0";

/** Whether `version` is supported. "1.0" is not: the whole string must be equal. */
export function isSupported(version: string): version is CniVersion {
  return supportedVersions.some((supported) => supported === version);
}

/** Whether `version` is `least` or newer. */
export function atLeast(version: CniVersion, least: CniVersion): boolean {
  return supportedVersions.indexOf(version) >= supportedVersions.indexOf(least);
}

/** The answer to VERSION. It has the version that the runtime named, if that is supported. */
export function versionObject(asked: string | undefined): JsonObject {
  const cniVersion = asked !== undefined && isSupported(asked) ? asked : newestVersion;
  return { cniVersion, supportedVersions };
}
