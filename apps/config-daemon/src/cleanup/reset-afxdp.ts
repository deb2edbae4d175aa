// SPDX-License-Identifier: Apache-2.0
/** Resets the AF_XDP devices that Switchyard configured, and removes their records, for `config-daemon cleanup`. */
import type { AfxdpInterfaceStatus, AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { describeAfxdpStep, deviceIdOf, planAfxdp } from "@switchyard/plan";
import { configureAfxdpOffline } from "../afxdp/pass/configure-afxdp-offline.ts";
import { observeAfxdp } from "../afxdp/observe/observe-afxdp.ts";
import { defaultMaxPfs } from "../start/resources.ts";
import type { StepTiming } from "../deadlines/with-deadline.ts";
import { removeAfxdpRule } from "../udev/keep-rules.ts";

interface ResetAfxdpOptions {
  readonly host: Host;
  /** Leaves the devices as they are, and removes only their records. */
  readonly keepsVfs: boolean;
  readonly timing: StepTiming;
  /** Prints an action. */
  readonly print: (line: string) => void;
  /** Ends after the steps that are running. */
  readonly signal: AbortSignal;
}

/** Returns the actions of resetAfxdp(). Rejects with HostError. */
export async function showAfxdpReset({ host, keepsVfs }: Pick<ResetAfxdpOptions, "host" | "keepsVfs">) {
  const spec = await emptySpec(host);
  if (keepsVfs) return (spec.unselected ?? []).map(release);
  const interfaces = await observeAfxdp(host, { spec });
  const steps = planAfxdp(spec, { interfaces }).steps.map(describeAfxdpStep);
  return [...steps, ...missing(spec, interfaces).map(release)];
}

/**
 * Runs one pass with a spec that selects nothing. It drains nothing. With keepsVfs, only the records are removed. Resolves with
 * an error in one line; "" if there is none. Rejects with HostError.
 */
export async function resetAfxdp({ host, keepsVfs, timing, print, signal }: ResetAfxdpOptions): Promise<string> {
  const spec = await emptySpec(host);
  if (spec.unselected?.length === 0) return "";
  let error = "";
  let gone: readonly string[] = spec.unselected ?? [];
  if (!keepsVfs) {
    const reset = await configureAfxdpOffline(spec, {
      host,
      timing,
      maxPfs: defaultMaxPfs,
      sriovUse: () => undefined,
      signal,
      onStep(step, failure) {
        if (failure === undefined) print(describeAfxdpStep(step));
      },
    });
    ({ error } = reset);
    gone = missing(spec, reset.interfaces);
  }
  for (const device of gone) {
    await removeAfxdpRule(host, device);
    await host.afxdpRecords.remove(device);
    print(release(device));
  }
  return error;
}

function release(device: string): string {
  return describeAfxdpStep({ kind: "release-device", device });
}

/** A spec in which no policy selects the devices of the records. */
async function emptySpec({ afxdpRecords }: Host): Promise<AfxdpNetworkNodeStateSpec> {
  return { interfaces: [], unselected: [...(await afxdpRecords.list()).keys()] };
}

/**
 * The devices with a record that the node does not have, also those in whose slot another card is now. Without an observation,
 * none is known to be missing.
 */
function missing(
  { unselected = [] }: AfxdpNetworkNodeStateSpec,
  interfaces: readonly AfxdpInterfaceStatus[] | undefined,
): readonly string[] {
  if (interfaces === undefined) return [];
  const present = new Set(
    interfaces.filter(({ owned, replacedCard }) => owned === true || replacedCard === undefined).map(deviceIdOf),
  );
  return unselected.filter((device) => !present.has(device));
}
