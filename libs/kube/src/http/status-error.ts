// SPDX-License-Identifier: Apache-2.0
/** statusError makes a KubeError from an error response of the server (metav1.Status). */
import { KubeError, type StatusCause } from "./kube-error.ts";
import { isRecord } from "../kube-object.ts";

/** The head of an HTTP response. */
export interface AnswerHead {
  readonly status: number;
  /** Retry-After header in seconds; the API server sends no dates. */
  readonly retryAfter: string | undefined;
}

/**
 * Returns the error for a response whose body is a Status, or another text, for example of a proxy. `head` is undefined for
 * an ERROR event, whose Status has the same information.
 */
export function statusError(tried: string, head: AnswerHead | undefined, body: unknown): KubeError {
  const said = isRecord(body) && body["kind"] === "Status" ? body : {};
  const details = isRecord(said["details"]) ? said["details"] : undefined;
  const status = head?.status ?? numberOf(said["code"]);
  const retryAfterS = numberOf(details?.["retryAfterSeconds"]) ?? numberOf(Number(head?.retryAfter || NaN));
  return new KubeError(tried, textOf(said["reason"]) ?? reasons[status ?? 0] ?? "UnexpectedResponse", {
    words: textOf(said["message"]) ?? (typeof body === "string" ? body.slice(0, 200) : undefined),
    status,
    details: details && {
      name: textOf(details["name"]),
      kind: textOf(details["kind"]),
      causes: causesOf(details["causes"]),
    },
    retryAfterMs: retryAfterS === undefined ? undefined : retryAfterS * 1000,
  });
}

// For responses without a Status: of proxies, and of an API server that is not ready.
const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  502: "ServiceUnavailable",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function causesOf(causes: unknown): StatusCause[] | undefined {
  if (!Array.isArray(causes)) return undefined;
  return causes.filter(isRecord).map(({ reason, message, field }) => {
    return { reason: textOf(reason), message: textOf(message), field: textOf(field) };
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
