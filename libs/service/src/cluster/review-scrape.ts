// SPDX-License-Identifier: Apache-2.0
/**
 * createScrapeReview asks the API server whether the owner of a token may get /metrics, as kube-rbac-proxy does: a TokenReview and
 * a SubjectAccessReview. Answers are kept for a minute. While the API server does not answer, tokens that were allowed within the
 * last hour are still allowed, so that alerts about the outage work.
 */
import { isRecord, systemClock, type Clock, type Transport } from "@switchyard/kube";
import { createHash } from "node:crypto";
import type { ReviewScrape, ScrapeDecision } from "../scrape-gate.ts";

const keepMs = 60_000;
const keepInOutageMs = 3_600_000;
/** Anybody on the network can send tokens: few of them are remembered, and few are asked about at a time. */
const maxKept = 100;
const maxRunning = 2;

interface Kept {
  readonly decision: ScrapeDecision;
  readonly atMs: number;
}

export function createScrapeReview(
  transport: Pick<Transport, "request">,
  clock: Pick<Clock, "nowMs"> = systemClock,
): ReviewScrape {
  const kept = new Map<string, Kept>();
  let running = 0;

  return async function review(token) {
    const key = createHash("sha256").update(token).digest("base64");
    const known = kept.get(key);
    const ageMs = known === undefined ? Infinity : clock.nowMs() - known.atMs;
    if (known !== undefined && ageMs < keepMs) return known.decision;
    const lastKnown = known?.decision === "allowed" && ageMs < keepInOutageMs ? "allowed" : "unknown";
    if (running >= maxRunning) return lastKnown;
    running++;
    try {
      const decision = await ask(transport, token);
      kept.delete(key);
      kept.set(key, { decision, atMs: clock.nowMs() });
      forgetRefused(kept);
      return decision;
    } catch {
      return lastKnown;
    } finally {
      running--;
    }
  };
}

/** Keeps at most maxKept answers; refusals go first. */
function forgetRefused(kept: Map<string, Kept>): void {
  if (kept.size <= maxKept) return;
  const refused = [...kept].find(([, { decision }]) => decision !== "allowed");
  const oldest = refused ?? [...kept][0];
  if (oldest !== undefined) kept.delete(oldest[0]);
}

async function ask(transport: Pick<Transport, "request">, token: string): Promise<ScrapeDecision> {
  const identity = await create(transport, "authentication.k8s.io", "TokenReview", { token });
  if (identity["authenticated"] !== true || !isRecord(identity["user"])) return "unauthenticated";
  const { username, uid, groups, extra } = identity["user"];
  const access = await create(transport, "authorization.k8s.io", "SubjectAccessReview", {
    ...{ user: username, uid, groups, extra },
    nonResourceAttributes: { path: "/metrics", verb: "get" },
  });
  return access["allowed"] === true ? "allowed" : "forbidden";
}

/** Returns the status of the answer. */
async function create(
  transport: Pick<Transport, "request">,
  group: string,
  kind: "TokenReview" | "SubjectAccessReview",
  spec: object,
): Promise<Readonly<Record<string, unknown>>> {
  const path = `/apis/${group}/v1/${kind.toLowerCase()}s`;
  const body = { apiVersion: `${group}/v1`, kind, spec };
  const answer = await transport.request({ method: "POST", path, body, timeoutMs: 5_000 });
  return isRecord(answer) && isRecord(answer["status"]) ? answer["status"] : {};
}
