// SPDX-License-Identifier: Apache-2.0
/** measureLoad sends reviews to a server and measures the latency of each and the server's CPU time. */
import type { MeasuredService } from "../harness/measured-service.ts";
import { inParallel } from "../harness/plain-client.ts";
import type { ReviewClient } from "./review-client.ts";
import type { KnownReview, Reviews } from "./review-objects.ts";

/**
 * summarize computes percentiles of latencies. Pure.
 * Percentiles in milliseconds.
 */
interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The paths of the webhook, which are the same as upstream's. */
export const paths = { validate: "/validating-custom-resource", mutate: "/mutating-custom-resource" } as const;

export interface Load {
  readonly title: string;
  readonly path: string;
  readonly atOnce: number;
  readonly review: (reviews: Reviews, index: number) => KnownReview;
}

const creation = (reviews: Reviews, index: number) => reviews.creation(index);
const change = (reviews: Reviews, index: number) => reviews.change(index);

/** The loads that are measured. */
export const loads: readonly Load[] = [1, 8].flatMap((atOnce) => [
  { title: "new policy", path: paths.validate, atOnce, review: creation },
  { title: "changed policy", path: paths.validate, atOnce, review: change },
  { title: "new policy, defaults", path: paths.mutate, atOnce, review: creation },
]);

export interface LoadResult extends Latencies {
  readonly title: string;
  readonly atOnce: number;
  readonly round: number;
  /** CPU time of the server for 100 reviews. */
  readonly cpuSeconds: number;
  /** Number of wrong decisions. */
  readonly wrong: number;
}

/** A server and a client that is connected to it. */
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

/** Number of reviews before the measurement, in which connections are opened and code is compiled. */
const warmUp = 20;

/** The percentiles of at least one time: p99 is the smallest value that 99% of the times do not exceed. */
export function summarize(times: readonly number[]): Latencies {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
