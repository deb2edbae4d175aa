// SPDX-License-Identifier: Apache-2.0
/**
 * describeRefusal turns problems into the code and message of a refusal. The webhook and the command line give the same
 * answer.
 * Usage: `const { code, message, shown } = describeRefusal(result.problems)`.
 */
import { describeFinding, type Finding } from "./finding.ts";

/** A field and what is wrong with its value. */
export type Problem = Pick<Finding, "field" | "message">;

export interface Refusal {
  /** HTTP status code. A violation of the CRD has 422 instead. */
  readonly code: 403;
  /** All problems with their fields, on one line. */
  readonly message: string;
  /** The problems in the message. There are at most 50, which keeps the answer small. */
  readonly shown: readonly Problem[];
}

const maxProblems = 50;

export function describeRefusal(problems: readonly Problem[]): Refusal {
  const shown = problems.slice(0, maxProblems);
  const lines = shown.map(describeFinding);
  if (shown.length < problems.length) lines.push(`and ${problems.length - shown.length} more problems`);
  return { code: 403, message: lines.join("; "), shown };
}
