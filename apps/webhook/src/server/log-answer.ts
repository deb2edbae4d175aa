// SPDX-License-Identifier: Apache-2.0
/**
 * logAnswer writes one line for a refused change, and at level debug one for each review. Anyone who can connect to the port
 * chooses the texts, so they are cut: a line has a few kilobytes at most.
 */
import type { Logger } from "@switchyard/service";
import type { ReviewAnswer, ReviewRequest } from "../admission-review.ts";

export interface AnsweredReview {
  readonly request: ReviewRequest;
  readonly answer: ReviewAnswer;
  readonly tookMs: number;
}

/** The answer to the client has all problems. */
const mostProblems = 5;

/** Names in Kubernetes have at most 253 characters. */
const longestName = 253;
const longestMessage = 300;

export function logAnswer(log: Logger, { request, answer: { allowed, problems = [] }, tookMs }: AnsweredReview): void {
  const { operation, dryRun } = request;
  const [kind, namespace, name, userName] = [request.kind, request.namespace, request.name, request.userName].map(
    (text) => cut(text, longestName),
  );
  const about = { kind, namespace, name, operation, dryRun };
  if (!allowed) {
    const shown = problems.slice(0, mostProblems).map((problem) => {
      return { field: cut(problem.field, longestName), message: cut(problem.message, longestMessage) };
    });
    log.info({ ...about, problems: shown, numProblems: problems.length }, "change refused");
  }
  log.debug({ ...about, userName, allowed, tookMs }, "change reviewed");
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
