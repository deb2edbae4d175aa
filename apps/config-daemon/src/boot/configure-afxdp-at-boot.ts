// SPDX-License-Identifier: Apache-2.0
/**
 * configureAfxdpAtBoot configures the AF_XDP devices of a node in systemd mode before the kubelet starts, by the same observation,
 * plan and steps as the daemon. It runs in the second phase only: what the host uses a device for is known when the network is up.
 */
import type { Host } from "@switchyard/host";
import { describeAfxdpStep } from "@switchyard/plan";
import type { SriovUse } from "@switchyard/policy";
import { configureAfxdpOffline } from "../afxdp/pass/configure-afxdp-offline.ts";
import type { StepTiming } from "../deadlines/with-deadline.ts";
import {
  afxdpBootConfigPath,
  afxdpBootResultPath,
  parseAfxdpBootConfig,
  type ParsedAfxdpBootConfig,
} from "../boot-files/afxdp-boot-config.ts";
import { digestOf } from "../boot-files/boot-config.ts";
import { formatBootResult, type BootResult } from "../boot-files/boot-result.ts";
import { waitForPfs } from "./wait-for-pfs.ts";

export interface AfxdpAtBootOptions {
  readonly host: Host;
  readonly timing: StepTiming;
  /** Devices that are configured in parallel. */
  readonly maxPfs: number;
  /** Returns how SR-IOV policies use a device. */
  readonly sriovUse: SriovUse;
  /** IP addresses of the API server: a device that carries the route to it is not taken. */
  readonly apiServerAddresses: readonly string[];
  readonly bootId: string;
  /** Time for which it waits for the interfaces of the devices. */
  readonly waitMs: number;
  /** Writes a line to the journal. */
  readonly log: (line: string) => void;
  /** Ends after the steps that are running. */
  readonly signal: AbortSignal;
}

/** Resolves with the error in one line, "" after a success, undefined if there is no configuration. Never rejects. */
export async function configureAfxdpAtBoot(options: AfxdpAtBootOptions): Promise<string | undefined> {
  const { host, bootId, log } = options;
  const result = { configDigest: "", bootID: bootId };

  async function write(next: Pick<BootResult, "syncStatus" | "lastSyncError">): Promise<void> {
    try {
      await host.files.writeText(afxdpBootResultPath, formatBootResult({ ...result, ...next }));
    } catch (error) {
      log(`result of AF_XDP devices not written: ${String(error)}`); // The daemon sees the same on the host itself.
    }
  }

  async function work(): Promise<string | undefined> {
    try {
      const text = await host.files.readText(afxdpBootConfigPath);
      if (text === undefined) return undefined;
      result.configDigest = digestOf(text);
      await write({ syncStatus: "InProgress", lastSyncError: "" });
      const parsed = parseAfxdpBootConfig(text);
      return parsed.ok ? await configure(parsed.value, options) : `${afxdpBootConfigPath}: ${parsed.error}`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  const error = await work();
  if (error === undefined) return undefined;
  log(error === "" ? "post: AF_XDP devices done" : `post: AF_XDP devices failed: ${error}`);
  await write(
    error === ""
      ? { syncStatus: "Succeeded", lastSyncError: "" }
      : { syncStatus: "Failed", lastSyncError: `post: ${error}` },
  );
  return error;
}

/** Resolves with an error in one line, "" if there is none. Rejects with HostError. */
async function configure({ interfaces, problems }: ParsedAfxdpBootConfig, options: AfxdpAtBootOptions) {
  const { host, timing, signal, log, waitMs } = options;
  await waitForPfs({ interfaces }, { host, timing, signal, limitMs: waitMs, log });
  const { error } = await configureAfxdpOffline(
    { interfaces },
    {
      host,
      timing,
      maxPfs: options.maxPfs,
      sriovUse: options.sriovUse,
      signal,
      apiServerAddresses: () => Promise.resolve(options.apiServerAddresses),
      onStep(step, failure) {
        log(failure === undefined ? describeAfxdpStep(step) : `failed: ${failure.message}`);
      },
    },
  );
  return [...problems.map((problem) => `${afxdpBootConfigPath}: ${problem}`), error]
    .filter((text) => text !== "")
    .join("; ");
}
