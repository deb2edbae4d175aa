// SPDX-License-Identifier: Apache-2.0
/**
 * AttachmentRecord describes an interface that eve-bridge has connected or is connecting. It is a file under /run
 * that is written before each step, so that a DEL or GC after a kill knows what may exist. Only the holder of the
 * interface's lock reads or writes it.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../request/cni-error.ts";
import { ensureDirectory, type LockName } from "./owner-lock.ts";
import { isObject, parseJson, type JsonObject, type JsonValue } from "../request/json.ts";
import type { RoutingPolicy } from "../network/routing-policy.ts";

/** An interface of a container. */
export interface Attachment {
  readonly containerId: string;
  readonly ifName: string;
}

/** The step that an ADD has started last. */
export type Step =
  /** zedrouter or `bridge` may have created the interface. */
  | "connecting"
  /** The DHCP daemon may have a lease, or may be requesting one. */
  | "leasing"
  /** The ADD is complete, with or without a lease. */
  | "connected";

/** One interface of one pod. */
export interface AttachmentRecord extends Attachment {
  /** Name of the CNI network. */
  readonly network: string;
  readonly netns: string;
  /** CNI_ARGS of the ADD. */
  readonly args: string;
  /** The configuration of the ADD without prevResult. Delegated plugins need it to undo the ADD. */
  readonly conf: JsonObject;
  readonly step: Step;
  /** Whether a lease exists or may exist. */
  readonly lease: boolean;
  /** Hardware address for which the lease was requested; absent without a lease, and in records of older versions. */
  readonly mac?: string;
  /** daemonOf() the DHCP daemon that has the lease; absent without a lease, and in records of older versions. */
  readonly daemon?: string;
  /** The routing policy of eth0, because zedkube's marker may change before the pod ends; absent for other interfaces. */
  readonly policy?: RoutingPolicy;
}

/** The part of the record that an ADD updates before each step. */
export type Progress = Pick<AttachmentRecord, "step" | "lease" | "mac" | "daemon" | "policy">;

/** The lock of an attachment: its holder may change the interface and its record. */
export function lockOf(stateDir: string, attachment: Attachment): LockName {
  return { dir: locksIn(stateDir), name: keyOf(attachment) };
}

/** The directory of the locks. */
export function locksIn(stateDir: string): string {
  return join(stateDir, "locks");
}

/** Writes a record atomically. Throws the file system's error. */
export function writeRecord(stateDir: string, record: AttachmentRecord): void {
  const dir = recordsIn(stateDir);
  ensureDirectory(dir, 0o700);
  const file = join(dir, fileOf(record));
  // The caller holds the lock, so a temporary file of this name is left from a killed process.
  rmSync(`${file}.new`, { force: true, recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  try {
    renameSync(`${file}.new`, file);
  } catch (error) {
    if (errnoOf(error) !== "EISDIR") throw error;
    rmSync(file, { recursive: true });
    renameSync(`${file}.new`, file);
  }
}

/** The record of an attachment; undefined if it does not exist or is not valid. */
export function readRecord(stateDir: string, attachment: Attachment): AttachmentRecord | undefined {
  return readFile(join(recordsIn(stateDir), fileOf(attachment)));
}

/** Removes the record of an attachment, if it exists. */
export function removeRecord(stateDir: string, attachment: Attachment): void {
  const file = join(recordsIn(stateDir), fileOf(attachment));
  rmSync(`${file}.new`, { force: true, recursive: true });
  rmSync(file, { force: true, recursive: true });
}

/** The records of all attachments of the node, for all networks. */
export function listRecords(stateDir: string): AttachmentRecord[] {
  return namesIn(recordsIn(stateDir))
    .filter((name) => name.endsWith(suffix))
    .map((name) => readFile(join(recordsIn(stateDir), name)))
    .filter((record) => record !== undefined);
}

/** The attachments with a temporary record file, which a killed process leaves. */
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

/** The name of an attachment's files. Neither container ids nor interface names can contain ":". */
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
    // An invalid record is treated as absent.
    if (errnoOf(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function parseRecord(value: JsonValue): AttachmentRecord | undefined {
  if (!isObject(value)) return undefined;
  const { containerId, ifName, network, netns, args, conf, step, lease, mac, daemon, policy } = value;
  if (typeof containerId !== "string" || typeof ifName !== "string" || typeof network !== "string") return undefined;
  if (typeof netns !== "string" || typeof args !== "string" || !isObject(conf)) return undefined;
  if (!isStep(step) || typeof lease !== "boolean") return undefined;
  return {
    ...{ containerId, ifName, network, netns, args, conf, step, lease },
    ...(typeof mac === "string" ? { mac } : {}),
    ...(typeof daemon === "string" ? { daemon } : {}),
    ...(isPolicy(policy) ? { policy } : {}),
  };
}

/** Records of older versions have no policy; then zedkube's marker is read again. */
function isPolicy(value: JsonValue | undefined): value is RoutingPolicy {
  return value === "default-route" || value === "cluster-only";
}

function isStep(value: JsonValue | undefined): value is Step {
  return value === "connecting" || value === "leasing" || value === "connected";
}
