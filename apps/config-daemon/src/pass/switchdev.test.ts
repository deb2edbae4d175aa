// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import {
  blueField,
  createFakeKernel,
  i40e,
  ice,
  mlx5,
  pci,
  type FakeKernel,
  type FakeNic,
} from "@switchyard/host/testing";
import { observeNode } from "../observe/observe.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = "0000:3b:00.0";
const uplink = "enp59s0f0np0";
const rules = "/etc/udev/rules.d";

function spec(overrides: Partial<InterfaceSpec> = {}): InterfaceSpec {
  const vfGroups: InterfaceSpec["vfGroups"] = [
    { resourceName: "kernel", vfRange: "0-1", mtu: 1400 },
    { resourceName: "user", vfRange: "2-2", deviceType: "vfio-pci" },
  ];
  return { pciAddress: pf, numVfs: 3, eSwitchMode: "switchdev", vfGroups, ...overrides };
}

function nodeState(interfaces: readonly InterfaceSpec[], unselected: readonly string[] = []) {
  const metadata = { name: "worker-1", generation: 1, annotations: {} };
  const kind = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState" } as const;
  return { ...kind, metadata, spec: { interfaces, unselected } } satisfies SriovNetworkNodeState;
}

/** mlx5 whose driver has flow_steering_mode dmfs. */
function steering(): FakeNic {
  const { ports } = mlx5(pf);
  return { ports: ports.map((port) => ({ ...port, parameters: { flow_steering_mode: "dmfs" } })) };
}

async function stateOf(kernel: FakeKernel) {
  const { interfaces } = await observeNode(kernel.host());
  const found = interfaces.find(({ pciAddress }) => pciAddress === pf);
  return (
    found && {
      name: found.name,
      mode: found.eSwitchMode,
      numVfs: found.numVfs,
      owned: found.owned,
      vfs: (found.Vfs ?? []).map(({ driver, name, mtu, representorName }) => [driver, name, mtu, representorName]),
    }
  );
}

const configured = {
  name: uplink,
  mode: "switchdev",
  numVfs: 3,
  owned: true,
  vfs: [
    ["mlx5_core", "enp59s0f0v0", 1400, `${uplink}_0`],
    ["mlx5_core", "enp59s0f0v1", 1400, `${uplink}_1`],
    ["vfio-pci", undefined, undefined, `${uplink}_2`],
  ],
};

const untouched = { name: uplink, mode: "legacy", numVfs: 0, owned: undefined, vfs: [] };

describe("configureNode in switchdev mode", () => {
  it("creates and configures VFs with representors, and then has nothing left to do", async () => {
    const kernel = createFakeKernel({ nics: [steering()] });
    const daemon = daemonOn(kernel.host());
    expect([await daemon.pass(nodeState([spec()])), daemon.error()]).toEqual(["settled", ""]);
    expect(await stateOf(kernel)).toEqual(configured);
    const host = kernel.host();
    expect(await host.links.readFeature(uplink, "hw-tc-offload")).toEqual({ on: true, changeable: true });
    expect(await host.devlink.readParameter(pci(pf), "flow_steering_mode")).toBe("smfs");
    const writes = kernel.writes.length;
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(kernel.writes.slice(writes)).toEqual([]);
  });

  it("keeps the VFs of the other port, which shares the card", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    const other = spec({ pciAddress: "0000:3b:00.1", numVfs: 2, vfGroups: [] });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec(), other]))).toBe("settled");
    const [, second] = daemon.shown();
    expect(second?.Vfs?.map(({ representorName }) => representorName)).toEqual(["enp59s0f1np1_0", "enp59s0f1np1_1"]);
    expect(await stateOf(kernel)).toEqual(configured);
  });

  it("changes the mode of ice before it creates VFs", async () => {
    const kernel = createFakeKernel({ nics: [ice(pf)] });
    const daemon = daemonOn(kernel.host());
    await kernel.setNumVfsByHand(pci(pf), 2);
    await daemon.pass(nodeState([spec({ vfGroups: [] })]));
    const kinds = kernel.writes.filter(({ method }) => /^set(EswitchMode|NumVfs)$/.test(method));
    expect(kinds.map(({ args }) => args[1])).toEqual([0, "switchdev", 3]);
  });

  it("changes the number of VFs through legacy mode", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec({ numVfs: 1, vfGroups: [] })]));
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(await stateOf(kernel)).toEqual(configured);
  });

  it("goes back to legacy mode with the same VFs", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec()]));
    expect(await daemon.pass(nodeState([spec({ eSwitchMode: "" })]))).toBe("settled");
    expect(await stateOf(kernel)).toMatchObject({ mode: "legacy", numVfs: 3, vfs: [["mlx5_core", "enp59s0f0v0", 1400, undefined], {}, {}] }); // prettier-ignore
    expect(kernel.listFiles()).toEqual([`${rules}/10-nm-disable-${pf}.rules`]);
  });

  it("restores the mode and removes its rules when the PF is reset", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec()]));
    expect(kernel.listFiles()).toHaveLength(3);
    expect(await daemon.pass(nodeState([], [pf]))).toBe("settled");
    expect(await stateOf(kernel)).toEqual(untouched);
    expect(kernel.listFiles()).toEqual([]);
  });

  it("never changes the mode of an externally managed PF", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec({ externallyManaged: true, numVfs: 0, vfGroups: [] })]));
    expect(daemon.error()).toContain("is externally managed and in legacy mode");
    expect(kernel.writes).toEqual([]);
  });
});

describe("configureNode, refused", () => {
  const words = "failed to enable the eswitch";

  it.each([
    { code: "EBUSY", existing: 0 },
    { code: "EOPNOTSUPP", existing: 0 },
    { code: "EBUSY", existing: 3 },
    { code: "EBUSY", existing: 2 },
  ])("leaves a PF of mlx5 with $existing VFs as it was if the driver answers $code", async ({ code, existing }) => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    if (existing > 0) await kernel.setNumVfsByHand(pci(pf), existing);
    await kernel.host().udev.settle({ timeoutMs: 1_000, signal: new AbortController().signal });
    const before = await stateOf(kernel);
    const fault = kernel.fault({ port: "devlink", method: "setEswitchMode" }, { code, words });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toBe(`set eswitch mode switchdev on ${pf}: ${code} (${words})`);
    expect(await stateOf(kernel)).toEqual({ ...before, owned: true });
    fault.lift();
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(await stateOf(kernel)).toEqual(configured);
  });

  it("leaves a PF of ice with its number of VFs", async () => {
    const kernel = createFakeKernel({ nics: [ice(pf)] });
    await kernel.setNumVfsByHand(pci(pf), 2);
    kernel.fault({ port: "devlink", method: "setEswitchMode" }, { code: "EOPNOTSUPP", words });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toBe(`set eswitch mode switchdev on ${pf}: EOPNOTSUPP (${words})`);
    expect(await stateOf(kernel)).toMatchObject({ mode: "legacy", numVfs: 2 });
  });

  it("binds each VF to the driver that it had", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec({ eSwitchMode: "legacy" })]));
    const before = await stateOf(kernel);
    kernel.fault({ port: "devlink", method: "setEswitchMode" }, { code: "EBUSY" });
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    // The MTU of a VF is lost with its driver; the next plan in legacy mode would set it again.
    expect((await stateOf(kernel))?.vfs.map(([driver, name]) => [driver, name])).toEqual(
      before?.vfs.map(([driver, name]) => [driver, name]),
    );
  });

  it.each([
    { nic: i40e(pf), driver: "i40e", owner: "" },
    { nic: blueField(pf), driver: "mlx5_core", owner: "; the card's own system has it" },
  ])("creates no VFs on a NIC without an eswitch: $driver$owner", async ({ nic, driver, owner }) => {
    const kernel = createFakeKernel({ nics: [nic] });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(daemon.error()).toBe(
      `spec.interfaces[0].eSwitchMode: "switchdev" requested, but driver ${driver} offers no eswitch for ${pf}${owner}`,
    );
    expect(kernel.writes.some(({ port }) => port === "sriov")).toBe(false);
  });

  it("creates the VFs first if the mode is known only then, as mlx5_core of older kernels does, and resets the NIC", async () => {
    const ports = mlx5(pf).ports.map((port) => ({ ...port, modeNeedsVfs: true }));
    const kernel = createFakeKernel({ nics: [{ ports }] });
    const daemon = daemonOn(kernel.host());
    expect([await daemon.pass(nodeState([spec()])), daemon.error()]).toEqual(["settled", ""]);
    expect(await stateOf(kernel)).toEqual(configured);
    expect([await daemon.pass(nodeState([], [pf])), daemon.error()]).toEqual(["settled", ""]);
    expect(await stateOf(kernel)).toEqual(untouched);
  });

  it("changes the mode with the VFs that exist if the driver creates fewer VFs than requested", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    kernel.setQuirks(pci(pf), { createsAtMost: 2 });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toContain("the driver created 2 VFs");
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(daemon.error()).toContain(`3 VFs were requested, but the driver of ${pf} created only 2`);
    const state = await stateOf(kernel);
    expect(state?.mode).toBe("switchdev");
    expect(state?.vfs.map(([driver, , , representor]) => [driver, representor])).toEqual([
      ...[["mlx5_core", "enp59s0f0np0_0"], ["mlx5_core", "enp59s0f0np0_1"]], // prettier-ignore
    ]);
  });

  it("names the VF whose representor never appears, and configures the VFs nevertheless", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    kernel.hideRepresentor(pci(pf), 1);
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toContain(`the representor of VF 1 of ${pf} did not appear within 0.2 s`);
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(daemon.error()).toBe(`spec.interfaces[0].eSwitchMode: VF 1 of ${pf} has no representor`);
    expect((await stateOf(kernel))?.vfs.map(([driver]) => driver)).toEqual(["mlx5_core", "mlx5_core", "vfio-pci"]);
  });

  it("configures the other PF when a PF vanishes during the change of its mode", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(pf)] });
    const unplug = () => {
      kernel.unplug(pci(pf));
    };
    kernel.fault({ port: "devlink", method: "setEswitchMode", target: pf }, { act: unplug });
    const daemon = daemonOn(kernel.host());
    const both = nodeState([spec(), spec({ pciAddress: "0000:3b:00.1" })]);
    expect(await daemon.pass(both)).toBe("retry");
    expect(await daemon.pass(both)).toBe("settled");
    expect(daemon.error()).toBe(`spec.interfaces[0].pciAddress: ${pf} is not a PF of this node`);
    expect(daemon.shown()).toMatchObject([{ pciAddress: "0000:3b:00.1", eSwitchMode: "switchdev", numVfs: 3 }]);
  });
});

describe("configureNode in switchdev mode, killed", () => {
  const states = {
    create: { before: [], then: nodeState([spec()]), expected: configured },
    recount: { before: [spec({ numVfs: 1, vfGroups: [] })], then: nodeState([spec()]), expected: configured },
    reset: { before: [spec()], then: nodeState([], [pf]), expected: untouched },
  };

  it.each([
    { what: "create" as const, when: "just before", isDone: false },
    { what: "create" as const, when: "just after", isDone: true },
    { what: "recount" as const, when: "just before", isDone: false },
    { what: "recount" as const, when: "just after", isDone: true },
    { what: "reset" as const, when: "just before", isDone: false },
    { what: "reset" as const, when: "just after", isDone: true },
  ])(
    "converges from a kill $when each of its writes ($what)",
    async ({ what, isDone }) => {
      const { before, then, expected } = states[what];
      const prepared = async (): Promise<FakeKernel> => {
        const kernel = createFakeKernel({ nics: [steering()] });
        kernel.writeFile(`${rules}/99-admin.rules`, 'SUBSYSTEM=="net"\n');
        if (before.length > 0) await daemonOn(kernel.host()).pass(nodeState(before));
        return kernel;
      };
      const undisturbed = await prepared();
      const first = undisturbed.writes.length;
      await daemonOn(undisturbed.host()).pass(then);
      expect(await stateOf(undisturbed)).toEqual(expected);
      const files = undisturbed.listFiles();
      for (let nth = 1; nth <= undisturbed.writes.length - first; nth++) {
        const kernel = await prepared();
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        await Promise.race([daemonOn(killed.host).pass(then), killed.death]);
        expect([nth, await daemonOn(kernel.host()).pass(then)]).toEqual([nth, "settled"]);
        expect([nth, await stateOf(kernel)]).toEqual([nth, expected]);
        expect([nth, kernel.listFiles()]).toEqual([nth, files]);
      }
    },
    60_000,
  );
});
