// SPDX-License-Identifier: Apache-2.0
/**
 * GC: removes the interfaces of a network that the runtime no longer lists, by our own records, and what killed calls
 * left in our state. One that cannot be removed does not keep the others.
 * Usage: `await gc(call)`.
 */
import {
  listRecords,
  listUnfinishedWrites,
  lockOf,
  locksIn,
  readRecord,
  removeRecord,
  type AttachmentRecord,
} from "../state/attachment-record.ts";
import { waitFor, type Call } from "./call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import { parseCniArgs } from "../request/cni-args.ts";
import { runDelegate } from "../delegates/delegate.ts";
import { isArray, isObject, kindOf, type JsonObject } from "../request/json.ts";
import type { Attachment } from "../delegates/orphans.ts";
import { sweepLocks, tryLock } from "../state/owner-lock.ts";
import { teardown } from "./teardown.ts";

const validMember = "cni.dev/valid-attachments";

/** Throws when something is left, after having tried everything. */
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
  sweepLocks(locksIn(stateDir));
  await attempt("delegate", () => forward(call));
  if (code === undefined) return;
  throw new CniError(code, `${failures.length} of ${stale.length + 1} removals failed`, {
    details: failures.join("; "),
  });
}

/** What the runtime still has. libcni writes an empty list as null, and leaves it out to have all removed. Throws code 7. */
function parseValidAttachments(conf: JsonObject): ReadonlySet<string> {
  const list = conf[validMember] ?? [];
  if (!isArray(list)) throw invalid(`${validMember} must be an array, not ${kindOf(list)}`);
  const keys = list.map((attachment, i) => {
    const { containerID, ifname } = isObject(attachment) ? attachment : {};
    if (typeof containerID === "string" && typeof ifname === "string") return `${containerID}:${ifname}`;
    throw invalid(`${validMember}[${i}] must have the strings containerID and ifname`);
  });
  return new Set(keys);
}

/** As a DEL would, with the environment and configuration of the ADD. One that is being worked on is not stale. */
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
    call.log.info("removing", { containerId, ifName });
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

/** Plugins that we delegate to may collect garbage too; most do not know GC, which is no failure. */
async function forward(call: Call): Promise<void> {
  const { env, conf } = call.request;
  const plugin = conf.raw["ipam"] === undefined ? "dhcp" : "bridge";
  const raw = plugin === "dhcp" ? { ...conf.raw, ipam: { type: "dhcp" } } : conf.raw;
  const of = { ...env, containerId: "", ifName: "", netns: "" };
  try {
    await runDelegate(of, { plugin, command: "GC", conf: raw }, waitFor(call, call.timeouts.delegate));
  } catch (error) {
    const { code } = toCniError(error);
    const unknownToIt = [cniCode.incompatibleVersion, cniCode.invalidEnvironment, cniCode.invalidConfig];
    if (!unknownToIt.some((one) => one === code)) throw error;
    call.log.info("the delegate collects no garbage", { plugin, error: describe(error) });
  }
}

function invalid(message: string): CniError {
  return new CniError(cniCode.invalidConfig, message);
}
