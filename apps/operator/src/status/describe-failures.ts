// SPDX-License-Identifier: Apache-2.0
/**
 * Failures of controllers in one line for people, of bounded length. Pure.
 * Usage: `describeFailures(failures)` is "controller networks: PATCH …: Forbidden (…); retrying".
 */
import { cutText, isKubeError } from "@switchyard/kube";

export interface Failure {
  readonly controller: string;
  readonly error: unknown;
  /** When `error` was thrown, and when the row of failures began. */
  readonly at: Date;
  readonly since: Date;
}

/** Bytes of one error: answers of servers may be long. */
const longest = 600;

/** So many are named. */
const most = 3;

export function describeFailures(failures: readonly Failure[]): string {
  const named = failures.slice(0, most).map(({ controller, error }) => `controller ${controller}: ${describe(error)}`);
  const more = failures.length - named.length;
  return `${[...named, ...(more > 0 ? [`${more} more`] : [])].join("; ")}; retrying`;
}

function describe(error: unknown): string {
  const isExpected = isKubeError(error);
  const message = error instanceof Error ? error.message : String(error);
  const text = isExpected ? message : `unexpected error: ${message}`;
  return cutText(text, longest);
}
