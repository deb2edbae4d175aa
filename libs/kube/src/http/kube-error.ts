// SPDX-License-Identifier: Apache-2.0
/**
 * KubeError is the error class of this library. It has the request and either the server's response (metav1.Status) or the
 * reason why there is none.
 * Usage: `if (!isKubeError(error, "NotFound", "Gone")) throw error;`.
 */

/** Codes without a response of the server. Other codes are the `reason` of its Status, such as "NotFound". */
export type OwnCode =
  /** No connection, or the connection ended before the response was complete. */
  | "ConnectionLost"
  /** No response within the time limit of the request. The server uses the same reason, with a `status`. */
  | "Timeout"
  /** The response is not JSON or not an object of the expected shape. */
  | "UnexpectedResponse"
  /** The kubeconfig or the pod's service account cannot be used. */
  | "BadConfig";

/** Details of an error response (metav1.StatusDetails). */
export interface KubeErrorDetails {
  readonly name?: string | undefined;
  readonly kind?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
}

/** A rejected field and the reason (metav1.StatusCause). */
export interface StatusCause {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly field?: string | undefined;
}

/** A failed request. Branch on `code`, never on the message. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  /** The operation that failed: method and path, or a file. */
  readonly tried: string;
  /** `reason` of the server's Status, or an OwnCode. */
  readonly code: string;
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** The message of the server, or a description of the problem; empty if there is none. */
  readonly words: string;
  readonly details: KubeErrorDetails | undefined;
  /** Delay before a retry that the server requests (429, 503). */
  readonly retryAfterMs: number | undefined;

  constructor(
    tried: string,
    code: OwnCode | (string & {}),
    why: {
      /** The message of the server, or a description of the problem. */
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
    this.words = why.words ?? "";
    this.details = why.details;
    this.retryAfterMs = why.retryAfterMs;
  }
}

/**
 * Reports whether `thrown` is a KubeError, with one of `codes` if any are given. It looks at the fields, since instanceof
 * is false for errors of another realm.
 */
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
