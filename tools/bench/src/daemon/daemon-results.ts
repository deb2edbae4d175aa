// SPDX-License-Identifier: Apache-2.0
/**
 * What was measured of a daemon. Seconds begin when the order is sent to the API server, or when the process starts.
 */
import type { MachineFacts } from "../harness/machine-facts.ts";
import type { Goal } from "../harness/goal.ts";
import type { RequestCount } from "../harness/request-count.ts";
import type { KernelTimes } from "./kernel-baseline.ts";

/** What something cost the daemon until it rested again. */
export interface Cost {
  readonly cpuSeconds: number;
  /** Page faults of processes that it started: 0 says that there were none. */
  readonly childFaults: number;
  readonly requests: RequestCount;
}

export interface StartResult extends Cost {
  readonly title: string;
  /** Until status.interfaces was there. */
  readonly seconds: number;
  readonly rssMb: number;
  readonly peakMb: number;
}

export interface ChangeResult extends Cost {
  readonly title: string;
  readonly round: number;
  /** Until the kernel saw the first write, where that can be told. */
  readonly firstWriteSeconds?: number;
  /** Until the status said Succeeded. */
  readonly settledSeconds: number;
}

/** An order that cannot be carried out, to a node with VFs that work. */
export interface RefusalResult extends Cost {
  readonly title: string;
  /** Until the status said Failed. */
  readonly shownSeconds: number;
  /** lastSyncError */
  readonly words: string;
  readonly isAnythingDestroyed: boolean;
}

export interface IdleResult extends Cost {
  readonly seconds: number;
  readonly rssMb: number;
}

/** What --json writes. */
export interface DaemonReport {
  readonly bench: "daemon";
  readonly host: "fake kernel" | "VM lab, igb";
  /** RFC 3339. */
  readonly date: string;
  readonly machine: MachineFacts;
  readonly versions: Readonly<Record<string, string>>;
  /** Best times of the kernel alone, by the title of the change; none for the fake kernel, which takes no time. */
  readonly kernelTimes: KernelTimes;
  readonly starts: readonly StartResult[];
  readonly changes: readonly ChangeResult[];
  readonly refusals: readonly RefusalResult[];
  readonly idle: IdleResult;
  readonly peakMb: number;
  /** From SIGTERM to the end, of each process. */
  readonly stopSeconds: readonly number[];
  readonly goals: readonly Goal[];
}
