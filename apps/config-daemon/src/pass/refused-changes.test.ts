// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import { ownedInStatus, plan } from "@switchyard/plan";
import { createFakeKernel, i40e, igb, mlx5, pci, type FakeKernel } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";

const igbPort = "0000:01:00.0";
const mlx5Port = "0000:3b:00.0";

type Daemon = ReturnType<typeof daemonOn>;

/** A node whose operator answers each request, as the drain controller does. */
function drainedNode(daemon: Daemon) {
  let [request, answer] = ["Idle", "Idle"];
  return {
    request: () => request,
    /** Runs a pass on the spec and lets the operator answer. */
    async pass(interfaces: readonly InterfaceSpec[]) {
      const annotations = {
        "sriovnetwork.openshift.io/desired-state": request,
        "sriovnetwork.openshift.io/current-state": answer,
      };
      const state = {
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovNetworkNodeState",
        metadata: { name: "worker-1", generation: 1, annotations },
        spec: { interfaces },
      } satisfies SriovNetworkNodeState;
      const result = await daemon.pass(state);
      request = daemon.requests.at(-1) ?? request;
      answer = request === "Idle" ? "Idle" : "DrainComplete";
      return result;
    },
  };
}

/** The writes of the number of VFs since `first`. */
function counts(kernel: FakeKernel, first = 0): readonly unknown[] {
  return kernel.writes.slice(first).flatMap(({ method, args }) => (method === "setNumVfs" ? [args[1]] : []));
}

describe("a driver that creates fewer VFs than requested", () => {
  const seven: InterfaceSpec = {
    pciAddress: igbPort,
    name: "enp1s0f0",
    numVfs: 7,
    mtu: 9000,
    vfGroups: [
      { resourceName: "kernel", vfRange: "0-3", mtu: 9000 },
      { resourceName: "user", vfRange: "4-6", deviceType: "vfio-pci" },
    ],
  };

  /** A card that had 3 VFs before its policy asks for 7, of which its driver creates 5. */
  async function shortOfVfs() {
    const kernel = createFakeKernel({ nics: [igb(igbPort)] });
    const daemon = daemonOn(kernel.host(), { drains: true });
    const node = drainedNode(daemon);
    await node.pass([{ pciAddress: igbPort, numVfs: 3 }]);
    kernel.setQuirks(pci(igbPort), { createsAtMost: 5 });
    for (let nth = 1; nth <= 4; nth++) await node.pass([seven]);
    return { kernel, daemon, node };
  }

  it("gives the drain back, keeps the VFs that exist and says what can be done", async () => {
    const { kernel, daemon, node } = await shortOfVfs();
    expect(daemon.requests).toEqual(["Drain_Required", "Idle"]);
    expect(daemon.error()).toBe(
      "spec.interfaces[0].numVfs: 7 VFs were requested, but the driver of 0000:01:00.0 created only 5; set numVfs to 5, or free " +
        "queues and interrupts of the card for VFs (for example with fewer queues of the PF) and then reboot the node or " +
        "remove the VFs of the PF",
    );
    expect(counts(kernel)).toEqual([3, 0, 7]);
    const first = kernel.writes.length;
    expect(await node.pass([seven])).toBe("settled");
    expect(kernel.writes.slice(first)).toEqual([]);
    expect(node.request()).toBe("Idle");
  });

  it("configures the VFs that exist in the pass that creates them, without another drain", async () => {
    const kernel = createFakeKernel({ nics: [igb(igbPort)] });
    kernel.setQuirks(pci(igbPort), { createsAtMost: 5 });
    const daemon = daemonOn(kernel.host(), { drains: true });
    const node = drainedNode(daemon);
    expect(await node.pass([seven])).toBe("retry");
    expect(daemon.error()).toBe("set sriov_numvfs 7 on 0000:01:00.0: EAGAIN (the driver created 5 VFs)");
    expect(await node.pass([seven])).toBe("settled");
    const [pf] = daemon.shown();
    expect(pf?.Vfs?.map(({ driver, mtu }) => [driver, mtu])).toEqual([
      ...[["igbvf", 9000], ["igbvf", 9000], ["igbvf", 9000], ["igbvf", 9000]], // prettier-ignore
      ["vfio-pci", undefined],
    ]);
    expect(daemon.requests).toEqual([]);
  });

  it("is in the status, from which the webhook and the command line plan without a drain", async () => {
    const { daemon } = await shortOfVfs();
    const status = daemon.status();
    expect(status.interfaces?.[0]?.fewerVfs).toEqual({ requested: 7, created: 5 });
    const { steps, impact, problems } = plan({ interfaces: [seven] }, status, ownedInStatus(status));
    expect({ steps, impact, codes: problems.map(({ code }) => code) }).toEqual({
      steps: [],
      impact: "none",
      codes: ["fewer-vfs"],
    });
  });

  it("tries again when another number is requested", async () => {
    const { kernel, daemon, node } = await shortOfVfs();
    await node.pass([{ ...seven, numVfs: 5, vfGroups: [] }]);
    expect(daemon.error()).toBe("");
    kernel.setQuirks(pci(igbPort), { createsAtMost: 7 });
    for (let nth = 1; nth <= 2; nth++) await node.pass([seven]);
    expect(counts(kernel)).toEqual([3, 0, 7, 0, 7]);
    await node.pass([seven]);
    expect([daemon.error(), node.request()]).toEqual(["", "Idle"]);
    expect(daemon.shown()[0]?.fewerVfs).toBeUndefined();
  });

  it("tries again after a reboot or after something has removed the VFs, also if the daemon was restarted", async () => {
    const { kernel } = await shortOfVfs();
    kernel.setQuirks(pci(igbPort), { createsAtMost: 7 });
    await kernel.host().sriov.setNumVfs(pci(igbPort), 0);
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await drainedNode(daemon).pass([seven])).toBe("settled");
    expect([daemon.error(), daemon.shown()[0]?.numVfs, daemon.requests]).toEqual(["", 7, []]);
  });

  it("remembers after a restart of the daemon", async () => {
    const { kernel } = await shortOfVfs();
    const first = kernel.writes.length;
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await drainedNode(daemon).pass([seven])).toBe("settled");
    expect([daemon.requests, counts(kernel, first)]).toEqual([[], []]);
  });
});

describe("a disruptive change that the host refuses", () => {
  const legacy = { pciAddress: mlx5Port, numVfs: 2, vfGroups: [{ resourceName: "r", vfRange: "0-1" }] };
  const switchdev = { ...legacy, eSwitchMode: "switchdev" };
  const refusal = `set eswitch mode switchdev on ${mlx5Port}: EINVAL (Can't change mode while IPsec is in use)`;

  /** A card with two VFs in legacy mode that refuses switchdev mode. */
  async function refusing(drains = true) {
    const kernel = createFakeKernel({ nics: [mlx5(mlx5Port)] });
    const time = { ms: 0 };
    const daemon = daemonOn(kernel.host(), { drains, nowMs: () => time.ms });
    const node = drainedNode(daemon);
    await node.pass([legacy]);
    const fault = kernel.fault(
      { port: "devlink", method: "setEswitchMode", target: mlx5Port },
      { code: "EINVAL", words: "Can't change mode while IPsec is in use" },
    );
    return { kernel, daemon, node, fault, time };
  }

  const unbinds = (kernel: FakeKernel) => kernel.writes.filter(({ method }) => method === "unbindDriver").length;

  it("is tried three times; then the drain is given back and the node stays Failed", async () => {
    const { kernel, daemon, node } = await refusing();
    for (let nth = 1; nth <= 4; nth++) await node.pass([switchdev]);
    expect([daemon.error(), node.request()]).toEqual([refusal, "Drain_Required"]);
    expect(unbinds(kernel)).toBe(6);
    for (let nth = 1; nth <= 4; nth++) expect(await node.pass([switchdev])).toBe("settled");
    expect(daemon.requests).toEqual(["Drain_Required", "Idle"]);
    expect(unbinds(kernel)).toBe(6);
    expect(daemon.status().syncStatus).toBe("Failed");
    expect(daemon.error()).toBe(
      `spec.interfaces[0].eSwitchMode: ${refusal}; this has failed 3 times in the same way, so the PF stays as it is until its ` +
        "spec, its driver or its VFs change, or for at most 6 hours; to try at once, restart the config daemon of the node",
    );
    expect(daemon.shown()[0]?.Vfs?.map(({ driver }) => driver)).toEqual(["mlx5_core", "mlx5_core"]);
  });

  it("is in the status, so nothing else expects the change either", async () => {
    const { daemon, node } = await refusing();
    for (let nth = 1; nth <= 5; nth++) await node.pass([switchdev]);
    const status = daemon.status();
    expect(plan({ interfaces: [switchdev] }, status, ownedInStatus(status))).toMatchObject({
      steps: [],
      impact: "none",
      problems: [{ code: "refused" }],
    });
  });

  it("is tried again when the spec of the PF changes", async () => {
    const { node, fault, daemon } = await refusing();
    for (let nth = 1; nth <= 5; nth++) await node.pass([switchdev]);
    fault.lift();
    const other = { ...switchdev, vfGroups: [{ resourceName: "other", vfRange: "0-1" }] };
    for (let nth = 1; nth <= 3; nth++) await node.pass([other]);
    expect([daemon.error(), daemon.shown()[0]?.eSwitchMode, node.request()]).toEqual(["", "switchdev", "Idle"]);
  });

  it("is tried again when the node has other VFs", async () => {
    const { kernel, node, fault, daemon } = await refusing();
    for (let nth = 1; nth <= 5; nth++) await node.pass([switchdev]);
    fault.lift();
    await kernel.host().sriov.setNumVfs(pci(mlx5Port), 0);
    for (let nth = 1; nth <= 3; nth++) await node.pass([switchdev]);
    expect([daemon.error(), daemon.shown()[0]?.eSwitchMode]).toEqual(["", "switchdev"]);
  });

  it("is tried once more after each of ever longer pauses", async () => {
    const { kernel, node, daemon, time } = await refusing();
    for (let nth = 1; nth <= 5; nth++) await node.pass([switchdev]);
    const unbound: number[] = [];
    for (const minutes of [10, 10, 10, 40, 360]) {
      time.ms += minutes * 60_000;
      for (let nth = 1; nth <= 5; nth++) await node.pass([switchdev]);
      unbound.push(unbinds(kernel));
    }
    expect(unbound).toEqual([8, 8, 10, 12, 14]);
    expect(daemon.requests.slice(0, 4)).toEqual(["Drain_Required", "Idle", "Drain_Required", "Idle"]);
    expect(node.request()).toBe("Idle");
  });

  it("is not repeated without end where drains are disabled either", async () => {
    const { kernel, node } = await refusing(false);
    for (let nth = 1; nth <= 6; nth++) await node.pass([switchdev]);
    expect(unbinds(kernel)).toBe(6);
  });

  it("does not stop the steps of another PF", async () => {
    const { kernel, node, daemon } = await refusing();
    for (let nth = 1; nth <= 5; nth++) await node.pass([switchdev]);
    const second = { pciAddress: "0000:3b:00.1", numVfs: 1 };
    await node.pass([switchdev, second]);
    expect(daemon.shown().map(({ numVfs }) => numVfs)).toEqual([2, 1]);
    expect(unbinds(kernel)).toBe(6);
  });

  it("includes a VF that another driver takes again and again, after which nothing can be set on it", async () => {
    const kernel = createFakeKernel({ nics: [i40e("0000:d8:00.0")] });
    const daemon = daemonOn(kernel.host(), { drains: true });
    const node = drainedNode(daemon);
    const one = { pciAddress: "0000:d8:00.0", numVfs: 1, vfGroups: [{ resourceName: "r", vfRange: "0-0" }] };
    await node.pass([one]);
    const { sriov } = kernel.host();
    const vf = pci("0000:d8:02.0");
    const capture = async () => {
      await sriov.setDriverOverride(vf, "vfio-pci");
      await sriov.unbindDriver(vf).catch(() => undefined);
      await sriov.bindDriver(vf, "vfio-pci");
      await sriov.setDriverOverride(vf, undefined);
    };
    await kernel.host().modules.load("vfio-pci");
    await capture();
    kernel.fault({ port: "links", method: "setVfMac" }, { code: "EBUSY" });
    for (let nth = 1; nth <= 6; nth++) {
      await node.pass([one]);
      await capture();
    }
    expect(daemon.requests).toEqual(["Drain_Required", "Idle"]);
  });

  it("includes the reset of a card whose firmware settings are refused", async () => {
    const kernel = createFakeKernel({ nics: [mlx5(mlx5Port)] });
    kernel.fault(
      { port: "firmware", method: "setValues" },
      { code: "FIRMWARE_TOOL_FAILED", words: "-E- not permitted" },
    );
    const daemon = daemonOn(kernel.host(), { drains: true });
    const node = drainedNode(daemon);
    for (let nth = 1; nth <= 6; nth++) await node.pass([{ pciAddress: mlx5Port, numVfs: 32 }]);
    expect(daemon.requests).toEqual(["Drain_Required", "Idle"]);
    expect(daemon.error()).toMatch(/^spec\.interfaces\[0\]\.numVfs: .*not permitted.*failed 3 times in the same way/);
  });
});

describe("a disruptive change of the whole node that the host refuses", () => {
  const switchdev = {
    pciAddress: mlx5Port,
    numVfs: 2,
    eSwitchMode: "switchdev",
    vfGroups: [{ resourceName: "r", vfRange: "0-1" }],
  };

  /** A node that has VFs in switchdev mode, and whose ovs-vswitchd must be restarted for hardware offload. */
  async function nodeWithVfs() {
    const kernel = createFakeKernel({ nics: [mlx5(mlx5Port)], managesOvs: true });
    kernel.writeFile("/usr/lib/systemd/system/ovs-vswitchd.service", "[Service]\nExecStart=/usr/sbin/ovs-vswitchd\n");
    kernel.writeFile("/run/openvswitch/ovs-vswitchd.pid", "123\n");
    const { devlink, sriov } = kernel.host();
    await devlink.setEswitchMode(pci(mlx5Port), "switchdev");
    await sriov.setNumVfs(pci(mlx5Port), 2);
    const time = { ms: 0 };
    const daemon = daemonOn(kernel.host(), { drains: true, nowMs: () => time.ms });
    return { kernel, daemon, node: drainedNode(daemon), time };
  }

  async function refusingRestart() {
    const given = await nodeWithVfs();
    const answer = { code: "EIO", words: "Job for ovs-vswitchd.service failed" };
    return { ...given, fault: given.kernel.fault({ port: "systemd", method: "restartUnit" }, answer) };
  }

  it("gives the drain back after three attempts, and says what failed", async () => {
    const { daemon, node, fault } = await refusingRestart();
    for (let nth = 1; nth <= 8; nth++) await node.pass([switchdev]);
    expect(daemon.requests).toEqual(["Drain_Required", "Idle"]);
    expect(daemon.error()).toMatch(
      /^spec\.interfaces\[0\]\.eSwitchMode: .*EIO \(Job for ovs-vswitchd.service failed\); this has failed 3 times in the same way, so the node stays as it is until its spec changes/,
    );
    const status = daemon.status();
    expect(plan({ interfaces: [switchdev] }, status, ownedInStatus(status))).toMatchObject({
      steps: [],
      impact: "none",
      problems: [{ code: "refused" }],
    });
    fault.lift();
    expect(await node.pass([switchdev])).toBe("settled");
    expect(daemon.requests).toEqual(["Drain_Required", "Idle"]);
  });

  it("is tried again when the spec changes, and after a pause", async () => {
    const { daemon, node, time } = await refusingRestart();
    for (let nth = 1; nth <= 8; nth++) await node.pass([switchdev]);
    time.ms += 10 * 60_000;
    for (let nth = 1; nth <= 4; nth++) await node.pass([switchdev]);
    expect(daemon.requests).toEqual(["Drain_Required", "Idle", "Drain_Required", "Idle"]);
    const other = { ...switchdev, vfGroups: [{ resourceName: "other", vfRange: "0-1" }] };
    for (let nth = 1; nth <= 2; nth++) await node.pass([other]);
    expect([daemon.error(), node.request()]).toEqual([expect.stringMatching(/EIO/), "Drain_Required"]);
  });

  it("does not restart Open vSwitch when hardware offload cannot be set", async () => {
    const { kernel, node } = await nodeWithVfs();
    kernel.fault({ port: "ovs", method: "setHardwareOffload" }, { code: "EIO" });
    for (let nth = 1; nth <= 8; nth++) await node.pass([switchdev]);
    expect(kernel.writes.map(({ method }) => method)).not.toContain("restartUnit");
    expect(node.request()).toBe("Idle");
  });

  it("includes a reboot that does not happen", async () => {
    const kernel = createFakeKernel({ nics: [igb(igbPort)], iommu: "with-argument" });
    kernel.fault({ port: "systemd", method: "reboot" }, { code: "EIO" });
    const daemon = daemonOn(kernel.host(), { drains: true });
    const node = drainedNode(daemon);
    const vfio = {
      pciAddress: igbPort,
      numVfs: 1,
      vfGroups: [{ resourceName: "r", vfRange: "0-0", deviceType: "vfio-pci" as const }],
    };
    for (let nth = 1; nth <= 12; nth++) await node.pass([vfio]);
    expect(daemon.requests.slice(0, 2)).toEqual(["Reboot_Required", "Idle"]);
    expect(node.request()).toBe("Idle");
    expect(daemon.error()).toContain("EIO; this has failed 3 times in the same way, so the node stays as it is");
  });
});
