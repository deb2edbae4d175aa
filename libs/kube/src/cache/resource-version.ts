// SPDX-License-Identifier: Apache-2.0
/**
 * Order of resourceVersions. They are decimal numbers that grow with each write (Kubernetes promises it since 1.35; etcd
 * did so before).
 * Usage: `if (isBehind(cache.position, written)) console.log("the cache has yet to hear of our write")`.
 */

/** Whether `position` is known to be before `version`. Of what are no such numbers, nothing is known. */
export function isBehind(position: string, version: string): boolean {
  if (!decimal.test(position) || !decimal.test(version)) return false;
  return position.length === version.length ? position < version : position.length < version.length;
}

const decimal = /^[1-9]\d*$/;
