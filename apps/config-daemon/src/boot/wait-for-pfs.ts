// SPDX-License-Identifier: Apache-2.0
/**
 * waitForPfs waits, early in a boot, until the drivers of the PFs have created their interfaces and udev has named them.
 */
import type { Host } from "@switchyard/host";
import type { StepTiming } from "../deadlines/with-deadline.ts";

export interface WaitForPfsOptions {
  readonly host: Host;
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
  /** Limit for everything. */
  readonly limitMs: number;
  readonly log: (line: string) => void;
}

/** The part of a spec of any kind that names PFs. */
interface PfsOfSpec {
  readonly interfaces?: readonly { readonly pciAddress?: string }[];
}

const pollMs = 200;

/** A PF that the node does not have is not waited for. Rejects with HostError if the PFs cannot be listed. */
export async function waitForPfs(spec: PfsOfSpec, options: WaitForPfsOptions): Promise<void> {
  const { host, timing, signal, limitMs, log } = options;
  const wanted = new Set<string | undefined>((spec.interfaces ?? []).map(({ pciAddress }) => pciAddress));
  const deadlineMs = timing.nowMs() + limitMs;
  const leftMs = () => Math.max(0, deadlineMs - timing.nowMs());

  for (;;) {
    const missing = (await host.sriov.listPfs()).filter(
      ({ pciAddress, netdevs }) => wanted.has(pciAddress) && netdevs.length === 0,
    );
    if (missing.length === 0) break;
    if (leftMs() === 0 || signal.aborted) {
      for (const { pciAddress } of missing) log(`${pciAddress} has no network interface after ${limitMs / 1000} s`);
      break;
    }
    await timing.sleep(pollMs, signal);
  }
  // Without an answer of udev the steps go on, and report it if they need udev.
  await host.udev.settle({ timeoutMs: Math.max(1_000, leftMs()), signal }).catch((error: unknown) => {
    log(String(error));
  });
}
