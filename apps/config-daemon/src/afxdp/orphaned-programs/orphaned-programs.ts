// SPDX-License-Identifier: Apache-2.0
/**
 * createOrphanedPrograms detaches the XDP programs that afxdp-device-plugin has left when it does not run on the node
 * any longer. Another device plugin cannot attach its own program to the device, and nothing else would remove it. The
 * device of a pod keeps its program.
 *
 * A program is detached only if the kubelet says twice, some time apart, that no pod has the device and that it cannot
 * give it to a pod by afxdp-device-plugin. The kubelet lists a device as that of a pod only after the plugin has
 * attached the program.
 */
import { HostError, type Host } from "@switchyard/host";
import { findOrphanedDevices, type OrphanedDevice } from "./find-orphaned-devices.ts";
import type { KubeletDevices, ReadKubeletDevices } from "../../kubelet/kubelet.ts";

export interface OrphanedProgramsDeps {
  readonly readKubelet: ReadKubeletDevices;
  readonly nowMs: () => number;
}

export interface OrphanedProgramsState {
  /** Devices whose programs and maps were removed, by their names on the host. */
  readonly released: readonly string[];
  /** Devices that keep their programs for now, and why: "in use by a pod". */
  readonly kept: readonly { readonly name: string; readonly why: string }[];
  /** Why programs stay of which it is not known that they are needed, in sentences. */
  readonly problems: readonly string[];
}

export interface OrphanedPrograms {
  /** Releases the devices that are free now and were free at an earlier call. Rejects with HostError if the host cannot be read. */
  release(host: Pick<Host, "xdp" | "links">, signal: AbortSignal): Promise<OrphanedProgramsState>;
}

export function createOrphanedPrograms({ readKubelet, nowMs }: OrphanedProgramsDeps): OrphanedPrograms {
  const free = createIdleTimer(nowMs);

  return {
    async release(host, signal) {
      free.startScan();
      const devices = await findOrphanedDevices(host);
      if (devices.length === 0) return { released: [], kept: [], problems: [] };
      const kubelet = await readKubelet(signal);
      if (!kubelet.ok) {
        const why = holdersUnknown(kubelet.error);
        const names = devices.map(({ name }) => name);
        const problem = `XDP programs of Switchyard stay on ${names.join(", ")}: ${why}`;
        return { released: [], kept: names.map((name) => ({ name, why })), problems: [problem] };
      }
      const released: string[] = [];
      const kept: { name: string; why: string }[] = [];
      const problems: string[] = [];
      for (const device of devices) {
        const { name, isOnHost, programs } = device;
        const why = useOf(device, kubelet.value) ?? free.reasonToKeep(name, programs.join());
        if (why !== undefined) {
          kept.push({ name, why });
          continue;
        }
        try {
          if (isOnHost) await host.xdp.detachOwnPrograms(name);
          await host.xdp.removeOwnMap(name);
          released.push(name);
        } catch (thrown) {
          if (!(thrown instanceof HostError)) throw thrown;
          kept.push({ name, why: thrown.message });
          if (thrown.code !== "ENODEV") problems.push(thrown.message); // a pod has just got it, or it was removed
        }
      }
      return { released, kept, problems };
    },
  };
}

function useOf({ ids, isOnHost }: OrphanedDevice, { held, offered }: KubeletDevices): string | undefined {
  // The kubelet knows a device by its id, which only the host's interface tells.
  if (!isOnHost) return held.size > 0 ? "not on the host while pods have AF_XDP devices" : undefined;
  if (ids.some((id) => held.has(id))) return "in use by a pod";
  return offered.has(ids[0]) ? "offered to pods by afxdp-device-plugin" : undefined;
}

export interface IdleTimer {
  /** What the look that begins does not find free is not free since the last one. */
  startScan(): void;
  /** Called for what is free now. Returns why it stays for now. The time begins again if `content` has changed. */
  reasonToKeep(key: string, content: string): string | undefined;
}

/** Time for which something must have been free. */
export const settlingMs = 10_000;

/** Why something free stays for this time. */
export const freeNow = "free, but not long enough to be certain";

/**
 * createIdleTimer remembers since when things that a device plugin has left are free. The kubelet lists the device of a new pod
 * within a second, after the plugin has prepared it, so something is removed only if it was free some time before, too.
 */
export function createIdleTimer(nowMs: () => number): IdleTimer {
  let before = new Map<string, { readonly sinceMs: number; readonly content: string }>();
  let now: typeof before = new Map();
  return {
    startScan() {
      before = now;
      now = new Map();
    },
    reasonToKeep(key, content) {
      const earlier = before.get(key);
      const since = earlier?.content === content ? earlier : { sinceMs: nowMs(), content };
      now.set(key, since);
      return nowMs() - since.sinceMs < settlingMs ? freeNow : undefined;
    },
  };
}

/** Why nothing is removed while it is unknown which devices pods have. `error` is the kubelet's. */
export function holdersUnknown(error: string): string {
  return `the kubelet does not say which devices pods have: ${error}`;
}
