// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the reset of an owned device that no policy selects any longer.
 * Usage: `planDeviceReset(device)` for a device of status.interfaces with owned set to true.
 */
import type { AfxdpInterfaceStatus } from "@switchyard/api";
import { parseEswitchMode } from "../plan-eswitch.ts";
import type { AfxdpStep } from "./afxdp-step.ts";
import { deviceIdOf } from "./device-use.ts";
import { interfaceSettings, planSubfunctions } from "./plan-subfunctions.ts";

/**
 * Deletes the subfunctions that Switchyard created, restores the settings of the device, and releases it. An externally
 * managed device is only released. The mode of the embedded switch stays while other programs have subfunctions, because
 * every change of it removes them.
 */
export function planDeviceReset(device: AfxdpInterfaceStatus): readonly AfxdpStep[] {
  const id = deviceIdOf(device);
  const release = { kind: "release-device", device: id } as const;
  if (device.externallyManaged === true) return [release];
  const { initialMtu: mtu, initialQueues: queues } = device;
  return [
    ...planSubfunctions(id, device, { numSfs: 0 }),
    ...eswitchSteps(device),
    ...interfaceSettings({ device: id }, device, { mtu, queues }),
    release,
  ];
}

function eswitchSteps(device: AfxdpInterfaceStatus): readonly AfxdpStep[] {
  const { eSwitchMode, initialESwitchMode, subfunctions = [] } = device;
  if (eSwitchMode === undefined || initialESwitchMode === undefined) return []; // not known
  const [from, to] = [parseEswitchMode(eSwitchMode), parseEswitchMode(initialESwitchMode)];
  if (from === undefined || to === undefined || from === to) return [];
  if (subfunctions.some(({ owned }) => owned !== true)) return [];
  return [{ kind: "set-eswitch-mode", device: deviceIdOf(device), from, to }];
}
