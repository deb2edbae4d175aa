// SPDX-License-Identifier: Apache-2.0
/**
 * Detaches the XDP programs that afxdp-device-plugin has left, and removes their maps, for `config-daemon cleanup`. A device that a
 * pod has keeps its program.
 * Usage: `const error = await resetXdp({ host, keepsVfs: false, readKubelet, timing, print, signal });`
 */
import type { Host } from "@switchyard/host";
import { findLeftDevices } from "../afxdp/left-programs/find-left-devices.ts";
import type { ReadKubeletDevices } from "../afxdp/left-programs/kubelet-devices.ts";
import { createLeftPrograms } from "../afxdp/left-programs/left-programs.ts";
import type { StepTiming } from "../steps/step-context.ts";
import { releaseUntilSettled } from "./release-until-settled.ts";

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

/** Returns the actions of resetXdp(), if no pod has the devices. Rejects with HostError. */
export async function showXdpReset({ host, keepsVfs }: Pick<ResetXdpOptions, "host" | "keepsVfs">) {
  return keepsVfs ? [] : (await findLeftDevices(host)).map(({ name }) => actionOn(name));
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
  const left = createLeftPrograms({ readKubelet, nowMs: () => timing.nowMs() });
  return releaseUntilSettled(() => left.release(host, signal), {
    ...{ timing, signal, staying: "the XDP program of Switchyard stays on" },
    print(name) {
      print(actionOn(name));
    },
  });
}

function actionOn(name: string): string {
  return `detach the XDP program from ${name} and remove its map`;
}
