// SPDX-License-Identifier: Apache-2.0
/**
 * Whether reviews get the same answers side by side as alone (sriov-operator.md M-26: upstream admits a bad policy beside a
 * good one).
 * Usage: `const { wrong } = await measureVerdicts(client, reviews, signal)`
 */
import { inParallel } from "../harness/plain-client.ts";
import { paths } from "./measure-load.ts";
import type { ReviewAnswer, ReviewClient } from "./review-client.ts";
import type { Reviews } from "./review-objects.ts";

export interface VerdictResult {
  readonly reviews: number;
  /** Verdicts or reasons other than those given alone, and verdicts that are wrong at all. */
  readonly wrong: number;
  /** Answers with other warnings: a busy machine has less time for them. */
  readonly otherWarnings: number;
}

export async function measureVerdicts(
  client: ReviewClient,
  reviews: Reviews,
  signal: AbortSignal,
): Promise<VerdictResult> {
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
    if (answer.verdict !== alone[index]?.verdict) wrong += 1;
    if (answer.warnings !== alone[index]?.warnings) otherWarnings += 1;
  });
  return { reviews: different * (times + 1), wrong, otherWarnings };
}

const different = 96;
const times = 5;
const atOnce = 16;

/** Without a common divisor with `different`: all come, in an order that puts good and bad ones side by side. */
const stride = 37;
