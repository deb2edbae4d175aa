// SPDX-License-Identifier: Apache-2.0
/**
 * reboot records the causes and reboots the node. A daemon that is killed in between finds the record of its own boot, and
 * reboots the node then. After the boot, the record prevents another reboot for the same causes (libs/plan/src/reboot.ts).
 */
import { HostError, type Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";
import { readRebootRecord, writeRebootRecord } from "./reboot-record.ts";
import type { NodeStepContext } from "./step-context.ts";

/** Pods with a long grace period and services with a long stop may take this time. */
const shutdownMs = 15 * 60_000;

/** Resolves when the daemon is stopped. Rejects with HostError if the node does not shut down. */
export async function reboot(step: NodeStep<"reboot">, host: Host, { timing, signal }: NodeStepContext): Promise<void> {
  const bootId = await host.boot.readBootId();
  const last = await readRebootRecord(host.files);
  await writeRebootRecord(host.files, { bootId, causes: [...new Set([...(last?.causes ?? []), ...step.causes])] });
  await host.systemd.reboot(`Switchyard reboots this node for ${step.causes.join(", ")}`);
  await timing.sleep(shutdownMs, signal);
  if (signal.aborted) return;
  const words = `the node has not shut down after ${shutdownMs / 60_000} min`;
  throw new HostError({ action: "reboot", target: "the node" }, "ETIMEDOUT", { words });
}
