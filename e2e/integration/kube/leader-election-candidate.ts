// SPDX-License-Identifier: Apache-2.0
/**
 * A replica for leader-election.test.ts. The leader writes its name into a ConfigMap repeatedly and concurrently, so
 * that some requests are running when it is frozen. SIGUSR2 blocks its event loop for 5 s.
 * Usage: `node leader-election-candidate.ts <kubeconfig> <identity>`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connect, objectPath, runWhenLeading, type Leadership } from "@switchyard/kube";

const [, , kubeconfig = "", identity = ""] = process.argv;
const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const writersAtOnce = 4;

const end = new AbortController();
process.once("SIGTERM", () => {
  end.abort();
});
process.on("SIGUSR2", () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
});

await using transport = await connect({ kubeconfig, userAgent: identity });
await runWhenLeading({
  transport,
  lease: { namespace: "default", name: "work" },
  identity,
  signal: end.signal,
  timings: { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 500 },
  report: (error) => {
    console.error(identity, error);
  },
  onLeading: async (leadership) => {
    console.log(`${identity} leads`);
    await Promise.all(Array.from({ length: writersAtOnce }, () => writeOn(leadership)));
    console.log(`${identity} leads no more`);
  },
});

async function writeOn({ transport, signal }: Leadership): Promise<void> {
  const path = objectPath(configMaps, { namespace: "default", name: "work" });
  for (let count = 0; !signal.aborted; count++) {
    const body = { data: { by: identity, count: `${count}` } };
    const request = { method: "PATCH", path, body, contentType: "application/merge-patch+json", signal } as const;
    // The request was refused, or aborted at the deadline. The test checks only the writes that the server got.
    await transport.request(request).catch((error: unknown) => {
      console.log(identity, error instanceof Error ? error.message : error);
    });
    await sleep(20);
  }
}
