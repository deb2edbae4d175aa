// SPDX-License-Identifier: Apache-2.0
/**
 * The one error of this lib: what was asked of the API server, and its answer (metav1.Status) or why there was none.
 * Usage: `if (isKubeError(thrown, "NotFound", "Gone")) return undefined;`.
 */

/** What no answer of the server stands behind; other codes are the `reason` of its Status ("NotFound", "Conflict", ...). */
export type OwnCode =
  /** No connection, or it ended before the answer did. */
  | "ConnectionLost"
  /** No answer within the request's own deadline. The server has the same word for its own, with a `status`. */
  | "Timeout"
  /** The answer is not what the API promises: no JSON, no object. */
  | "UnexpectedResponse"
  /** The kubeconfig or the pod's service account cannot be used. */
  | "BadConfig";

/** What the server adds to its refusal (metav1.StatusDetails). */
export interface KubeErrorDetails {
  readonly name?: string | undefined;
  readonly kind?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
}

/** One field that was refused, and why (metav1.StatusCause). */
export interface StatusCause {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly field?: string | undefined;
}

/** Why a request failed. Branch on `code` only. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  /** The method and path, or the file, that this is about. */
  readonly tried: string;
  /** `reason` of the server's Status, or an OwnCode. */
  readonly code: string;
  /** HTTP status; none where there was no answer. */
  readonly status: number | undefined;
  readonly details: KubeErrorDetails | undefined;
  /** How long the server asks to wait before another try (429, 503). */
  readonly retryAfterMs: number | undefined;

  constructor(
    tried: string,
    code: OwnCode | (string & {}),
    why: {
      /** The server's words. */
      readonly words?: string | undefined;
      readonly status?: number | undefined;
      readonly details?: KubeErrorDetails | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(`${tried}: ${code}${why.words ? ` (${why.words})` : ""}`, { cause: why.cause });
    this.tried = tried;
    this.code = code;
    this.status = why.status;
    this.details = why.details;
    this.retryAfterMs = why.retryAfterMs;
  }
}

/** Whether `thrown` is a KubeError, with one of `codes` if any are given. By its fields: instanceof is false across realms. */
export function isKubeError(thrown: unknown, ...codes: readonly string[]): thrown is KubeError {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    "name" in thrown &&
    thrown.name === "KubeError" &&
    "code" in thrown &&
    typeof thrown.code === "string" &&
    (codes.length === 0 || codes.includes(thrown.code))
  );
}
