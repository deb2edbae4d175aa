// SPDX-License-Identifier: Apache-2.0
/**
 * The one error of this lib: what was tried, on what, and the kernel's answer.
 * Usage: `throw new HostError({ tried: "set mtu 9000", target: pf }, "EINVAL", { words: "mtu greater than device maximum" })`.
 */

/** The host's no: "set mtu 9000 on 0000:3b:00.0: EINVAL (mtu greater than device maximum)". Branch on `code` only. */
export class HostError extends Error {
  override readonly name = "HostError";
  /** What was tried, and the PCI address, interface name or file it was tried on. */
  readonly at: { readonly tried: string; readonly target: string };
  /** The errno's name; MODPROBE_FAILED from modprobe, which does not tell one. */
  readonly code: string;
  /** The kernel's own words (extended ack), where it gave any. */
  readonly words: string | undefined;

  constructor(
    at: HostError["at"],
    code: string,
    why: { readonly words?: string | undefined; readonly cause?: unknown },
  ) {
    super(`${at.tried} on ${at.target}: ${code}${why.words ? ` (${why.words})` : ""}`, { cause: why.cause });
    this.at = at;
    this.code = code;
    this.words = why.words;
  }
}

/** Whether `thrown` is what Node throws for a refused system call. By its fields: instanceof is false across realms. */
export function isErrno(thrown: unknown): thrown is Error & { readonly code: string; readonly syscall: string } {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    "code" in thrown &&
    typeof thrown.code === "string" &&
    "syscall" in thrown
  );
}

/** What a port shall throw for what Node threw: a HostError for a refusal; a bug stays what it is. */
export function toHostError(at: HostError["at"], thrown: unknown): unknown {
  return isErrno(thrown) ? new HostError(at, thrown.code, { cause: thrown }) : thrown;
}
