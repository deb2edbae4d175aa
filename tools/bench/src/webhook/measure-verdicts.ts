// SPDX-License-Identifier: Apache-2.0
/**
 * Whether reviews get the same answers side by side as alone (sriov-operator.md M-26: upstream admits a bad policy beside a
 * good one).
 * Usage: `const { wrong } = await measureVerdicts(client, reviews, signal)`
 */
import { inParallel } from "../cluster/plain-client.ts";
import { paths } from "./measure-load.ts";
import type { ReviewClient } from "./review-client.ts";
import type { Reviews } from "./review-objects.ts";

export interface VerdictResult {
  readonly reviews: number;
  /** Answers other than those given alone, in verdict, words or warnings, and answers that are wrong at all. */
  readonly wrong: number;
}

export async function measureVerdicts(
  client: ReviewClient,
  reviews: Reviews,
  signal: AbortSignal,
): Promise<VerdictResult> {
  const mixed = Array.from({ length: different }, (_, index) => reviews.mixed(index));
  const alone: string[] = [];
  let wrong = 0;
  for (const { text, allowed } of mixed) {
    signal.throwIfAborted();
    const answer = await client.ask(paths.validate, text);
    alone.push(answer.text);
    if (answer.allowed !== allowed) wrong += 1;
  }
  const order = Array.from({ length: different * times }, (_, place) => (place * stride) % different);
  await inParallel(order, atOnce, async (index) => {
    signal.throwIfAborted();
    const answer = await client.ask(paths.validate, mixed[index]?.text ?? "");
    if (answer.text !== alone[index]) wrong += 1;
  });
  return { reviews: different * (times + 1), wrong };
}

const different = 96;
const times = 5;
const atOnce = 16;

/** Without a common divisor with `different`: all come, in an order that puts good and bad ones side by side. */
const stride = 37;
