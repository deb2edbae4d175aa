// SPDX-License-Identifier: Apache-2.0
/**
 * untilReady waits until a service is ready.
 * Usage: `await untilReady("http://127.0.0.1:8080/readyz", run.signal)`
 */
import { until } from "./until.ts";

/** Requests `url` until the answer is 200. Rejects with BenchError `late`, or with the signal's reason. */
export async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  // A request fails while the service does not listen yet.
  const isReady = () =>
    fetch(url, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(`200 on ${url}`, isReady, { withinMs: 120_000, signal });
}
