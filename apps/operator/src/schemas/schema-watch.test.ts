// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { KubeError, type Clock } from "@switchyard/kube";
import { watchSchemas, type SchemaWatch } from "./schema-watch.ts";

/** Answers of the API server: an error is thrown. */
type Answers = Readonly<Record<string, unknown>>;

const current = { paths: {} };

let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => {
  stop.abort(new Error("the test has ended"));
});

describe("watchSchemas", () => {
  it.each([
    { what: "a refusal of the API server", error: new KubeError("GET /openapi/v3", "Forbidden", { status: 403 }) },
    { what: "an error that nobody expects", error: new TypeError("x is not a function") },
  ])("lets the operator work after $what, and says so once", async ({ error }) => {
    const { schemas, warnings, nextLook } = start({ "/openapi/v3": error });
    await schemas.whenCurrent(stop.signal);
    await nextLook();
    await schemas.whenCurrent(stop.signal);
    expect(schemas.problems()).toEqual([]);
    expect(warnings).toEqual(["schemas of the API server cannot be read; continuing without comparing them"]);
  });

  it("names each kind that is not installed", async () => {
    const { schemas } = start({ "/openapi/v3": current });
    await schemas.whenOutdated(stop.signal);
    expect(schemas.problems()).toContainEqual(
      "CustomResourceDefinition sriovnetworks.sriovnetwork.openshift.io is not installed",
    );
  });

  it("finds no problem in a cluster with the kinds for AF_XDP only, and follows those for SR-IOV that are installed later", async () => {
    const answers: Record<string, unknown> = { "/openapi/v3": { paths: { "apis/afxdpnetwork.hns.dev/v1alpha1": {} } } };
    const { schemas, messages, nextLook } = start(answers);
    await schemas.whenCurrent(stop.signal);
    await nextLook();
    expect([schemas.problems(), messages]).toEqual([[], ["CustomResourceDefinitions are not installed"]]);

    const sriov = { serverRelativeURL: "/openapi/v3/apis/sriovnetwork.openshift.io/v1?hash=1" };
    answers["/openapi/v3"] = {
      paths: { "apis/afxdpnetwork.hns.dev/v1alpha1": {}, "apis/sriovnetwork.openshift.io/v1": sriov },
    };
    answers["/openapi/v3/apis/sriovnetwork.openshift.io/v1"] = {};
    await nextLook();
    await schemas.whenOutdated(stop.signal);
    expect(schemas.problems()).toContainEqual(
      "CustomResourceDefinition sriovnetworks.sriovnetwork.openshift.io is not installed",
    );
  });
});

function start(answers: Answers): {
  readonly schemas: SchemaWatch;
  readonly warnings: readonly string[];
  readonly messages: readonly string[];
  readonly nextLook: () => Promise<void>;
} {
  const warnings: string[] = [];
  const messages: string[] = [];
  let look = (): void => undefined;
  const clock: Clock = {
    nowMs: () => 0,
    after(_delayMs, run) {
      look = run;
      return () => undefined;
    },
  };
  const schemas = watchSchemas({
    transport: {
      request({ path }) {
        const answer = answers[path];
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
    log: {
      warn: (_fields: unknown, message?: string) => warnings.push(message ?? ""),
      info: (_fields: unknown, message?: string) => messages.push(message ?? ""),
    },
    signal: stop.signal,
    clock,
  });
  return {
    schemas,
    warnings,
    messages,
    async nextLook() {
      look();
      await new Promise(setImmediate);
    },
  };
}
