// SPDX-License-Identifier: Apache-2.0
/**
 * Representors of NICs whose PCI functions and ports have different numbers, on the fake kernel. Such a NIC is a PF
 * that is passed through to a virtual machine, or a card whose ports are devices of their own.
 */
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import {
  createFakeKernel,
  ice,
  mlx5,
  pci,
  type FakeKernel,
  type FakeNic,
  type FakePort,
} from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";

const [first, second] = ["0000:06:00.0", "0000:06:00.1"] as const;

function asking(...pfs: readonly string[]): SriovNetworkNodeState {
  const specOf = (pciAddress: string): InterfaceSpec => ({
    pciAddress,
    numVfs: 2,
    eSwitchMode: "switchdev",
    vfGroups: [{ resourceName: "fast", vfRange: "0-1" }],
  });
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1" },
    spec: { interfaces: pfs.map(specOf) },
  };
}

/** A driver that has no model of its own, with the steps of mlx5_core. */
function like(nic: FakeNic, overrides: Partial<FakePort>): FakeNic {
  return { ports: nic.ports.map((port) => ({ ...port, ...overrides })) };
}

/** The port names that the kernel has, by the names of the interfaces. */
async function portNamesOf(kernel: FakeKernel): Promise<Readonly<Record<string, string | undefined>>> {
  const links = await kernel.host().links.listLinks();
  return Object.fromEntries(links.map(({ name, physPortName }) => [name, physPortName]));
}

/** Returns the port name of the representor that the daemon reports for each VF of each PF, and the last error. */
async function configured(kernel: FakeKernel, ...pfs: readonly string[]) {
  const daemon = daemonOn(kernel.host());
  expect(await daemon.pass(asking(...pfs))).toBe("settled");
  const portNames = await portNamesOf(kernel);
  const reported = daemon
    .shown()
    .map(({ pciAddress, Vfs = [] }) => [
      pciAddress,
      Vfs.map(({ representorName }) => representorName),
      Vfs.map(({ representorName = "" }) => portNames[representorName]),
    ]);
  return { error: daemon.error(), reported };
}

describe("representors of a NIC whose ports and functions have different numbers", () => {
  it.each([
    { model: "mlx5", nic: mlx5(first, { ports: 1, portNumbers: [1] }), uplink: "enp6s0np1" },
    { model: "ice", nic: ice(first, { ports: 1, portNumbers: [1] }), uplink: "enp6s0" },
  ])("are found and named by the number of the port ($model)", async ({ nic, uplink }) => {
    expect(await configured(createFakeKernel({ nics: [nic] }), first)).toEqual({
      error: "",
      reported: [[first, [`${uplink}_0`, `${uplink}_1`], ["pf1vf0", "pf1vf1"]]],
    });
  });

  it("are never those of the other port, although both ports share a switch", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(first, { portNumbers: [1, 0] })] });
    expect(await configured(kernel, first, second)).toEqual({
      error: "",
      reported: [
        [first, ["enp6s0f0np1_0", "enp6s0f0np1_1"], ["pf1vf0", "pf1vf1"]],
        [second, ["enp6s0f1np0_0", "enp6s0f1np0_1"], ["pf0vf0", "pf0vf1"]],
      ],
    });
  });

  it("are missing, and not those of the other port, if the driver has created none", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(first, { portNumbers: [1, 0] })] });
    await configured(kernel, second);
    for (const vf of [0, 1]) kernel.hideRepresentor(pci(first), vf);
    const daemon = daemonOn(kernel.host());
    await daemon.pass(asking(first, second));
    expect(daemon.shown()[0]?.Vfs?.map(({ representorName }) => representorName)).toEqual([undefined, undefined]);
    expect(daemon.error()).toContain(`the representor of VF 0 of ${first} did not appear`);
  });

  it("are found and named by the number of the function with bnxt_en, which numbers them so", async () => {
    const nic = like(mlx5(first, { portNumbers: [1, 0] }), { driver: "bnxt_en", representorsBy: "function" });
    expect(await configured(createFakeKernel({ nics: [nic] }), first, second)).toEqual({
      error: "",
      reported: [
        [first, ["enp6s0f0np1_0", "enp6s0f0np1_1"], ["pf0vf0", "pf0vf1"]],
        [second, ["enp6s0f1np0_0", "enp6s0f1np0_1"], ["pf1vf0", "pf1vf1"]],
      ],
    });
  });

  it("are found and named by port and function with sfc, also if two functions share a port", async () => {
    const nic = like(mlx5(first, { portNumbers: [0, 0] }), { driver: "sfc", representorsBy: "port and function" });
    expect(await configured(createFakeKernel({ nics: [nic] }), first, second)).toEqual({
      error: "",
      reported: [
        [first, ["enp6s0f0np0_0", "enp6s0f0np0_1"], ["p0pf0vf0", "p0pf0vf1"]],
        [second, ["enp6s0f1np0_0", "enp6s0f1np0_1"], ["p0pf1vf0", "p0pf1vf1"]],
      ],
    });
  });

  it("are found and named by the number of the function if the PF has no port name", async () => {
    const { ports } = mlx5(first);
    const nic = { ports: ports.map(({ physPortName: _none, ...port }) => port) };
    expect(await configured(createFakeKernel({ nics: [nic] }), first, second)).toEqual({
      error: "",
      reported: [
        [first, ["enp6s0f0np0_0", "enp6s0f0np0_1"], ["pf0vf0", "pf0vf1"]],
        [second, ["enp6s0f1np1_0", "enp6s0f1np1_1"], ["pf1vf0", "pf1vf1"]],
      ],
    });
  });
});
