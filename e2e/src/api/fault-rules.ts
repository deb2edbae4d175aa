// SPDX-License-Identifier: Apache-2.0
/** FaultRules decide what a FaultProxy does with each request. */
import type { ApiRequest } from "./api-request.ts";

/** What the proxy does with a write. */
export interface WriteOutcome {
  /** Resolves before the proxy does anything else. */
  readonly delayMs?: number;
  /** The proxy also waits for this. */
  readonly until?: Promise<unknown>;
  /** Whether the proxy forwards the write to the API server. */
  readonly isCarriedOut: boolean;
  /** The answer to the client; with "none" the client gets no answer. */
  readonly answer: "server's" | "reset" | "none" | Refusal;
  /** Runs after the API server has completed the write and before the client is answered. */
  readonly before?: () => void;
  /** Runs after the client was answered. */
  readonly after?: () => void;
}

/** What the proxy does with a list, a get or the start of a watch; {} forwards it. */
export interface ReadOutcome {
  readonly delayMs?: number;
  readonly refusal?: Refusal;
  /** The old resourceVersion that a list is read at. */
  readonly past?: string | undefined;
  /** The page size of a list. */
  readonly pageSize?: number | undefined;
}

/** How a watch ends before its next event: cut between two events, cut within an event, or with 410 Gone. */
export type WatchEnd = "reset" | "within an object" | "expired";

/** An error answer of the API server. */
export interface Refusal {
  readonly status: number;
  /** The metav1.StatusReason. */
  readonly reason: string;
  readonly retryAfterS?: number;
}

/** The rules. The proxy calls them for each request. */
export interface FaultRules {
  outcomeOf(write: ApiRequest): WriteOutcome;
  /** Called with the HTTP status of the API server's answer to a forwarded write. */
  answered(write: ApiRequest, status: number): void;
  /** Called with each request. */
  heard(request: ApiRequest): void;
  outcomeOfRead(read: ApiRequest): ReadOutcome;
  /** Delays the events of a watch until it resolves; a returned value ends the watch. */
  whenLive(watch: ApiRequest): Promise<WatchEnd | undefined>;
}

/** Rules that forward everything. */
export const forwardAll: FaultRules = {
  outcomeOf: () => ({ isCarriedOut: true, answer: "server's" }),
  answered: () => undefined,
  heard: () => undefined,
  outcomeOfRead: () => ({}),
  whenLive: () => Promise.resolve(undefined),
};
