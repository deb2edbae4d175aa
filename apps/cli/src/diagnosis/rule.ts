// SPDX-License-Identifier: Apache-2.0
/** A rule of the diagnosis finds problems in a snapshot. What else it knows of them connects findings, and is not printed. */
import type { Finding } from "./finding.ts";
import type { Snapshot } from "./snapshot.ts";

export interface DetectedFinding extends Finding {
  /** The nodes that it concerns, if its object is not a node or the state of one. */
  readonly nodes?: readonly string[];
  /** Milliseconds since 1970 from which on it holds. What happened before is no evidence. */
  readonly sinceMs?: number;
}

export type Rule = (snapshot: Snapshot) => readonly DetectedFinding[];
