// SPDX-License-Identifier: Apache-2.0
/**
 * AdmissionPlacement is where an administrator wants the webhook and the injector to run, instead of control plane nodes. It comes as
 * JSON from a variable of the operator, and is checked before it becomes a part of pods.
 */
import type { Toleration } from "../objects/pod-template.ts";

/** With a nodeSelector or an affinity, the servers need no control plane node. Tolerations are added to those that they have. */
export interface AdmissionPlacement {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
  /** As in the spec of a pod. The API server checks it. */
  readonly affinity?: Readonly<Record<string, unknown>>;
}

/** Reads JSON such as `{"nodeSelector":{"pool":"infra"}}`; undefined if it is no JSON, or a field has another type. */
export function parseAdmissionPlacement(text: string): AdmissionPlacement | undefined {
  const value = parseJson(text);
  if (!isObject(value) || Object.keys(value).some((key) => !fields.includes(key))) return undefined;
  const { nodeSelector = {}, tolerations = [], affinity } = value;
  if (!isObject(nodeSelector) || !isTexts(nodeSelector)) return undefined;
  if (!Array.isArray(tolerations) || !tolerations.every(isToleration)) return undefined;
  if (affinity !== undefined && affinity !== null && !isObject(affinity)) return undefined;
  return {
    nodeSelector,
    tolerations,
    // Helm passes a value without keys as an empty object, which means none.
    ...(isObject(affinity) && Object.keys(affinity).length > 0 && { affinity }),
  };
}

/** Reports whether the placement says on which nodes the servers run. */
export function choosesNodes({ nodeSelector = {}, affinity }: AdmissionPlacement): boolean {
  return Object.keys(nodeSelector).length > 0 || affinity !== undefined;
}

const fields = ["nodeSelector", "tolerations", "affinity"];

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, string>> {
  return Object.values(value).every((item) => typeof item === "string");
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function isToleration(value: unknown): value is Toleration {
  if (!isObject(value)) return false;
  const { key, operator = "Equal", value: wanted, effect, tolerationSeconds, ...others } = value;
  return (
    Object.keys(others).length === 0 &&
    [key, wanted].every((text) => text === undefined || typeof text === "string") &&
    (operator === "Exists" || (operator === "Equal" && Boolean(key))) &&
    (effect === undefined || (typeof effect === "string" && effects.includes(effect))) &&
    (tolerationSeconds === undefined || Number.isInteger(tolerationSeconds))
  );
}
