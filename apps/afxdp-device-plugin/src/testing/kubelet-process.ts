// SPDX-License-Identifier: Apache-2.0
/**
 * A process that is the fake kubelet of a device plugin in another process. It answers each line of its stdin, a Request, with a line
 * of JSON, and ends with its stdin.
 * Usage: `node apps/afxdp-device-plugin/src/testing/kubelet-process.ts KUBELET-DIRECTORY <requests`.
 */
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { PodDevices } from "@switchyard/kubelet";
import { startFakeKubelet } from "@switchyard/kubelet/testing";

/** One member is there. */
interface Request {
  /**
   * Waits until the plugin announces so many devices of the resource, and so many of them are healthy, all by default; at most two
   * minutes by default. Returns what the plugin announces.
   */
  readonly until?: {
    readonly resource: string;
    readonly count: number;
    readonly healthy?: number;
    readonly withinMs?: number;
  };
  /** Allocates devices, and returns what the plugin says about them. */
  readonly allocate?: { readonly resource: string; readonly ids: readonly string[] };
  /** Sets the devices of pods. */
  readonly pods?: readonly PodDevices[];
}

const [directory = ""] = process.argv.slice(2);
await using kubelet = await startFakeKubelet(directory);

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify((await answer(JSON.parse(line) as Request)) ?? null)}\n`);
}

async function answer({ until, allocate, pods }: Request): Promise<unknown> {
  if (pods !== undefined) kubelet.pods = pods;
  if (allocate !== undefined) return kubelet.allocate(allocate.resource, allocate.ids);
  if (until === undefined) return undefined;
  const { resource, count, healthy = count, withinMs = 120_000 } = until;
  const isThere = kubelet.until(resource, (devices = []) => {
    return devices.length === count && devices.filter(({ isHealthy }) => isHealthy).length === healthy;
  });
  return Promise.race([isThere, delay(withinMs).then(() => kubelet.lists(resource).at(-1) ?? [])]);
}
