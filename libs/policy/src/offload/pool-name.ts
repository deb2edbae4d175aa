// SPDX-License-Identifier: Apache-2.0
/**
 * Names of offload pools in clusters without MachineConfigPools. The name is the value of a label and part of object
 * names, and must not change while other entries come and go.
 */
import { createHash } from "node:crypto";
import type { Labels } from "../nodes/label-selector.ts";
import { compareText } from "../order.ts";

/**
 * Returns the name of the pool that a nodeSelector makes: the last part of its first key, and the value if it has one. A
 * selector that this does not describe completely (several labels, the prefix of another project, characters that a name
 * cannot have) also gets a hash.
 */
export function poolNameOf(selector: Labels): string {
  const text = firstLabel(selector);
  const [key = "", ...others] = Object.keys(selector);
  const isKnownKey = !key.includes("/") || key.startsWith(rolePrefix);
  const isComplete = others.length === 0 && isKnownKey && isPoolName(text);
  return isComplete ? text : hashedPoolNameOf(selector);
}

/** Returns the name with a hash of the selector, for use if another selector makes the same name. */
export function hashedPoolNameOf(selector: Labels): string {
  const hash = createHash("sha256")
    .update(JSON.stringify(sorted(selector)))
    .digest("hex")
    .slice(0, hashLength);
  const start = firstLabel(selector)
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]+/g, "-")
    .slice(0, maxLength - hashLength - 1)
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
  return `${start === "" ? "pool" : start}-${hash}`;
}

/** Reports whether the text can be the value of a label and part of the names of objects. */
export function isPoolName(text: string): boolean {
  return text.length <= maxLength && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);
}

const rolePrefix = "node-role.kubernetes.io/";

const hashLength = 6;

/** Limit of label values. */
const maxLength = 63;

function firstLabel(selector: Labels): string {
  const [key = "", value = ""] = sorted(selector)[0] ?? [];
  const name = key.slice(key.lastIndexOf("/") + 1);
  return value === "" ? name : `${name}-${value}`;
}

function sorted(selector: Labels): readonly (readonly [string, string])[] {
  return Object.entries(selector).sort(([a], [b]) => compareText(a, b));
}
