// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AuditEvent } from "@switchyard/testing";
import { isLastingWrite } from "../harness/requests.ts";
import { bytesOf, plainReplay } from "./plain-replay.ts";

const manager = "fieldManager=switchyard-ovn-offload";

function event(verb: string, requestURI: string, requestObject?: unknown, more: Partial<AuditEvent> = {}): AuditEvent {
  const time = "2026-11-20T00:00:00.000000Z";
  const [resource = ""] = /\/(nodes|configmaps|machineconfigs|dnses|events)\b/.exec(requestURI)?.slice(1) ?? [];
  return {
    auditID: requestURI,
    verb,
    requestURI,
    user: {},
    objectRef: { resource },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: time,
    stageTimestamp: time,
    requestObject,
    ...more,
  };
}

const replay = (...events: readonly AuditEvent[]) =>
  plainReplay(events).map((group) => group.map(({ method, path, body }) => ({ method, path, body })));

describe("plainReplay", () => {
  it("writes annotations in place of labels, so that no pool and no cache selects the object", () => {
    const object = { apiVersion: "v1", kind: "Node", metadata: { name: "a", uid: "u", labels: { x: "y" } } };
    const [[request] = []] = plainReplay([event("patch", `/api/v1/nodes/a?${manager}&force=true&timeout=5ms`, object)]);
    expect(request).toMatchObject({ method: "PATCH", path: "/api/v1/nodes/a?fieldManager=plain&force=true" });
    expect(request?.contentType).toBe("application/apply-patch+yaml");
    expect(request?.body).toEqual({ ...object, metadata: { name: "a", uid: "u", annotations: { x: "y" } } });
  });

  it("moves objects to another namespace or another name", () => {
    const config = {
      apiVersion: "m/v1",
      metadata: { name: "99-a", uid: "u", annotations: { b: "" }, labels: { c: "" } },
    };
    const at = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
    const map = { metadata: { name: "m", namespace: "x", uid: "u" } };
    const dns = { metadata: { resourceVersion: "7" }, spec: {} };
    const event_ = { metadata: { name: "e", namespace: "x" }, regarding: { name: "default", namespace: "x" } };
    expect(
      replay(
        event("create", `/api/v1/namespaces/x/configmaps?${manager}`, map),
        event("patch", `${at}/99-a?${manager}`, config),
        event("patch", "/apis/operator.openshift.io/v1/dnses/default", dns),
        event("create", "/apis/events.k8s.io/v1/namespaces/x/events", event_), // with its object
      ).flat(),
    ).toEqual([
      {
        method: "POST",
        path: "/api/v1/namespaces/plain/configmaps?fieldManager=plain",
        body: { metadata: { name: "m", namespace: "plain" } },
      },
      {
        method: "PATCH",
        path: `${at}/plain-99-a?fieldManager=plain`,
        body: { apiVersion: "m/v1", metadata: { name: "plain-99-a", annotations: { b: "", c: "" } } },
      },
      { method: "PATCH", path: "/apis/operator.openshift.io/v1/dnses/plain-default", body: { metadata: {}, spec: {} } },
      {
        method: "POST",
        path: "/apis/events.k8s.io/v1/namespaces/plain/events",
        body: { metadata: { name: "e", namespace: "plain" }, regarding: { name: "default", namespace: "plain" } },
      },
    ]);
  });

  it("keeps the writes of an object together, in their order", () => {
    const path = "/api/v1/namespaces/x/configmaps";
    const object = { metadata: { name: "m" } };
    const groups = replay(
      event("create", path, object),
      event("patch", "/api/v1/nodes/a", {}),
      event("patch", `${path}/m`, object),
      event("delete", `${path}/m`, { preconditions: { uid: "u" } }),
    );
    expect(groups.map((group) => group.map(({ method }) => method))).toEqual([["POST", "PATCH", "DELETE"], ["PATCH"]]);
    expect(groups[0]?.[2]?.body).toBeUndefined(); // its preconditions are about another object
  });
});

describe("isLastingWrite", () => {
  it("leaves out reads, leases and refused writes", () => {
    const refused = event("patch", "/api/v1/nodes/a", {}, { responseStatus: { code: 409 } });
    const lease = event("update", "/apis/x/v1/leases/a", {}, { objectRef: { resource: "leases" } });
    const write = event("patch", "/api/v1/nodes/a", {});
    expect([event("list", "/api/v1/nodes"), refused, lease, write].filter(isLastingWrite)).toEqual([write]);
  });
});

describe("bytesOf", () => {
  it("adds up the sizes of the bodies", () => {
    const writes = [event("patch", "/api/v1/nodes/a", { a: "é" }), event("delete", "/api/v1/nodes/a")];
    expect(bytesOf(plainReplay(writes))).toBe(10);
  });
});
