// SPDX-License-Identifier: Apache-2.0
/**
 * Tests on a real kernel with real VFs (igb in the VM lab) that VFs are reset after a pod whose CNI plugin is not called when it ends. The
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
const vfStatus = (vfId: number) =>
  news.states.get("vm")?.status?.interfaces?.find(({ pciAddress }) => pciAddress === pf)?.Vfs?.[vfId];

/** Writes which pods have VFs. */
function setHolders(...holders: readonly Readonly<Record<string, string>>[]): Promise<string> {
  const text = JSON.stringify({ holders });
  return inGuest(`printf '%s' '${text}' >${holdersFile}.new && mv ${holdersFile}.new ${holdersFile}`);
}

/** What the PF stores of the VFs, and their interfaces: name, address, MTU. */
async function seen(): Promise<readonly string[]> {
  const onPf = await inGuest("ip link show enp1s0f0 | grep 'vf [01] '");
  const links = await inGuest(
    `cd /sys/bus/pci/devices/${pf} && for n in virtfn[01]/net/*; do basename $n; cat $n/address $n/mtu; done`,
  );
  return [onPf, links];
}

/** Lets the CNI plugin give the VF to the pod as the interface net<vfId> with a VLAN. */
async function addToPod(vfId: number, vlan: number): Promise<string> {
  const deviceID = vfStatus(vfId)?.pciAddress ?? "";
  const conf = { cniVersion: "0.3.1", name: "net", type: "sriov", deviceID, vlan };
  const cni = `CNI_COMMAND=ADD CNI_CONTAINERID=pod CNI_NETNS=/run/netns/pod CNI_IFNAME=net${vfId} CNI_PATH=/share`;
  return inGuest(`printf '%s' '${JSON.stringify(conf)}' | ${cni} /share/sriov 2>&1`);
}

it("resets MAC address, VLAN and trust of VFs within 40 s after a pod whose CNI plugin was not called", async () => {
  await setHolders();
  const daemon = node.startDaemon(["--vf-holders-file", holdersFile]);
  const settings = { numVfs: 2, resourceName: "lab" };
  await applyPolicy(testCluster, "lab", policySpec({ pfNames: ["enp1s0f0"] }, settings));
  await policyIs(news, "lab", "Ready", within.withinMs);
  const vfIds = [0, 1];
  await eventually("the node state has the VFs", () => vfIds.every((vfId) => vfStatus(vfId)?.name), within);
  const initial = await seen();

  const holderOf = (vfId: number) => ({
    ...{ device: vfStatus(vfId)?.pciAddress ?? "", namespace: "default", name: "app-0" },
    ...{ uid: "2a1c6c9e-6a55-4f0b-9c56-0c1e7f3d8b21", resource: "openshift.io/lab" },
  });
  await setHolders(...vfIds.map(holderOf));
  await inGuest("ip netns add pod");
  for (const vfId of vfIds) {
    expect(JSON.parse(await addToPod(vfId, 100 + vfId))).toMatchObject({ interfaces: [{ name: `net${vfId}` }] });
  }
  // What later versions of the plugin set, too: 2.1.0 knows VLANs only. A VF of igb that is trusted sets its own address again.
  await inGuest("ip link set enp1s0f0 vf 0 mac 02:00:00:00:00:99 && ip link set enp1s0f0 vf 1 trust on");
  const isShown = (): boolean =>
    vfIds.every((vfId) => vfStatus(vfId)?.Vlan === 100 + vfId && vfStatus(vfId)?.holder?.name === "app-0") &&
    vfStatus(0)?.adminMac === "02:00:00:00:00:99" &&
    vfStatus(1)?.trust === "on";
  await eventually("the node state shows the pod and its settings", isShown, within);
  expect(vfIds.map((vfId) => vfStatus(vfId)?.unclean)).toEqual([undefined, undefined]);

  // The pod ends, and nobody calls the plugin. The kernel moves the interfaces back to the host.
  await setHolders();
  await inGuest("ip netns delete pod");
  const endedMs = performance.now();
  const isReported = (): boolean => vfIds.every((vfId) => vfStatus(vfId)?.unclean !== undefined);
  await eventually("the node state has what the pod has left", isReported, within);
  const left = vfIds.map((vfId) => vfStatus(vfId)?.unclean?.settings);
  expect(left[0]).toEqual(
    expect.arrayContaining([
      { name: "Vlan", value: "100", initial: "0" },
      expect.objectContaining({ name: "adminMac", value: "02:00:00:00:00:99" }),
      expect.objectContaining({ name: "name", value: "net0" }),
    ]),
  );
  expect(left[1]).toEqual(
    expect.arrayContaining([
      { name: "Vlan", value: "101", initial: "0" },
      { name: "trust", value: "on", initial: "off" },
      expect.objectContaining({ name: "name", value: "net1" }),
    ]),
  );
  const isClean = (): boolean => vfIds.every((vfId) => vfStatus(vfId)?.unclean === undefined);
  await eventually("the VFs are clean", isClean, within);
  const seconds = Math.round((performance.now() - endedMs) / 1_000);
  expect(await seen()).toEqual(initial);
  expect(daemon.log()).toMatch(/reset adminMac, Vlan, name/);
  expect(daemon.log()).toMatch(/reset Vlan, trust, name/);
  console.log(`clean ${seconds} s after the end of the pod`);
  daemon.kill("SIGTERM");
  expect(await daemon.exitCode).toBe(0);
}, 900_000);
