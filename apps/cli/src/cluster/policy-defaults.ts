// SPDX-License-Identifier: Apache-2.0
/**
 * policyDefaults applies the mutating webhook to policies in files. Without it, a policy without a priority would be merged
 * as the strongest one, although the webhook would store it with priority 99.
 */
import { applyDefaults, type PatchOperation } from "@switchyard/admission";
import { operatorConfigName } from "@switchyard/api";
import { isJsonObject, textAt, type JsonObject, type Manifest } from "../json.ts";
import { isOfKind, isSwitchyardKind } from "./kinds.ts";

/** Returns the object as the cluster stores it, if it replaces `old`. The defaults of the CRD are already filled in. */
export type PolicyDefaults = (object: JsonObject, old?: unknown) => JsonObject;

/**
 * An object with a uid comes from a cluster that has already admitted it, so it is not changed. No defaults are filled in if
 * the SriovOperatorConfig in the input has `enableOperatorWebhook: false`.
 */
export function policyDefaults(manifests: readonly Manifest[], namespace: string): PolicyDefaults {
  const config = manifests.findLast((manifest) => isOperatorConfig(manifest, namespace))?.object["spec"];
  const hasWebhook = !isJsonObject(config) || config["enableOperatorWebhook"] !== false;
  return (object, old) => {
    const isAsStored = !hasWebhook || (old === undefined && textAt(object["metadata"], "uid"));
    return isAsStored ? object : withDefaults(object, old);
  };
}

/** Fills in the defaults of the mutating webhook. An object with a wrong shape is not changed. */
export function withDefaults(object: JsonObject, old: unknown): JsonObject {
  if (!isOfKind(object, "SriovNetworkNodePolicy")) return object;
  const change = isOfKind(old, "SriovNetworkNodePolicy")
    ? ({ operation: "UPDATE", object, oldObject: old } as const)
    : ({ operation: "CREATE", object } as const);
  return applyPatch({ ...object }, applyDefaults(change).patch);
}

function isOperatorConfig({ kind, apiVersion, name, namespace }: Manifest, home: string): boolean {
  const isDefault = kind === "SriovOperatorConfig" && name === operatorConfigName;
  return isDefault && isSwitchyardKind(kind, apiVersion) && (namespace || home) === home;
}

/**
 * applyPatch applies the JSON patch of the mutating webhook to an object.
 * Supports only members of maps: the webhook adds no items to lists.
 */
function applyPatch(object: JsonObject, patch: readonly PatchOperation[]): JsonObject {
  return patch.reduce((patched, { path, value }) => {
    const keys = path
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    return add(patched, keys, value);
  }, object);
}

function add(object: JsonObject, [key = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const member = object[key];
  const next = rest.length === 0 ? value : add(isJsonObject(member) ? member : {}, rest, value);
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== key), [key, next]]);
}
