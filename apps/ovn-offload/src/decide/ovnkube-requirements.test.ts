// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { SimulatedCluster } from "../testing/simulated-cluster.ts";

/** What ovnkube's container on a host is started with. */
interface Start {
  /** --ovnkube-node-mgmt-port-netdev */
  readonly netdev: string;
  /** --ovnkube-node-mgmt-port-dp-resource-name */
  readonly resource: string;
}

/** A settled cluster of OpenShift in which OVN of host "a" runs on its SmartNIC. */
function cluster(version: string | undefined, envOverrides: string | undefined): SimulatedCluster {
  const made = new SimulatedCluster({ isOpenshift: true });
  made.version = version;
  made.addPool("dpu");
  made.addNode("a", "dpu");
  made.addNode("w", "worker", { cards: [] });
  if (envOverrides !== undefined) {
    made.maps.set("envOverrides", { data: { a: envOverrides }, annotations: {}, isOwn: false });
  }
  made.entries = [{ nodeSelector: { "node-role.kubernetes.io/dpu": "" } }];
  made.settle();
  return made;
}

/** The container sources the node's value of env-overrides. The network operator passes the resource on since 4.14. */
function startOf({ maps }: SimulatedCluster, host: string): Start {
  const overrides = maps.get("envOverrides")?.data[host] ?? "";
  const script = `${overrides}\nprintf %s "$OVNKUBE_NODE_MGMT_PORT_NETDEV"`;
  const netdev = execFileSync("/bin/sh", ["-euc", `OVNKUBE_NODE_MGMT_PORT_NETDEV=\n${script}`], { encoding: "utf8" });
  return { netdev, resource: maps.get("hardwareOffload")?.data["mgmt-port-resource-name"] ?? "" };
}

/** Why ovnkube (8871cd9ce) ends at its start on a host, in its words; "" if it starts. */
function refusalOnHost({ netdev, resource }: Start, { segmentation }: { readonly segmentation: boolean }): string {
  if (segmentation && resource === "") {
    return "ovnkube-node-mgmt-port-dp-resource-name must be provided on dpu-host mode if network segmentation is enabled";
  }
  return netdev === "" && resource === "" ? "mgmt-port-netdev or mgmt-port-dp-resource-name must be provided" : "";
}

describe("ovnkube in mode dpu-host", () => {
  it.each([
    { version: "4.10.67", segmentation: false, overrides: undefined },
    { version: "4.13.9", segmentation: false, overrides: "OVN_KUBE_LOG_LEVEL=5\n" },
    { version: undefined, segmentation: false, overrides: undefined },
    { version: "4.14.0", segmentation: false, overrides: undefined },
    { version: "4.18.3", segmentation: true, overrides: "export OVN_KUBE_LOG_LEVEL=5" },
    { version: "4.21.0", segmentation: true, overrides: undefined },
  ])("starts on a host of OpenShift $version", ({ version, segmentation, overrides }) => {
    const settled = cluster(version, overrides);
    expect(refusalOnHost(startOf(settled, "a"), { segmentation })).toBe("");
  });

  it("gets no management port on other nodes, where it refuses one in mode dpu and needs none in mode full", () => {
    const settled = cluster("4.13.9", undefined);
    expect(startOf(settled, "w").netdev).toBe("");
    expect(Object.keys(settled.maps.get("managementPorts")?.data ?? {})).toEqual(["a"]);
  });
});
