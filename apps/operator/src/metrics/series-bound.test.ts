// SPDX-License-Identifier: Apache-2.0
/**
 * The bound of docs/guide/monitoring.md for the number of series, on a rendered page. Series of controllers, of requests and of the
 * process depend on no object, and are not rendered here.
 */
import { describe, expect, it } from "@jest/globals";
import type { Condition } from "@switchyard/api";
import { Registry } from "@switchyard/service";
import { createCluster, nic } from "../testing/cluster.ts";
import { createOperatorMetrics } from "./operator-metrics.ts";

const policies = 20;
const pools = 10;
const resources = 8;
const networks = 30;
/** Those of all nodes, drains and durations. */
const mostForAll = 60;

const conditionTypes = ["Ready", "Progressing", "Degraded"];
const conditions = conditionTypes.map((type): Condition => {
  return { type, status: "True", reason: "Configured", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
});

/** Renders the page of a leading operator in a cluster of this size, and returns its series. */
async function renderSeries(nodes: number, vfsOfPf: number): Promise<readonly string[]> {
  const registry = new Registry();
  const cluster = createCluster();
  const empty = { list: () => [] };
  const sriovNetworks = {
    list: () =>
      Array.from({ length: networks }, (_, index) => {
        return { kind: "SriovNetwork", metadata: { name: `network-${index}` }, status: { conditions } };
      }),
  };
  const conditioned = <T extends object>(objects: readonly T[]) =>
    objects.map((each) => ({ ...each, status: { conditions } }));
  const metrics = createOperatorMetrics(
    registry,
    {
      ...cluster,
      policies: Object.assign(Object.create(cluster.policies) as typeof cluster.policies, {
        list: () => conditioned(cluster.policies.list()),
        subscribe: () => () => undefined,
      }),
      pools: Object.assign(Object.create(cluster.pools) as typeof cluster.pools, {
        list: () => conditioned(cluster.pools.list()),
      }),
      ...{ afxdpPolicies: empty, afxdpConfigs: empty, sriovNetworks, sriovIBNetworks: empty },
      ...{ ovsNetworks: empty, bridgeNetworks: empty, afxdpNetworks: empty },
      componentObjects: { inventory: [], seen: () => undefined },
      certificates: { watches: new Map() },
    },
    [],
  );
  metrics.setLeading(true);
  for (let index = 0; index < policies; index++)
    cluster.addPolicy(`policy-${index}`, { resourceName: `resource-${index % resources}` });
  for (let index = 0; index < pools; index++) cluster.addPool(`pool-${index}`, {});
  const pfs = ["0000:3b:00.0", "0000:5e:00.0"];
  const holder = { namespace: "default", name: "pod", via: "device-plugin" as const, resource: "a/b", since: "" };
  const interfaces = pfs.map((pciAddress) => {
    const Vfs = Array.from({ length: vfsOfPf }, (_, vfID) => {
      return { vfID, pciAddress: `${pciAddress.slice(0, 8)}${(16 + vfID).toString(16)}.0`, driver: "iavf", holder };
    });
    return nic({ pciAddress, numVfs: vfsOfPf, Vfs });
  });
  const spec = {
    interfaces: pfs.map((pciAddress) => {
      const vfGroups = Array.from({ length: policies }, (_, index) => {
        return {
          policyName: `policy-${index}`,
          resourceName: `resource-${index % resources}`,
          vfRange: `${index}-${index}`,
        };
      });
      return { pciAddress, numVfs: vfsOfPf, vfGroups };
    }),
  };
  for (let index = 0; index < nodes; index++) {
    const syncStatus = ["Succeeded", "InProgress", "Failed"][index % 3] ?? "";
    cluster.setState(`worker-${index}`, { spec, status: { interfaces, syncStatus, holders: { known: true } } });
  }
  const page = await registry.metrics();
  return page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

describe("the series of the operator", () => {
  it("are as many for 1,000 nodes with 256 VFs as for three, and within the bound", async () => {
    const large = await renderSeries(1_000, 128);
    const small = await renderSeries(3, 128);
    const names = (series: readonly string[]) => series.map((line) => line.slice(0, line.lastIndexOf(" "))).sort();
    expect(names(large)).toEqual(names(small));
    const bound = mostForAll + 6 * policies + 5 * pools + 4 * resources + networks;
    expect(large.length).toBeLessThanOrEqual(bound);
    expect(large).toContainEqual(
      expect.stringMatching(/^switchyard_resource_vfs\{resource="resource-0",state="held"\} [1-9]/),
    );
  });
});
