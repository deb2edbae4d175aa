// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AuditEvent } from "@switchyard/testing";
import { countRequests, listCounts, total, withoutLeases } from "./requests.ts";

function event(verb: string, resource: string, more: { subresource?: string; code?: number } = {}): AuditEvent {
  return {
    auditID: "1",
    verb,
    requestURI: `/apis/x/${resource}?watch=true`,
    user: { username: "operator" },
    objectRef: { resource, ...(more.subresource === undefined ? {} : { subresource: more.subresource }) },
    responseStatus: { code: more.code ?? 200 },
    requestReceivedTimestamp: "2026-11-20T00:00:00.000000Z",
    stageTimestamp: "2026-11-20T00:00:00.000000Z",
  };
}

describe("countRequests", () => {
  it("counts by verb, resource and subresource, the most frequent first", () => {
    const events = [
      event("patch", "nodes"),
      event("patch", "nodes"),
      event("patch", "nodes", { subresource: "status" }),
    ];
    const counts = countRequests([event("update", "leases"), ...events, event("watch", "nodes")]);
    expect(Object.entries(counts.writes)).toEqual([
      ["patch nodes", 2],
      ["update leases", 1],
      ["patch nodes/status", 1],
    ]);
    expect(counts.reads).toEqual({ "watch nodes": 1 });
  });

  it("counts refused requests separately", () => {
    const { failed } = countRequests([event("patch", "nodes", { code: 409 }), event("patch", "nodes")]);
    expect(failed).toEqual({ "409 patch nodes": 1 });
  });

  it("names the path of a request that is not for a resource", () => {
    const { reads } = countRequests([{ ...event("get", ""), requestURI: "/readyz?verbose", objectRef: {} }]);
    expect(reads).toEqual({ "get /readyz": 1 });
  });
});

describe("withoutLeases", () => {
  it("removes the counts of leases only", () => {
    const left = withoutLeases({ "update leases": 4, "patch nodes": 1 });
    expect(left).toEqual({ "patch nodes": 1 });
    expect(total(left)).toBe(1);
  });
});

describe("listCounts", () => {
  it('returns a list, or "0" if there are no requests', () => {
    expect(listCounts({ "patch nodes": 3, "create events": 1 })).toBe("3 patch nodes, 1 create events");
    expect(listCounts({})).toBe("0");
  });
});
