// SPDX-License-Identifier: Apache-2.0
/**
 * Detaches the XDP programs that afxdp-device-plugin has left, and removes their maps, for `config-daemon cleanup`. A device that a
 * pod has keeps its program.
 */
import type { Host } from "@switchyard/host";
import { findOrphanedDevices } from "../afxdp/orphaned-programs/find-orphaned-devices.ts";
import type { ReadKubeletDevices } from "../kubelet/kubelet.ts";
import {
  createOrphanedPrograms,
  freeNow,
  settlingMs,
  type OrphanedProgramsState,
} from "../afxdp/orphaned-programs/orphaned-programs.ts";
import { createPluginLeftovers } from "../afxdp/plugin-leftovers/plugin-leftovers.ts";
import { nothingWanted } from "../afxdp/plugin-leftovers/wanted-from-plugins.ts";
import type { StepTiming } from "../deadlines/with-deadline.ts";

export interface ResetXdpOptions {
  readonly host: Host;
  /** Leaves the devices as they are. */
  readonly keepsVfs: boolean;
  readonly readKubelet: ReadKubeletDevices;
  readonly timing: StepTiming;
  /** Prints an action. */
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

interface ReleaseUntilSettledOptions {
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
  /** Prints something that was released, as `released` names it. */
  readonly print: (released: string) => void;
  /** The beginning of a sentence about something that stays: "the XDP program of Switchyard stays on". */
  readonly staying: string;
}

/** Returns the actions of resetXdp(), if no pod has the devices. Rejects with HostError. */
export async function showXdpReset({ host, keepsVfs }: Pick<ResetXdpOptions, "host" | "keepsVfs">) {
  return keepsVfs ? [] : (await findOrphanedDevices(host)).map(({ name }) => actionOn(name));
}

/** Takes some seconds if there are such devices. Resolves with an error in one line; "" if there is none. Rejects with HostError. */
export async function resetXdp({
  host,
  keepsVfs,
  readKubelet,
  timing,
  print,
  signal,
}: ResetXdpOptions): Promise<string> {
  if (keepsVfs) return "";
  const left = createOrphanedPrograms({ readKubelet, nowMs: () => timing.nowMs() });
  return releaseUntilSettled(() => left.release(host, signal), {
    timing,
    signal,
    staying: "the XDP program of Switchyard stays on",
    print(name) {
      print(actionOn(name));
    },
  });
}

function actionOn(name: string): string {
  return `detach the XDP program from ${name} and remove its map`;
}

/**
 * releaseUntilSettled repeats the removal of what a device plugin has left until nothing of it is only waiting to be certainly
 * free, for `config-daemon cleanup`. Resolves with an error in one line; "" if nothing stays. Rejects as `release`.
 */
async function releaseUntilSettled(
  release: () => Promise<OrphanedProgramsState>,
  { timing, signal, print, staying }: ReleaseUntilSettledOptions,
): Promise<string> {
  for (;;) {
    const { released, kept, problems } = await release();
    for (const each of released) print(each);
    if (kept.some(({ why }) => why === freeNow)) {
      await timing.sleep(settlingMs, signal);
      signal.throwIfAborted();
      continue;
    }
    if (problems.length > 0) return problems.join("; ");
    return kept.map(({ name, why }) => `${staying} ${name}: ${why}`).join("; ");
  }
}

/**
 * Removes what the plugins of upstream have left, for `config-daemon cleanup`: XDP programs, BPF file systems and sockets of devices that
 * no pod has, and the records of the devices. With --keep-vfs, XDP programs stay.
 * Takes some seconds if there are records. Resolves with an error in one line; "" if there is none. Rejects with HostError.
 */
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
