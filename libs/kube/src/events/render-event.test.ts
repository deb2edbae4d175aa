// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { isQualifiedName, eventKey, renderEvent, type EventToRecord } from "./render-event.ts";

const source = { controller: "switchyard-operator", instance: "operator-0" };
const mark = { suffix: "0a1b", eventTime: "2026-11-20T12:34:56.789000Z" };

function newsOf(name: string, change: Partial<EventToRecord> = {}): EventToRecord {
  const regarding = { apiVersion: "v1", kind: "Node", metadata: { name, uid: "u", resourceVersion: "7" } };
  return { regarding, type: "Normal", reason: "Drained", note: "all pods are gone", ...change };
}

describe("renderEvent", () => {
  it("renders object, reason, note and reporting controller", () => {
    expect(renderEvent(newsOf("worker-0"), source, mark)).toEqual({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "worker-0.0a1b", namespace: "default" },
      regarding: { apiVersion: "v1", kind: "Node", name: "worker-0", uid: "u", resourceVersion: "7" },
      type: "Normal",
      reason: "Drained",
      action: "StatusChange",
      note: "all pods are gone",
      eventTime: mark.eventTime,
      reportingController: "switchyard-operator",
      reportingInstance: "operator-0",
    });
  });

  it("uses the namespace of the object", () => {
    const regarding = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "ns" } };
    expect(renderEvent(newsOf("p", { regarding }), source, mark).metadata.namespace).toBe("ns");
  });

  it("renders a valid name and note for any object and text", () => {
    const holds = fc.property(
      fc.string({ minLength: 1, maxLength: 300 }),
      fc.string({ unit: "binary" }),
      (name, word) => {
        const { metadata, note } = renderEvent(newsOf(name, { note: word.repeat(200) }), source, mark);
        expect(metadata.name).toMatch(/^[a-z\d]([-a-z\d]*[a-z\d])?(\.[a-z\d]([-a-z\d]*[a-z\d])?)*$/);
        expect(metadata.name.length).toBeLessThanOrEqual(253);
        expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
        expect(note.isWellFormed()).toBe(true);
      },
    );
    fc.assert(holds);
  });

  it("cuts a note between two characters and ends it with an ellipsis", () => {
    const { note } = renderEvent(newsOf("a", { note: "ü".repeat(600) }), source, mark);
    expect(note).toBe(`${"ü".repeat(510)}…`);
  });
});

describe("eventKey", () => {
  it("differs by object and texts, not by time or by the object's version", () => {
    const key = (news: EventToRecord, suffix = "0") => eventKey(renderEvent(news, source, { ...mark, suffix }));
    const changed = { apiVersion: "v1", kind: "Node", metadata: { name: "a", uid: "u", resourceVersion: "8" } };
    const reborn = { apiVersion: "v1", kind: "Node", metadata: { name: "a", uid: "v" } };
    expect(key(newsOf("a", { regarding: changed }), "1")).toBe(key(newsOf("a")));
    const others = [
      newsOf("b"),
      newsOf("a", { note: "x" }),
      newsOf("a", { type: "Warning" }),
      newsOf("a", { regarding: reborn }),
    ];
    expect(new Set([newsOf("a"), ...others].map((news) => key(news))).size).toBe(5);
  });
});

describe("isQualifiedName", () => {
  it.each([
    { name: "switchyard-operator", is: true },
    { name: "sriovnetwork.openshift.io/config-daemon", is: true },
    { name: "SR-IOV operator", is: false }, // sriov-operator.md M-48
    { name: "", is: false },
    { name: "a/b/c", is: false },
    { name: "/a", is: false },
    { name: "-a", is: false },
    { name: "a".repeat(64), is: false },
  ])('returns $is for "$name"', ({ name, is }) => {
    expect(isQualifiedName(name)).toBe(is);
  });
});
