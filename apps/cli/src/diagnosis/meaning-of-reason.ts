// SPDX-License-Identifier: Apache-2.0
/**
 * meaningOfReason returns what the reason of a condition means, from the generated reference.
 * Usage: `meaningOfReason("nodeStateReasons", "StepFailed")`.
 */
import type { ReasonTableName } from "./condition-advice.ts";
import { reference } from "./reference.gen.ts";

/** Undefined if the table has no such reason. */
export function meaningOfReason(table: ReasonTableName, reason: string): string | undefined {
  return reference.reasons.find((entry) => entry.table === table && entry.name === reason)?.meaning;
}
