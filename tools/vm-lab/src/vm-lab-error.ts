// SPDX-License-Identifier: Apache-2.0
/**
 * VmLabError is the only error class of the lab. Its message says what to do. Branch on `code` only.
 * Usage: `throw new VmLabError("qemu-missing", "QEMU 8.0 or later is needed: npm run vm -- deps")`
 */

/** The cause of the error. */
export type VmLabErrorCode =
  /** An option is invalid. */
  | "bad-option"
  /** QEMU is missing, or has no igb device. */
  | "qemu-missing"
  /** The cache contains no image, and the user is not root. */
  | "not-built"
  /** A step of the build failed. */
  | "build-failed"
  /** This machine cannot run or build the lab. */
  | "unsupported-host"
  /** The agent did not answer in time. */
  | "boot-timed-out"
  /** The kernel of the guest panicked. */
  | "guest-panicked"
  /** QEMU exited, or the guest powered off. */
  | "qemu-exited"
  /** A processor of the guest gets no timer interrupts any more, so what waits there hangs. */
  | "guest-stalled"
  /** QEMU found a bug in itself and ended. */
  | "qemu-aborted"
  /** The guest rebooted while a process was running. */
  | "guest-rebooted"
  /** A process in the guest did not end within its time limit. */
  | "timed-out"
  /** The caller aborted. */
  | "aborted"
  /** The guest was killed or disposed of. */
  | "guest-killed";

export class VmLabError extends Error {
  override readonly name = "VmLabError";
  readonly code: VmLabErrorCode;
  /** End of the output of the failed script, of QEMU or of the console of the guest. */
  readonly output: string | undefined;

  constructor(
    code: VmLabErrorCode,
    message: string,
    why: { readonly output?: string | undefined; readonly cause?: unknown } = {},
  ) {
    const output = why.output?.trimEnd() || undefined;
    super(output === undefined ? message : `${message}\n${output.replace(/^/gm, "  | ")}`, { cause: why.cause });
    this.code = code;
    this.output = output;
  }
}
