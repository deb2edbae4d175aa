// SPDX-License-Identifier: Apache-2.0
/**
 * A process that is the fake kubelet of a device plugin in another process. It answers each line of its stdin, a Request, with a line
 * of JSON, and ends with its stdin.
 * Usage: `node apps/afxdp-device-plugin/src/testing/kubelet-process.ts KUBELET-DIRECTORY <requests`.
 */
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { PodDevices } from "../kubelet/pod-resources-messages.ts";
import { startFakeKubelet } from "./fake-kubelet.ts";

/** One member is there. */
interface Request {
  /** Waits until the plugin announces so many devices of the resource, at most two minutes, and returns what it announces. */
  readonly until?: { readonly resource: string; readonly count: number };
  /** Allocates devices, and returns what the plugin says about them. */
  readonly allocate?: { readonly resource: string; readonly ids: readonly string[] };
  /** Sets the devices of pods. */
  readonly pods?: readonly PodDevices[];
}

const untilMs = 120_000;
const [directory = ""] = process.argv.slice(2);
await using kubelet = await startFakeKubelet(directory);

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify((await answer(JSON.parse(line) as Request)) ?? null)}\n`);
}

async function answer({ until, allocate, pods }: Request): Promise<unknown> {
  if (pods !== undefined) kubelet.pods = pods;
  if (allocate !== undefined) return kubelet.allocate(allocate.resource, allocate.ids);
  if (until === undefined) return undefined;
  const isThere = kubelet.until(until.resource, (devices) => (devices?.length ?? 0) === until.count);
  await Promise.race([isThere, delay(untilMs)]);
  return kubelet.lists(until.resource).at(-1) ?? [];
}
