// SPDX-License-Identifier: Apache-2.0
/**
 * ADD: eth0 by the stock `bridge` plugin, every other interface by zedrouter (eve-and-afxdp.md a3, a4). What fails is
 * undone within the call, since a runtime may give up on the pod without a DEL.
 * Usage: `await add(call, (result) => writeStdout(JSON.stringify(result)))`.
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
import { keepBack, logged, unstoppable, waitFor, type Call } from "./call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import type { JsonObject } from "../request/json.ts";
import { acquireLock } from "../state/owner-lock.ts";
import { markRemoved, unmarkRemoved } from "../state/removal-mark.ts";
import { parseResult, mergeResults, type CniResult } from "../request/result.ts";
import { formatResult } from "../request/result-format.ts";
import { throwIfStopped } from "../process/stop-signal.ts";
import { clusterInterface, type CniEnvironment, type CniRequest } from "../request/request.ts";

/** What makes an interface: it records how far it is before each step, and returns what it made. */
export type Connect = (call: Call, record: (progress: Progress) => void) => Promise<CniResult>;

/** Makes the interface and prints its result. Throws after having undone what it began; what cannot be undone has a record. */
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
    const made = await connect(keepBack(call, timeouts.undo), record);
    const result = formatResult(withPrevious(request, made), request.conf.cniVersion);
    record({ lease: false, ...recorded, step: "connected" });
    print(result);
  } catch (error) {
    if (recorded !== undefined) throw await undo(unstoppable(call), recorded, toCniError(error));
    markRemoved(settings.stateDir, request.env); // nothing was made
    throw error;
  }
}

/** Loaded when needed: eth0 has no use for sockets, the others start other programs only for DHCP. */
async function connectorOf({ ifName }: CniEnvironment): Promise<Connect> {
  if (ifName === clusterInterface) return (await import("../delegates/cluster-interface.ts")).connectToCluster;
  return (await import("../zedrouter/network-instance.ts")).connectToNetworkInstance;
}

/** An ADD that was killed has left something, or this is a second ADD, which the specification forbids. */
async function removeUnfinished(call: Call): Promise<void> {
  const { env } = call.request;
  const record = readRecord(call.settings.stateDir, env);
  if (record === undefined) return;
  if (record.step === "connected") {
    const details = `a DEL for container ${env.containerId} has to come first`;
    throw new CniError(cniCode.invalidEnvironment, `CNI_IFNAME: ${env.ifName} is connected already`, { details });
  }
  call.log.info("an earlier ADD did not finish", { step: record.step });
  const { teardown } = await import("./teardown.ts");
  await teardown(keepBack(call, call.timeouts.undo), record);
  removeRecord(call.settings.stateDir, env);
}

/** The error to report: the one that made undoing necessary. */
async function undo(call: Call, record: AttachmentRecord, error: CniError): Promise<CniError> {
  try {
    await logged(call, "undo", async () => {
      const { teardown } = await import("./teardown.ts");
      // Plugins of this call have ended or been killed with all that they started.
      await teardown(call, record);
      removeRecord(call.settings.stateDir, call.request.env);
    });
    return error;
  } catch (undoError) {
    const details = [error.details, `undoing it failed too, a DEL is needed: ${describe(undoError)}`];
    return new CniError(error.code, error.message, { details: details.filter(Boolean).join("; "), cause: error });
  }
}

/** Code 3 tells the runtime that there is nothing to clean up. */
function checkNetns({ netns }: CniEnvironment): void {
  const stat = statSync(netns, { throwIfNoEntry: false });
  if (stat === undefined) {
    throw new CniError(cniCode.unknownContainer, "CNI_NETNS does not exist", { details: netns });
  }
  const own = statSync("/proc/self/ns/net");
  if (stat.ino === own.ino && stat.dev === own.dev) {
    throw new CniError(cniCode.invalidNetns, "CNI_NETNS is the host's own network namespace", { details: netns });
  }
}

function recordOf({ env, conf }: CniRequest): Omit<AttachmentRecord, "step" | "lease"> {
  const own = Object.fromEntries(Object.entries(conf.raw).filter(([member]) => member !== "prevResult"));
  const { containerId, ifName, netns, args } = env;
  return { containerId, ifName, netns, args, network: conf.name, conf: own };
}

/** In a chain, what the plugins before us made stays in the result. */
function withPrevious({ conf }: CniRequest, made: CniResult): CniResult {
  const previous = conf.raw["prevResult"];
  return previous === undefined ? made : mergeResults(parseResult(previous), made);
}
