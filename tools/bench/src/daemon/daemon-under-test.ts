// SPDX-License-Identifier: Apache-2.0
/**
 * A daemon that is measured, wherever it runs.
 */
import type { AuditTail } from "../harness/audit-tail.ts";
import type { ProcessReading } from "../harness/process-meter.ts";
import type { NodeUnderTest } from "./node-under-test.ts";

/** Disposing it ends the daemon and its host. */
export interface DaemonUnderTest extends AsyncDisposable {
  readonly node: NodeUnderTest;
  /** Its requests to the API server. */
  readonly requests: AuditTail;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** In order, as a rollout does. */
  stop(): Promise<void>;
  /** How long each stop took. */
  readonly stopSeconds: readonly number[];
  /** Of the process that runs. */
  read(): Promise<ProcessReading>;
  /** Another text once VFs were destroyed, even if others came in their place. */
  vfIdentity(): Promise<string>;
  /** The end of its log. */
  lastWords(): string;
  /** When the kernel first saw a write after this time; undefined where that cannot be told. */
  firstWriteMs(sinceMs: number): number | undefined;
}
