// SPDX-License-Identifier: Apache-2.0
/**
 * createPcieErrors follows the counters of uncorrectable PCIe errors of PFs. The counters never go back, so a PF has a problem for five
 * minutes after they have risen. What they had when they were first read may be old, and is no problem.
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import type { Problem } from "./damp.ts";
import { readPcieErrors } from "./read-health.ts";

export interface PcieErrors {
  /** Reads the counters of the PF. Rejects with HostError. */
  look(nic: Pick<InterfaceStatus, "pciAddress" | "name">): Promise<Problem | undefined>;
}

export interface PcieErrorsDeps {
  readonly host: Pick<Host, "files">;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

interface Counted {
  readonly errors: number;
  /** When the errors began, of which the last one is not five minutes old. */
  readonly rising?: { readonly from: number; readonly lastMs: number };
}

const memoryMs = 300_000;

export function createPcieErrors({ host, nowMs }: PcieErrorsDeps): PcieErrors {
  const counted = new Map<string, Counted>();
  return {
    async look({ pciAddress, name = pciAddress }) {
      const errors = await readPcieErrors(host, pciAddress);
      if (errors === undefined) return undefined;
      const { errors: before, rising } = counted.get(pciAddress) ?? { errors };
      const recent = rising !== undefined && nowMs() - rising.lastMs < memoryMs ? rising : undefined;
      // After a hot plug, the counters begin at 0 again.
      const now =
        errors > before ? { from: recent?.from ?? before, lastMs: nowMs() } : errors < before ? undefined : recent;
      counted.set(pciAddress, now === undefined ? { errors } : { errors, rising: now });
      if (now === undefined) return undefined;
      const count = errors - now.from;
      return {
        reason: "pcie-errors",
        message:
          count === 1
            ? `PF ${name} (${pciAddress}) has reported 1 uncorrectable PCIe error`
            : `PF ${name} (${pciAddress}) has reported ${count} uncorrectable PCIe errors`,
      };
    },
  };
}
