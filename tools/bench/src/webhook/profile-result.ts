// SPDX-License-Identifier: Apache-2.0
/** What was measured of the webhook with one profile of nodes. */
import type { LoadResult } from "./measure-load.ts";
import type { VerdictResult } from "./compare-answers.ts";
import type { WebhookProfileName } from "./webhook-profile.ts";

export interface ProfileResult {
  readonly profile: WebhookProfileName;
  /** Policies that were in the cluster. */
  readonly policies: number;
  /** Until /readyz: the first time, when it also makes its certificate, and again. */
  readonly startSeconds: readonly number[];
  readonly loads: readonly LoadResult[];
  /** The same loads on the server that admits everything, one round. */
  readonly baseline: readonly LoadResult[];
  readonly verdicts: VerdictResult;
  readonly rssMb: number;
  /** The largest RSS of all processes. */
  readonly peakMb: number;
  readonly baselinePeakMb: number;
  /** Lists and single reads that were asked of the API server while reviews came. */
  readonly lists: number;
  readonly stopSeconds: readonly number[];
  /** Warnings and errors in the webhook's log. */
  readonly complaints: readonly string[];
}
