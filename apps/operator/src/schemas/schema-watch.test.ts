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
});

function start(answers: Answers): {
  readonly schemas: SchemaWatch;
  readonly warnings: readonly string[];
  readonly nextLook: () => Promise<void>;
} {
  const warnings: string[] = [];
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
    log: { warn: (_fields: unknown, message?: string) => warnings.push(message ?? ""), info: () => undefined },
    signal: stop.signal,
    clock,
  });
  return {
    schemas,
    warnings,
    async nextLook() {
      look();
      await new Promise(setImmediate);
    },
  };
}
