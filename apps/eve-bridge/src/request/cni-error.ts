// SPDX-License-Identifier: Apache-2.0
/**
 * CniError is the only error class of this program: the error object that a container runtime gets on stdout (CNI 1.1.0,
 * "Error").
 */
import type { JsonObject } from "./json.ts";

/** Codes 1-99 are defined by the CNI specification, codes from 100 by eve-bridge. docs/eve-bridge.md explains each. */
export const cniCode = {
  incompatibleVersion: 1,
  unknownContainer: 3,
  invalidEnvironment: 4,
  io: 5,
  decoding: 6,
  invalidConfig: 7,
  invalidNetns: 8,
  /** The request is valid: zedrouter, the DHCP daemon or a marker is not there yet, or a wait took too long. */
  tryAgain: 11,
  /** STATUS: an ADD would fail. */
  notAvailable: 50,
  /** STATUS: an ADD would fail, and connected pods may lose their leases. */
  limited: 51,
  /** zedrouter refused the request. */
  refused: 100,
  /** zedrouter's answer violates the protocol. */
  protocol: 101,
  /** A delegated plugin failed with code 999, or printed no error object. */
  delegate: 102,
  /** CHECK: the pod's interface differs from the result of ADD. */
  mismatch: 103,
  /** A bug in eve-bridge. */
  internal: 999,
} as const;

/** A failure with the code that the runtime gets. Branch on `code` only. */
export class CniError extends Error {
  override readonly name = "CniError";
  readonly code: number;
  /** More information for people; may be "". */
  readonly details: string;

  constructor(code: number, message: string, more: { details?: string; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.details = more.details ?? "";
  }
}

/** Converts anything thrown to a CniError: code 5 for errors of system calls, 999 for everything else. */
export function toCniError(thrown: unknown): CniError {
  if (isCniError(thrown)) return thrown;
  const errno = errnoOf(thrown);
  const code = errno === undefined ? cniCode.internal : cniCode.io;
  return new CniError(code, messageOf(thrown), { cause: thrown });
}

/** The error object of the CNI specification. `cniVersion` is the version of the configuration. */
export function errorObject(error: CniError, cniVersion: string): JsonObject {
  const { code, message: msg, details } = error;
  return { cniVersion, code, msg, ...(details === "" ? {} : { details }) };
}

/** The message followed by the details in parentheses, for a log line or the details of another error. */
export function describe(thrown: unknown): string {
  if (!isCniError(thrown) || thrown.details === "") return messageOf(thrown);
  return `${thrown.message} (${thrown.details})`;
}

/** The errno name, such as ENOENT, if `thrown` comes from a system call. `instanceof Error` is false in Jest's realms. */
export function errnoOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown) || !("syscall" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

function isCniError(thrown: unknown): thrown is CniError {
  return thrown instanceof CniError;
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === "object" && thrown !== null && "message" in thrown && typeof thrown.message === "string") {
    return thrown.message;
  }
  return String(thrown);
}
