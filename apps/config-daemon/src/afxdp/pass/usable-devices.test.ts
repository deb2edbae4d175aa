// SPDX-License-Identifier: Apache-2.0
/** Devices that are settled are usable, on kernels, drivers and firmware that differ in what they do by themselves. */
import { describe, expect, it } from "@jest/globals";
import { ok, type AfxdpInterfaceSpec, type Result } from "@switchyard/api";
import {
  createFakeKernel,
  ice,
  mlx5,
  pci,
  type FakeKernel,
  type FakeNic,
  type FakePort,
} from "@switchyard/host/testing";
import { planAfxdp } from "@switchyard/plan";
import type { KubeletDevices } from "../../kubelet/kubelet.ts";
import { afxdpOn } from "../../testing/afxdp-on.ts";
import { createPodHolders, type PodHolders } from "./pod-holders.ts";

const pf = pci("0000:3b:00.0");
const spec = (more: Partial<AfxdpInterfaceSpec> = {}) => ({
  interfaces: [{ pciAddress: pf, mode: "subfunction", poolName: "fast", policyName: "p", numSfs: 2, ...more } as const],
});
const primary = (more: Partial<AfxdpInterfaceSpec> = {}) => ({
  interfaces: [{ pciAddress: pf, mode: "primary", poolName: "fast", policyName: "p", ...more } as const],
});

function kernelWith(model: typeof mlx5, change: (port: FakePort) => FakePort = (port) => port): FakeKernel {
  const nic: FakeNic = { ports: model(pf).ports.map(change) };
  return createFakeKernel({ nics: [nic] });
}

interface TestKubelet {
  held: readonly string[];
  answers: boolean;
  /** The time of the test. */
  ms: number;
  readonly holders: PodHolders;
}

function kubeletOf(): TestKubelet {
  const state = { held: [] as readonly string[], answers: true, ms: 0 };
  const holders = createPodHolders({
    nowMs: () => state.ms,
    readKubelet: (): Promise<Result<KubeletDevices, string>> =>
      Promise.resolve(
        state.answers
          ? ok({ held: new Set(state.held), offered: new Set(), heldPools: new Set() })
          : { ok: false, error: "it does not run" },
      ),
  });
  return Object.assign(state, { holders });
}

const modes = async (kernel: FakeKernel) => [
  await kernel.host().devlink.readEswitchMode(pf),
  kernel.writes.filter(({ method }) => method === "setEswitchMode").length,
];

describe("subfunctions of drivers that create no network interface by themselves", () => {
  const light = () => kernelWith(mlx5, (port) => ({ ...port, probesSubfunctionsLightly: true }));

  it("have one when the node is configured", async () => {
    const kernel = light();
    const daemon = afxdpOn(kernel.host());
    expect([await daemon.pass(spec()), daemon.error()]).toEqual(["settled", ""]);
    expect((await kernel.host().subfunctions.list()).map(({ netdev }) => netdev)).toEqual([
      expect.any(String),
      expect.any(String),
    ]);
  });

  it("get one also if they were activated before, unless a pod has them", async () => {
    const kernel = light();
    const kubelet = kubeletOf();
    const daemon = afxdpOn(kernel.host(), { podHolders: kubelet.holders, isDrained: () => false });
    await daemon.pass(spec());
    const { subfunctions } = kernel.host();
    const [first] = await subfunctions.list();
    // As after a reload by somebody else, or with the version of Switchyard that did not know it.
    await subfunctions.setActive(pf, first?.portIndex ?? 0, false);
    await subfunctions.setActive(pf, first?.portIndex ?? 0, true);
    const [again] = await subfunctions.list();
    kubelet.held = [again?.device ?? ""];
    await daemon.pass(spec());
    expect((await subfunctions.list())[0]?.netdev).toBeUndefined();
    kubelet.held = [];
    await daemon.pass(spec()); // the pod may have just ended
    kubelet.ms = 10_000;
    expect(await daemon.pass(spec())).toBe("settled");
    expect((await subfunctions.list())[0]?.netdev).toEqual(expect.any(String));
  });
});

describe("a card without subfunctions", () => {
  it("is not changed if its driver says so, and what to do is said", async () => {
    const kernel = kernelWith(mlx5, ({ maxSubfunctions: _none, ...port }) => port);
    const daemon = afxdpOn(kernel.host());
    await daemon.pass(spec());
    expect(daemon.error()).toMatch(
      /2 subfunctions requested, but 0000:3b:00\.0 supports none: enable them in its firmware with "mlxconfig -d 0000:3b:00\.0 set .*PER_PF_NUM_SF=1/,
    );
    expect(await modes(kernel)).toEqual(["legacy", 0]);
  });

  it("gets its mode back if only the attempt shows it, and is not tried again", async () => {
    const kernel = kernelWith(ice, ({ maxSubfunctions: _none, ...port }) => port);
    const daemon = afxdpOn(kernel.host());
    expect(await daemon.pass(spec())).toBe("retry");
    await daemon.pass(spec());
    expect(await modes(kernel)).toEqual(["legacy", 2]);
    expect(daemon.error()).toContain("2 subfunctions requested, but 0000:3b:00.0 supports none");
    await daemon.pass(spec());
    expect(await modes(kernel)).toEqual(["legacy", 2]);
  });
});

describe("subfunctions and what is around them", () => {
  it("have a port and representors with their MTU, which are up", async () => {
    const kernel = kernelWith(mlx5);
    const daemon = afxdpOn(kernel.host());
    expect([await daemon.pass(spec({ mtu: 9000 })), daemon.error()]).toEqual(["settled", ""]);
    const shown = daemon.shown().find(({ pciAddress }) => pciAddress === pf);
    expect(shown).toMatchObject({ mtu: 9000, initialMtu: 1500 });
    expect(shown?.subfunctions?.map(({ representor }) => representor)).toEqual(
      [0, 1].map((number) => ({ name: expect.stringMatching(`pf0sf${number}$`), linkAdminState: "up", mtu: 9000 })),
    );
    const [representor = ""] = shown?.subfunctions?.map((one) => one.representor?.name ?? "") ?? [];
    await kernel.host().links.setAdminUp(representor, false);
    expect(await daemon.pass(spec({ mtu: 9000 }))).toBe("settled");
    expect((await kernel.host().links.listLinks()).find(({ name }) => name === representor)?.adminUp).toBe(true);
    await daemon.pass({ unselected: [pf] });
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === pf)?.mtu).toBe(1500);
  });

  it("can have a bridge with the port, which the host uses otherwise", async () => {
    const kernel = kernelWith(mlx5);
    const daemon = afxdpOn(kernel.host());
    await daemon.pass(spec());
    const [one] = await kernel.host().subfunctions.list();
    kernel.addLinkByHand("br0", "bridge");
    kernel.setMasterByHand("enp59s0f0np0", "br0");
    await daemon.pass(spec());
    expect(daemon.shown()[0]?.usedBy).toEqual(["port of bridge br0"]);
    kernel.setMasterByHand(one?.representor ?? "", "br0");
    expect([await daemon.pass(spec()), daemon.error()]).toEqual(["settled", ""]);
    expect(daemon.shown()[0]).not.toHaveProperty("usedBy");
    expect(daemon.shown()[0]?.subfunctions?.[0]?.representor?.master).toBe("br0");
  });

  it("are hidden from network services, and shown when the host uses one nevertheless", async () => {
    const kernel = kernelWith(mlx5);
    const daemon = afxdpOn(kernel.host());
    const path = `/etc/udev/rules.d/10-nm-disable-afxdp-${pf}.rules`;
    await daemon.pass(spec());
    const { subfunctions, files, links } = kernel.host();
    const [one] = await subfunctions.list();
    expect(kernel.udevProperties(one?.representor ?? "")).toMatchObject({ NM_UNMANAGED: "1" });
    expect(await files.readText(path)).toContain(`DEVPATH=="*/${pf}/*.sf.*/net/*"`);
    await links.setAdminUp(one?.netdev ?? "", true);
    kernel.addRouteByHand("default", one?.netdev ?? "");
    await daemon.pass(spec());
    expect(daemon.shown()[0]?.subfunctions?.[0]?.usedBy).toEqual(["default route"]);
    await daemon.pass({ unselected: [pf] });
    expect(await files.readText(path)).toBeUndefined();
  });
});

describe("what a pod has", () => {
  const withProgram = (kernel: FakeKernel) => {
    kernel.attachXdpProgram("enp59s0f0np0", { id: 7, name: "switchyard_xsk", mode: "native", isOwn: true });
  };

  it("is what the kubelet says: the program that stays after a pod needs no drain, after ten seconds", async () => {
    const kernel = kernelWith(mlx5);
    const kubelet = kubeletOf();
    const daemon = afxdpOn(kernel.host(), { podHolders: kubelet.holders, isDrained: () => false });
    await daemon.pass(primary());
    withProgram(kernel);
    kubelet.held = [pf];
    await daemon.pass(primary({ mtu: 3000 }));
    expect([daemon.needs.at(-1), daemon.shown()[0]?.mtu]).toEqual([true, 1500]);
    kubelet.held = [];
    await daemon.pass(primary({ mtu: 3000 }));
    expect([daemon.shown()[0]?.held, kubelet.holders.isUnsettled()]).toEqual([true, true]);
    kubelet.ms = 10_000;
    await daemon.pass(primary({ mtu: 3000 }));
    expect([daemon.needs.at(-1), daemon.shown()[0]?.mtu, daemon.shown()[0]?.held]).toEqual([false, 3000, false]);
  });

  it("does not keep the MTU and the queues that a pod with NET_ADMIN has set", async () => {
    const kernel = kernelWith(mlx5);
    const daemon = afxdpOn(kernel.host());
    const wanted = primary({ mtu: 3000, queues: 2 });
    await daemon.pass(wanted);
    const { links, xdp } = kernel.host();
    await links.setMtu("enp59s0f0np0", 1500);
    await xdp.setQueues("enp59s0f0np0", 4);
    expect([await daemon.pass(wanted), daemon.error()]).toEqual(["settled", ""]);
    expect(daemon.shown()[0]).toMatchObject({ mtu: 3000, queues: 2 });
  });

  it("is unknown while the kubelet does not answer", async () => {
    const kernel = kernelWith(mlx5);
    const kubelet = kubeletOf();
    const daemon = afxdpOn(kernel.host(), { podHolders: kubelet.holders, isDrained: () => false });
    await daemon.pass(primary());
    withProgram(kernel);
    kubelet.answers = false;
    kubelet.ms = 60_000;
    await daemon.pass(primary({ mtu: 3000 }));
    expect([daemon.needs.at(-1), daemon.shown()[0]?.mtu]).toEqual([true, 1500]);
  });

  it("is not a device of vfio-pci, which has no network interface", () => {
    const bound = { interfaces: [{ pciAddress: pf, driver: "vfio-pci", owned: true, mtu: 1500, initialMtu: 1500 }] };
    expect(planAfxdp(primary(), bound)).toMatchObject({
      steps: [],
      problems: [{ message: expect.stringContaining("is bound to vfio-pci and has no network interface") }],
    });
    expect(planAfxdp({ unselected: [pf] }, bound)).toMatchObject({
      impact: "none",
      steps: [{ kind: "release-device" }],
    });
  });
});
