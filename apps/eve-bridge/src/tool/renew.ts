// SPDX-License-Identifier: Apache-2.0
/**
 * renewLeases implements `eve-bridge renew`: it makes the DHCP daemon request again the leases that an earlier daemon had. A daemon
 * keeps its leases in memory, and renews only those that it has requested itself.
 * Usage: `const failed = (await renewLeases({ env: process.env })).some(({ error }) => error !== undefined)`.
 */
import { existsSync } from "node:fs";
import { checkLease, daemonOf } from "../delegates/dhcp-lease.ts";
import { readLinks } from "../network/pod-network.ts";
import { deadlineIn } from "../process/deadline.ts";
import { parseCniArgs } from "../request/cni-args.ts";
import { describe } from "../request/cni-error.ts";
import type { CniRequest } from "../request/request.ts";
import { defaultTimeouts, readSettings, type Settings } from "../request/settings.ts";
import {
  listRecords,
  lockOf,
  readRecord,
  writeRecord,
  type Attachment,
  type AttachmentRecord,
} from "../state/attachment-record.ts";
import { waitFor, type Call } from "../state/call.ts";
import { openLog } from "../state/log.ts";
import { acquireLock } from "../state/owner-lock.ts";

/** The renewal of one lease. */
export interface RenewedLease extends Attachment {
  /** Why the daemon has not got the lease; undefined if it has. */
  readonly error?: string;
}

/** The directory of the plugins if CNI_PATH is not set. */
const defaultPluginPath = "/opt/cni/bin:/var/lib/cni/bin";

/** The records of pods that exist and have a lease. */
export function leasesIn(stateDir: string): readonly AttachmentRecord[] {
  return listRecords(stateDir).filter(({ step, lease, netns }) => step === "connected" && lease && existsSync(netns));
}

/** The leases that the running daemon does not have. Records of older versions do not tell, and count. */
export function unrenewedLeases(settings: Settings): readonly AttachmentRecord[] {
  const daemon = daemonOf(settings);
  return leasesIn(settings.stateDir).filter((record) => record.daemon !== daemon);
}

/** Renews one lease after the other. Throws code 7 for invalid settings. */
export async function renewLeases({ env }: { env: NodeJS.ProcessEnv }): Promise<readonly RenewedLease[]> {
  const settings = readSettings(env);
  const renewed: RenewedLease[] = [];
  for (const record of unrenewedLeases(settings)) {
    const { containerId, ifName } = record;
    try {
      await renew(callFor(record, settings, env));
      renewed.push({ containerId, ifName });
    } catch (error) {
      renewed.push({ containerId, ifName, error: describe(error) });
    }
  }
  return renewed;
}

async function renew(call: Call): Promise<void> {
  const { request, settings } = call;
  const { stateDir } = settings;
  const lock = await acquireLock(lockOf(stateDir, request.env), waitFor(call, call.timeouts.lock));
  try {
    const record = readRecord(stateDir, request.env);
    if (record?.step !== "connected") return; // a DEL or another ADD came first
    const daemon = daemonOf(settings);
    await checkLease(call, await macOf(record, call));
    writeRecord(stateDir, { ...record, daemon });
  } finally {
    lock.release();
  }
}

/** Records of older versions have no MAC address. */
async function macOf({ mac, netns, ifName }: AttachmentRecord, call: Call): Promise<string | undefined> {
  if (mac !== undefined) return mac;
  const given = call.request.args.mac;
  if (given !== "") return given;
  return (await readLinks(netns, waitFor(call, call.timeouts.rpc))).find(({ name }) => name === ifName)?.mac;
}

/** A call as that of a runtime. The dhcp plugin answers CHECK from CNI 0.4.0 on only; EVE's configurations are older. */
function callFor(record: AttachmentRecord, settings: Settings, env: NodeJS.ProcessEnv): Call {
  const { containerId, ifName, netns, args, network, conf } = record;
  const cniVersion = "1.0.0";
  const request: CniRequest = {
    env: { command: "CHECK", containerId, ifName, netns, args, path: env["CNI_PATH"] ?? defaultPluginPath },
    conf: { cniVersion, name: network, raw: { ...conf, cniVersion } },
    args: parseCniArgs(args),
  };
  const timeouts = defaultTimeouts;
  const log = openLog(settings, { command: "renew", network, containerId, ifName, netns });
  return { request, settings, timeouts, deadline: deadlineIn(timeouts.total), log };
}
