// SPDX-License-Identifier: Apache-2.0
/**
 * The one error of this lib. Branch on `code`; the message is for people and ends with what to do where there is
 * something to do.
 * Usage: `throw new TestingError("kubectl", "kubectl get nodes: exit 1", { stderr })`
 */

/** What went wrong, one word per cause. */
export const testingErrorCodes = {
  workspace: "no nx.json above the working directory",
  binaries: "none of the ways to get the control plane's binaries worked",
  build: "go build failed",
  archive: "the envtest archive could not be had, or is not what its index says",
  start: "a process of the control plane ended or was not ready in time",
  kubectl: "kubectl ended with an error",
  etcd: "etcd refused a request",
  timeout: "a condition did not come true in time",
} as const;

export type TestingErrorCode = keyof typeof testingErrorCodes;

/** A failure of test equipment, never of what is tested. */
export class TestingError extends Error {
  override readonly name = "TestingError";
  readonly code: TestingErrorCode;
  /** Facts to look at: exit status, stderr, the end of a log. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: TestingErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message, { cause: details["cause"] });
    this.code = code;
    this.details = details;
  }
}
