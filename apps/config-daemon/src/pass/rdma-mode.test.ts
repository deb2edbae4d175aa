// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, igb, pci, type FakeKernel } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const path = "/etc/modprobe.d/sriov_network_operator_modules_config.conf";

function asking(rdmaMode: "shared" | "exclusive" | "" | undefined): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: [], ...(rdmaMode !== undefined && { system: { rdmaMode } }) },
  };
}

function rdmaNode(rdmaMode?: "shared" | "exclusive"): FakeKernel {
  return createFakeKernel({ nics: [igb("0000:01:00.0")], ...(rdmaMode !== undefined && { rdmaMode }) });
}

async function modes(kernel: FakeKernel) {
  const { rdma, files } = kernel.host();
  return { mode: await rdma.readMode(), option: /netns_mode=.$/m.exec((await files.readText(path)) ?? "")?.[0] };
}

describe("the RDMA mode of a node", () => {
  it("is changed at once and for later boots, and reported", async () => {
    const kernel = rdmaNode("shared");
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
    expect(await modes(kernel)).toEqual({ mode: "exclusive", option: "netns_mode=0" });
    expect(daemon.system()).toMatchObject({ rdmaMode: "exclusive", persistentRdmaMode: "exclusive" });
    const writes = kernel.writes.length;
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
    expect(kernel.writes.length).toBe(writes);
  });

  it("is that of the option when ib_core is loaded later, and ib_core is not loaded for it", async () => {
    const kernel = rdmaNode();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
    expect([daemon.error(), daemon.system()]).toMatchObject(["", { persistentRdmaMode: "exclusive" }]);
    expect(daemon.system()).not.toHaveProperty("rdmaMode");
    kernel.addRdmaDevice("mlx5_0");
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
    expect(daemon.system()).toMatchObject({ rdmaMode: "exclusive", persistentRdmaMode: "exclusive" });
  });

  it.each(["", undefined] as const)("is the initial one again when none is requested any more (%j)", async (none) => {
    const kernel = rdmaNode("shared");
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(asking("exclusive"));
    expect(daemon.system()).toMatchObject({ rdmaMode: "exclusive", initialRdmaMode: "shared" });
    expect(await daemon.pass(asking(none))).toBe("settled");
    expect(await modes(kernel)).toEqual({ mode: "shared", option: undefined });
    expect(daemon.requests).toEqual([]);
  });

  it("keeps its record of the initial mode when another mode is requested, and returns to it", async () => {
    const kernel = rdmaNode("exclusive");
    const daemon = daemonOn(kernel.host());
    for (const mode of ["shared", "exclusive", "shared"] as const) await daemon.pass(asking(mode));
    expect(daemon.system()).toMatchObject({ rdmaMode: "shared", initialRdmaMode: "exclusive" });
    await daemon.pass(asking(undefined));
    expect(await modes(kernel)).toEqual({ mode: "exclusive", option: undefined });
  });

  it("changes back at the next boot if pods exist, which is in the status and neither fails nor drains the node", async () => {
    const kernel = rdmaNode("shared");
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(asking("exclusive"));
    await kernel.setNumVfsByHand(pci("0000:01:00.0"), 1);
    await kernel.host().modules.load("igbvf");
    kernel.moveToPod(pci("0000:01:10.0"));
    expect(await daemon.pass(asking(undefined))).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await modes(kernel)).toEqual({ mode: "exclusive", option: undefined });
    expect(daemon.system()).toMatchObject({ rdmaMode: "exclusive", refusedRdmaMode: "shared" });
    expect(daemon.requests).toEqual([]);
    kernel.reboot();
    expect(await daemonOn(kernel.host()).pass(asking(undefined))).toBe("settled");
    expect((await modes(kernel)).mode).toBe("shared");
  });

  it("stays until the next boot if the initial mode is not known, as with the file of the Go operator", async () => {
    const kernel = rdmaNode("exclusive");
    kernel.writeFile(path, "options ib_core netns_mode=0\n");
    expect(await daemonOn(kernel.host()).pass(asking(undefined))).toBe("settled");
    expect(await modes(kernel)).toEqual({ mode: "exclusive", option: undefined });
  });

  async function nodeWithPod(): Promise<FakeKernel> {
    const kernel = rdmaNode("shared");
    await kernel.setNumVfsByHand(pci("0000:01:00.0"), 1);
    await kernel.host().modules.load("igbvf");
    kernel.moveToPod(pci("0000:01:10.0"));
    return kernel;
  }

  it("needs a reboot while pods exist, for which the node is drained, and fails at nothing before it", async () => {
    const kernel = await nodeWithPod();
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await daemon.pass(asking("exclusive"))).toBe("waiting");
    expect(daemon.requests).toEqual(["Reboot_Required"]);
    // Without the pod, the kernel accepts the mode.
    kernel.returnFromPod(pci("0000:01:10.0"));
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
    expect(await modes(kernel)).toEqual({ mode: "exclusive", option: "netns_mode=0" });
    expect(kernel.requestedReboots).toEqual([]);
  });

  it("is refused by the kernel for namespaces of an unknown place, which is reported; then the node reboots once", async () => {
    const kernel = await nodeWithPod();
    kernel.fault({ port: "files", method: "listNames", target: "/run/netns" }, { code: "EACCES" });
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await daemon.pass(asking("exclusive"))).toBe("retry");
    expect(daemon.error()).toBe(
      "set RDMA mode exclusive on the kernel: EBUSY (other network namespaces exist, such as those of pods; " +
        "the node must reboot to change the mode)",
    );
    expect(await modes(kernel)).toEqual({ mode: "shared", option: "netns_mode=0" });
    expect(await daemon.pass(asking("exclusive"))).toBe("waiting");
    expect(daemon.requests).toEqual(["Reboot_Required"]);
    expect(kernel.requestedReboots).toEqual([]);

    kernel.reboot();
    const next = daemonOn(kernel.host(), { drains: true });
    expect(await next.pass(asking("exclusive"))).toBe("settled");
    expect(await modes(kernel)).toEqual({ mode: "exclusive", option: "netns_mode=0" });
    expect([next.requests, next.system()?.refusedRdmaMode]).toEqual([[], undefined]);
  });

  it("is changed although the option cannot be written, which is reported", async () => {
    const kernel = rdmaNode("shared");
    const readOnly = kernel.fault({ port: "files", method: "writeText" }, { code: "EROFS" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("exclusive"))).toBe("retry");
    expect(daemon.error()).toBe(`write on ${path}: EROFS`);
    expect(await modes(kernel)).toEqual({ mode: "exclusive", option: undefined });
    readOnly.lift();
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
  });

  it("is changed next to a foreign file, which stays and is reported", async () => {
    const kernel = rdmaNode("shared");
    kernel.writeFile(path, "options ib_core netns_mode=1 # mine\n");
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
    expect(daemon.error()).toContain("has content that Switchyard did not write");
    expect(await kernel.host().files.readText(path)).toBe("options ib_core netns_mode=1 # mine\n");
    expect(await daemon.pass(asking(undefined))).toBe("settled");
    expect(kernel.listFiles()).toEqual([path]);
  });

  it.each([
    { release: "before 1.5", header: "" },
    { release: "1.5 and later", header: "# This file is managed by sriov-network-operator do not edit.\n" },
  ])("adopts and removes the file of the Go operator $release", async ({ header }) => {
    const kernel = rdmaNode("exclusive");
    kernel.writeFile(path, `${header}options ib_core netns_mode=0\n`);
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking("exclusive"))).toBe("settled");
    expect(kernel.writes).toEqual([]);
    expect(await daemon.pass(asking(undefined))).toBe("settled");
    expect(kernel.listFiles()).toEqual([]);
  });

  it.each([
    { when: "just before", isDone: false },
    { when: "just after", isDone: true },
  ])("converges from a kill $when each write", async ({ isDone }) => {
    for (const [from, to] of [
      ["shared", "exclusive"],
      ["exclusive", undefined],
    ] as const) {
      const prepared = async (): Promise<FakeKernel> => {
        const kernel = rdmaNode(from);
        if (to === undefined) await daemonOn(kernel.host()).pass(asking(from));
        return kernel;
      };
      const undisturbed = await prepared();
      const before = undisturbed.writes.length;
      await daemonOn(undisturbed.host()).pass(asking(to));
      const writes = undisturbed.writes.length - before;
      expect(writes).toBeGreaterThan(0);
      for (let nth = 1; nth <= writes; nth++) {
        const kernel = await prepared();
        kernel.writeFile("/etc/modprobe.d/mine.conf", "options igb max_vfs=0\n");
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        await Promise.race([daemonOn(killed.host).pass(asking(to)), killed.death]);
        expect([nth, await daemonOn(kernel.host()).pass(asking(to))]).toEqual([nth, "settled"]);
        expect([nth, await modes(kernel)]).toEqual([nth, await modes(undisturbed)]);
        expect(kernel.listFiles()).toContain("/etc/modprobe.d/mine.conf");
      }
    }
  });
});
