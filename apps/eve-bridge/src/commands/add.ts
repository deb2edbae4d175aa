// SPDX-License-Identifier: Apache-2.0
/**
 * ADD connects an interface: eth0 through the stock `bridge` plugin, every other interface through zedrouter
 * (eve-and-afxdp.md a3, a4). A failed ADD is undone within the call, because a runtime may give up on the pod without a
 * DEL.
 */
import { statSync } from "node:fs";
import {
  lockOf,
  readRecord,
  removeRecord,
  writeRecord,
  type AttachmentRecord,
  type Progress,
} from "../state/attachment-record.ts";
import { withReservedTime, logged, withoutStopSignal, waitFor, type Call, type Connect } from "../state/call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import type { JsonObject } from "../request/json.ts";
import { acquireLock } from "../state/owner-lock.ts";
import { markRemoved, unmarkRemoved } from "../state/removal-mark.ts";
import { parseResult, mergeResults, type CniResult } from "../request/result.ts";
import { formatResult } from "../request/result-format.ts";
import { throwIfStopped } from "../process/stop-signal.ts";
import { clusterInterface, type CniEnvironment, type CniRequest } from "../request/request.ts";

/**
 * Connects the interface and prints the result. On failure it undoes its steps, then throws; a record remains if that
 * fails.
 */
export async function add(call: Call, print: (result: JsonObject) => void): Promise<void> {
  const { env } = call.request;
  const { stateDir } = call.settings;
  checkNetns(env);
  const wait = waitFor(call, call.timeouts.lock);
  const lock = await acquireLock(lockOf(stateDir, env), wait);
  try {
    await removeUnfinished(call);
    unmarkRemoved(stateDir, env);
    await addLocked(call, print);
  } finally {
    lock.release();
  }
}

async function addLocked(call: Call, print: (result: JsonObject) => void): Promise<void> {
  const { request, settings, timeouts } = call;
  const connect = await connectorOf(request.env);
  let recorded: AttachmentRecord | undefined;
  const record = (progress: Progress) => {
    throwIfStopped(call.signal);
    const next = { ...recordOf(request), ...progress };
    writeRecord(settings.stateDir, next);
    recorded = next;
  };
  try {
    const made = await connect(withReservedTime(call, timeouts.undo), record);
    const result = formatResult(withPrevious(request, made), request.conf.cniVersion);
    record({ lease: false, ...recorded, step: "connected" });
    print(result);
  } catch (error) {
    if (recorded !== undefined) throw await undo(withoutStopSignal(call), recorded, toCniError(error));
    markRemoved(settings.stateDir, request.env); // the failure came before the first step
    throw error;
  }
}

/** Loads only what the interface needs: eth0 needs no sockets, the other interfaces start a program only for DHCP. */
async function connectorOf({ ifName }: CniEnvironment): Promise<Connect> {
  if (ifName === clusterInterface) return (await import("../delegates/cluster-interface.ts")).connectToCluster;
  return (await import("../zedrouter/network-instance.ts")).connectToNetworkInstance;
}

/** Removes what a killed ADD left. Throws code 4 for a second ADD, which the CNI specification forbids. */
async function removeUnfinished(call: Call): Promise<void> {
  const { env } = call.request;
  const record = readRecord(call.settings.stateDir, env);
  if (record === undefined) return;
  if (record.step === "connected") {
    const details = `run DEL for container ${env.containerId} first`;
    throw new CniError(cniCode.invalidEnvironment, `CNI_IFNAME: ${env.ifName} is already connected`, { details });
  }
  call.log.info("removing what an unfinished ADD left", { step: record.step });
  const { teardown } = await import("./del.ts");
  await teardown(withReservedTime(call, call.timeouts.undo), record);
  removeRecord(call.settings.stateDir, env);
}

/** Undoes a failed ADD. Returns the error to report: `error`, with the reason in its details if undoing failed, too. */
async function undo(call: Call, record: AttachmentRecord, error: CniError): Promise<CniError> {
  try {
    await logged(call, "undo", async () => {
      const { teardown } = await import("./del.ts");
      // The plugins that this call started have ended, or were killed together with their children.
      await teardown(call, record);
      removeRecord(call.settings.stateDir, call.request.env);
    });
    return error;
  } catch (undoError) {
    const details = [error.details, `undoing the ADD failed, run DEL: ${describe(undoError)}`];
    return new CniError(error.code, error.message, { details: details.filter(Boolean).join("; "), cause: error });
  }
}

/** Throws code 3, which tells the runtime that it has nothing to clean up, or 8. */
function checkNetns({ netns }: CniEnvironment): void {
  const stat = statSync(netns, { throwIfNoEntry: false });
  if (stat === undefined) {
    throw new CniError(cniCode.unknownContainer, "CNI_NETNS does not exist", { details: netns });
  }
  const own = statSync("/proc/self/ns/net");
  if (stat.ino === own.ino && stat.dev === own.dev) {
    throw new CniError(cniCode.invalidNetns, "CNI_NETNS is the network namespace of the host", { details: netns });
  }
}

function recordOf({ env, conf }: CniRequest): Omit<AttachmentRecord, "step" | "lease"> {
  const own = Object.fromEntries(Object.entries(conf.raw).filter(([member]) => member !== "prevResult"));
  const { containerId, ifName, netns, args } = env;
  return { containerId, ifName, netns, args, network: conf.name, conf: own };
}

/** The result of a plugin chain contains what the earlier plugins made. */
function withPrevious({ conf }: CniRequest, made: CniResult): CniResult {
  const previous = conf.raw["prevResult"];
  return previous === undefined ? made : mergeResults(parseResult(previous), made);
}
