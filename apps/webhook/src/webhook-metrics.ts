// SPDX-License-Identifier: Apache-2.0
/**
 * WebhookMetrics counts admission reviews and measures their duration.
 * Usage: `const metrics = createWebhookMetrics(registry); metrics.answered(request, answer, tookMs);`
 */
import { Counter, Histogram, type Registry } from "@switchyard/service";
import type { ReviewAnswer, ReviewRequest } from "./admission-review.ts";
import { isReviewedKind } from "./read-object.ts";

export interface WebhookMetrics {
  answered(request: ReviewRequest, answer: ReviewAnswer, tookMs: number): void;
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
  return {
    answered({ kind, operation }, { allowed }, tookMs) {
      // Clients choose the kind: an arbitrary name must not become a label value.
      reviews.inc({ kind: isReviewedKind(kind) ? kind : "other", operation, allowed: String(allowed) });
      seconds.observe(tookMs / 1000);
    },
  };
}
