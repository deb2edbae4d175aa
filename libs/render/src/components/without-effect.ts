// SPDX-License-Identifier: Apache-2.0
/**
 * fieldsWithoutEffect returns the fields of a SriovOperatorConfig that this release does not implement. They are not
 * passed to any process; each of them results in a warning.
 * Usage: `fieldsWithoutEffect(config.spec)` contains spec.enableOvsOffload if it is set.
 */
import type { SriovOperatorConfigSpec } from "@switchyard/api";
import type { ComponentProblem } from "./rendered-components.ts";

interface WithoutEffect {
  readonly field: string;
  readonly message: string;
  readonly isSet: (spec: SriovOperatorConfigSpec) => boolean;
}

const fields: readonly WithoutEffect[] = [
  {
    field: "spec.enableOvsOffload",
    message: "has no effect and should be removed",
    isSet: (spec) => "enableOvsOffload" in spec,
  },
];

/** Returns the fields that are set and have no effect, with messages. */
export function fieldsWithoutEffect(
  spec: SriovOperatorConfigSpec,
): readonly Pick<ComponentProblem, "field" | "message">[] {
  return fields.filter(({ isSet }) => isSet(spec)).map(({ field, message }) => ({ field, message }));
}
