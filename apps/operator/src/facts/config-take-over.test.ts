// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { apiVersion, upstreamManager } from "@switchyard/api";
import { fieldManagers } from "../field-managers.ts";
import { isReportedByUpstream, watchTakeOver, type CachedOperatorConfig } from "./config-take-over.ts";

const ready = (...fields: readonly string[]) => {
  const owned = Object.fromEntries(fields.map((field) => [field, {}]));
  return { "f:status": { "f:conditions": { ".": {}, 'k:{"type":"Ready"}': { ".": {}, ...owned } } } };
};
const entry = (manager: string, fieldsV1: object) => ({ manager, operation: "Apply", subresource: "status", fieldsV1 });

describe("isReportedByUpstream", () => {
  it.each([
    {
      does: "is true for upstream's condition Ready",
      fields: [entry(upstreamManager, ready("f:message"))],
      result: true,
    },
    {
      does: "is false for this operator's, of which upstream still owns the equal fields",
      fields: [
        entry(fieldManagers.operatorConfigStatus, ready("f:message", "f:status", "f:type")),
        entry(upstreamManager, ready("f:status", "f:type")),
      ],
      result: false,
    },
    { does: "is false for upstream's spec alone", fields: [entry(upstreamManager, { "f:spec": {} })], result: false },
    { does: "is false without managed fields", fields: [], result: false },
  ])("$does", ({ fields, result }) => {
    expect(isReportedByUpstream({ metadata: { name: "default", managedFields: fields } })).toBe(result);
  });
});

describe("watchTakeOver", () => {
  function setUp(first?: boolean) {
    const state = { config: first === undefined ? undefined : config(first) };
    return { state, problems: watchTakeOver({ get: () => state.config }) };
  }

  function config(isUpstreams: boolean, deletionTimestamp?: string): CachedOperatorConfig {
    const metadata = { name: "default", ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
    return { apiVersion, kind: "SriovOperatorConfig", metadata, spec: {}, isReportedByUpstream: isUpstreams };
  }

  it("names the config until this operator has reported on it", () => {
    const { state, problems } = setUp(true);
    expect(problems()).toEqual(["SriovOperatorConfig default still has the conditions of upstream's operator"]);
    state.config = config(false);
    expect(problems()).toEqual([]);
  });

  it("stays silent when an old process of upstream reports again", () => {
    const { state, problems } = setUp(false);
    expect(problems()).toEqual([]);
    state.config = config(true);
    expect(problems()).toEqual([]);
  });

  it("does not hold up an operator whose config does not exist or is being deleted", () => {
    const { state, problems } = setUp();
    expect(problems()).toEqual([]);
    state.config = config(true, "2026-11-28T00:00:00Z");
    expect(problems()).toEqual([]);
  });
});
