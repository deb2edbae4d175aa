// SPDX-License-Identifier: Apache-2.0
/**
 * The life of a cluster, as data: what its users and nodes do, one step after the other. It begins and ends with nothing
 * there.
 * Usage: `for (const step of life.steps) await step.act(actors);`
 */
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { Actors } from "./actors.ts";

/** The operator's. */
export const namespace = "sriov-network-operator";

export interface Life {
  readonly name: string;
  /** The operator's, for this life. */
  readonly flags: readonly string[];
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  readonly act: (actors: Actors) => Promise<void>;
  /** VFs are in use, and nothing that is done is a reason to take them: not one may change, not even for a moment. */
  readonly keepsVfs?: true;
  /** Whether it came to what it is there for; a step is over when this holds and all is at rest. */
  readonly isDone: (objects: readonly KubeObject[]) => boolean;
}

/** Where an object of ours is: beside the operator. */
export function place(name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace };
}

export function ofKind(objects: readonly KubeObject[], kind: string): readonly KubeObject[] {
  return objects.filter((object) => object.kind === kind);
}

/** Whether the object's present spec has come to this condition; `label` is "Kind name". */
export function has(objects: readonly KubeObject[], label: string, type: string, reason?: string): boolean {
  const found = objects.find(({ kind, metadata: { name } }) => label === `${kind} ${name}`);
  const { conditions } = statusOf(found);
  const holds = (condition: unknown) =>
    isRecord(condition) &&
    condition["type"] === type &&
    condition["status"] === "True" &&
    condition["observedGeneration"] === found?.metadata.generation &&
    (reason === undefined || condition["reason"] === reason);
  return Array.isArray(conditions) && conditions.some(holds);
}

export function statusOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return object !== undefined && "status" in object && isRecord(object.status) ? object.status : {};
}
