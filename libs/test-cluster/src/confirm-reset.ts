// SPDX-License-Identifier: Apache-2.0
/**
 * confirmReset confirms that nodes which lost all their policies are reset at once, as a person does who reads the condition ResetHeld. It
 * waits until the operator announces the reset. The operator does so only if most of at least three configured nodes lost them.
 * Usage: `await confirmReset(sriovOperatorConfigs, { read: (path) => transport.request({ method: "GET", path }), merge });`.
 */
import { annotations, conditionTypes, operatorConfigName } from "@switchyard/api";
import { isRecord, objectPath, type ResourceType } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import { namespace as defaultNamespace } from "./test-cluster.ts";

/** How the configuration is read and changed. */
export interface ConfigAccess {
  /** Namespace of the operator, if it is not that of a test cluster. */
  readonly namespace?: string;
  readonly read: (path: string) => Promise<unknown>;
  /** Sends a merge patch. */
  readonly merge: (path: string, patch: object) => Promise<unknown>;
}

/** `type` is the kind of the configuration of the policies: SriovOperatorConfig or AfxdpOperatorConfig. */
export async function confirmReset(
  type: ResourceType,
  { namespace = defaultNamespace, read, merge }: ConfigAccess,
): Promise<void> {
  const path = objectPath(type, { name: operatorConfigName, namespace });
  const time = await eventually("the reset is announced", async () => resetTimeIn(await read(path)), {
    withinMs: 60_000,
  });
  await merge(path, { metadata: { annotations: { [annotations.resetConfirmed]: time } } });
}

/** Returns the time in the message of ResetHeld that confirms a reset; undefined if none is announced. */
function resetTimeIn(config: unknown): string | undefined {
  const status = isRecord(config) && isRecord(config["status"]) ? config["status"] : {};
  const conditions = Array.isArray(status["conditions"]) ? status["conditions"].filter(isRecord) : [];
  const held = conditions.find((condition) => condition["type"] === conditionTypes.resetHeld);
  return new RegExp(`${annotations.resetConfirmed}=(\\S+)`).exec(String(held?.["message"]))?.[1];
}
