// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Node } from "@switchyard/api";
import {
  dnsPlacement,
  isDnsEligible,
  restoredDnsPlacement,
  type DnsPlacement,
  type DnsPlacementSource,
} from "./dns-placement.ts";

const eligible = { "switchyard.io/dns-eligible": "" };

function nodeWith(labels: Record<string, string>, spec: Node["spec"] = {}): Node {
  const all = { "kubernetes.io/os": "linux", ...labels };
  return { apiVersion: "v1", kind: "Node", metadata: { name: "n", labels: all }, spec };
}

const plain = nodeWith({});

function dnsWith(nodePlacement?: NonNullable<DnsPlacementSource["spec"]>["nodePlacement"]): DnsPlacementSource {
  return { metadata: {}, spec: { ...(nodePlacement !== undefined && { nodePlacement }) } };
}

/** Applies a JSON merge patch (RFC 7396). */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null) return patch;
  const result = new Map(Object.entries(typeof target === "object" && target !== null ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, merged(result.get(key), value));
  }
  return Object.fromEntries(result);
}

function after(dns: DnsPlacementSource, wish: DnsPlacement): DnsPlacementSource {
  if (wish.state !== "change") throw new Error(`no change: ${wish.state}`);
  return merged(dns, wish.patch) as DnsPlacementSource;
}

describe("isDnsEligible", () => {
  it("is false for hosts, from the first step of entering to the last of leaving", () => {
    expect([plain, nodeWith({ "switchyard.io/ovn-offload-pool": "a" })].map(isDnsEligible)).toEqual([true, false]);
  });
});

describe("dnsPlacement", () => {
  it("adds its label to the default selector, and does it once", () => {
    const dns = after(dnsWith(), dnsPlacement(dnsWith(), [plain]));
    expect(dns.spec?.nodePlacement).toEqual({ nodeSelector: { "kubernetes.io/os": "linux", ...eligible } });
    expect(dnsPlacement(dns, [plain])).toEqual({ state: "unchanged" });
  });

  it("keeps the administrator's selector and tolerations", () => {
    const tolerations = [{ operator: "Exists" }];
    const dns = dnsWith({ nodeSelector: { zone: "a" }, tolerations });
    expect(after(dns, dnsPlacement(dns, [nodeWith({ zone: "a" })])).spec?.nodePlacement).toEqual({
      nodeSelector: { zone: "a", ...eligible },
      tolerations,
    });
  });

  it.each([
    { does: "no node", nodes: [] },
    { does: "hosts only", nodes: [nodeWith({ "switchyard.io/ovn-offload-pool": "a" })] },
    { does: "a cordoned node only", nodes: [nodeWith({}, { unschedulable: true })] },
    { does: "a tainted node only", nodes: [nodeWith({}, { taints: [{ key: "x", effect: "NoSchedule" }] })] },
    { does: "a node of another system only", nodes: [nodeWith({ "kubernetes.io/os": "windows" })] },
  ])("does nothing with $does", ({ nodes }) => {
    expect(dnsPlacement(dnsWith(), nodes)).toEqual({ state: "no-node" });
  });

  it("knows what the DNS pods tolerate", () => {
    const master = nodeWith({}, { taints: [{ key: "node-role.kubernetes.io/master", effect: "NoSchedule" }] });
    expect(dnsPlacement(dnsWith(), [master]).state).toBe("change");
    const tolerations = [{ key: "x", value: "1", effect: "NoExecute" }];
    expect(dnsPlacement(dnsWith({ tolerations }), [master]).state).toBe("no-node");
    const tainted = nodeWith({}, { taints: [{ key: "x", value: "1", effect: "NoExecute" }] });
    expect(dnsPlacement(dnsWith({ tolerations }), [tainted]).state).toBe("change");
  });

  it("does not touch a DNS that is not managed", () => {
    expect(dnsPlacement({ metadata: {}, spec: { managementState: "Unmanaged" } }, [plain])).toEqual({
      state: "unmanaged",
    });
  });
});

describe("restoredDnsPlacement", () => {
  it.each<{ nodePlacement?: NonNullable<DnsPlacementSource["spec"]>["nodePlacement"] }>([
    {},
    { nodePlacement: {} },
    { nodePlacement: { nodeSelector: {} } },
    { nodePlacement: { nodeSelector: { "kubernetes.io/os": "linux" } } },
    { nodePlacement: { nodeSelector: { zone: "a" }, tolerations: [{ operator: "Exists" }] } },
    { nodePlacement: { tolerations: [{ operator: "Exists" }] } },
  ])("restores exactly %j", ({ nodePlacement }) => {
    const dns: DnsPlacementSource = { ...dnsWith(nodePlacement), metadata: { annotations: { own: "x" } } };
    const changed = after(dns, dnsPlacement(dns, [nodeWith({ zone: "a" })]));
    expect(after(changed, restoredDnsPlacement(changed))).toEqual(dns);
  });

  it("keeps what the administrator changed meanwhile", () => {
    const changed = after(dnsWith(), dnsPlacement(dnsWith(), [plain]));
    const edited = merged(changed, { spec: { nodePlacement: { nodeSelector: { zone: "b" } } } }) as DnsPlacementSource;
    expect(after(edited, restoredDnsPlacement(edited))).toEqual({
      metadata: { annotations: {} },
      spec: { nodePlacement: { nodeSelector: { "kubernetes.io/os": "linux", zone: "b" } } },
    });
  });

  it("changes nothing without its annotation, and survives a broken one", () => {
    expect(restoredDnsPlacement(dnsWith({ nodeSelector: eligible }))).toEqual({ state: "unchanged" });
    for (const text of ["{", "1", '"x"', '{"nodeSelector":{"a":1}}', "[]"]) {
      const dns: DnsPlacementSource = {
        metadata: { annotations: { "switchyard.io/dns-placement-before": text } },
        spec: { nodePlacement: { nodeSelector: { zone: "a", ...eligible } } },
      };
      expect(after(dns, restoredDnsPlacement(dns)).spec?.nodePlacement?.nodeSelector).toEqual({ zone: "a" });
    }
  });
});
