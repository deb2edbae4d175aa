// SPDX-License-Identifier: Apache-2.0
/**
 * Removes what the plugins of upstream have left, for `config-daemon cleanup`: XDP programs, BPF file systems and sockets of devices that
 * no pod has, and the records of the devices. With --keep-vfs, XDP programs stay.
 * Usage: `const error = await resetPluginLeftovers({ host, keepsVfs: false, readKubelet, timing, print, signal });`
 */
import { createPluginLeftovers } from "../afxdp/plugin-leftovers/plugin-leftovers.ts";
import { nothingWanted } from "../afxdp/plugin-leftovers/wanted-from-plugins.ts";
import { releaseUntilSettled } from "./release-until-settled.ts";
import type { ResetXdpOptions } from "./reset-xdp.ts";

/** Takes some seconds if there are records. Resolves with an error in one line; "" if there is none. Rejects with HostError. */
export function resetPluginLeftovers(options: ResetXdpOptions): Promise<string> {
  const { host, keepsVfs, readKubelet, timing, print, signal } = options;
  const left = createPluginLeftovers({ readKubelet, nowMs: () => timing.nowMs() });
  return releaseUntilSettled(() => left.release(host, { wanted: nothingWanted, keepsPrograms: keepsVfs }, signal), {
    timing,
    signal,
    print,
    staying: "what the plugins of upstream left stays on",
  });
}
