// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AuditEvent } from "@switchyard/testing";
import { bytesOf, plainReplay } from "./plain-replay.ts";

const manager = "fieldManager=switchyard-ovn-offload";

function event(verb: string, requestURI: string, more: Partial<AuditEvent> = {}): AuditEvent {
  const time = "2026-11-20T00:00:00.000000Z";
  return {
    auditID: requestURI,
    verb,
    requestURI,
    user: {},
    responseStatus: { code: 200 },
    requestReceivedTimestamp: time,
    stageTimestamp: time,
    ...more,
  };
}

const replay = (...events: readonly AuditEvent[]) =>
  plainReplay(events).map((group) => group.map(({ method, path, body }) => ({ method, path, body })));

describe("plainReplay", () => {
  it("writes annotations in place of labels, so that no pool and no cache selects the object", () => {
    const body = { apiVersion: "v1", kind: "Node", metadata: { name: "a", uid: "u", labels: { x: "y" } } };
    const write = event("patch", `/api/v1/nodes/a?${manager}&force=true&timeout=5ms`, { requestObject: body });
    const [[request] = []] = plainReplay([write]);
    expect(request).toMatchObject({ method: "PATCH", path: "/api/v1/nodes/a?fieldManager=plain&force=true" });
    expect(request?.contentType).toBe("application/apply-patch+yaml");
    expect(request?.body).toEqual({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "a", uid: "u", annotations: { x: "y" } },
    });
  });

  it("moves objects to another namespace or another name", () => {
    const config = {
      apiVersion: "m/v1",
      metadata: { name: "99-a-ovn-hw-offload", annotations: { b: "" }, labels: { c: "" } },
    };
    const at = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
    expect(
      replay(
        event("create", `/api/v1/namespaces/x/configmaps?${manager}`, {
          requestObject: { metadata: { name: "m", namespace: "x" } },
        }),
        event("patch", `${at}/99-a-ovn-hw-offload?${manager}`, {
          objectRef: { resource: "machineconfigs" },
          requestObject: config,
        }),
        event("patch", "/apis/operator.openshift.io/v1/dnses/default", {
          objectRef: { resource: "dnses" },
          requestObject: { metadata: { resourceVersion: "7" }, spec: {} },
        }),
      ),
    ).toEqual([
      [
        {
          method: "POST",
          path: "/api/v1/namespaces/plain/configmaps?fieldManager=plain",
          body: { metadata: { name: "m", namespace: "plain" } },
        },
      ],
      [
        {
          method: "PATCH",
          path: `${at}/98-a-ovn-hw-offload?fieldManager=plain`,
          body: { apiVersion: "m/v1", metadata: { name: "98-a-ovn-hw-offload", annotations: { b: "", c: "" } } },
        },
      ],
      [{ method: "PATCH", path: "/apis/operator.openshift.io/v1/dnses/plain", body: { metadata: {}, spec: {} } }],
    ]);
  });

  it("moves an event together with its object", () => {
    const body = { metadata: { name: "e", namespace: "x" }, regarding: { name: "default", namespace: "x" } };
    const [[request] = []] = replay(
      event("create", "/apis/events.k8s.io/v1/namespaces/x/events", { requestObject: body }),
    );
    expect(request?.body).toEqual({
      metadata: { name: "e", namespace: "plain" },
      regarding: { name: "default", namespace: "plain" },
    });
  });

  it("keeps the writes of an object together, in their order", () => {
    const path = "/api/v1/namespaces/x/configmaps";
    const requestObject = { metadata: { name: "m" } };
    const groups = replay(
      event("create", path, { requestObject }),
      event("patch", "/api/v1/nodes/a", { requestObject: {} }),
      event("patch", `${path}/m`, { requestObject }),
      event("delete", `${path}/m`, { requestObject: { preconditions: { uid: "u" } } }),
    );
    expect(groups.map((group) => group.map(({ method }) => method))).toEqual([["POST", "PATCH", "DELETE"], ["PATCH"]]);
    expect(groups[0]?.[2]?.body).toBeUndefined(); // its preconditions are about another object
  });

  it("leaves out reads, leases and refused writes", () => {
    const refused = event("patch", "/api/v1/nodes/a", { responseStatus: { code: 409 } });
    const lease = event("update", "/apis/coordination.k8s.io/v1/leases/a", { objectRef: { resource: "leases" } });
    expect(replay(event("list", "/api/v1/nodes"), refused, lease)).toEqual([]);
  });
});

describe("bytesOf", () => {
  it("adds up the sizes of the bodies", () => {
    const requestObject = { a: "é" };
    const writes = [event("patch", "/api/v1/nodes/a", { requestObject }), event("delete", "/api/v1/nodes/a")];
    expect(bytesOf(plainReplay(writes))).toBe(10);
  });
});
