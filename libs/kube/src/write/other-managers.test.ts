// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { KubeObject, ManagedFieldsEntry } from "../kube-object.ts";
import { OtherManagers } from "./other-managers.ts";

const own = "switchyard-components";
const minuteMs = 60_000;

const intent = {
  spec: {
    template: { spec: { containers: [{ name: "daemon", image: "ours", ports: [{ containerPort: 80 }] }] } },
  },
};

const image = { "f:name": {}, "f:image": {} };
const ports = { "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { "f:containerPort": {} } } };
const fieldsV1 = {
  "f:spec": {
    "f:template": { "f:spec": { "f:containers": { 'k:{"name":"daemon"}': { ".": {}, ...image, ...ports } } } },
  },
};

/** The DaemonSet as the server has it, with this image, whose fields these managers own. */
function daemonSet(present: string, managedFields: readonly ManagedFieldsEntry[]): KubeObject {
  const containers = [
    { name: "sidecar", image: "injected" },
    { name: "daemon", image: present, ports: [{ containerPort: 80, protocol: "TCP" }] },
  ];
  const object = {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "a", managedFields },
    spec: { template: { spec: { containers } } },
  };
  return object;
}

const theirs = daemonSet("theirs", [
  { manager: "kubectl-edit", operation: "Update", time: "2026-11-27T00:00:00Z", fieldsV1: { "f:spec": {} } },
  { manager: "argocd-controller", operation: "Apply", time: "2026-11-28T00:00:00Z", fieldsV1 },
]);

function setUp() {
  const time = { ms: 0 };
  const others = new OtherManagers({ nowMs: () => time.ms, after: () => () => undefined }, own);
  return {
    others,
    /** Reverts the object `count` times, every `everyMs`. */
    revert(count: number, everyMs: number): void {
      for (let nth = 1; nth <= count; nth++) {
        time.ms += everyMs;
        others.restored("/a", intent, others.mustAsk("/a") ? theirs : undefined);
      }
    },
    wait(ms: number): void {
      time.ms += ms;
    },
  };
}

describe("a contest about the fields of an object", () => {
  it("is reported with the manager and the field after the third revert in some minutes", () => {
    const { others, revert } = setUp();
    revert(2, 3_000);
    expect(others.interference("/a")).toBeUndefined();
    revert(1, 3_000);
    expect(others.interference("/a")).toMatchObject({
      kind: "contested",
      message: expect.stringContaining(
        'field manager "argocd-controller" changes spec.template.spec.containers[name=daemon].image again and again',
      ),
    });
    expect(others.interference("/b")).toBeUndefined();
  });

  it("is none if somebody changes the object now and then", () => {
    const { others, revert } = setUp();
    revert(10, 4 * minuteMs);
    expect(others.interference("/a")).toBeUndefined();
    expect(others.mustHold("/a", intent)).toBe(false);
  });

  it("lets a pod template rest for ever longer, and other objects not", () => {
    const { others, revert, wait } = setUp();
    revert(3, 3_000);
    wait(59_000);
    expect([others.mustHold("/a", intent), others.mustHold("/a", { spec: { config: "{}" } })]).toEqual([true, false]);
    wait(1_000);
    expect(others.mustHold("/a", intent)).toBe(false);
    revert(1, 0);
    wait(119_000);
    expect(others.mustHold("/a", intent)).toBe(true);
  });

  it("lets a status rest, too, and says why", () => {
    const conditions = [{ type: "Ready", status: "False", message: "no pods" }];
    const status = { conditions };
    const { others, wait } = setUp();
    const fields = { 'k:{"type":"Ready"}': { ".": {}, "f:type": {}, "f:status": {} } };
    const entry = { manager: "sriov-network-operator", operation: "Update", subresource: "status" };
    const managedFields = [{ ...entry, fieldsV1: { "f:status": { "f:conditions": fields } } }];
    const before = {
      apiVersion: "v1",
      kind: "X",
      metadata: { name: "a", managedFields },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    };
    for (let nth = 1; nth <= 3; nth++) others.restored("status/a", { status }, before);
    expect(others.mustHold("status/a", { status })).toBe(true);
    expect(others.interference("status/a")?.message).toBe(
      'field manager "sriov-network-operator" changes status.conditions[type=Ready].status again and again, and it is restored ' +
        "at most once a minute, because two programs that answer each other write without end; " +
        'let "sriov-network-operator" ignore the field',
    );
    wait(minuteMs);
    expect(others.mustHold("status/a", { status })).toBe(false);
  });

  it("is over when nobody has changed the object for a while", () => {
    const { others, revert, wait } = setUp();
    revert(4, 3_000);
    wait(14 * minuteMs);
    expect(others.interference("/a")).toBeDefined();
    wait(minuteMs);
    expect(others.interference("/a")).toBeUndefined();
    revert(2, 3_000);
    expect(others.interference("/a")).toBeUndefined();
  });

  it("is forgotten with the object", () => {
    const { others, revert } = setUp();
    revert(3, 3_000);
    others.forget("/a");
    expect([others.interference("/a"), others.mustHold("/a", intent)]).toEqual([undefined, false]);
  });
});

describe("fields that admission replaces", () => {
  const stored = (present: string) => daemonSet(present, [{ manager: own, operation: "Apply", fieldsV1 }]);

  it("are reported with both values, and applied again after ten minutes", () => {
    const { others, wait } = setUp();
    others.applied("/a", intent, stored("mirror.local/ours"));
    expect(others.interference("/a")).toEqual({
      kind: "replaced",
      message:
        'admission replaced spec.template.spec.containers[name=daemon].image from "ours" to "mirror.local/ours"; ' +
        "exclude the object from the webhook that does it",
    });
    expect(others.mustRetry("/a")).toBe(false);
    wait(10 * minuteMs);
    expect(others.mustRetry("/a")).toBe(true);
    others.applied("/a", intent, stored("ours"));
    expect([others.interference("/a"), others.mustRetry("/a")]).toEqual([undefined, false]);
  });

  it.each([
    {
      what: "a quantity in another form",
      wanted: { cpu: "0.1", memory: "1024Mi" },
      present: { cpu: "100m", memory: "1Gi" },
    },
    {
      what: "a default inside of an atomic list",
      wanted: [{ key: "a" }],
      present: [{ key: "a", effect: "NoSchedule" }],
    },
    { what: "an empty map that is not stored", wanted: {}, present: undefined },
    { what: "false that is not stored", wanted: false, present: undefined },
  ])("are not: $what", ({ wanted, present }) => {
    const { others } = setUp();
    const managedFields = [{ manager: own, operation: "Apply", fieldsV1: { "f:spec": { "f:field": {} } } }];
    const object = { apiVersion: "v1", kind: "X", metadata: { name: "a", managedFields }, spec: { field: present } };
    others.applied("/a", { spec: { field: wanted } }, object);
    expect(others.interference("/a")).toBeUndefined();
  });
});
