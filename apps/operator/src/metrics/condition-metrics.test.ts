// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { Registry } from "@switchyard/service";
import { registerConditionMetrics } from "./condition-metrics.ts";

const condition = (type: string, status: "True" | "False") => ({
  type,
  status,
  reason: "R",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

function cacheOf(
  kind: string,
  metadata: { name: string; namespace?: string },
  types: Readonly<Record<string, boolean>>,
) {
  const conditions = Object.entries(types).map(([type, holds]) => condition(type, holds ? "True" : "False"));
  return { list: () => [{ kind, metadata, status: { conditions } }] };
}

describe("the metric of conditions", () => {
  it("has those of all kinds, and of networks only Degraded, by namespace", async () => {
    const registry = new Registry();
    const empty = { list: () => [] };
    const name = { name: "default", namespace: "ns" };
    registerConditionMetrics(registry, {
      policies: cacheOf("SriovNetworkNodePolicy", { name: "fast" }, { Ready: true }),
      pools: empty,
      operatorConfigs: cacheOf("SriovOperatorConfig", name, { Degraded: true, WebhookCertificate: false }),
      afxdpPolicies: cacheOf("AfxdpNetworkNodePolicy", { name: "a" }, { Degraded: false }),
      afxdpConfigs: cacheOf("AfxdpOperatorConfig", name, { Degraded: true }),
      sriovNetworks: cacheOf("SriovNetwork", { name: "net", namespace: "one" }, { Ready: true, Degraded: false }),
      sriovIBNetworks: empty,
      ovsNetworks: cacheOf("OVSNetwork", { name: "net", namespace: "two" }, { Degraded: true }),
      bridgeNetworks: empty,
      afxdpNetworks: empty,
    });
    const page = await registry.getSingleMetricAsString("switchyard_conditions");
    const lines = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines.map((line) => line.slice("switchyard_conditions".length))).toEqual([
      '{kind="SriovNetworkNodePolicy",name="fast",type="Ready"} 1',
      '{kind="SriovOperatorConfig",name="default",type="Degraded"} 1',
      '{kind="SriovOperatorConfig",name="default",type="WebhookCertificate"} 0',
      '{kind="AfxdpNetworkNodePolicy",name="a",type="Degraded"} 0',
      '{kind="AfxdpOperatorConfig",name="default",type="Degraded"} 1',
      '{kind="SriovNetwork",object_namespace="one",name="net",type="Degraded"} 0',
      '{kind="OVSNetwork",object_namespace="two",name="net",type="Degraded"} 1',
    ]);
  });
});
