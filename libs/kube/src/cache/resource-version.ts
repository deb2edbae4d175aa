// SPDX-License-Identifier: Apache-2.0
/**
 * isBehind compares resourceVersions. They are decimal numbers that grow with each write: guaranteed by Kubernetes since
 * 1.35, and a property of etcd before.
 * Usage: `if (isBehind("99", "100")) console.log("the cache has not seen this write yet")`.
 */

/** Reports whether `position` is before `version`. Returns false if one of them is not such a number. */
export function isBehind(position: string, version: string): boolean {
  if (!decimal.test(position) || !decimal.test(version)) return false;
  return position.length === version.length ? position < version : position.length < version.length;
}

const decimal = /^[1-9]\d*$/;
