// SPDX-License-Identifier: Apache-2.0
/**
 * createConfigCondition returns a function that sets one condition on the SriovOperatorConfig or AfxdpOperatorConfig, for
 * controllers that have no object of their own to report on. Each such condition needs its own field manager, because an apply removes
 * the fields that the manager owned before and no longer sends.
 */
import { defined, type Condition, type ObjectMeta, type ObjectStatus } from "@switchyard/api";
import { cutText, isKubeError, setConditions, type NewCondition } from "@switchyard/kube";

/** A config on which conditions are reported. */
export interface ReportedConfig {
  readonly metadata: ObjectMeta;
  readonly status?: Pick<ObjectStatus, "conditions"> | undefined;
}

/** A Writer of the config's kind. */
interface StatusWriter {
  applyStatus(
    intent: { readonly metadata: ObjectMeta; readonly status: { readonly conditions: readonly Condition[] } },
    signal: AbortSignal,
  ): Promise<unknown>;
}

export interface ConfigConditionDeps {
  readonly type: string;
  /** With a field manager of this condition only. */
  readonly writer: StatusWriter;
  readonly now: () => Date;
}

/** Status, reason and message of the condition; undefined removes it. Rejects with KubeError. */
export type SetConfigCondition = (
  config: ReportedConfig,
  condition: ConfigCondition | undefined,
  signal: AbortSignal,
) => Promise<void>;

export type ConfigCondition = Pick<NewCondition, "status" | "reason" | "message">;

export function createConfigCondition({ type, writer, now }: ConfigConditionDeps): SetConfigCondition {
  return async function setConfigCondition({ metadata, status }, condition, signal) {
    const hasCondition = status?.conditions?.some((existing) => existing.type === type) === true;
    if (condition === undefined && !hasCondition) return; // an empty apply would be a write, too
    const { name, uid, generation: observedGeneration = 0 } = metadata;
    const options = { now: now(), observedGeneration, types: [type] };
    const next = condition && setConditions(status?.conditions, [{ type, ...condition }], options);
    // With the uid, the apply fails for a deleted config instead of creating a new one.
    await writer.applyStatus({ metadata: { name, ...defined({ uid }) }, status: { conditions: next ?? [] } }, signal);
  };
}

export interface Failure {
  readonly controller: string;
  readonly error: unknown;
  /** When `error` was thrown. */
  readonly at: Date;
  /** When the first of the consecutive failures happened. */
  readonly since: Date;
}

/** Most bytes of one error, because answers of servers can be long. */
const maxBytes = 600;

/** Most failures that are described. */
const maxDescribed = 3;

/** describeFailures describes failures of controllers in one line of limited length. Pure. */
export function describeFailures(failures: readonly Failure[]): string {
  const named = failures
    .slice(0, maxDescribed)
    .map(({ controller, error }) => `controller ${controller}: ${describe(error)}`);
  const more = failures.length - named.length;
  return `${[...named, ...(more > 0 ? [`${more} more`] : [])].join("; ")}; retrying`;
}

function describe(error: unknown): string {
  const isExpected = isKubeError(error);
  const message = error instanceof Error ? error.message : String(error);
  const text = isExpected ? message : `unexpected error: ${message}`;
  return cutText(text, maxBytes);
}
