// SPDX-License-Identifier: Apache-2.0
/** Externally managed PFs: another tool creates the VFs, and the daemon configures the VFs that policies select. */
import { beforeEach, describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { createFakeKernel, igb, pci, type FakeKernel } from "@switchyard/host/testing";
import { observeNode } from "../observe/observe.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = pci("0000:01:00.0");
const name = "enp1s0f0";
let kernel: FakeKernel;

beforeEach(async () => {
  kernel = await newKernel();
});

/** A node on which another tool has created four VFs with MTU 4000. */
async function newKernel(): Promise<FakeKernel> {
  const fresh = createFakeKernel({ nics: [igb(pf)] });
  const host = fresh.host();
  await host.links.setMtu(name, 4_000);
  await fresh.setNumVfsByHand(pf, 4);
  await host.udev.settle({ timeoutMs: 5_000, signal: new AbortController().signal });
  return fresh;
}

function stateOf(spec: SriovNetworkNodeStateSpec): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec,
  };
}

/** VFs 1 and 2 of the PF belong to policies. */
function selecting(overrides: Partial<InterfaceSpec> = {}): SriovNetworkNodeState {
  const vfGroups = [
    { resourceName: "kernel", vfRange: "1-1", mtu: 3_000 },
    { resourceName: "user", vfRange: "2-2", deviceType: "vfio-pci" },
  ] as const;
  return stateOf({
    interfaces: [{ pciAddress: pf, name, numVfs: 4, externallyManaged: true, vfGroups, ...overrides }],
  });
}

const unselecting = stateOf({ unselected: [pf] });

/** The PF and the number, driver and MTU of each of its VFs. */
async function seen(of = kernel) {
  const { interfaces } = await observeNode(of.host());
  const {
    numVfs,
    mtu,
    linkAdminState,
    eSwitchMode,
    owned,
    Vfs = [],
  } = interfaces.find(({ pciAddress }) => pciAddress === pf) ?? {};
  const vfs = Vfs.map((vf) => `${vf.driver} ${vf.mtu}`);
  return { numVfs, mtu, linkAdminState, eSwitchMode, owned, vfs };
}

const configured = {
  numVfs: 4,
  mtu: 4_000,
  linkAdminState: "up",
  eSwitchMode: "legacy",
  owned: true,
  vfs: ["igbvf 1500", "igbvf 3000", "vfio-pci undefined", "igbvf 1500"],
};

describe("an externally managed PF", () => {
  it("keeps its VFs, MTU and link, and the VFs of policies are configured", async () => {
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(selecting())).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await seen()).toEqual(configured);
  });

  it("stays down if another tool has set it down", async () => {
    await kernel.host().links.setAdminUp(name, false);
    await daemonOn(kernel.host()).pass(selecting());
    expect(await seen()).toMatchObject({ linkAdminState: "down", numVfs: 4 });
  });

  it("causes no write and no drain when the daemon starts again (sriov-operator.md M-3)", async () => {
    await daemonOn(kernel.host()).pass(selecting());
    const writes = kernel.writes.length;
    const restarted = daemonOn(kernel.host(), { drains: true });
    expect(await restarted.pass(selecting())).toBe("settled");
    expect([kernel.writes.length, restarted.requests]).toEqual([writes, []]);
  });

  it("keeps its VFs and their drivers when no policy selects it any more", async () => {
    await daemonOn(kernel.host()).pass(selecting());
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await daemon.pass(unselecting)).toBe("settled");
    expect(await seen()).toEqual({ ...configured, owned: undefined });
    expect([daemon.requests, await kernel.host().records.list()]).toEqual([[], new Map()]);
  });

  it("loses no VF when the policy starts or stops to manage it", async () => {
    await daemonOn(kernel.host()).pass(selecting());
    const daemon = daemonOn(kernel.host(), { drains: true });
    const numVfsWrites = () => kernel.writes.filter(({ method }) => method === "setNumVfs").length;
    for (const externallyManaged of [false, true, false]) {
      expect(await daemon.pass(selecting({ externallyManaged }))).toBe("settled");
      expect(await seen()).toEqual(configured);
    }
    expect([numVfsWrites(), daemon.requests]).toEqual([0, []]);
  });

  it("is reset to the state that the other tool left, once the policy has managed it", async () => {
    const daemon = daemonOn(kernel.host());
    await daemon.pass(selecting());
    await kernel.host().links.setMtu(name, 5_000); // by the other tool
    await daemon.pass(selecting({ externallyManaged: false, mtu: 9_000 }));
    expect(await seen()).toMatchObject({ mtu: 9_000, numVfs: 4 });
    await daemon.pass(unselecting);
    expect(await seen()).toMatchObject({ mtu: 5_000, numVfs: 0 });
  });

  it("converges from a kill before and after each write, and keeps its VFs", async () => {
    await daemonOn(kernel.host()).pass(selecting());
    const handWrites = (await newKernel()).writes.length;
    const count = kernel.writes.length - handWrites;
    expect(count).toBeGreaterThan(3);
    for (const isDone of [false, true]) {
      for (let nth = 1; nth <= count; nth++) {
        const other = await newKernel();
        const killed = killedAtWrite(other.host(), nth, isDone);
        await Promise.race([daemonOn(killed.host).pass(selecting()), killed.death]);
        expect([nth, await daemonOn(other.host()).pass(selecting())]).toEqual([nth, "settled"]);
        expect([nth, await seen(other)]).toEqual([nth, configured]);
      }
    }
  });
});

describe("an externally managed PF that lacks what its policy requests", () => {
  it.each([
    {
      what: "VFs",
      asked: { numVfs: 6 },
      error: `spec.interfaces[0].numVfs: 6 VFs requested, but ${pf} is externally managed and has 4`,
      async repair() {
        await kernel.setNumVfsByHand(pf, 0);
        await kernel.setNumVfsByHand(pf, 6);
      },
    },
    {
      what: "the MTU",
      asked: { mtu: 9_000 },
      error: `spec.interfaces[0].mtu: MTU 9000 requested, but ${pf} is externally managed and has MTU 4000`,
      repair: () => kernel.host().links.setMtu(name, 9_000),
    },
  ])("fails with the reason and is left alone, until the host has $what", async ({ asked, error, repair }) => {
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(selecting(asked))).toBe("settled");
    expect([daemon.error(), daemon.phases.at(-1)?.kind]).toEqual([error, "settled"]);
    expect(await seen()).toMatchObject({ numVfs: 4, mtu: 4_000 });
    await repair();
    expect(await daemon.pass(selecting(asked))).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await seen()).toMatchObject({ numVfs: asked.numVfs ?? 4, mtu: asked.mtu ?? 4_000 });
  });

  it.each([
    {
      asked: { linkType: "ib" },
      error: `linkType: "ib" requested, but ${pf} is externally managed and has link type ETH`,
    },
    {
      asked: { eSwitchMode: "switchdev" },
      error: `eSwitchMode: "switchdev" requested, but ${pf} is externally managed and in legacy mode`,
    },
  ])("fails and changes nothing: $error", async ({ asked, error }) => {
    const writes = kernel.writes.length;
    const daemon = daemonOn(kernel.host());
    await daemon.pass(selecting(asked));
    expect([daemon.error(), kernel.writes.length]).toEqual([`spec.interfaces[0].${error}`, writes]);
  });
});
