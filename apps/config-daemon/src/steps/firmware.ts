// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that change the firmware settings and the mode of cards. */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { HostError, type FirmwareRecord, type FirmwareSettings, type Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";

/**
 * Changes firmware settings of a Mellanox card. Before that, it adds the present values to the records of the card's
 * ports, so that they can be restored. Changes nothing if the card does not have one of the settings.
 */
async function setFirmware({ card, through, values, restores }: NodeStep<"set-firmware">, host: Host): Promise<void> {
  const port = addressOf(through);
  const settings = await host.firmware.readSettings(port);
  for (const name of Object.keys(values)) {
    if (settings.get(name)?.next !== undefined) continue;
    throw new HostError({ action: `set firmware setting ${name}`, target: port }, "ENOENT", {
      words: "the card does not have this setting",
    });
  }
  if (restores !== true) await recordValues(host, card, values, settings);
  await host.firmware.setValues(port, values);
}

/** Throws HostError EINVAL if the text is not a PCI address. */
function addressOf(text: string): PciAddress {
  const parsed = parsePciAddress(text);
  if (!parsed.ok) throw new HostError({ action: "parse PCI address", target: text }, "EINVAL", {});
  return parsed.value;
}

async function recordValues(
  host: Host,
  card: string,
  values: NodeStep<"set-firmware">["values"],
  settings: FirmwareSettings,
): Promise<void> {
  for (const [pf, record] of await host.records.list()) {
    if (!pf.startsWith(`${card}.`)) continue;
    const { firmware = {} } = record;
    const changed = Object.fromEntries(
      Object.entries(values).map(([name, after]: [string, number]): [string, FirmwareRecord] => {
        const before = firmware[name]?.before ?? settings.get(name)?.next ?? after;
        return [name, { before, after }];
      }),
    );
    const next = { ...record, firmware: { ...firmware, ...changed } };
    if (!isDeepStrictEqual(next, record)) await host.records.save(pf, next);
  }
}

const settleTimeoutMs = 60_000;

/**
 * resetFirmware resets a Mellanox card, so that changed firmware settings take effect (sriov-operator.md F.8).
 * Removes the VFs of all ports first, because a card with VFs cannot be reset.
 */
async function resetFirmware({ ports }: NodeStep<"reset-firmware">, host: Host): Promise<void> {
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

/** Changes the firmware settings that decide the mode of one port of a SmartNIC. */
async function setCardMode({ port, values }: NodeStep<"set-card-mode">, host: Host): Promise<void> {
  await host.firmware.setValues(addressOf(port), values);
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runFirmwareSteps = {
  "reset-firmware": resetFirmware,
  "set-card-mode": setCardMode,
  "set-firmware": setFirmware,
};
