// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { err, ok, type SriovNetworkNodeState, type SriovNetworkNodeStateStatus, type VfStatus } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import {
  createFakeKernel,
  isWrite,
  mlx5,
  pci,
  wrapPorts,
  type FakeKernel,
  type PortCall,
} from "@switchyard/host/testing";
import fc from "fast-check";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = pci("0000:3b:00.0");
const pfName = "enp59s0np0";
const vfCount = 2;
const holder = { namespace: "apps", name: "web", via: "device-plugin", resource: "openshift.io/lab" } as const;
const spec = {
  interfaces: [{ pciAddress: pf, numVfs: vfCount, vfGroups: [{ resourceName: "lab", vfRange: `0-${vfCount - 1}` }] }],
};

const ofVf = fc.nat(vfCount - 1);
/** What happens on the node, one after the other. Passes of the daemon follow an event, or a time without one. */
const happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant("start" as const), vf: ofVf }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("end" as const), vf: ofVf, del: fc.constantFrom("done", "lost", "late") }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("sandbox ends" as const), vf: ofVf }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("kubelet" as const), answers: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant("pass" as const), seconds: fc.constantFrom(0, 2, 31) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("killed pass" as const),
      seconds: fc.constantFrom(2, 31),
      write: fc.integer({ min: 1, max: 8 }),
    }),
  },
);

/** A VF as its pods and CNI plugins have left it. */
interface VfModel {
  readonly address: ReturnType<typeof pci>;
  /** Settings that the CNI plugin has to restore. */
  before: Settings | undefined;
  isHeld: boolean;
  isAway: boolean;
  /** Times of passes that could see that the VF is free and not clean. */
  looksMs: readonly number[];
}

type Settings = Awaited<ReturnType<typeof settingsOf>>;

/** What the kernel has of a VF, on its PF and of its interface. */
async function settingsOf(kernel: FakeKernel, address: string, vfId: number) {
  const links = await kernel.host().links.listLinks();
  const link = links.find(({ parent }) => parent?.name === address);
  const { name, mac, mtu, promiscuous } = link ?? { name: "", mac: "", mtu: 0, promiscuous: false };
  const onPf = links.find((each) => each.name === pfName)?.vfs[vfId];
  return { onPf, name, mac, mtu, promiscuous };
}

async function startNode() {
  const kernel = createFakeKernel({ nics: [mlx5(pf, { ports: 1 })], udevMs: 0 });
  const clock = { nowMs: 0 };
  const kubelet = { answers: true };
  const offered = new Set<string>();
  const violations: string[] = [];
  let vfs: readonly VfModel[] = [];
  let status: SriovNetworkNodeStateStatus = {};

  /** The VF that a write changes. */
  function writtenVf({ port, args: [target, vfId] }: PortCall): VfModel | undefined {
    if (port === "links" && target === pfName) return typeof vfId === "number" ? vfs[vfId] : undefined;
    const ofLink = shown().find(({ name }) => name === target)?.pciAddress;
    return port === "links" || port === "sriov"
      ? vfs.find(({ address }) => address === target || address === ofLink)
      : undefined;
  }
  const shown = (): readonly VfStatus[] => status.interfaces?.[0]?.Vfs ?? [];
  const host: Host = wrapPorts(kernel.host(), (call, proceed) => {
    if (isWrite(call) && writtenVf(call)?.isHeld === true) violations.push(`${call.method} ${call.args.join(" ")}`);
    return proceed();
  });
  const start = (on: Host) =>
    daemonOn(on, {
      nowMs: () => clock.nowMs,
      readHolders() {
        const held = vfs.filter(({ isHeld }) => isHeld).map(({ address }) => [address, [holder]] as const);
        return Promise.resolve(kubelet.answers ? ok({ byId: new Map(held), isNewKubelet: false }) : err("UNAVAILABLE"));
      },
      readOffered: () => Promise.resolve(kubelet.answers ? ok(new Set(offered)) : err("UNAVAILABLE")),
    });
  let daemon = start(host);
  const state = (): SriovNetworkNodeState => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec,
    status,
  });

  /** The device plugin follows the status of the node. */
  function report(): void {
    status = daemon.status();
    offered.clear();
    for (const vf of shown()) if (vf.unclean === undefined) offered.add(vf.pciAddress);
  }

  async function pass(seconds: number): Promise<void> {
    clock.nowMs += seconds * 1_000;
    await daemon.pass(state());
    report();
    for (const vf of vfs) if (!vf.isHeld && !vf.isAway && kubelet.answers) vf.looksMs = [...vf.looksMs, clock.nowMs];
  }

  await pass(0);
  const addresses = shown().map(({ pciAddress }) => pci(pciAddress));
  vfs = addresses.map((address) => ({ address, before: undefined, isHeld: false, isAway: false, looksMs: [] }));
  const settings = () => Promise.all(addresses.map((address, vfId) => settingsOf(kernel, address, vfId)));

  return {
    kernel,
    kubelet,
    offered,
    violations,
    vfs,
    settings,
    pass,
    async killedPass(seconds: number, write: number): Promise<void> {
      clock.nowMs += seconds * 1_000;
      const killed = killedAtWrite(host, write, write % 2 === 0);
      const dying = start(killed.host);
      const ended = await Promise.race([dying.pass(state()), killed.death]);
      if (ended !== undefined) {
        daemon = dying;
        report();
      }
      daemon = start(host);
      for (const vf of vfs) vf.looksMs = []; // the next daemon begins to count, unless the status has the VF
    },
  };
}

type Node = Awaited<ReturnType<typeof startNode>>;

async function startPod(
  { kernel, offered, vfs, settings }: Node,
  vfId: number,
  initial: readonly Settings[],
): Promise<void> {
  const vf = vfs[vfId];
  if (vf === undefined || vf.isHeld || vf.isAway || !offered.has(vf.address)) return;
  const present = (await settings())[vfId];
  const [first = 0] = vf.looksMs;
  const wasSeen = vf.looksMs.some((ms) => ms - first >= 1_000);
  if (wasSeen) expect(present).toEqual(initial[vfId]); // a VF that is not clean is not offered
  [vf.before, vf.isHeld, vf.isAway, vf.looksMs] = [present, true, true, []];
  kernel.setVfByHand(pf, vfId, { mac: `02:00:00:00:99:0${vfId}` });
  kernel.setVfByHand(pf, vfId, { vlan: 100 + vfId, qos: 0, protocol: "802.1Q" });
  kernel.setVfByHand(pf, vfId, { trust: true });
  kernel.moveToPod(vf.address);
  kernel.changeVfLinkByHand(vf.address, {
    name: "net1",
    mac: `02:00:00:00:99:0${vfId}`,
    mtu: 2_000,
    promiscuous: true,
  });
}

/** "late": the network namespace of the pod stays. */
function endPod({ kernel, vfs }: Node, vfId: number, del: string): void {
  const vf = vfs[vfId];
  if (vf?.isHeld !== true) return;
  if (del !== "late") kernel.returnFromPod(vf.address);
  const onPf = vf.before?.onPf;
  if (del === "done" && vf.before !== undefined && onPf !== undefined) {
    const { name, mac, mtu, promiscuous } = vf.before;
    kernel.changeVfLinkByHand(vf.address, { name, mac, mtu, promiscuous });
    kernel.setVfByHand(pf, vfId, { mac: onPf.mac });
    kernel.setVfByHand(pf, vfId, { vlan: onPf.vlan, qos: onPf.vlanQos, protocol: "802.1Q" });
    kernel.setVfByHand(pf, vfId, { trust: onPf.trust === true });
  }
  [vf.isHeld, vf.isAway, vf.looksMs] = [false, del === "late", []];
}

function endSandbox({ kernel, vfs }: Node, vfId: number): void {
  const vf = vfs[vfId];
  if (vf === undefined || vf.isHeld || !vf.isAway) return;
  kernel.returnFromPod(vf.address);
  [vf.isAway, vf.looksMs] = [false, []];
}

it("never writes to a VF that a pod has, and cleans each other VF before a pod can have it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 8, maxLength: 20, size: "max" }), async (happenings) => {
      const node = await startNode();
      const initial = await node.settings();
      for (const each of happenings) {
        if (each.does === "start") await startPod(node, each.vf, initial);
        else if (each.does === "end") endPod(node, each.vf, each.del);
        else if (each.does === "sandbox ends") endSandbox(node, each.vf);
        else if (each.does === "kubelet") node.kubelet.answers = each.answers;
        else if (each.does === "pass") await node.pass(each.seconds);
        else await node.killedPass(each.seconds, each.write);
        expect(node.violations).toEqual([]);
      }
      node.kubelet.answers = true;
      for (const [vfId] of node.vfs.entries()) {
        endPod(node, vfId, "lost");
        endSandbox(node, vfId);
      }
      for (const seconds of [0, 2, 31, 16]) await node.pass(seconds);
      expect([await node.settings(), node.violations]).toEqual([initial, []]);
    }),
    { numRuns: 1_000 },
  );
}, 300_000);
