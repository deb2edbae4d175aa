// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { issueCertificate } from "@switchyard/certificates";
import { Registry } from "@switchyard/service";
import { registerComponentMetrics, type ComponentMetricsCaches } from "./component-metrics.ts";
import { createOperatorMetrics } from "./operator-metrics.ts";
import { createCluster } from "../testing/cluster.ts";

const empty = { list: () => [] };
const withoutComponents: ComponentMetricsCaches = {
  componentObjects: { inventory: [], seen: () => undefined },
  certificates: { watches: new Map() },
};

async function linesOf(registry: Registry, name: string): Promise<readonly string[]> {
  const page = await registry.getSingleMetricAsString(name);
  return page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

describe("the metrics of the operator", () => {
  it("have no queues after the Lease is lost", async () => {
    const registry = new Registry();
    const others = { afxdpPolicies: empty, afxdpConfigs: empty, sriovNetworks: empty, sriovIBNetworks: empty };
    const networks = { ovsNetworks: empty, bridgeNetworks: empty, afxdpNetworks: empty };
    const caches = { ...createCluster(), ...others, ...networks, ...withoutComponents };
    const metrics = createOperatorMetrics(registry, caches, []);
    metrics.setLeading(true);
    metrics.watch({ name: "node-state", depth: 60 } as Parameters<typeof metrics.watch>[0]);
    expect(await linesOf(registry, "switchyard_queue_depth")).toEqual([
      'switchyard_queue_depth{controller="node-state"} 60',
    ]);
    metrics.setLeading(false);
    expect(await linesOf(registry, "switchyard_queue_depth")).toEqual([]);
  });

  it("have the pods of DaemonSets, and the end of certificates and their CA", async () => {
    const registry = new Registry();
    const type = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true };
    const inventory = [
      { component: "config-daemon" as const, type, name: "sriov-network-config-daemon", namespace: "ns" },
    ];
    const notAfter = new Date("2027-01-01T00:00:00Z");
    const { cert, ca } = await issueCertificate({ names: ["a.ns.svc"], notBefore: new Date(0), notAfter });
    const [crt, caCrt] = [cert, ca].map((pem) => Buffer.from(pem).toString("base64"));
    const secret = { uid: "1", resourceVersion: "1", data: { "tls.crt": crt, "ca.crt": caCrt } };
    const broken = { ...secret, data: { "tls.crt": "bm90IGEgY2VydGlmaWNhdGU=" } };
    const rollout = { isCurrent: true, desired: 3, updated: 2, available: 1 };
    registerComponentMetrics(registry, {
      componentObjects: {
        inventory,
        seen: () => ({ rollout }) as never,
      },
      certificates: {
        watches: new Map([
          ["operator-webhook", { secrets: { list: () => [secret] } }],
          ["network-resources-injector", { secrets: { list: () => [broken] } }],
        ]) as never,
      },
    });
    expect(await linesOf(registry, "switchyard_daemon_set_pods")).toEqual(
      ["desired", "updated", "available"].map(
        (state, index) =>
          `switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="${state}"} ${3 - index}`,
      ),
    );
    const seconds = notAfter.getTime() / 1_000;
    expect(await linesOf(registry, "switchyard_certificate_not_after_timestamp_seconds")).toEqual([
      `switchyard_certificate_not_after_timestamp_seconds{component="operator-webhook",part="certificate"} ${seconds}`,
      `switchyard_certificate_not_after_timestamp_seconds{component="operator-webhook",part="ca"} ${seconds}`,
    ]);
  });
});
