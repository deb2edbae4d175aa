// SPDX-License-Identifier: Apache-2.0
/**
 * The server's refusals (metav1.Status) as KubeErrors.
 * Usage: `throw statusError("GET /api/v1/nodes/a", response, JSON.parse(body))`.
 */
import { KubeError, type StatusCause } from "./kube-error.ts";
import { isRecord } from "../kube-object.ts";

/** The head of an HTTP answer. */
export interface AnswerHead {
  readonly status: number;
  /** Seconds, as the API server sends them. */
  readonly retryAfter: string | undefined;
}

/**
 * The error that `body` tells of: a Status, or what a proxy put in its place. `head` is unknown for an ERROR event,
 * whose Status has it all.
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

// Where no Status says it: proxies, and the API server before it is ready.
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
