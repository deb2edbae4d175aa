// SPDX-License-Identifier: Apache-2.0
/**
 * The mutating webhook, for policies that are not in the cluster yet: those of files. Policies without a priority would
 * otherwise be merged as the strongest ones, which they are not once the webhook has stored them with priority 99.
 * Usage: `const admitPolicy = policyDefaults(manifests, namespace); const stored = admitPolicy(object)`.
 */
import { applyDefaults } from "@switchyard/admission";
import { operatorConfigName } from "@switchyard/api";
import { isJsonObject, textAt, type JsonObject } from "../json.ts";
import type { Manifest } from "../input/manifest.ts";
import { applyPatch } from "../validate/apply-patch.ts";
import { fits, isOurs } from "./kinds.ts";

/** An object as the cluster stores it over `old`, if there is one. The CRD has pruned it and filled in its own defaults. */
export type PolicyDefaults = (object: JsonObject, old?: unknown) => JsonObject;

/**
 * What the cluster of the input does. An object with a uid is in a cluster already, which has admitted it: it stays as it
 * is, so that a live cluster, or a dump of one, means what it means there. Nobody fills in defaults where the
 * SriovOperatorConfig in the input says `enableOperatorWebhook: false`.
 */
export function policyDefaults(manifests: readonly Manifest[], namespace: string): PolicyDefaults {
  const config = manifests.findLast((manifest) => isOperatorConfig(manifest, namespace))?.object["spec"];
  const hasWebhook = !isJsonObject(config) || config["enableOperatorWebhook"] !== false;
  return (object, old) => {
    const isAsStored = !hasWebhook || (old === undefined && textAt(object["metadata"], "uid"));
    return isAsStored ? object : withDefaults(object, old);
  };
}

/** The mutating webhook's answer; what has the wrong shape stays as it is. */
export function withDefaults(object: JsonObject, old: unknown): JsonObject {
  if (!fits(object, "SriovNetworkNodePolicy")) return object;
  const change = fits(old, "SriovNetworkNodePolicy")
    ? ({ operation: "UPDATE", object, oldObject: old } as const)
    : ({ operation: "CREATE", object } as const);
  return applyPatch({ ...object }, applyDefaults(change).patch);
}

function isOperatorConfig({ kind, apiVersion, name, namespace }: Manifest, home: string): boolean {
  const isDefault = kind === "SriovOperatorConfig" && name === operatorConfigName;
  return isDefault && isOurs(kind, apiVersion) && (namespace || home) === home;
}
