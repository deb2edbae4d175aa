// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState, VfGroup } from "@switchyard/api";
import { createFakeKernel, mlx5, pci, virtioWithVfs, type FakeKernel } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = pci("0000:3b:00.0");
const firstVf = pci("0000:3b:00.2");

/** A node whose first port is in switchdev mode. */
function vdpaNode(): FakeKernel {
  const [port, ...others] = mlx5(pf).ports;
  if (port === undefined) throw new Error("the card has no port");
  return createFakeKernel({ nics: [{ ports: [{ ...port, eswitchMode: "switchdev" }, ...others] }] });
}

/** What each VF gets. */
type VfTypes = readonly ("virtio" | "vhost" | "vfio-pci" | undefined)[];

function asking(...types: VfTypes): SriovNetworkNodeState {
  const vfGroups = types.map((type, nth): VfGroup => {
    const range = { resourceName: `r${nth}`, vfRange: `${nth}-${nth}` };
    if (type === "vfio-pci") return { ...range, deviceType: type };
    return { ...range, ...(type !== undefined && { vdpaType: type }) };
  });
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: [{ pciAddress: pf, numVfs: types.length, eSwitchMode: "switchdev", vfGroups }] },
  };
}

const virtioPf = pci("0000:02:00.0");

function virtioNode(): FakeKernel {
  return createFakeKernel({ nics: [virtioWithVfs(virtioPf)] });
}

/** Requests the same of the virtio NIC, which has no eswitch. */
function askingVirtio(...types: VfTypes): SriovNetworkNodeState {
  const state = asking(...types);
  const interfaces = state.spec?.interfaces?.map(({ eSwitchMode: _mode, ...spec }) => {
    return { ...spec, pciAddress: virtioPf };
  });
  return { ...state, spec: { interfaces: interfaces ?? [] } };
}

async function devices(kernel: FakeKernel) {
  const list = await kernel.host().vdpa.listDevices();
  return Object.fromEntries(list.map(({ name, driver }) => [name, driver]));
}

describe("the vDPA devices of VFs", () => {
  it("are created, bound to their driver, reported, changed and removed", async () => {
    const kernel = vdpaNode();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("vhost", "virtio", undefined))).toBe("settled");
    expect(await devices(kernel)).toEqual({ "vdpa:0000:3b:00.2": "vhost_vdpa", "vdpa:0000:3b:00.3": "virtio_vdpa" });
    const types = () => daemon.shown()[0]?.Vfs?.map(({ vdpaType }) => vdpaType);
    expect(types()).toEqual(["vhost", "virtio", undefined]);
    const writes = kernel.writes.length;
    expect(await daemon.pass(asking("vhost", "virtio", undefined))).toBe("settled");
    expect(kernel.writes.length).toBe(writes);

    expect(await daemon.pass(asking("virtio", "vfio-pci", "vhost"))).toBe("settled");
    expect(await devices(kernel)).toEqual({ "vdpa:0000:3b:00.2": "virtio_vdpa", "vdpa:0000:3b:00.4": "vhost_vdpa" });
    expect(types()).toEqual(["virtio", undefined, "vhost"]);
    expect(await daemon.pass(asking(undefined, undefined, undefined))).toBe("settled");
    expect(await devices(kernel)).toEqual({});
  });

  it("have as many virtqueues as the management device allows, or its default", async () => {
    const kernel = vdpaNode();
    await daemonOn(kernel.host()).pass(asking("vhost"));
    const added = () => kernel.writes.filter(({ method }) => method === "addDevice").map(({ args }) => args[0]);
    expect(added()).toMatchObject([{ maxVirtqueuePairs: 16 }]);

    const other = vdpaNode();
    const refused = other.fault({ port: "vdpa", method: "addDevice", nth: 1 }, { code: "EOPNOTSUPP" });
    expect(await daemonOn(other.host()).pass(asking("vhost"))).toBe("settled");
    expect(refused.hits).toBe(1);
    expect(await devices(other)).toEqual({ "vdpa:0000:3b:00.2": "vhost_vdpa" });
  });

  it("are removed before their VFs, and created again", async () => {
    const kernel = vdpaNode();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(asking("vhost"));
    expect(await daemon.pass(asking("vhost", "virtio"))).toBe("settled");
    expect(await devices(kernel)).toEqual({ "vdpa:0000:3b:00.2": "vhost_vdpa", "vdpa:0000:3b:00.3": "virtio_vdpa" });
    const calls = kernel.writes.map(({ method }) => method);
    expect(calls.indexOf("removeDevice")).toBeGreaterThan(-1);
    expect(calls.indexOf("removeDevice")).toBeLessThan(calls.lastIndexOf("setNumVfs"));
  });

  it("are not removed without a drain", async () => {
    const kernel = vdpaNode();
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await daemon.pass(asking("vhost"))).toBe("settled");
    expect(await daemon.pass(asking(undefined))).toBe("waiting");
    expect(await daemon.pass(asking("virtio"))).toBe("waiting");
    expect(daemon.requests).toEqual(["Drain_Required", "Drain_Required"]);
    expect(await devices(kernel)).toEqual({ "vdpa:0000:3b:00.2": "vhost_vdpa" });
  });

  it("of other programs are left alone", async () => {
    const kernel = vdpaNode();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(asking(undefined));
    const management = { bus: "pci", device: firstVf };
    await kernel.host().vdpa.addDevice({ name: "mine", management });
    expect(await daemon.pass(asking(undefined))).toBe("settled");
    expect(await daemon.pass(asking("vhost"))).toBe("retry");
    expect(daemon.error()).toBe(
      `add vDPA device vdpa:${firstVf} on ${firstVf}: ENOSPC (the VF has the vDPA device mine)`,
    );
    expect(Object.keys(await devices(kernel))).toEqual(["mine"]);
  });

  it("have a name that belongs to the VF: a device of another management device is reported", async () => {
    const kernel = vdpaNode();
    kernel.loadVdpaSimulator();
    await kernel.host().vdpa.addDevice({ name: `vdpa:${firstVf}`, management: { device: "vdpasim_net" } });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("vhost"))).toBe("retry");
    expect(daemon.error()).toBe(
      `add vDPA device vdpa:${firstVf} on ${firstVf}: EEXIST (the management device of vdpa:${firstVf} is vdpasim_net)`,
    );
  });

  it("fail alone, and are reported, if the driver does not support vDPA or its module is missing", async () => {
    const ports = mlx5(pf).ports.map(({ vdpaVirtqueues: _none, ...port }) => ({
      ...port,
      eswitchMode: "switchdev" as const,
    }));
    const kernel = createFakeKernel({ nics: [{ ports }] });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("vhost", undefined))).toBe("retry");
    expect(daemon.error()).toContain(`add vDPA device vdpa:${firstVf} on ${firstVf}: ENODEV (the VF is not a vDPA`);
    expect(daemon.shown()[0]?.Vfs?.[1]?.name).toBeDefined();

    const other = vdpaNode();
    other.fault({ port: "modules", target: "vhost_vdpa" }, { code: "MODPROBE_FAILED", words: "not found" });
    const second = daemonOn(other.host());
    expect(await second.pass(asking("vhost"))).toBe("retry");
    expect(second.error()).toBe("load kernel module on vhost_vdpa: MODPROBE_FAILED (not found)");
    expect(await devices(other)).toEqual({});
  });

  it.each([
    { when: "just before", isDone: false, of: "mlx5", node: vdpaNode, ask: asking },
    { when: "just after", isDone: true, of: "mlx5", node: vdpaNode, ask: asking },
    { when: "just before", isDone: false, of: "virtio", node: virtioNode, ask: askingVirtio },
    { when: "just after", isDone: true, of: "virtio", node: virtioNode, ask: askingVirtio },
  ])("converge from a kill $when each write on $of", async ({ isDone, node, ask }) => {
    const stages = [ask("vhost", undefined), ask("virtio", "vhost"), ask(undefined, "vfio-pci")] as const;
    for (const [stage, state] of stages.entries()) {
      const prepared = async (): Promise<FakeKernel> => {
        const kernel = node();
        for (const earlier of stages.slice(0, stage)) await daemonOn(kernel.host()).pass(earlier);
        kernel.loadVdpaSimulator();
        await kernel.host().vdpa.addDevice({ name: "mine", management: { device: "vdpasim_net" } });
        return kernel;
      };
      const undisturbed = await prepared();
      const before = undisturbed.writes.length;
      await daemonOn(undisturbed.host()).pass(state);
      const expected = await devices(undisturbed);
      const writes = undisturbed.writes.length - before;
      for (let nth = 1; nth <= writes; nth++) {
        const kernel = await prepared();
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        await Promise.race([daemonOn(killed.host).pass(state), killed.death]);
        expect([stage, nth, await daemonOn(kernel.host()).pass(state)]).toEqual([stage, nth, "settled"]);
        expect([stage, nth, await devices(kernel)]).toEqual([stage, nth, expected]);
      }
      expect(Object.keys(expected)).toContain("mine");
    }
  });
});

describe("the vDPA devices of virtio VFs", () => {
  const [first, second] = [pci("0000:02:00.1"), pci("0000:02:00.2")];

  async function drivers(kernel: FakeKernel) {
    const pf = await kernel.host().sriov.readPf(virtioPf);
    return pf?.sriov?.vfs.map(({ driver }) => driver);
  }

  it("are created on vp-vdpa, reported, changed and removed, and other VFs keep their interface", async () => {
    const kernel = virtioNode();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(askingVirtio("vhost", undefined))).toBe("settled");
    expect(await devices(kernel)).toEqual({ [`vdpa:${first}`]: "vhost_vdpa" });
    expect(await drivers(kernel)).toEqual(["vp-vdpa", "virtio-pci"]);
    expect(daemon.shown()[0]).toMatchObject({
      name: "enp2s0",
      linkAdminState: "up",
      Vfs: [{ driver: "vp-vdpa", vdpaType: "vhost" }, { name: "enp2s0v1" }],
    });
    const writes = kernel.writes.length;
    expect(await daemon.pass(askingVirtio("vhost", undefined))).toBe("settled");
    expect(kernel.writes.length).toBe(writes);

    expect(await daemon.pass(askingVirtio("virtio", "vhost"))).toBe("settled");
    expect(await devices(kernel)).toEqual({ [`vdpa:${first}`]: "virtio_vdpa", [`vdpa:${second}`]: "vhost_vdpa" });
    expect(await daemon.pass(askingVirtio(undefined, "vfio-pci"))).toBe("settled");
    expect([await devices(kernel), await drivers(kernel)]).toEqual([{}, ["virtio-pci", "vfio-pci"]]);
    expect(daemon.shown()[0]?.Vfs?.[0]?.name).toBe("enp2s0v0");
  });

  it("are not added beside the device of an administrator, which the driver would take for its own", async () => {
    const kernel = virtioNode();
    const { vdpa } = kernel.host();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(askingVirtio("vhost"));
    await vdpa.removeDevice(`vdpa:${first}`);
    await vdpa.addDevice({ name: "mine", management: { bus: "pci", device: first } });
    expect(await daemon.pass(askingVirtio("vhost"))).toBe("retry");
    expect(daemon.error()).toBe(`add vDPA device vdpa:${first} on ${first}: ENOSPC (the VF has the vDPA device mine)`);
    expect(Object.keys(await devices(kernel))).toEqual(["mine"]);
  });

  it("are reported as failed if the kernel has no vp_vdpa", async () => {
    const kernel = virtioNode();
    kernel.fault({ port: "modules", target: "vp-vdpa" }, { code: "MODPROBE_FAILED", words: "not found" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(askingVirtio("vhost", undefined))).toBe("retry");
    expect(daemon.error()).toContain("load kernel module on vp-vdpa: MODPROBE_FAILED (not found)");
    expect(await drivers(kernel)).toEqual(["virtio-pci", "virtio-pci"]);
  });
});
