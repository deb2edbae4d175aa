// SPDX-License-Identifier: Apache-2.0
/**
 * The one error of this program: what a container runtime gets on stdout (CNI 1.1.0, "Error").
 * Usage: `throw new CniError(cniCode.tryAgain, "zedrouter does not answer", { details: path, cause })`.
 */
import type { JsonObject } from "./json.ts";

/** Codes 1-99 are the specification's, those from 100 on are ours; docs/eve-bridge.md explains each. */
export const cniCode = {
  incompatibleVersion: 1,
  unknownContainer: 3,
  invalidEnvironment: 4,
  io: 5,
  decoding: 6,
  invalidConfig: 7,
  invalidNetns: 8,
  /** Nothing is wrong with the request: zedrouter, the DHCP daemon or a marker is late, or a wait took too long. */
  tryAgain: 11,
  /** STATUS: an ADD would fail. */
  notAvailable: 50,
  /** STATUS: an ADD would fail, and pods that are connected may lose what they have. */
  limited: 51,
  /** zedrouter understood and said no. */
  refused: 100,
  /** zedrouter's answer is not what the protocol allows. */
  protocol: 101,
  /** A delegated plugin failed and left no error object of its own. */
  delegate: 102,
  /** CHECK: the pod's interface is not what the result of ADD says. */
  mismatch: 103,
  /** Our bug. */
  internal: 999,
} as const;

/** A failure with the code that the runtime will see. Branch on `code` only. */
export class CniError extends Error {
  override readonly name = "CniError";
  readonly code: number;
  /** More for a person; "" when the message says it all. */
  readonly details: string;

  constructor(code: number, message: string, more: { details?: string; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.details = more.details ?? "";
  }
}

/** Anything thrown, as a CniError; what is none becomes 999 without its stack. */
export function toCniError(thrown: unknown): CniError {
  if (isCniError(thrown)) return thrown;
  const errno = errnoOf(thrown);
  const code = errno === undefined ? cniCode.internal : cniCode.io;
  return new CniError(code, messageOf(thrown), { cause: thrown });
}

/** The error object of the specification, in the version of the configuration. */
export function errorObject(error: CniError, cniVersion: string): JsonObject {
  const { code, message: msg, details } = error;
  return { cniVersion, code, msg, ...(details === "" ? {} : { details }) };
}

/** `message`, with `details` in brackets: one line for a log or for the details of another error. */
export function describe(thrown: unknown): string {
  if (!isCniError(thrown) || thrown.details === "") return messageOf(thrown);
  return `${thrown.message} (${thrown.details})`;
}

/** ENOENT and the like, when `thrown` comes from a system call. Not by `instanceof`: that fails across realms. */
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
