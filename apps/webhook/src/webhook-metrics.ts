// SPDX-License-Identifier: Apache-2.0
/**
 * createWebhookMetrics registers the metrics of the admission webhook: reviews, their duration, refusals by field, and the end of
 * the server's certificate.
 * Usage: `createWebhookMetrics(registry).answered(request, answer, tookMs);`
 */
import { isReviewedKind } from "@switchyard/admission";
import { Counter, Gauge, Histogram, type Registry } from "@switchyard/service";
import { X509Certificate } from "node:crypto";
import type { ReviewAnswer, ReviewRequest } from "./admission-review.ts";

/** The metrics of the admission webhook. */
export interface WebhookMetrics {
  answered(request: ReviewRequest, answer: ReviewAnswer, tookMs: number): void;
  /** Called with each certificate that the server uses, as PEM. */
  certificate(cert: string): void;
}

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const reviews = new Counter({
    name: "switchyard_admission_reviews_total",
    help: "Answered admission reviews.",
    labelNames: ["kind", "operation", "allowed"],
    registers,
  });
  const seconds = new Histogram({
    name: "switchyard_admission_review_seconds",
    help: "Time to answer an admission review, without network and TLS.",
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3],
    registers,
  });
  const refusals = new Counter({
    name: "switchyard_admission_refusals_total",
    help: "Problems for which changes were refused, by kind and field. A change with several problems counts for each field.",
    labelNames: ["kind", "field"],
    registers,
  });
  const notAfter = new Gauge({
    name: "switchyard_serving_certificate_not_after_timestamp_seconds",
    help: "Unix time at which the certificate that the webhook shows to the API server ends, from any issuer.",
    registers,
  });
  const fieldOf = limitValues(maxFields);
  return {
    answered({ kind: given, operation }, { allowed, problems = [] }, tookMs) {
      // Clients choose the kind: an arbitrary name must not become a label value.
      const kind = isReviewedKind(given) ? given : "other";
      reviews.inc({ kind, operation, allowed: String(allowed) });
      seconds.observe(tookMs / 1000);
      if (allowed) return;
      const fields = new Set(problems.map(({ field }) => fieldOf(withoutKeys(field))));
      for (const field of fields) refusals.inc({ kind, field });
    },
    certificate(cert) {
      notAfter.set(new X509Certificate(cert).validToDate.getTime() / 1_000);
    },
  };
}

/** More than the rules have fields. */
const maxFields = 100;

/** "spec.nicSelector.pfNames" for "spec.nicSelector.pfNames[0]". Keys of maps are the user's. */
function withoutKeys(field: string): string {
  return /^[A-Za-z]+(?:\.[A-Za-z]+){0,3}/.exec(field)?.[0] ?? "object";
}

/** Returns a function that keeps the first `max` values and replaces all others by "other". */
function limitValues(max: number): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.size < max) seen.add(value);
    return seen.has(value) ? value : "other";
  };
}
