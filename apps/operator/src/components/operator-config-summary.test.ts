// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError } from "@switchyard/kube";
import type { ComponentProblem, RenderedComponents } from "@switchyard/render";
import { operatorConfigSummary } from "./operator-config-summary.ts";
import type { SyncOutcome } from "./sync-components.ts";

const nothing: SyncOutcome = { failures: [], incomplete: [], pending: [], lacking: [], replaced: [], isStale: false };
const warning: ComponentProblem = {
  component: "config-daemon",
  severity: "warning",
  field: "spec.disablePlugins",
  message: "has no effect yet",
};
const error: ComponentProblem = {
  component: "operator-webhook",
  severity: "error",
  field: "spec.enableOperatorWebhook",
  message: "cannot be",
};
const refusal = {
  kind: "Service",
  name: "a",
  error: new KubeError("apply Service a", "Forbidden", { words: "not today" }),
};

function describeSummary(problems: readonly ComponentProblem[], outcome: Partial<SyncOutcome> = {}): string {
  const rendered: RenderedComponents = { components: [], problems };
  const { state, reason, message, progress } = operatorConfigSummary(rendered, { ...nothing, ...outcome });
  return `${state} ${reason}: ${message}${progress === undefined ? "" : ` | ${progress.reason}: ${progress.message}`}`;
}

describe("operatorConfigSummary", () => {
  it.each([
    { is: "ready", problems: [], outcome: {}, says: "ready OperatorConfigReady: all components are disabled" },
    {
      is: "ready with a warning",
      problems: [warning],
      outcome: {},
      says: "ready OperatorConfigReady: all components are disabled; spec.disablePlugins: has no effect yet",
    },
    {
      is: "ready while pods are missing, with Progressing",
      problems: [warning],
      outcome: { pending: ["a: 1 of 2 pods available", "b is being started"] },
      says:
        "ready OperatorConfigReady: all components are disabled; spec.disablePlugins: has no effect yet" +
        " | RollingOut: a: 1 of 2 pods available; b is being started",
    },
    {
      is: "progressing while an object is not deployed as configured",
      problems: [warning],
      outcome: { incomplete: ["a is registered later"], pending: ["a: 0 of 2 pods available"] },
      says:
        "progressing RollingOut: a is registered later; a: 0 of 2 pods available; " +
        "spec.disablePlugins: has no effect yet",
    },
    {
      is: "degraded after a refusal, even if objects are incomplete",
      problems: [],
      outcome: { failures: [refusal], incomplete: ["later"], pending: ["a: 1 of 2 pods available"] },
      says:
        "degraded OperatorConfigSyncFailed: Service a: Forbidden (not today)" +
        " | RollingOut: a: 1 of 2 pods available",
    },
    {
      is: "degraded by an invalid setting, which comes first",
      problems: [warning, error],
      outcome: { failures: [refusal] },
      says:
        "degraded UnsupportedConfiguration: spec.enableOperatorWebhook: cannot be; Service a: Forbidden (not today); " +
        "spec.disablePlugins: has no effect yet",
    },
  ] as const)("is $is", ({ problems, outcome, says }) => {
    expect(describeSummary(problems, outcome)).toBe(says);
  });

  it("names the field that another client has set on a webhook configuration, and what to do", () => {
    const details = { causes: [{ field: "webhooks[0].clientConfig", reason: "FieldValueRequired" }] };
    const error = new KubeError("apply a", "Invalid", { words: "exactly one of url or service is required", details });
    const failures = [{ kind: "ValidatingWebhookConfiguration", name: "sriov-operator-webhook-config", error }];
    expect(describeSummary([], { failures })).toContain(
      "webhooks[0].clientConfig.url beside the operator's service: remove the url, or run " +
        "kubectl delete validatingwebhookconfiguration sriov-operator-webhook-config",
    );
  });

  it("has a message of limited length, however many problems there are", () => {
    const failures = Array.from({ length: 1_000 }, () => refusal);
    expect(describeSummary([], { failures })).toHaveLength("degraded OperatorConfigSyncFailed: ".length + 4_000);
  });
});
