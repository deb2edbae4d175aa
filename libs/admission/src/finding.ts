// SPDX-License-Identifier: Apache-2.0
/**
 * ReviewFinding is what a rule says about an object: a refusal or a warning at a field.
 * Usage: `refuse("spec.numVfs", "must be at least 1")`.
 */

/** A refusal rejects the object; a warning does not. */
export interface ReviewFinding {
  readonly severity: "refusal" | "warning";
  /** Path of the field, such as "spec.nicSelector.pfNames[0]"; empty for the object as a whole. */
  readonly field: string;
  /** What is wrong and what would be right. Does not repeat the path. */
  readonly message: string;
  /** Identifies a violation whose message contains values that the user can change. */
  readonly violation?: Violation | undefined;
}

/** What two findings about an old and a new object have in common if they are about the same violation. */
export interface Violation {
  /** What is wrong, with the device or object that it is wrong with: "too-many-vfs 0000:3b:00.0". */
  readonly code: string;
  /** The nodes that have the violation; absent if it does not depend on nodes. */
  readonly nodes?: readonly string[];
  /** How far the value is beyond what is possible; 0 if the violation has no size. */
  readonly amount: number;
}

/** A finding that rejects the object. */
export function refuse(field: string, message: string, violation?: Violation): ReviewFinding {
  return { severity: "refusal", field, message, ...(violation && { violation }) };
}

/** A finding that is shown to the user while the object is admitted. */
export function warn(field: string, message: string): ReviewFinding {
  return { severity: "warning", field, message };
}

/** The finding with the nodes that it is about, in its message and its violation. */
export function onNodes(finding: ReviewFinding, nodes: readonly string[]): ReviewFinding {
  const { message, violation } = finding;
  return {
    ...finding,
    message: `${message} on ${listNames(nodes)}`,
    ...(violation && { violation: { ...violation, nodes } }),
  };
}

/**
 * What a rule says because of reports of nodes, decided by most of the nodes that the object concerns. If less than half of them are
 * a reason to refuse it, the refusals become warnings. Nodes report their NICs themselves, so one that is broken or taken over must
 * not decide for the others. Its own condition says that it cannot apply the object.
 * @param refusing Names of the nodes that are a reason for any of the refusals.
 * @param concerned Number of the nodes that the object concerns.
 */
export function decidedByMost(
  findings: readonly ReviewFinding[],
  refusing: Iterable<string>,
  concerned: number,
): readonly ReviewFinding[] {
  const count = new Set(refusing).size;
  if (count * 2 >= concerned) return findings;
  return findings.map((finding) =>
    finding.severity === "warning"
      ? finding
      : warn(finding.field, `${finding.message}; the other ${concerned - count} nodes can apply it`),
  );
}

/** One line, such as "spec.numVfs: must be at least 1". */
export function describeFinding({ field, message }: Pick<ReviewFinding, "field" | "message">): string {
  return field === "" ? message : `${field}: ${message}`;
}

/** A field and what is wrong with its value. */
export type Problem = Pick<ReviewFinding, "field" | "message">;

interface Refusal {
  /** HTTP status code. A violation of the CRD has 422 instead. */
  readonly code: 403;
  /** All problems with their fields, on one line. */
  readonly message: string;
  /** The problems in the message. There are at most 50, which keeps the answer small. */
  readonly shown: readonly Problem[];
}

const maxProblems = 50;

/**
 * describeRefusal turns problems into the code and message of a refusal. The webhook and the command line give the same answer.
 */
export function describeRefusal(problems: readonly Problem[]): Refusal {
  const shown = problems.slice(0, maxProblems);
  const lines = shown.map(describeFinding);
  const more = problems.length - shown.length;
  if (more > 0) lines.push(more === 1 ? "and 1 more problem" : `and ${more} more problems`);
  return { code: 403, message: lines.join("; "), shown };
}

/**
 * Parts of messages: short lists of names, quoted values, and texts that fit into a warning.
 * Joins the names with commas. Names after the first `most` are only counted.
 */
export function listNames(names: readonly string[], most = 3): string {
  const shown = names.length <= most + 1 ? names : names.slice(0, most);
  const more = names.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} more`;
}

/** A user's text in quotes, on one line, cut to `most` UTF-16 units. */
export function quote(text: string, most = 64): string {
  return JSON.stringify(cutLine(text, most));
}

/** Replaces line breaks and control characters by blanks and cuts the text to `most` UTF-16 units: a warning is an HTTP header. */
export function cutLine(text: string, most: number): string {
  const line = text.replaceAll(/\p{Cc}+/gu, " ");
  return line.length <= most ? line : `${line.slice(0, most - 3)}...`;
}
