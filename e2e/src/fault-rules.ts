// SPDX-License-Identifier: Apache-2.0
/**
 * What a FaultProxy is told to do with each request.
 * Usage: `const rules: FaultRules = { ...passAll, fateOfRead: ({ resource }) => (resource === "nodes" ? { refusal } : {}) };`
 */
import type { ApiRequest } from "./api-request.ts";

/** What becomes of one write. */
export interface Fate {
  /** Passes before anything else happens. */
  readonly delayMs?: number;
  /** Whether the API server gets it. */
  readonly isCarriedOut: boolean;
  /** What the client hears of it; with "none" it waits for as long as it likes. */
  readonly answer: "server's" | "reset" | "none" | Refusal;
  /** Runs after it was carried out and before the client hears of it. */
  readonly before?: () => void;
  /** Runs when the client has been answered. */
  readonly after?: () => void;
}

/** What becomes of a list, a get, or a watch that begins; the API server answers unless told. */
export interface ReadFate {
  readonly delayMs?: number;
  readonly refusal?: Refusal;
  /** A list begins at this resourceVersion of the past. */
  readonly past?: string | undefined;
  /** A list comes in pages of this size. */
  readonly pageSize?: number | undefined;
}

/** How a watch ends before its next event: cut between two events or within one, or because its place is forgotten (410). */
export type WatchEnd = "reset" | "within an object" | "expired";

/** An answer as the API server gives it when it does not want to. */
export interface Refusal {
  readonly status: number;
  /** metav1.StatusReason */
  readonly reason: string;
  readonly retryAfterS?: number;
}

/** Asked for each request. */
export interface FaultRules {
  fateOf(write: ApiRequest): Fate;
  /** Told the server's answer to a write that was carried out: its HTTP status. */
  answered(write: ApiRequest, status: number): void;
  /** Told each request that comes. */
  heard(request: ApiRequest): void;
  fateOfRead(read: ApiRequest): ReadFate;
  /** Events of this watch go on when it resolves, or the watch ends so. */
  whenLive(watch: ApiRequest): Promise<WatchEnd | undefined>;
}

/** Nothing goes wrong. */
export const passAll: FaultRules = {
  fateOf: () => ({ isCarriedOut: true, answer: "server's" }),
  answered: () => undefined,
  heard: () => undefined,
  fateOfRead: () => ({}),
  whenLive: () => Promise.resolve(undefined),
};
