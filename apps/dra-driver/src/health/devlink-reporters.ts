// SPDX-License-Identifier: Apache-2.0
/**
 * createDevlinkReporters follows the devlink health reporters of PFs. While a driver recovers from a failure or changes its mode, the
 * kernel can keep an answer for a minute. Nobody waits for one: until it is there, what was known before counts.
 */
import { parsePciAddress, type InterfaceStatus } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { setTimeout as delay } from "node:timers/promises";
import type { Problem } from "./damp.ts";

export interface DevlinkReporters {
  /** Asks the driver of the PF, unless an answer is still due. Never rejects. */
  look(nic: Pick<InterfaceStatus, "pciAddress" | "name">): Promise<Problem | undefined>;
}

/** An answer usually takes less than a millisecond. */
const waitMs = 500;

export function createDevlinkReporters({ devlink }: Pick<Host, "devlink">): DevlinkReporters {
  /** Name of the first reporter in error, by PF. */
  const failed = new Map<string, string>();
  const due = new Map<string, Promise<void>>();

  async function ask(pciAddress: string): Promise<void> {
    const pf = parsePciAddress(pciAddress);
    if (!pf.ok) return;
    try {
      const first = (await devlink.listHealthReporters(pf.value)).find(({ state }) => state === "error");
      if (first === undefined) failed.delete(pciAddress);
      else failed.set(pciAddress, first.name);
    } catch {
      // Not known: what was known before counts.
    } finally {
      due.delete(pciAddress);
    }
  }

  return {
    async look({ pciAddress, name = pciAddress }) {
      const answer = due.get(pciAddress) ?? ask(pciAddress);
      if (!due.has(pciAddress)) due.set(pciAddress, answer);
      const end = new AbortController();
      await Promise.race([answer, delay(waitMs, undefined, { signal: end.signal }).catch(() => undefined)]);
      end.abort();
      const reporter = failed.get(pciAddress);
      if (reporter === undefined) return undefined;
      const message = `PF ${name} (${pciAddress}): the health reporter "${reporter}" of its driver is in error`;
      return { reason: "device-error", message };
    },
  };
}
