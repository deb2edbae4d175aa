// SPDX-License-Identifier: Apache-2.0
/**
 * The results of the daemon benchmark. Seconds are counted from the change of the spec at the API server, or from the
 * start of the process.
 */
import type { RequestCount } from "../harness/request-count.ts";

/** What the daemon used until it was idle again. */
export interface Cost {
  readonly cpuSeconds: number;
  /** Page faults of the processes that it started; 0 means that it started none. */
  readonly childFaults: number;
  readonly requests: RequestCount;
}

export interface StartResult extends Cost {
  readonly title: string;
  /** In a guest that is emulated, the first round is slower: the emulator translates code that runs for the first time. */
  readonly round: number;
  /** Seconds until status.interfaces was written. */
  readonly seconds: number;
  readonly rssMb: number;
  readonly peakMb: number;
}

export interface ChangeResult extends Cost {
  readonly title: string;
  readonly round: number;
  /** Seconds until the kernel's first write; absent on a host where it cannot be observed. */
  readonly firstWriteSeconds?: number;
  /** Seconds until status.syncStatus was Succeeded. */
  readonly settledSeconds: number;
}

/** A spec that cannot be applied, on a node with working VFs. */
export interface RefusalResult extends Cost {
  readonly title: string;
  /** Seconds until status.syncStatus was Failed. */
  readonly shownSeconds: number;
  /** status.lastSyncError. */
  readonly words: string;
  readonly isAnythingDestroyed: boolean;
}

/** What the daemon does when the carrier of a configured PF is lost for a moment. */
export interface FlapResult extends Cost {
  readonly title: string;
}

export interface IdleResult extends Cost {
  readonly seconds: number;
  readonly rssMb: number;
}
