// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isKubeObject, type KubeObject } from "../kube-object.ts";
import { extractOwned, intentDigest, observeObject } from "./owned-fields.ts";

const manager = "switchyard-agent";
const intent = readObject("daemon-set.intent.json");
const stored = readObject("daemon-set.stored.json");

function readObject(file: string): KubeObject & Readonly<Record<string, unknown>> {
  const object: unknown = JSON.parse(readFileSync(join(__dirname, "testdata", file), "utf8"));
  if (!isKubeObject(object)) throw new TypeError(file);
  return { ...object };
}

/** Returns a deep copy of `object` in whose JSON `from` is replaced by `to`. */
function changed<T>(object: T, from: string, to: string): T {
  const text = JSON.stringify(object);
  expect(text).toContain(from);
  return JSON.parse(text.replace(from, to)) as T;
}

function hasIntent(wanted: Readonly<Record<string, unknown>>, object: KubeObject): boolean {
  return observeObject(object, [manager]).owned(manager, "") === intentDigest(wanted);
}

/** Returns an object of which the manager owns `fields` and another manager owns `foreign`. */
function owning(content: Readonly<Record<string, unknown>>, fields: unknown, foreign: unknown = {}): KubeObject {
  const managedFields = [
    { manager: "other", operation: "Update", fieldsV1: foreign },
    { manager, operation: "Apply", fieldsV1: fields },
  ];
  return { apiVersion: "v1", kind: "Thing", metadata: { name: "a", managedFields }, ...content };
}

describe("observeObject", () => {
  it("finds the intent in a captured object to which the server and others have added fields", () => {
    expect(hasIntent(intent, stored)).toBe(true);
    const entry = stored.metadata.managedFields?.find((some) => some.manager === manager) ?? {};
    expect(extractOwned(stored, entry)["spec"]).toEqual(intent["spec"]);
  });

  it.each([
    { does: "changed value", from: '"agent:1"', to: '"agent:2"' },
    { does: "changed entry of an atomic list", from: '"--node-name"', to: '"--name"' },
    {
      does: "new entry of an atomic map",
      from: '"kubernetes.io/os":"linux"',
      to: '"kubernetes.io/os":"linux","x":"y"',
    },
    { does: "removed entry of a list with keys", from: '{"name":"B","value":"2"}', to: '{"name":"C","value":"2"}' },
    { does: "changed label", from: '"labels":{"app":"agent"', to: '"labels":{"app":"other"' },
  ])("detects a change of the object: $does", ({ from, to }) => {
    expect(hasIntent(intent, changed(stored, from, to))).toBe(false);
  });

  it.each([
    { does: "changed value", from: '"agent:1"', to: '"agent:2"' },
    { does: "removed field", from: '"hostNetwork":true,', to: "" },
    { does: "new field", from: '"hostNetwork":true', to: '"hostNetwork":true,"hostPID":true' },
    { does: "removed entry", from: ',{"name":"B","value":"2"}', to: "" },
    {
      does: "new annotation",
      from: '"labels":{"app":"agent"}',
      to: '"labels":{"app":"agent"},"annotations":{"a":"b"}',
    },
  ])("detects a change of the intent: $does", ({ from, to }) => {
    expect(hasIntent(changed(intent, from, to), stored)).toBe(false);
  });

  it("ignores changes of fields that others own", () => {
    expect(hasIntent(intent, changed(stored, '"team":"net"', '"team":"apps"'))).toBe(true);
    expect(hasIntent(intent, changed(stored, '"value":"foreign"', '"value":"else"'))).toBe(true);
  });

  it("separates managers, subresources, and updates from applies", () => {
    const object = owning({ a: 1, status: { b: 2 } }, { "f:a": {} });
    const ofStatus = { manager, operation: "Apply", subresource: "status", fieldsV1: { "f:status": { "f:b": {} } } };
    const byUpdate = { manager: "updater", operation: "Update", fieldsV1: { "f:a": {} } };
    const managedFields = [...(object.metadata.managedFields ?? []), ofStatus, byUpdate];
    const seen = observeObject({ ...object, metadata: { ...object.metadata, managedFields } }, [manager, "updater"]);
    expect(seen.owned(manager, "")).toBe(intentDigest({ a: 1 }));
    expect(seen.owned(manager, "status")).toBe(intentDigest({ status: { b: 2 } }));
    expect(seen.owned("updater", "")).toBeUndefined();
    expect([seen.updatedBy("updater", ""), seen.updatedBy("updater", "status"), seen.updatedBy(manager, "")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("finds the manager's entries of a set", () => {
    const fields = { "f:metadata": { "f:finalizers": { 'v:"own"': {} } } };
    const object = owning({}, fields);
    const withFinalizers = { ...object, metadata: { ...object.metadata, finalizers: ["other", "own"] } };
    expect(hasIntent({ metadata: { name: "a", finalizers: ["own"] } }, withFinalizers)).toBe(true);
  });

  it("identifies an entry by all its keys, including one that the server has defaulted", () => {
    const port = { port: 80, protocol: "TCP", nodePort: 30080 };
    const owned = { ".": {}, "f:port": {} };
    const object = owning(
      { spec: { ports: [{ ...port, protocol: "UDP" }, port] } },
      { "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': owned } } },
    );
    expect(hasIntent({ spec: { ports: [{ port: 80 }] } }, object)).toBe(true);
  });

  it("finds a map or list that was applied empty and has entries of others", () => {
    const content = { spec: { shared: { x: 1 }, items: [{ name: "a" }], whole: { y: 1 } } };
    const fields = { "f:spec": { "f:shared": {}, "f:items": {}, "f:whole": {} } };
    const foreign = { "f:spec": { "f:shared": { "f:x": {} }, "f:items": { 'k:{"name":"a"}': { "f:name": {} } } } };
    const wanted = { spec: { shared: {}, items: [], whole: { y: 1 } } };
    expect(hasIntent(wanted, owning(content, fields, foreign))).toBe(true);
  });

  it("ignores apiVersion, kind, the name and empty metadata", () => {
    const wanted = {
      apiVersion: "v1",
      kind: "Thing",
      metadata: { name: "a", uid: "u", labels: {}, finalizers: [] },
      a: 1,
    };
    expect(hasIntent(wanted, owning({ a: 1 }, { "f:a": {} }))).toBe(true);
  });

  it("accepts an object whose shape differs from managedFields", () => {
    const fields = {
      "f:spec": { "f:a": { "f:b": {} }, "f:list": { 'k:{"name":"a"}': { "f:name": {} } }, "f:gone": {} },
    };
    expect(hasIntent({ spec: { a: { b: 1 } } }, owning({ spec: { a: "text", list: { x: 1 } } }, fields))).toBe(false);
    expect(hasIntent({ spec: {} }, owning({ spec: {} }, { "f:spec": { "f:toString": {} } }))).toBe(true);
  });
});
