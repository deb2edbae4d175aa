// SPDX-License-Identifier: Apache-2.0
/**
 * GC removes the recorded interfaces of a network that the runtime no longer lists, and what killed calls left in the
 * state directory. If one interface cannot be removed, GC still removes the others.
 */
import {
  keyOf,
  listRecords,
  listUnfinishedWrites,
  lockOf,
  locksIn,
  readRecord,
  removeRecord,
  type Attachment,
  type AttachmentRecord,
} from "../state/attachment-record.ts";
import { waitFor, type Call } from "../state/call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import { parseCniArgs } from "../request/cni-args.ts";
import { runDelegate } from "../delegates/delegate.ts";
import { isArray, isObject, kindOf, type JsonObject } from "../request/json.ts";
import { removeStaleLocks, tryLock } from "../state/owner-lock.ts";
import { connectZedrouter } from "../zedrouter/zedrouter-connection.ts";
import { teardown } from "./del.ts";

const validMember = "cni.dev/valid-attachments";

/** Tries all removals, then throws if one of them failed. */
export async function gc(call: Call): Promise<void> {
  const { conf } = call.request;
  const { stateDir } = call.settings;
  const valid = parseValidAttachments(conf.raw);
  const stale = listRecords(stateDir).filter(
    ({ network, containerId, ifName }) => network === conf.name && !valid.has(`${containerId}:${ifName}`),
  );
  const failures: string[] = [];
  let code: number | undefined;
  const attempt = async (what: string, act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      code ??= toCniError(error).code;
      failures.push(`${what}: ${describe(error)}`);
    }
  };

  for (const record of stale) {
    await attempt(`${record.containerId} ${record.ifName}`, () => removeAttachment(call, record));
  }
  for (const attachment of listUnfinishedWrites(stateDir)) removeUnfinishedWrite(stateDir, attachment);
  removeStaleLocks(locksIn(stateDir));
  await attempt("looking for interfaces", () => lookForOthers(call, valid));
  await attempt("GC of the delegated plugin", () => forward(call));
  if (code === undefined) return;
  throw new CniError(code, `${failures.length} of ${stale.length + 2} steps failed`, {
    details: failures.join("; "),
  });
}

/**
 * GC knows the interfaces that have a record. If records are missing, an interface may be left that the runtime does not list, and
 * only zedrouter, which removes it with its application, has it. Throws code 11 if zedrouter cannot be reached, either.
 */
async function lookForOthers(call: Call, valid: ReadonlySet<string>): Promise<void> {
  const { conf } = call.request;
  if (conf.raw["ipam"] !== undefined) return; // the bridge plugin gets a GC of its own
  const ofNetwork = listRecords(call.settings.stateDir).filter(({ network }) => network === conf.name);
  const known = new Set(ofNetwork.map(keyOf));
  const unknown = [...valid].filter((key) => !known.has(key)).length;
  if (unknown === 0 && known.size > 0) return;
  try {
    (await connectZedrouter(call)).close();
  } catch (cause) {
    const what = unknown === 0 ? "there is no record of an interface" : `${unknown} of ${valid.size} have no record`;
    const message = `could not look for interfaces of network ${conf.name}: ${what}, and zedrouter is not reachable`;
    throw new CniError(cniCode.tryAgain, message, { details: describe(cause), cause });
  }
  if (unknown > 0)
    call.log.info("interfaces have no record; zedrouter removes them with their applications", { unknown });
}

/**
 * The attachments that the runtime still has, as "container:interface". libcni writes an empty list as null and omits the
 * member when all attachments are to be removed. Throws code 7.
 */
function parseValidAttachments(conf: JsonObject): ReadonlySet<string> {
  const list = conf[validMember] ?? [];
  if (!isArray(list)) throw invalid(`${validMember} must be an array, not ${kindOf(list)}`);
  const keys = list.map((attachment, i) => {
    const { containerID, ifname } = isObject(attachment) ? attachment : {};
    if (typeof containerID === "string" && typeof ifname === "string") return `${containerID}:${ifname}`;
    throw invalid(`${validMember}[${i}] must be an object with the strings containerID and ifname`);
  });
  return new Set(keys);
}

/**
 * Removes an interface as DEL does, with the environment and configuration of its ADD. Skips one that another call
 * holds.
 */
async function removeAttachment(call: Call, seen: AttachmentRecord): Promise<void> {
  const { stateDir } = call.settings;
  const lock = tryLock(lockOf(stateDir, seen));
  if (lock === undefined) return;
  try {
    const record = readRecord(stateDir, seen);
    if (record === undefined) return;
    const { containerId, ifName, netns, args, conf: raw } = record;
    const env = { ...call.request.env, containerId, ifName, netns, args };
    const conf = { ...call.request.conf, raw };
    const request = { env, conf, args: parseCniArgs(args) };
    call.log.info("removing a stale interface", { containerId, ifName });
    await teardown({ ...call, request }, record);
    removeRecord(stateDir, record);
  } finally {
    lock.release();
  }
}

function removeUnfinishedWrite(stateDir: string, attachment: Attachment): void {
  const lock = tryLock(lockOf(stateDir, attachment));
  if (lock === undefined) return;
  if (readRecord(stateDir, attachment) === undefined) removeRecord(stateDir, attachment);
  lock.release();
}

/** Forwards GC to the delegated plugin. Most plugins do not support GC, which is not a failure. */
async function forward(call: Call): Promise<void> {
  const { env, conf } = call.request;
  const plugin = conf.raw["ipam"] === undefined ? "dhcp" : "bridge";
  const raw = plugin === "dhcp" ? { ...conf.raw, ipam: { type: "dhcp" } } : conf.raw;
  const of = { ...env, containerId: "", ifName: "", netns: "" };
  try {
    await runDelegate(of, { plugin, command: "GC", conf: raw }, waitFor(call, call.timeouts.delegate));
  } catch (error) {
    const { code } = toCniError(error);
    const notSupported = [cniCode.incompatibleVersion, cniCode.invalidEnvironment, cniCode.invalidConfig];
    if (!notSupported.some((one) => one === code)) throw error;
    call.log.info("delegated plugin does not support GC", { plugin, error: describe(error) });
  }
}

function invalid(message: string): CniError {
  return new CniError(cniCode.invalidConfig, message);
}
