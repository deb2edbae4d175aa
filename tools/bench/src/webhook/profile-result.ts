// SPDX-License-Identifier: Apache-2.0
/** ProfileResult is the result of the webhook benchmark for one profile of nodes. */
import type { LoadResult } from "./measure-load.ts";
import type { AnswerComparison } from "./compare-answers.ts";
import type { WebhookProfileName } from "./webhook-profile.ts";

export interface ProfileResult {
  readonly profile: WebhookProfileName;
  /** Number of policies in the cluster. */
  readonly policies: number;
  /** Seconds until /readyz succeeds: of the first start and of a restart. */
  readonly startSeconds: readonly number[];
  readonly loads: readonly LoadResult[];
  /** The same loads on the server that admits everything, one round. */
  readonly baseline: readonly LoadResult[];
  readonly comparison: AnswerComparison;
  readonly rssMb: number;
  /** The largest RSS of all processes. */
  readonly peakMb: number;
  readonly baselinePeakMb: number;
  /** Number of lists and reads that the webhook requested from the API server during the reviews. */
  readonly lists: number;
  readonly stopSeconds: readonly number[];
  /** Warnings and errors in the webhook's log. */
  readonly complaints: readonly string[];
}
