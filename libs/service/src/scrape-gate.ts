// SPDX-License-Identifier: Apache-2.0
/**
 * ScrapeGate decides who may read the metrics of a process. Before the process is connected to the cluster, nobody can be
 * asked, and scrapes are refused with 503.
 */

/**
 * "allowed"; "unauthenticated": no valid token; "forbidden": a valid token without the right to get /metrics; "unknown": the API
 * server does not answer.
 */
export type ScrapeDecision = "allowed" | "unauthenticated" | "forbidden" | "unknown";

/** Decides about a bearer token. Never rejects. */
export type ReviewScrape = (token: string) => Promise<ScrapeDecision>;

export interface ScrapeGate {
  readonly review: ReviewScrape;
  /** Sets who decides from now on. */
  readonly setReview: (review: ReviewScrape) => void;
}

export function createScrapeGate(): ScrapeGate {
  let current: ReviewScrape = () => Promise.resolve("unknown");
  return {
    review: (token) => current(token),
    setReview(review) {
      current = review;
    },
  };
}
