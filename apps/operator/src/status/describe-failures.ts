// SPDX-License-Identifier: Apache-2.0
/**
 * describeFailures describes failures of controllers in one line of limited length. Pure.
 * Usage: `describeFailures(failures)` is "controller networks: PATCH …: Forbidden (…); retrying".
 */
import { cutText, isKubeError } from "@switchyard/kube";

export interface Failure {
  readonly controller: string;
  readonly error: unknown;
  /** When `error` was thrown. */
  readonly at: Date;
  /** When the first of the consecutive failures happened. */
  readonly since: Date;
}

/** Most bytes of one error, because answers of servers can be long. */
const maxBytes = 600;

/** Most failures that are described. */
const maxDescribed = 3;

export function describeFailures(failures: readonly Failure[]): string {
  const named = failures
    .slice(0, maxDescribed)
    .map(({ controller, error }) => `controller ${controller}: ${describe(error)}`);
  const more = failures.length - named.length;
  return `${[...named, ...(more > 0 ? [`${more} more`] : [])].join("; ")}; retrying`;
}

function describe(error: unknown): string {
  const isExpected = isKubeError(error);
  const message = error instanceof Error ? error.message : String(error);
  const text = isExpected ? message : `unexpected error: ${message}`;
  return cutText(text, maxBytes);
}
