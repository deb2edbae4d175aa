// SPDX-License-Identifier: Apache-2.0
/**
 * createLeftoversScan removes what the plugins of upstream have left on devices and of pools, at one answer of the kubelet, and collects
 * what it has done and what stays.
 */
import { HostError, type Host } from "@switchyard/host";
import type { IdleTimer, OrphanedProgramsState } from "../orphaned-programs/orphaned-programs.ts";
import type { KubeletDevices } from "../../kubelet/kubelet.ts";
import type { PluginDevice } from "./find-plugin-devices.ts";

/**
 * leftoverActions describes how what the plugins of upstream have left is removed, for logs and for `config-daemon cleanup`.
 */
export const leftoverActions = {
  detach: (program: string, name: string) => `detach XDP program ${program} from ${name}`,
  unmount: (path: string) => `unmount ${path} and remove it`,
  forget: (device: string) => `remove the record that the plugins of upstream had ${device}`,
  remove: (path: string) => `remove ${path}`,
} as const;

export interface LeftoversScanOptions {
  readonly kubelet: KubeletDevices;
  readonly free: IdleTimer;
  /** Whether XDP programs stay on their devices. */
  readonly keepsPrograms: boolean;
}

export interface LeftoversScan {
  /** Resolves with whether nothing is left on the device. */
  releaseDevice(device: PluginDevice): Promise<boolean>;
  /** Resolves with whether nothing is left of the pool. */
  releasePool(pool: string): Promise<boolean>;
  state(): OrphanedProgramsState;
}

export function createLeftoversScan(
  { pluginLeftovers }: Pick<Host, "pluginLeftovers">,
  { kubelet, free, keepsPrograms }: LeftoversScanOptions,
): LeftoversScan {
  const released: string[] = [];
  const kept: { name: string; why: string }[] = [];
  const problems: string[] = [];

  function keep(name: string, why: string): false {
    kept.push({ name, why });
    return false;
  }

  /** One that fails does not stop the others. */
  async function attempt(name: string, action: string, act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      released.push(action);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      if (thrown.code !== "ENODEV") problems.push(thrown.message); // a pod has just got it, or it was removed
      return keep(name, thrown.message);
    }
  }

  return {
    state: () => ({ released, kept, problems }),

    async releaseDevice(device) {
      const { name, record, program } = device;
      const content = JSON.stringify(program);
      const why = useOf(device, kubelet) ?? free.reasonToKeep(`device ${record.device}`, content);
      if (why !== undefined) return keep(name, why);
      if (keepsPrograms || program.kind === "none") return true;
      if (program.kind === "left")
        return attempt(name, leftoverActions.detach(program.name, name), () =>
          pluginLeftovers.detachProgram(name, program.id),
        );
      problems.push(`XDP program ${program.name} stays on ${name}: ${program.why}`);
      return keep(name, program.why);
    },

    async releasePool(pool) {
      const isHeld = kubelet.heldPools.has(pool);
      const why = isHeld ? "pods have devices of the pool" : free.reasonToKeep(`pool ${pool}`, "");
      if (why !== undefined) return keep(`pool ${pool}`, why);
      const { mounts, sockets } = await pluginLeftovers.listFiles(pool);
      const results: boolean[] = [];
      for (const path of mounts)
        results.push(await attempt(path, leftoverActions.unmount(path), () => pluginLeftovers.removeMount(path)));
      for (const { path, isYoung } of sockets) {
        const remove = () => attempt(path, leftoverActions.remove(path), () => pluginLeftovers.removeSocket(path));
        results.push(isYoung ? keep(path, "younger than two minutes") : await remove());
      }
      return !results.includes(false);
    },
  };
}

/** The plugins announce devices by their names. Of a device that is not on the host, no other id is known. */
function useOf({ record, name, isOnHost }: PluginDevice, { held, offered }: KubeletDevices): string | undefined {
  const names = [name, ...record.names];
  if ([record.device, ...names].some((id) => held.has(id))) return "in use by a pod";
  if (names.some((id) => offered.has(id))) return "offered to pods by a device plugin";
  return !isOnHost && held.size > 0 ? "not on the host while pods have AF_XDP devices" : undefined;
}
