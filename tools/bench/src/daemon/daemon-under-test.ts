// SPDX-License-Identifier: Apache-2.0
/**
 * DaemonUnderTest is the measured daemon, on the fake kernel or in a guest.
 */
import type { AuditTail } from "../harness/audit-tail.ts";
import type { ProcessReading } from "../harness/process-meter.ts";
import type { NodeUnderTest } from "./node-under-test.ts";

/** The measured daemon. Disposing it ends the daemon and its host. */
export interface DaemonUnderTest extends AsyncDisposable {
  readonly node: NodeUnderTest;
  /** Its requests to the API server. */
  readonly requests: AuditTail;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** Stops the process with SIGTERM, as a rollout does. */
  stop(): Promise<void>;
  /** The duration of each stop. */
  readonly stopSeconds: readonly number[];
  /** The figures of the running process. */
  read(): Promise<ProcessReading>;
  /** A text that changes when VFs are destroyed, even if others are created in their place. */
  vfIdentity(): Promise<string>;
  /** Makes the kernel take this time for each write of sriov_numvfs from now on. Absent on a real kernel. */
  slowDown?(ms: number): void;
  /** Interrupts the carrier of the second port, which has VFs. Absent on a host without carriers. */
  flapLink?(): Promise<void>;
  /** The end of its log. */
  logEnd(): string;
  /** The time of the kernel's first write after `sinceMs`; undefined on a host where it cannot be observed. */
  firstWriteMs(sinceMs: number): number | undefined;
}
