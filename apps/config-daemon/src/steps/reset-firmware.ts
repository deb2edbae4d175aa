// SPDX-License-Identifier: Apache-2.0
/**
 * resetFirmware resets a Mellanox card, so that changed firmware settings take effect (sriov-operator.md F.8).
 */
import type { Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";
import { addressOf } from "./set-firmware.ts";

const settleTimeoutMs = 60_000;

/** Removes the VFs of all ports first, because a card with VFs cannot be reset. */
export async function resetFirmware({ ports }: NodeStep<"reset-firmware">, host: Host): Promise<void> {
  const addresses = ports.map(addressOf);
  for (const port of addresses) {
    if (((await host.sriov.readPf(port))?.sriov?.numVfs ?? 0) > 0) await host.sriov.setNumVfs(port, 0);
  }
  const [first] = addresses;
  if (first === undefined) return;
  await host.firmware.resetCard(first);
  // The driver creates the interfaces again, and udev names them. A step that needs udev reports the error if udev hangs.
  const { signal } = new AbortController();
  await host.udev.settle({ timeoutMs: settleTimeoutMs, signal }).catch(() => undefined);
}
