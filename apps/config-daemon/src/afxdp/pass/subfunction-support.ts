// SPDX-License-Identifier: Apache-2.0
/**
 * createSubfunctionSupport remembers the devices on which subfunctions cannot be created at all. Some drivers report no limit, so that
 * the first attempt shows it: the firmware of the card has none. The plan then gives the mode of the embedded switch back, and does
 * not change it again for nothing. A new process tries again, as the firmware can have been changed.
 */
import type { AfxdpInterfaceStatus } from "@switchyard/api";
import { deviceIdOf } from "@switchyard/plan";

export interface SubfunctionSupport {
  /** The driver has refused to create a subfunction on the device with EOPNOTSUPP, in switchdev mode. */
  refused(device: string): void;
  /** Returns the devices, with maxSfs 0 for those. */
  addTo(found: readonly AfxdpInterfaceStatus[]): readonly AfxdpInterfaceStatus[];
}

export function createSubfunctionSupport(): SubfunctionSupport {
  /** The cards by their devices; undefined until the next observation. */
  const refusing = new Map<string, string | undefined>();
  return {
    refused(device) {
      refusing.set(device, undefined);
    },
    addTo: (found) =>
      found.map((device) => {
        const id = deviceIdOf(device);
        if (!refusing.has(id)) return device;
        const card = `${device.vendor} ${device.deviceID} ${device.driver}`;
        const known = refusing.get(id) ?? card;
        refusing.set(id, known);
        if (known === card && (device.subfunctions ?? []).length === 0) return { ...device, maxSfs: 0 };
        refusing.delete(id);
        return device;
      }),
  };
}
