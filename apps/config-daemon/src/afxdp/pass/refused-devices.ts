// SPDX-License-Identifier: Apache-2.0
/**
 * createRefusedDevices remembers changes of AF_XDP devices for which the node was drained, and which the host refuses. The plan
 * gets them with the observation (AfxdpInterfaceStatus.refused), and needs no drain for them.
 */
import { defined, type AfxdpInterfaceStatus, type AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import { afxdpDisruptionOf, describeAfxdpStep, deviceIdOf, mayDisruptDevice, type AfxdpStep } from "@switchyard/plan";
import { createRefusalMemory } from "../../pass/refusal-memory.ts";
import type { EndedSteps } from "../../pass/run-rounds.ts";

export interface RefusedDevices {
  /** Returns the devices, those with a refused change with `refused`. */
  addTo(found: readonly AfxdpInterfaceStatus[], desired: AfxdpNetworkNodeStateSpec): readonly AfxdpInterfaceStatus[];
  /** The steps of a plan have ended. `isDrained` says whether the node was drained for them. */
  ended(
    ended: EndedSteps<AfxdpStep, readonly AfxdpInterfaceStatus[]>,
    about: { readonly desired: AfxdpNetworkNodeStateSpec; readonly isDrained: boolean },
  ): void;
}

export function createRefusedDevices(deps: { readonly nowMs: () => number }): RefusedDevices {
  const memory = createRefusalMemory(deps);
  return {
    addTo: (found, desired) =>
      found.map((device) => {
        const refused = memory.refusalOf(deviceIdOf(device), inputsOf(device, desired));
        return { ...device, ...defined({ refused }) };
      }),
    ended({ steps, failures, found }, { desired, isDrained }) {
      for (const device of found) {
        const id = deviceIdOf(device);
        const ofDevice = steps.filter((step) => step.device === id);
        // After the drain, no pod has the device any longer, and the same step disrupts nobody. It was drained for it nevertheless.
        const isDisruptive = (step: AfxdpStep): boolean =>
          isDrained ? mayDisruptDevice(step) : afxdpDisruptionOf(step, device) !== undefined;
        if (!ofDevice.some(isDisruptive)) continue;
        const errors = failures.filter(({ step }) => step.device === id).map(({ message }) => message);
        memory.tried(id, { changes: ofDevice.map(describeAfxdpStep), errors, inputs: inputsOf(device, desired) });
      }
    },
  };
}

/** What decides about the answer of the host. The settings of an interface are not known while a pod has it. */
function inputsOf(
  device: AfxdpInterfaceStatus,
  { interfaces = [], unselected = [] }: AfxdpNetworkNodeStateSpec,
): unknown {
  const { driver, vendor, deviceID, eSwitchMode, maxSfs, subfunctions = [] } = device;
  const id = deviceIdOf(device);
  return {
    spec: interfaces.find((spec) => deviceIdOf(spec) === id),
    isUnselected: unselected.includes(id),
    card: { driver, vendor, deviceID, eSwitchMode, maxSfs },
    subfunctions: subfunctions.map(({ sfNumber }) => sfNumber),
  };
}
