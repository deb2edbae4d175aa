// SPDX-License-Identifier: Apache-2.0
/**
 * What we know about each interface that we made or are making: a file each under /run, written before the act, so that a
 * DEL or GC after a kill at any moment knows what may be there. Only the holder of the interface's lock touches it.
 * Usage: `writeRecord(stateDir, { ...record, step: "leasing" })` before the DHCP plugin is asked for a lease.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../request/cni-error.ts";
import { ensureDirectory } from "./directory.ts";
import { isObject, parseJson, type JsonObject, type JsonValue } from "../request/json.ts";
import type { LockName } from "./owner-lock.ts";
import type { Attachment } from "../delegates/orphans.ts";
import type { RoutingPolicy } from "../network/routing-policy.ts";

/** How far an ADD has come, or may have come when it was killed. */
export type Step =
  /** zedrouter or `bridge` may have made the interface. */
  | "connecting"
  /** The DHCP daemon may have a lease, or be about to get one. */
  | "leasing"
  /** All done, with or without a lease. */
  | "connected";

/** One interface of one pod. */
export interface AttachmentRecord extends Attachment {
  /** Name of the CNI network. */
  readonly network: string;
  readonly netns: string;
  /** CNI_ARGS of the ADD. */
  readonly args: string;
  /** The configuration of the ADD without prevResult: what delegates need to undo it. */
  readonly conf: JsonObject;
  readonly step: Step;
  /** Whether there is a lease, or may be one. */
  readonly lease: boolean;
  /** What eth0 got; absent for other interfaces. zedkube's marker may be gone or changed when the pod ends. */
  readonly policy?: RoutingPolicy;
}

/** What an ADD adds to its record step by step. */
export type Progress = Pick<AttachmentRecord, "step" | "lease" | "policy">;

/** The lock that guards an attachment's record and everything that it stands for. */
export function lockOf(stateDir: string, attachment: Attachment): LockName {
  return { dir: locksIn(stateDir), name: keyOf(attachment) };
}

/** Where the locks are. */
export function locksIn(stateDir: string): string {
  return join(stateDir, "locks");
}

/** Writes a record whole or not at all. Throws the file system's error. */
export function writeRecord(stateDir: string, record: AttachmentRecord): void {
  const dir = recordsIn(stateDir);
  ensureDirectory(dir, 0o700);
  const file = join(dir, fileOf(record));
  // The lock makes us the only writer: a temporary file of this name is a killed one's.
  writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The record of an attachment; undefined when there is none that can be read. */
export function readRecord(stateDir: string, attachment: Attachment): AttachmentRecord | undefined {
  return readFile(join(recordsIn(stateDir), fileOf(attachment)));
}

/** Forgets an attachment; it need not be known. */
export function removeRecord(stateDir: string, attachment: Attachment): void {
  const file = join(recordsIn(stateDir), fileOf(attachment));
  rmSync(`${file}.new`, { force: true });
  rmSync(file, { force: true });
}

/** All attachments of the node, of every network. */
export function listRecords(stateDir: string): AttachmentRecord[] {
  return namesIn(recordsIn(stateDir))
    .filter((name) => name.endsWith(suffix))
    .map((name) => readFile(join(recordsIn(stateDir), name)))
    .filter((record) => record !== undefined);
}

/** Attachments whose record somebody was writing when he was killed. */
export function listUnfinishedWrites(stateDir: string): Attachment[] {
  return namesIn(recordsIn(stateDir)).flatMap((name) => {
    if (!name.endsWith(unfinishedSuffix)) return [];
    const [containerId = "", ifName = ""] = name.slice(0, -unfinishedSuffix.length).split(":");
    return [{ containerId, ifName }];
  });
}

const suffix = ".json";
const unfinishedSuffix = `${suffix}.new`;

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

function recordsIn(stateDir: string): string {
  return join(stateDir, "attachments");
}

/** The name of an attachment's files. Container ids have no ":", interface names neither. */
export function keyOf({ containerId, ifName }: Attachment): string {
  return `${containerId}:${ifName}`;
}

function fileOf(attachment: Attachment): string {
  return `${keyOf(attachment)}${suffix}`;
}

function readFile(file: string): AttachmentRecord | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return parseRecord(parseJson(readFileSync(file, "utf8")));
  } catch (error) {
    // Not ours to judge here: a record that nobody can read is one that is not there.
    if (errnoOf(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function parseRecord(value: JsonValue): AttachmentRecord | undefined {
  if (!isObject(value)) return undefined;
  const { containerId, ifName, network, netns, args, conf, step, lease, policy } = value;
  if (typeof containerId !== "string" || typeof ifName !== "string" || typeof network !== "string") return undefined;
  if (typeof netns !== "string" || typeof args !== "string" || !isObject(conf)) return undefined;
  if (!isStep(step) || typeof lease !== "boolean") return undefined;
  const record = { containerId, ifName, network, netns, args, conf, step, lease };
  return isPolicy(policy) ? { ...record, policy } : record;
}

/** Another or none: the marker is read again, as for records that older versions wrote. */
function isPolicy(value: JsonValue | undefined): value is RoutingPolicy {
  return value === "default-route" || value === "cluster-only";
}

function isStep(value: JsonValue | undefined): value is Step {
  return value === "connecting" || value === "leasing" || value === "connected";
}
