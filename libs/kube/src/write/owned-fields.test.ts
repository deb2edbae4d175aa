// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isKubeObject, type KubeObject } from "../kube-object.ts";
import { extractOwned, intentDigest, observe } from "./owned-fields.ts";

const manager = "switchyard-agent";
const intent = readObject("daemon-set.intent.json");
const stored = readObject("daemon-set.stored.json");

function readObject(file: string): KubeObject & Readonly<Record<string, unknown>> {
  const object: unknown = JSON.parse(readFileSync(join(__dirname, "testdata", file), "utf8"));
  if (!isKubeObject(object)) throw new TypeError(file);
  return { ...object };
}

/** A deep copy of `object` in which the text `from` stands as `to`. */
function changed<T>(object: T, from: string, to: string): T {
  const text = JSON.stringify(object);
  expect(text).toContain(from);
  return JSON.parse(text.replace(from, to)) as T;
}

function stands(wanted: Readonly<Record<string, unknown>>, object: KubeObject): boolean {
  return observe(object, [manager]).owned(manager, "") === intentDigest(wanted);
}

/** An object of which the manager owns `fields`, and others own `foreign`. */
function owning(content: Readonly<Record<string, unknown>>, fields: unknown, foreign: unknown = {}): KubeObject {
  const managedFields = [
    { manager: "other", operation: "Update", fieldsV1: foreign },
    { manager, operation: "Apply", fieldsV1: fields },
  ];
  return { apiVersion: "v1", kind: "Thing", metadata: { name: "a", managedFields }, ...content };
}

describe("owned fields", () => {
  it("are the intent again, out of all that the server and others have added (captured)", () => {
    expect(stands(intent, stored)).toBe(true);
    const entry = stored.metadata.managedFields?.find((some) => some.manager === manager) ?? {};
    expect(extractOwned(stored, entry)["spec"]).toEqual(intent["spec"]);
  });

  it.each([
    { does: "a value of ours was changed", from: '"agent:1"', to: '"agent:2"' },
    { does: "an entry of a list that is ours whole was changed", from: '"--node-name"', to: '"--name"' },
    {
      does: "an entry of a map that is ours whole came",
      from: '"kubernetes.io/os":"linux"',
      to: '"kubernetes.io/os":"linux","x":"y"',
    },
    { does: "an entry of a list with keys went", from: '{"name":"B","value":"2"}', to: '{"name":"C","value":"2"}' },
    { does: "a label of ours was changed", from: '"labels":{"app":"agent"', to: '"labels":{"app":"other"' },
  ])("show that $does", ({ from, to }) => {
    expect(stands(intent, changed(stored, from, to))).toBe(false);
  });

  it.each([
    { does: "a value", from: '"agent:1"', to: '"agent:2"' },
    { does: "a field that is no longer wanted", from: '"hostNetwork":true,', to: "" },
    { does: "a new field", from: '"hostNetwork":true', to: '"hostNetwork":true,"hostPID":true' },
    { does: "an entry that is no longer wanted", from: ',{"name":"B","value":"2"}', to: "" },
    {
      does: "a new annotation",
      from: '"labels":{"app":"agent"}',
      to: '"labels":{"app":"agent"},"annotations":{"a":"b"}',
    },
  ])("show that the intent has changed: $does", ({ from, to }) => {
    expect(stands(changed(intent, from, to), stored)).toBe(false);
  });

  it("are not those of others: what they change there does not matter", () => {
    expect(stands(intent, changed(stored, '"team":"net"', '"team":"apps"'))).toBe(true);
    expect(stands(intent, changed(stored, '"value":"foreign"', '"value":"else"'))).toBe(true);
  });

  it("are kept apart by manager and subresource, and an update is no apply", () => {
    const object = owning({ a: 1, status: { b: 2 } }, { "f:a": {} });
    const ofStatus = { manager, operation: "Apply", subresource: "status", fieldsV1: { "f:status": { "f:b": {} } } };
    const byUpdate = { manager: "updater", operation: "Update", fieldsV1: { "f:a": {} } };
    const managedFields = [...(object.metadata.managedFields ?? []), ofStatus, byUpdate];
    const seen = observe({ ...object, metadata: { ...object.metadata, managedFields } }, [manager, "updater"]);
    expect(seen.owned(manager, "")).toBe(intentDigest({ a: 1 }));
    expect(seen.owned(manager, "status")).toBe(intentDigest({ status: { b: 2 } }));
    expect(seen.owned("updater", "")).toBeUndefined();
    expect([seen.updatedBy("updater", ""), seen.updatedBy("updater", "status"), seen.updatedBy(manager, "")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("have the entries of a set that are ours", () => {
    const fields = { "f:metadata": { "f:finalizers": { 'v:"ours"': {} } } };
    const object = owning({}, fields);
    const withFinalizers = { ...object, metadata: { ...object.metadata, finalizers: ["theirs", "ours"] } };
    expect(stands({ metadata: { name: "a", finalizers: ["ours"] } }, withFinalizers)).toBe(true);
  });

  it("know an entry by all its keys, also one that the server filled in", () => {
    const port = { port: 80, protocol: "TCP", nodePort: 30080 };
    const owned = { ".": {}, "f:port": {} };
    const object = owning(
      { spec: { ports: [{ ...port, protocol: "UDP" }, port] } },
      { "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': owned } } },
    );
    expect(stands({ spec: { ports: [{ port: 80 }] } }, object)).toBe(true);
  });

  it("have an empty map or list of ours that others fill", () => {
    const content = { spec: { shared: { x: 1 }, items: [{ name: "a" }], whole: { y: 1 } } };
    const fields = { "f:spec": { "f:shared": {}, "f:items": {}, "f:whole": {} } };
    const foreign = { "f:spec": { "f:shared": { "f:x": {} }, "f:items": { 'k:{"name":"a"}': { "f:name": {} } } } };
    const wanted = { spec: { shared: {}, items: [], whole: { y: 1 } } };
    expect(stands(wanted, owning(content, fields, foreign))).toBe(true);
  });

  it("do not depend on metadata that means nothing", () => {
    const wanted = {
      apiVersion: "v1",
      kind: "Thing",
      metadata: { name: "a", uid: "u", labels: {}, finalizers: [] },
      a: 1,
    };
    expect(stands(wanted, owning({ a: 1 }, { "f:a": {} }))).toBe(true);
  });

  it("survive an object whose shape is not what the tree says", () => {
    const fields = {
      "f:spec": { "f:a": { "f:b": {} }, "f:list": { 'k:{"name":"a"}': { "f:name": {} } }, "f:gone": {} },
    };
    expect(stands({ spec: { a: { b: 1 } } }, owning({ spec: { a: "text", list: { x: 1 } } }, fields))).toBe(false);
    expect(stands({ spec: {} }, owning({ spec: {} }, { "f:spec": { "f:toString": {} } }))).toBe(true);
  });
});
