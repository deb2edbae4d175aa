// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { issueCertificate } from "@switchyard/certificates";
import { Registry } from "@switchyard/service";
import type { ReviewRequest } from "./admission-review.ts";
import { createWebhookMetrics } from "./webhook-metrics.ts";

const request: ReviewRequest = {
  uid: "1",
  group: "sriovnetwork.openshift.io",
  kind: "SriovNetworkNodePolicy",
  operation: "CREATE",
  namespace: "ns",
  name: "a",
  userName: "u",
  dryRun: false,
  object: {},
  oldObject: null,
};

function setUp() {
  const registry = new Registry();
  const lines = async (name: string) => {
    const page = await registry.getSingleMetricAsString(name);
    return page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  };
  return { metrics: createWebhookMetrics(registry), lines };
}

describe("the metrics of the webhook", () => {
  it("count a refusal once for each field, whatever its index", async () => {
    const { metrics, lines } = setUp();
    const problems = ["spec.nicSelector.pfNames[0]", "spec.nicSelector.pfNames[1]", "spec.numVfs", ""].map((field) => ({
      field,
      message: "",
    }));
    metrics.answered(request, { allowed: false, problems }, 1);
    metrics.answered(request, { allowed: true }, 1);
    const kind = 'kind="SriovNetworkNodePolicy"';
    expect(await lines("switchyard_admission_refusals_total")).toEqual([
      `switchyard_admission_refusals_total{${kind},field="spec.nicSelector.pfNames"} 1`,
      `switchyard_admission_refusals_total{${kind},field="spec.numVfs"} 1`,
      `switchyard_admission_refusals_total{${kind},field="object"} 1`,
    ]);
  });

  it("have at most 101 values of the label field, whatever clients send", async () => {
    const { metrics, lines } = setUp();
    for (let index = 0; index < 300; index++) {
      const letters = String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26));
      metrics.answered(request, { allowed: false, problems: [{ field: `spec.${letters}`, message: "" }] }, 1);
    }
    const found = await lines("switchyard_admission_refusals_total");
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toContain('field="other"} 200');
  });

  it("have the end of the certificate in use", async () => {
    const { metrics, lines } = setUp();
    const notAfterMs = Date.UTC(2027, 0, 1);
    const { cert } = await issueCertificate({
      names: ["a.ns.svc"],
      notBefore: new Date(0),
      notAfter: new Date(notAfterMs),
    });
    metrics.certificate(cert);
    expect(await lines("switchyard_serving_certificate_not_after_timestamp_seconds")).toEqual([
      `switchyard_serving_certificate_not_after_timestamp_seconds ${notAfterMs / 1_000}`,
    ]);
  });
});
