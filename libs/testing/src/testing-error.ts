// SPDX-License-Identifier: Apache-2.0
/**
 * TestingError is the error class of this library. Branch on `code`, never on the message, which is for people.
 * Usage: `throw new TestingError("kubectl", "kubectl get nodes: exit 1", { stderr })`.
 */

export type TestingErrorCode =
  /** There is no nx.json at or above the working directory. */
  | "workspace"
  /** No source has the binaries of the control plane. */
  | "binaries"
  /** go build failed. */
  | "build"
  /** The envtest archive cannot be downloaded or has another checksum than in its index. */
  | "archive"
  /** A process of the control plane ended or was not ready in time. */
  | "start"
  /** kubectl failed. */
  | "kubectl"
  /** etcd rejected a request. */
  | "etcd"
  /** A program failed or cannot be started. */
  | "program"
  /** Programs of this machine are missing. */
  | "programs"
  /** The programs of Open vSwitch are missing. */
  | "open-vswitch"
  /** A condition was not true in time. */
  | "timeout";

/** A failure of the test environment, not of the tested code. */
export class TestingError extends Error {
  override readonly name = "TestingError";
  readonly code: TestingErrorCode;
  /** Details such as exit status, stderr or the end of a log. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: TestingErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message, { cause: details["cause"] });
    this.code = code;
    this.details = details;
  }
}
