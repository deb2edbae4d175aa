// SPDX-License-Identifier: Apache-2.0
/**
 * compareAnswers checks that concurrent reviews get the same answers as single ones. Upstream admits an invalid
 * policy if it reviews a valid one at the same time (sriov-operator.md M-26).
 */
import { inParallel } from "../harness/plain-client.ts";
import { paths } from "./measure-load.ts";
import type { ReviewAnswer, ReviewClient } from "./review-client.ts";
import type { Reviews } from "./review-objects.ts";

export interface AnswerComparison {
  readonly reviews: number;
  /** Number of decisions or reasons that differ from those of a single review, plus wrong decisions of single reviews. */
  readonly wrong: number;
  /** Number of answers with other warnings. The webhook omits warnings that take too long on a busy machine. */
  readonly otherWarnings: number;
}

export async function compareAnswers(
  client: ReviewClient,
  reviews: Reviews,
  signal: AbortSignal,
): Promise<AnswerComparison> {
  const mixed = Array.from({ length: different }, (_, index) => reviews.mixed(index));
  const alone: ReviewAnswer[] = [];
  let wrong = 0;
  let otherWarnings = 0;
  for (const { text, allowed } of mixed) {
    signal.throwIfAborted();
    const answer = await client.ask(paths.validate, text);
    alone.push(answer);
    if (answer.allowed !== allowed) wrong += 1;
  }
  const order = Array.from({ length: different * times }, (_, place) => (place * stride) % different);
  await inParallel(order, atOnce, async (index) => {
    signal.throwIfAborted();
    const answer = await client.ask(paths.validate, mixed[index]?.text ?? "");
    if (answer.decision !== alone[index]?.decision) wrong += 1;
    if (answer.warnings !== alone[index]?.warnings) otherWarnings += 1;
  });
  return { reviews: different * (times + 1), wrong, otherWarnings };
}

const different = 96;
const times = 5;
const atOnce = 16;

/**
 * Has no common divisor with `different`, so that every review is sent, and valid and invalid ones alternate
 * irregularly.
 */
const stride = 37;
