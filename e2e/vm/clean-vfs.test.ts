// SPDX-License-Identifier: Apache-2.0
/**
 * Tests on a real kernel with real VFs (igb in the VM lab) that a VF is reset after a pod whose CNI plugin is not called when it ends. The
 * sriov CNI plugin runs in the guest. A file stands in for the kubelet.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { applyPolicy, type NodeLog, policyIs, policySpec, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const within = { withinMs: 240_000 };
const holdersFile = "/run/vf-holders.json";
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  const cni = join(await goPrograms("sriov-cni"), "sriov");
  watched = await startWatchedNode();
  ({ testCluster, news, node } = watched);
  await cp(cni, join(node.share, "sriov"));
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

const pf = "0000:01:00.0";
const vfStatus = () => news.states.get("vm")?.status?.interfaces?.find(({ pciAddress }) => pciAddress === pf)?.Vfs?.[1];

/** Writes which pods have VFs. */
function setHolders(...holders: readonly Readonly<Record<string, string>>[]): Promise<string> {
  const text = JSON.stringify({ holders });
  return inGuest(`printf '%s' '${text}' >${holdersFile}.new && mv ${holdersFile}.new ${holdersFile}`);
}

/** What the PF stores of VF 1, and its interface: name, address, MTU. */
async function seen(): Promise<readonly string[]> {
  const onPf = await inGuest("ip link show enp1s0f0 | grep 'vf 1 '");
  const link = await inGuest(
    `cd /sys/bus/pci/devices/${pf}/virtfn1/net && for n in *; do echo $n; cat $n/address $n/mtu; done`,
  );
  return [onPf, link];
}

it("resets MAC address, VLAN and trust of a VF within 40 s after a pod whose CNI plugin was not called", async () => {
  await setHolders();
  const daemon = node.startDaemon(["--vf-holders-file", holdersFile]);
  const settings = { numVfs: 2, resourceName: "lab" };
  await applyPolicy(testCluster, "lab", policySpec({ pfNames: ["enp1s0f0"] }, settings));
  await policyIs(news, "lab", "Ready", within.withinMs);
  await eventually("the node state has the VFs", () => vfStatus()?.name !== undefined, within);
  const initial = await seen();
  const device = vfStatus()?.pciAddress ?? "";

  const conf = { cniVersion: "0.3.1", name: "net", type: "sriov", deviceID: device, vlan: 100 };
  const cni = `CNI_COMMAND=ADD CNI_CONTAINERID=pod CNI_NETNS=/run/netns/pod CNI_IFNAME=net1 CNI_PATH=/share`;
  await setHolders({ device, namespace: "default", name: "app-0", resource: "openshift.io/lab" });
  const added = await inGuest(`ip netns add pod && printf '%s' '${JSON.stringify(conf)}' | ${cni} /share/sriov 2>&1`);
  expect(JSON.parse(added)).toMatchObject({ interfaces: [{ name: "net1" }] });
  // What later versions of the plugin set, too: 2.1.0 knows VLANs only.
  await inGuest("ip link set enp1s0f0 vf 1 mac 02:00:00:00:00:99 && ip link set enp1s0f0 vf 1 trust on");
  const isShown = (): boolean => {
    const { Vlan, trust, adminMac, holder } = vfStatus() ?? {};
    return Vlan === 100 && trust === "on" && adminMac === "02:00:00:00:00:99" && holder?.name === "app-0";
  };
  await eventually("the node state shows the pod and its settings", isShown, within);
  expect(vfStatus()?.unclean).toBeUndefined();

  // The pod ends, and nobody calls the plugin. The kernel moves the interface back to the host.
  await setHolders();
  await inGuest("ip netns delete pod");
  const endedMs = performance.now();
  await eventually("the node state has what the pod has left", () => vfStatus()?.unclean !== undefined, within);
  expect(vfStatus()?.unclean?.settings).toEqual(
    expect.arrayContaining([
      { name: "Vlan", value: "100", initial: "0" },
      { name: "trust", value: "on", initial: "off" },
      expect.objectContaining({ name: "adminMac", value: "02:00:00:00:00:99" }),
      expect.objectContaining({ name: "name", value: "net1" }),
    ]),
  );
  await eventually("the VF is clean", () => vfStatus()?.unclean === undefined, within);
  const seconds = Math.round((performance.now() - endedMs) / 1_000);
  expect(await seen()).toEqual(initial);
  expect(daemon.log()).toMatch(/reset adminMac, Vlan, trust, name, mac/);
  console.log(`clean ${seconds} s after the end of the pod`);
  daemon.kill("SIGTERM");
  expect(await daemon.exitCode).toBe(0);
}, 900_000);
