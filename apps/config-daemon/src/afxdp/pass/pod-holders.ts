// SPDX-License-Identifier: Apache-2.0
/**
 * createPodHolders adds to the devices whether pods have them, as the kubelet says. The XDP program of the device plugin stays on a
 * device after its pod, and a driver can have created no interface; neither means that a pod has the device.
 */
import type { AfxdpInterfaceStatus } from "@switchyard/api";
import { deviceIdOf, isAway } from "@switchyard/plan";
import type { ReadKubeletDevices } from "../../kubelet/kubelet.ts";
import { createIdleTimer } from "../orphaned-programs/orphaned-programs.ts";

export interface PodHolders {
  /** Returns the devices with `held`, without it if the kubelet does not answer. Rejects if the signal has aborted. */
  addTo(found: readonly AfxdpInterfaceStatus[], signal: AbortSignal): Promise<readonly AfxdpInterfaceStatus[]>;
  /** Whether a device counts as held only for now. */
  isUnsettled(): boolean;
}

export interface PodHoldersDeps {
  readonly readKubelet: ReadKubeletDevices;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

export function createPodHolders({ readKubelet, nowMs }: PodHoldersDeps): PodHolders {
  const free = createIdleTimer(nowMs);
  let unsettled = false;

  return {
    async addTo(found, signal) {
      free.startScan();
      unsettled = false;
      if (!found.some(({ owned }) => owned === true)) return found;
      const kubelet = await readKubelet(signal);
      if (!kubelet.ok) return found;

      /** `trace` is what a pod leaves on a device, or shows of it; undefined without one. */
      function isHeld(ids: readonly string[], trace: string | undefined): boolean {
        if (ids.some((id) => kubelet.ok && kubelet.value.held.has(id))) return true;
        const isRecent = trace !== undefined && free.reasonToKeep(ids.join(), trace) !== undefined;
        unsettled ||= isRecent;
        return isRecent;
      }

      return found.map((device) => {
        if (device.owned !== true) return device;
        const { name, recordedNames = [], subfunctions, xdp } = device;
        const ids = [deviceIdOf(device), ...(name === undefined ? [] : [name]), ...recordedNames];
        const parts = subfunctions?.map((one) => {
          if (one.device === undefined) return one;
          const own = [one.device.replace(/^auxiliary\//, ""), ...(one.name === undefined ? [] : [one.name])];
          return { ...one, held: isHeld(own, traceOf(one.name === undefined, one.xdp)) };
        });
        const held = isHeld(ids, traceOf(isAway(device), xdp));
        return { ...device, held, ...(parts && { subfunctions: parts }) };
      });
    },
    isUnsettled: () => unsettled,
  };
}

function traceOf(isGone: boolean, xdp: AfxdpInterfaceStatus["xdp"]): string | undefined {
  const program = xdp?.program?.owned === true ? `program ${xdp.program.id}` : undefined;
  return isGone ? "away" : program;
}
