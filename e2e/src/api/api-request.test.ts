// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeRequest, readApiRequest } from "./api-request.ts";

const states = "/apis/sriovnetwork.openshift.io/v1/namespaces/operator/sriovnetworknodestates";

describe("readApiRequest", () => {
  it.each([
    { url: "/api/v1/nodes?limit=500", verb: "list", resource: "nodes", name: "", subresource: "" },
    { url: `${states}?watch=true`, verb: "watch", resource: "sriovnetworknodestates", name: "", subresource: "" },
    { url: `${states}/w1`, verb: "get", resource: "sriovnetworknodestates", name: "w1", subresource: "" },
    { url: `${states}/w1/status`, verb: "get", resource: "sriovnetworknodestates", name: "w1", subresource: "status" },
    { url: "/api/v1/namespaces/blue", verb: "get", resource: "namespaces", name: "blue", subresource: "" },
    { url: "/api/v1/namespaces/a/pods/p/eviction", verb: "get", resource: "pods", name: "p", subresource: "eviction" },
    { url: "/api/v1/namespaces/a/finalize", verb: "get", resource: "namespaces", name: "a", subresource: "finalize" },
    { url: "/readyz", verb: "list", resource: "", name: "", subresource: "" },
  ])("reads $url as $verb of $resource", ({ url, ...expected }) => {
    expect(readApiRequest("GET", url, "")).toMatchObject(expected);
  });

  it("names the writer by its field manager, or by its program if it has none", () => {
    const applied = readApiRequest("PATCH", `${states}/w1?fieldManager=node-state&force=true`, "switchyard");
    expect(describeRequest(applied)).toBe(`PATCH ${states}/w1 by node-state`);
    expect(readApiRequest("DELETE", `${states}/w1`, "switchyard")).toMatchObject({
      verb: "write",
      writer: "switchyard",
    });
  });
});
