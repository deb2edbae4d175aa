// SPDX-License-Identifier: Apache-2.0
/**
 * HostError is the only error class of this library. It contains the operation, its target and the answer of the kernel.
 * Usage: `throw new HostError({ action: "set mtu 9000", target: "eth0" }, "EINVAL", { words: "mtu greater than device maximum" })`.
 */
import { isErrno } from "@switchyard/service";

/** An operation on the host. */
export interface HostOperation {
  /** "set mtu 9000". */
  readonly action: string;
  /** The PCI address, interface name or file: "0000:3b:00.0". */
  readonly target: string;
}

/** The host refused an operation: "set mtu 9000 on 0000:3b:00.0: EINVAL (mtu greater than device maximum)". Branch on `code` only. */
export class HostError extends Error {
  override readonly name = "HostError";
  readonly operation: HostOperation;
  /** Name of the errno. MODPROBE_FAILED or FIRMWARE_TOOL_FAILED if a program failed, because it does not report an errno. */
  readonly code: string;
  /** Explanation by the kernel (extended ack) or by a program, if any. */
  readonly words: string | undefined;

  constructor(
    operation: HostOperation,
    code: string,
    why: { readonly words?: string | undefined; readonly cause?: unknown },
  ) {
    super(`${operation.action} on ${operation.target}: ${code}${why.words ? ` (${why.words})` : ""}`, {
      cause: why.cause,
    });
    this.operation = operation;
    this.code = code;
    this.words = why.words;
  }
}

/**
 * Returns the result of `act`. Rejects with HostError instead of an error of a system call. `file` is the path on the host of the
 * file or directory, if the target of the operation does not name it: it tells the administrator which disk is full or read-only.
 */
export async function withHostError<Value>(
  operation: HostOperation,
  act: () => Value | Promise<Value>,
  file?: string,
): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw toHostError(operation, error, file);
  }
}

/** Converts an error of a system call to a HostError. Any other error is a bug and is returned unchanged. */
export function toHostError(operation: HostOperation, thrown: unknown, file?: string): unknown {
  return isErrno(thrown) ? new HostError(operation, thrown.code, { words: file, cause: thrown }) : thrown;
}
