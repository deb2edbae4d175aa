// SPDX-License-Identifier: Apache-2.0
/**
 * misspeltKind finds objects whose kind, version or group is almost one of Switchyard's. `kubectl apply` refuses them, so a check that
 * ignores them as objects of other programs would be wrong.
 */
import { customResources } from "@switchyard/api";
import { nearestName } from "@switchyard/policy";
import type { Manifest } from "../json.ts";

/** Returns what is wrong and what may be meant; undefined for kinds of Switchyard, and of other programs. */
export function misspeltKind({ kind, apiVersion }: Pick<Manifest, "kind" | "apiVersion">): string | undefined {
  const [group, ...versions] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const isOurGroup = customResources.some((type) => type.group === group);
  const isNearGroup = isOurGroup || nearestName(group ?? "", groups) !== undefined;
  // In a group of others, only the very name of a kind shows that a group was forgotten.
  const name = isNearGroup ? nearestName(kind, kinds) : kind;
  const type = customResources.find((one) => one.kind === name);
  if (type === undefined) return isOurGroup ? `kind: group ${group} has no kind "${kind}"` : undefined;
  if (!isNearGroup && group !== "" && !ownPrefix.test(kind)) return undefined;
  if (type.kind === kind && `${type.group}/${type.version}` === [group, ...versions].join("/")) return undefined;
  const field = type.kind === kind ? "apiVersion" : "kind";
  const value = type.kind === kind ? apiVersion : kind;
  return `${field}: "${value}" does not exist: did you mean kind ${type.kind} of ${type.group}/${type.version}?`;
}

/** Kinds of no other program begin so, whatever the group. */
const ownPrefix = /^(?:Sriov|Afxdp)/;

const groups = customResources.map(({ group }) => group);
const kinds = customResources.map(({ kind }) => kind);
