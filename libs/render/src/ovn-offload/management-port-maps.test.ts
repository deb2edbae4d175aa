// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import {
  envOverridesPatch,
  managementPortEntry,
  managementPortLine,
  managementPortsPatch,
  type MapPatch,
} from "./management-port-maps.ts";

const none = { published: new Set<string>(), kept: new Set<string>() };
const host = { ...none, published: new Set(["host"]) };
const line = "OVNKUBE_NODE_MGMT_PORT_NETDEV=ovnmgmt0";

/** Applies a JSON merge patch to a flat map. */
function patched(data: Readonly<Record<string, string>>, { patch }: MapPatch): Readonly<Record<string, string>> {
  const entries = Object.entries({ ...data, ...patch });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}

describe("managementPortsPatch", () => {
  it("adds the key of a published host in the proposal's format", () => {
    expect(managementPortEntry()).toBe('{"ovnkube-node-mgmt-port":"ovnmgmt0"}');
    expect(managementPortsPatch({}, host)).toEqual({ patch: { host: managementPortEntry() }, foreign: [] });
  });

  it("changes nothing that is as it should be", () => {
    expect(managementPortsPatch({ host: managementPortEntry(), note: "x" }, host).patch).toEqual({});
  });

  it("removes its own value of a node that is gone, and no other value", () => {
    const data = { gone: managementPortEntry(), other: '{"ovnkube-node-mgmt-port":"eth0v0"}' };
    expect(managementPortsPatch(data, none)).toEqual({ patch: { gone: null }, foreign: [] });
  });

  it("keeps the value of a node of which too little is known", () => {
    expect(managementPortsPatch({ host: managementPortEntry() }, { ...none, kept: new Set(["host"]) }).patch).toEqual(
      {},
    );
  });

  it("reports another value of a host, and keeps it", () => {
    const data = { host: '{"ovnkube-node-mgmt-port":"eth0v0"}' };
    expect(managementPortsPatch(data, host)).toEqual({ patch: {}, foreign: ["host"] });
  });

  it("takes the names of nodes for nothing else", () => {
    const nodes = { ...none, published: new Set(["constructor", "__proto__"]) };
    const { patch } = managementPortsPatch({}, nodes);
    expect(Object.keys(patch).sort()).toEqual(["__proto__", "constructor"]);
  });
});

describe("envOverridesPatch", () => {
  it.each([
    { does: "adds a value", data: {}, after: { host: line } },
    {
      does: "keeps other lines",
      data: { host: "OVN_KUBE_LOG_LEVEL=5\n" },
      after: { host: `${line}\nOVN_KUBE_LOG_LEVEL=5\n` },
    },
    { does: "knows its line at any place", data: { host: `A=1\n${line}\nB=2` }, after: { host: `A=1\n${line}\nB=2` } },
  ])("$does", ({ data, after }) => {
    expect(patched(data, envOverridesPatch(data, host))).toEqual(after);
  });

  it.each(["OVNKUBE_NODE_MGMT_PORT_NETDEV=eth0v0\n", " export  OVNKUBE_NODE_MGMT_PORT_NETDEV=eth0v0"])(
    "keeps and reports the choice of others: %s",
    (text) => {
      expect(envOverridesPatch({ host: text }, host)).toEqual({ patch: {}, foreign: ["host"] });
    },
  );

  it("leaves after a life exactly what was there before", () => {
    const text = fc.oneof(
      fc.string().filter((other) => !other.includes("OVNKUBE_NODE_MGMT")),
      fc.constantFrom("", "\n", "A=1", "A=1\n", "\n\nA=1\n\n", "A=1\r\n"),
    );
    const restores = fc.property(fc.dictionary(fc.constantFrom("host", "other"), text), (data) => {
      const during = patched(data, envOverridesPatch(data, host));
      expect(during["host"]?.split("\n")).toContain(managementPortLine());
      expect(envOverridesPatch(during, host).patch).toEqual({});
      expect(patched(during, envOverridesPatch(during, none))).toEqual({ ...data });
    });
    fc.assert(restores);
  });
});
