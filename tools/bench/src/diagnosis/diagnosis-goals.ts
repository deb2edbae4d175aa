// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the diagnosis benchmark. Pure.
 * Usage: `missedGoals(diagnosisGoals(commands))`
 */
import { atMost, type Goal } from "../harness/goal.ts";

/** One command with one form of the files, or the baseline. */
export interface CommandResult {
  /** "doctor -o html, YAML" */
  readonly title: string;
  /** The seconds and the peak RSS in MB of each round; no RSS if no process was started. */
  readonly seconds: readonly number[];
  readonly peakMb: readonly number[];
  /** Bytes that it printed. */
  readonly bytes: number;
  /** Absent for the baseline and for commands without a goal. */
  readonly goal?: "diagnosis" | "page" | "live";
}

/** The plain client that only lists, to which "live" compares. */
export const listingTitle = "listing alone, live";

const limitSeconds = 3;
const limitBesideListing = 2;
const limitMb = 250;
const limitPageBytes = 1_000_000;

/** Other work on the machine only adds to a time, so the best round counts. */
export function diagnosisGoals(commands: readonly CommandResult[]): readonly Goal[] {
  const listing = commands.find(({ title }) => title === listingTitle);
  return commands.flatMap(({ title, seconds, peakMb, bytes, goal }) => {
    if (goal === undefined) return [];
    if (goal === "live") {
      const more = listing && Math.min(...seconds) - Math.min(...listing.seconds);
      return [atMost(`${title}, beside the listing`, more, limitBesideListing, "s")];
    }
    return [
      atMost(title, Math.min(...seconds), limitSeconds, "s"),
      atMost(`${title}, peak RSS`, Math.min(...peakMb), limitMb, "MB"),
      ...(goal === "page" ? [atMost(`${title}, size of the page`, bytes / 1e6, limitPageBytes / 1e6, "MB")] : []),
    ];
  });
}
