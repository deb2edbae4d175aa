// SPDX-License-Identifier: Apache-2.0
/**
 * How a refusal is told: the same number and the same words from the webhook and from the CLI.
 * Usage: `const { code, message, shown } = describeRefusal(verdict.problems)`.
 */
import { describeFinding, type Finding } from "./finding.ts";

/** A field and what is wrong there. */
export type Problem = Pick<Finding, "field" | "message">;

export interface Refusal {
  /** HTTP status: the request was understood, and is not done. 422 is what CRDs refuse with. */
  readonly code: 403;
  /** All problems with their fields, on one line. */
  readonly message: string;
  /** The problems that the message has: enough to repair an object step by step, and no more than an answer has room for. */
  readonly shown: readonly Problem[];
}

const mostProblems = 50;

export function describeRefusal(problems: readonly Problem[]): Refusal {
  const shown = problems.slice(0, mostProblems);
  const lines = shown.map(describeFinding);
  if (shown.length < problems.length) lines.push(`and ${problems.length - shown.length} more problems`);
  return { code: 403, message: lines.join("; "), shown };
}
