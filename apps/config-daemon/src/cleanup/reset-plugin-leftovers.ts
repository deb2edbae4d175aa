// SPDX-License-Identifier: Apache-2.0
/**
 * Removes what the plugins of upstream have left, for `config-daemon cleanup`: XDP programs, BPF file systems and sockets of devices that
 * no pod has, and the records of the devices. With --keep-vfs, XDP programs stay.
 * Usage: `const error = await resetPluginLeftovers({ host, keepsVfs: false, readKubelet, timing, print, signal });`
 */
import { freeNow, settlingMs } from "../afxdp/left-programs/free-since.ts";
import { createPluginLeftovers, showPluginLeftovers } from "../afxdp/plugin-leftovers/plugin-leftovers.ts";
import { nothingWanted } from "../afxdp/plugin-leftovers/wanted-from-plugins.ts";
import type { ResetXdpOptions } from "./reset-xdp.ts";

/** Returns the actions of resetPluginLeftovers(), if no pod has the devices. Rejects with HostError. */
export function showPluginReset({ host, keepsVfs }: Pick<ResetXdpOptions, "host" | "keepsVfs">) {
  return showPluginLeftovers(host, keepsVfs);
}

/** Takes some seconds if there are records. Resolves with an error in one line; "" if there is none. Rejects with HostError. */
export async function resetPluginLeftovers(options: ResetXdpOptions): Promise<string> {
  const { host, keepsVfs, readKubelet, timing, print, signal } = options;
  const left = createPluginLeftovers({ readKubelet, nowMs: () => timing.nowMs() });
  for (;;) {
    const found = await left.release(host, { wanted: nothingWanted, keepsPrograms: keepsVfs }, signal);
    for (const action of found.released) print(action);
    if (found.kept.some(({ why }) => why === freeNow)) {
      await timing.sleep(settlingMs, signal);
      signal.throwIfAborted();
      continue;
    }
    if (found.problems.length > 0) return found.problems.join("; ");
    return found.kept.map(({ name, why }) => `what the plugins of upstream left stays on ${name}: ${why}`).join("; ");
  }
}
