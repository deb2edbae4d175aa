// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { err, ok, type SriovNetworkNodeState, type SriovNetworkNodeStateStatus, type VfGroup } from "@switchyard/api";
import { createFakeKernel, i40e, igb, mlx5, pci, type FakeKernel, type FakeNic } from "@switchyard/host/testing";
import { daemonOn, type PassResult } from "../testing/daemon-on.ts";

const pf = "0000:01:00.0";
const vf = pci("0000:01:10.2"); // VF 1

const vlan = { vlan: 100, qos: 3, protocol: "802.1Q" } as const;
const pods = [{ namespace: "apps", name: "web-0", via: "device-plugin", resource: "openshift.io/lab" } as const];

/** The port with its carrier at once: without one, igb refuses rates. */
function withCarrier({ ports }: FakeNic): FakeNic {
  return {
    ports: ports.map((port) => ({ ...port, ...(port.sriov && { sriov: { ...port.sriov, carrierLossMs: 0 } }) })),
  };
}

interface NodeOptions {
  readonly group?: VfGroup;
  readonly externallyManaged?: boolean;
  readonly nic?: FakeNic;
}

/** A node with four VFs, a kubelet whose pods and device plugins can be changed, and a clock. */
async function startNode({ group = {}, externallyManaged = false, nic = withCarrier(igb(pf)) }: NodeOptions = {}) {
  const kernel = createFakeKernel({ nics: [nic] });
  const kubelet = { held: new Set<string>(), offered: new Set<string>(), isUnknown: false };
  const clock = { nowMs: 1_000_000 };
  const startDaemon = () =>
    daemonOn(kernel.host(), {
      nowMs: () => clock.nowMs,
      readHolders() {
        const byId = new Map([...kubelet.held].map((id) => [id, pods]));
        return Promise.resolve(kubelet.isUnknown ? err("UNAVAILABLE") : ok({ byId, isNewKubelet: false }));
      },
      readOffered: () => Promise.resolve(kubelet.isUnknown ? err("UNAVAILABLE") : ok(kubelet.offered)),
    });
  if (externallyManaged) await kernel.setNumVfsByHand(pci(pf), 4);
  let daemon = startDaemon();
  let status: SriovNetworkNodeStateStatus = {};
  const passOnce = async (): Promise<PassResult> => {
    const spec = {
      interfaces: [
        {
          pciAddress: pf,
          numVfs: 4,
          vfGroups: [{ resourceName: "lab", vfRange: "0-3", ...group }],
          ...(externallyManaged && { externallyManaged }),
        },
      ],
    };
    const state = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState" } as const;
    const metadata = { name: "worker-1", generation: 1 };
    const result = await daemon.pass({ ...state, metadata, spec, status } satisfies SriovNetworkNodeState);
    status = daemon.status();
    return result;
  };
  const pass = async (): Promise<void> => {
    expect(await passOnce()).toBe("settled");
  };
  const advance = (seconds: number): void => {
    clock.nowMs += seconds * 1_000;
  };
  await pass();
  return {
    kernel,
    kubelet,
    pass,
    passOnce,
    advance,
    error: () => daemon.error(),
    /** Passes after seconds without other events. */
    async after(...seconds: readonly number[]): Promise<void> {
      for (const each of seconds) {
        advance(each);
        await pass();
      }
    },
    restart: () => {
      daemon = startDaemon();
    },
    vf: () => status.interfaces?.[0]?.Vfs?.[1],
    settings: () => settingsOf(kernel),
    /** Writes to the kernel since the call. */
    writesFrom(start: number) {
      return kernel.writes
        .slice(start)
        .flatMap(({ port, method, args }) => (port === "records" ? [] : [[method, ...args]]));
    },
  };
}

/** What the kernel has of VF 1, on its PF and of its interface. */
async function settingsOf(kernel: FakeKernel) {
  const links = await kernel.host().links.listLinks();
  const { index: _index, ...link } = links.find(({ parent }) => parent?.name === vf) ?? { index: 0 };
  return { onPf: links.find(({ parent }) => parent?.name === pf)?.vfs[1], link };
}

/** A pod with the VF, whose CNI plugin sets all that it can, and does not restore it. */
function runPod({ kernel, kubelet }: Pick<Awaited<ReturnType<typeof startNode>>, "kernel" | "kubelet">): void {
  kubelet.held.add(vf);
  kernel.setVfByHand(pci(pf), 1, { mac: "02:00:00:00:00:99" });
  for (const setting of [vlan, { trust: true }, { spoofCheck: false }, { minTxRate: 0, maxTxRate: 10 }]) {
    kernel.setVfByHand(pci(pf), 1, setting);
  }
  kernel.moveToPod(vf);
  kernel.changeVfLinkByHand(vf, { name: "net1", mac: "02:00:00:00:00:99", mtu: 2_000, promiscuous: true });
}

function endPod({ kernel, kubelet }: Pick<Awaited<ReturnType<typeof startNode>>, "kernel" | "kubelet">): void {
  kubelet.held.delete(vf);
  kernel.returnFromPod(vf);
}

describe("a VF that a past pod has left with its settings", () => {
  it("is reported from the second look on, and reset when it has been free for 30 seconds", async () => {
    const node = await startNode();
    const initial = await node.settings();
    runPod(node);
    await node.pass();
    expect(node.vf()).toMatchObject({ Vlan: 100, vlanQoS: 3, trust: "on", spoofChk: "off", maxTxRate: 10 });
    expect(node.vf()?.unclean).toBeUndefined();
    endPod(node);
    await node.pass();
    expect(node.vf()?.unclean).toBeUndefined(); // a CNI plugin may be restoring it
    await node.after(2);
    expect(node.vf()?.unclean).toEqual({
      settings: [
        { name: "adminMac", value: "02:00:00:00:00:99", initial: initial.onPf?.mac },
        { name: "Vlan", value: "100", initial: "0" },
        { name: "vlanQoS", value: "3", initial: "0" },
        { name: "spoofChk", value: "off", initial: "on" },
        { name: "trust", value: "on", initial: "off" },
        { name: "maxTxRate", value: "10", initial: "0" },
        { name: "name", value: "net1", initial: "enp1s0f0v1" },
        { name: "mac", value: "02:00:00:00:00:99", initial: initial.onPf?.mac },
        { name: "mtu", value: "2000", initial: "1500" },
        { name: "promiscuous", value: "true", initial: "false" },
      ],
    });
    const writes = node.kernel.writes.length;
    await node.after(20);
    expect(node.writesFrom(writes)).toEqual([]);
    await node.after(11);
    expect(node.vf()?.unclean).toBeUndefined();
    expect(await node.settings()).toEqual(initial);
  });

  it("is not reported if its CNI plugin restores it while the pod ends", async () => {
    const node = await startNode();
    const { onPf } = await node.settings();
    node.kubelet.held.add(vf);
    node.kernel.setVfByHand(pci(pf), 1, vlan);
    await node.pass();
    node.kubelet.held.delete(vf);
    await node.pass();
    node.kernel.setVfByHand(pci(pf), 1, { vlan: 0, qos: 0, protocol: "802.1Q" });
    const writes = node.kernel.writes.length;
    await node.after(2, 40);
    expect([node.vf()?.unclean, node.writesFrom(writes)]).toEqual([undefined, []]);
    expect((await node.settings()).onPf).toEqual(onPf);
  });

  it("stays as it is while a pod has it, its interface is elsewhere, or the kubelet does not answer", async () => {
    const node = await startNode();
    runPod(node);
    const writes = node.kernel.writes.length;
    await node.after(40, 40);
    node.kubelet.held.delete(vf); // the interface is still in the network namespace of the pod
    await node.after(40, 40);
    node.kernel.returnFromPod(vf);
    node.kubelet.isUnknown = true;
    await node.after(40, 40);
    expect([node.vf()?.unclean, node.writesFrom(writes)]).toEqual([undefined, []]);
    node.kubelet.isUnknown = false;
    await node.after(2, 2);
    expect(node.vf()?.unclean?.reset).toBeUndefined(); // the time begins with the first answer
    node.kubelet.isUnknown = true;
    await node.after(40);
    expect(node.vf()?.unclean?.settings.length).toBeGreaterThan(0); // still withheld
    expect(node.writesFrom(writes)).toEqual([]);
  });

  it("stays as it is as long as a device plugin offers it", async () => {
    const node = await startNode();
    runPod(node);
    endPod(node);
    node.kubelet.offered.add(vf);
    const writes = node.kernel.writes.length;
    await node.after(0, 2, 40, 40);
    expect([node.vf()?.unclean?.reset, node.writesFrom(writes)]).toEqual([undefined, []]);
    node.kubelet.offered.clear();
    await node.after(15);
    expect([node.vf()?.unclean, (await node.settings()).onPf?.vlan]).toEqual([undefined, 0]);
  });

  it("is not reset if a pod has got it since the plan was made", async () => {
    const node = await startNode();
    runPod(node);
    endPod(node);
    await node.after(0, 2);
    // The step looks up the VF before it asks the kubelet.
    const fault = node.kernel.fault({ port: "sriov", method: "readPf" }, { act: () => node.kubelet.held.add(vf) });
    const writes = node.kernel.writes.length;
    await node.after(40);
    expect([fault.hits, node.vf()?.unclean, node.writesFrom(writes)]).toEqual([1, undefined, []]);
  });

  it("is a failure with the answer of the kernel if the driver refuses to reset it", async () => {
    const node = await startNode({ nic: igb(pf) }); // without a carrier
    node.kernel.setVfByHand(pci(pf), 1, { minTxRate: 0, maxTxRate: 10 });
    await node.after(0, 2);
    node.advance(31);
    expect(await node.passOnce()).toBe("retry");
    expect(node.error()).toBe(`set vf 1 min_tx_rate 0 max_tx_rate 0 on enp1s0f0: EINVAL`);
  });

  it("stays reported after a restart of the daemon, which counts the 30 seconds again", async () => {
    const node = await startNode();
    runPod(node);
    endPod(node);
    await node.after(0, 2);
    node.restart();
    await node.pass();
    expect(node.vf()?.unclean?.settings.length).toBeGreaterThan(0);
    await node.after(29);
    expect(node.vf()?.unclean).toBeDefined();
    await node.after(1);
    expect(node.vf()?.unclean).toBeUndefined();
  });

  it("is not touched on an externally managed PF", async () => {
    const node = await startNode({ externallyManaged: true });
    const writes = node.kernel.writes.length;
    node.kernel.setVfByHand(pci(pf), 1, vlan);
    await node.after(2, 40, 40);
    expect([node.vf()?.Vlan, node.vf()?.unclean, node.writesFrom(writes)]).toEqual([100, undefined, []]);
  });

  it("keeps the MTU that its policy has", async () => {
    const node = await startNode({ group: { mtu: 9_000 } });
    runPod(node);
    endPod(node);
    await node.after(0, 2, 31);
    const { link, onPf } = await node.settings();
    expect([node.vf()?.unclean, link, onPf?.vlan]).toEqual([
      undefined,
      expect.objectContaining({ name: "enp1s0f0v1", mtu: 9_000, promiscuous: false }),
      0,
    ]);
  });

  it("keeps vfio-pci, and has the settings that the PF stores reset", async () => {
    const node = await startNode({ group: { deviceType: "vfio-pci" } });
    const { onPf } = await node.settings();
    node.kubelet.held.add(vf);
    node.kernel.setVfByHand(pci(pf), 1, { mac: "02:00:00:00:00:99" });
    node.kernel.setVfByHand(pci(pf), 1, vlan);
    await node.pass();
    node.kubelet.held.delete(vf);
    await node.after(0, 2, 31);
    expect((await node.settings()).onPf).toEqual(onPf);
    expect(node.vf()).toMatchObject({ driver: "vfio-pci" });
    expect(node.vf()?.unclean).toBeUndefined();
  });

  it.each([
    { driver: "i40e", nic: i40e(pf) },
    { driver: "mlx5", nic: mlx5(pf) },
  ])("is reset on $driver", async ({ nic }) => {
    const node = await startNode({ nic });
    const target = node.vf()?.pciAddress;
    const before = node.vf();
    node.kernel.setVfByHand(pci(pf), 1, { trust: true });
    node.kernel.setVfByHand(pci(pf), 1, { linkState: "enable" });
    node.kernel.changeVfLinkByHand(pci(target ?? ""), { name: "net1" });
    await node.after(0, 2, 31);
    expect(node.vf()).toEqual(before);
  });

  it("is not reset to settings of an earlier boot, or to those that another pod had left before the upgrade", async () => {
    const node = await startNode();
    const records = node.kernel.host().records;
    const record = (await records.list()).get(pci(pf));
    if (record?.initialVfs === undefined) throw new Error("the VFs are not recorded");
    const { initialVfs, ...withoutVfs } = record;
    await records.save(pci(pf), { ...record, initialVfs: { ...initialVfs, bootId: "another" } });
    node.kernel.setVfByHand(pci(pf), 1, vlan);
    await node.after(2, 40, 40);
    expect([node.vf()?.Vlan, node.vf()?.unclean]).toEqual([100, undefined]);
    await records.save(pci(pf), withoutVfs);
    await node.after(2, 40, 40);
    expect([node.vf()?.Vlan, node.vf()?.unclean]).toEqual([100, undefined]);
    expect(Object.keys((await records.list()).get(pci(pf))?.initialVfs?.vfs ?? {})).toEqual(["0", "2", "3"]);
  });
});
