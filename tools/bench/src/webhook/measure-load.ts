// SPDX-License-Identifier: Apache-2.0
/**
 * One load of reviews on one server: how long each took, and what the server spent.
 * Usage: `results.push(await measureLoad(target, { load: loads[0], round: 1, reviews: 300 }))`
 */
import type { MeasuredService } from "../harness/measured-service.ts";
import { inParallel } from "../harness/plain-client.ts";
import type { KnownReview, Reviews } from "./review-objects.ts";
import type { ReviewClient } from "./review-client.ts";
import { summarize, type Latencies } from "./latencies.ts";

/** Where upstream has them. */
export const paths = { validate: "/validating-custom-resource", mutate: "/mutating-custom-resource" } as const;

export interface Load {
  readonly title: string;
  readonly path: string;
  readonly atOnce: number;
  readonly review: (reviews: Reviews, index: number) => KnownReview;
}

const creation = (reviews: Reviews, index: number) => reviews.creation(index);
const change = (reviews: Reviews, index: number) => reviews.change(index);

/** All that is measured. */
export const loads: readonly Load[] = [1, 8].flatMap((atOnce) => [
  { title: "new policy", path: paths.validate, atOnce, review: creation },
  { title: "changed policy", path: paths.validate, atOnce, review: change },
  { title: "new policy, defaults", path: paths.mutate, atOnce, review: creation },
]);

export interface LoadResult extends Latencies {
  readonly title: string;
  readonly atOnce: number;
  readonly round: number;
  /** Of the server, for 100 reviews. */
  readonly cpuSeconds: number;
  /** Answers that are not what the review deserves. */
  readonly wrong: number;
}

/** A server, and the way to it. */
export interface Target {
  readonly service: MeasuredService;
  readonly client: ReviewClient;
  readonly reviews: Reviews;
  readonly signal: AbortSignal;
}

export async function measureLoad(
  target: Target,
  { load, round, reviews: count }: { readonly load: Load; readonly round: number; readonly reviews: number },
): Promise<LoadResult> {
  const { service, client, reviews, signal } = target;
  const { title, path, atOnce, review } = load;
  const times: number[] = [];
  let wrong = 0;

  async function send(index: number): Promise<void> {
    signal.throwIfAborted();
    const { text, allowed } = review(reviews, index);
    const answer = await client.ask(path, text);
    times.push(answer.ms);
    if (answer.allowed !== allowed) wrong += 1;
  }
  const first = round * (count + warmUp);
  const numbers = (from: number, length: number) => Array.from({ length }, (_, index) => first + from + index);

  await inParallel(numbers(0, warmUp), atOnce, send);
  times.length = 0;
  const before = service.read().cpuSeconds;
  await inParallel(numbers(warmUp, count), atOnce, send);
  const cpuSeconds = ((service.read().cpuSeconds - before) / count) * 100;
  return { title, atOnce, round, ...summarize(times), cpuSeconds, wrong };
}

/** Connections are made and code is compiled by the first ones. */
const warmUp = 20;
