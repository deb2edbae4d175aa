// SPDX-License-Identifier: Apache-2.0
/**
 * The one error of the lab. Its message is for a person and says what to do; code branches on `code`.
 * Usage: `throw new VmLabError("qemu-missing", "QEMU 8.0 or later is needed: npm run vm -- deps")`
 */

/** What went wrong, by its cause. */
export type VmLabErrorCode =
  /** The caller asked for what cannot be. */
  | "bad-option"
  /** No QEMU, or one without the igb device. */
  | "qemu-missing"
  /** No image in the cache, and no root to build one. */
  | "not-built"
  /** A step of the build failed. */
  | "build-failed"
  /** This machine cannot run or build the lab. */
  | "unsupported-host"
  /** The agent did not answer in time. */
  | "boot-timed-out"
  /** The guest's kernel panicked. */
  | "guest-panicked"
  /** QEMU ended by itself, or the guest powered off. */
  | "qemu-exited"
  /** The guest was booted again while a process ran. */
  | "guest-rebooted"
  /** A process in the guest did not end within its time limit. */
  | "timed-out"
  /** The caller's signal. */
  | "aborted"
  /** The guest was killed or disposed of. */
  | "guest-killed";

export class VmLabError extends Error {
  override readonly name = "VmLabError";
  readonly code: VmLabErrorCode;
  /** The end of what a failed script, QEMU or the guest's console said. */
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
