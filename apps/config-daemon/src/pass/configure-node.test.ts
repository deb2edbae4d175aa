// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import {
  createFakeKernel,
  igb,
  mlx5,
  pci,
  plainNic,
  upstreamHelpers,
  upstreamRules,
  type FakeKernel,
} from "@switchyard/host/testing";
import { observeNode } from "../observe/observe.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = "0000:01:00.0";

function spec(overrides: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return {
    pciAddress: pf,
    name: "enp1s0f0",
    numVfs: 3,
    mtu: 9000,
    vfGroups: [
      { resourceName: "kernel", vfRange: "0-1", mtu: 9000 },
      { resourceName: "user", vfRange: "2-2", deviceType: "vfio-pci" },
    ],
    ...overrides,
  };
}

function nodeState(interfaces: readonly InterfaceSpec[], annotations: Readonly<Record<string, string>> = {}) {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1, annotations },
    spec: { interfaces },
  } as const satisfies SriovNetworkNodeState;
}

/** A NodeState in which no policy selects the owned PF. */
function unselecting(pciAddress: string): SriovNetworkNodeState {
  return { ...nodeState([]), spec: { interfaces: [], unselected: [pciAddress] } };
}

/** The annotations of both sides of the drain handshake. */
function handshake(request: string, answer: string): Readonly<Record<string, string>> {
  return {
    "sriovnetwork.openshift.io/desired-state": request,
    "sriovnetwork.openshift.io/current-state": answer,
  };
}

/** The configured values, without those that differ from run to run. */
async function outcome(kernel: FakeKernel) {
  const { interfaces } = await observeNode(kernel.host());
  return interfaces.map(({ pciAddress, numVfs, mtu, owned, Vfs = [] }) => ({
    pciAddress,
    numVfs,
    mtu,
    owned,
    vfs: Vfs.map(({ driver, name, mtu: vfMtu, mac, adminMac }) => ({
      driver,
      name,
      mtu: vfMtu,
      keepsMac: mac === adminMac,
    })),
  }));
}

function igbKernel(): FakeKernel {
  return createFakeKernel({ nics: [igb("0000:01:00.0"), plainNic("0000:00:02.0")] });
}

describe("configureNode", () => {
  it("configures VFs, drivers, addresses and MTUs of a PF once", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect((await outcome(kernel)).find(({ pciAddress }) => pciAddress === pf)).toEqual({
      pciAddress: pf,
      numVfs: 3,
      mtu: 9000,
      owned: true,
      vfs: [
        { driver: "igbvf", name: "enp1s0f0v0", mtu: 9000, keepsMac: true },
        { driver: "igbvf", name: "enp1s0f0v1", mtu: 9000, keepsMac: true },
        { driver: "vfio-pci", name: undefined, mtu: undefined, keepsMac: false },
      ],
    });
    expect(daemon.phases.map(({ kind }) => kind)).toEqual(["configuring", "settled"]);

    const writes = kernel.writes.length;
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(kernel.writes.length).toBe(writes);
  });

  it("reports the boot id only when the node is configured", async () => {
    const kernel = igbKernel();
    const bootId = await kernel.host().boot.readBootId();
    const daemon = daemonOn(kernel.host());
    const fault = kernel.fault({ port: "links", method: "setMtu", target: "enp1s0f0" }, { code: "EBUSY" });
    await daemon.pass(nodeState([spec()]));
    fault.lift();
    await daemon.pass(nodeState([spec()]));
    expect(daemon.phases.map(({ kind }, nth) => [kind, daemon.boots[nth]])).toEqual([
      ["configuring", undefined],
      ["failed", undefined], // other steps go on
      ["failed", bootId],
      ["configuring", undefined],
      ["settled", bootId],
    ]);
  });

  it("calls back with each plan and with the end of its steps", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host());
    const fault = kernel.fault({ port: "links", method: "setMtu", target: "enp1s0f0" }, { code: "EBUSY" });
    await daemon.pass(nodeState([spec()]));
    fault.lift();
    await daemon.pass(nodeState([spec()]));
    await daemon.pass(nodeState([spec()]));
    expect(daemon.applied).toEqual([false, true]);
    expect(daemon.planned.map((steps) => steps > 0)).toEqual([true, true, false, false]);
  });

  it("keeps the address of a VF when its driver is bound again", async () => {
    const kernel = createFakeKernel({ nics: [mlx5("0000:3b:00.0")] });
    const daemon = daemonOn(kernel.host());
    const state = nodeState([{ pciAddress: "0000:3b:00.0", numVfs: 1, vfGroups: [{ vfRange: "0-0" }] }]);
    await daemon.pass(state);
    const [vf] = daemon.shown()[0]?.Vfs ?? [];
    kernel.unbindByHand(pci(vf?.pciAddress ?? ""));
    expect(await daemon.pass(state)).toBe("settled");
    expect(daemon.shown()[0]?.Vfs?.[0]).toEqual(vf);
  });

  it("binds a VF that was unbound by hand", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec()]));
    const before = await outcome(kernel);
    kernel.unbindByHand(pci("0000:01:10.0"));
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(await outcome(kernel)).toEqual(before);
  });

  it("resets a PF that no policy selects any more, restores its MTU and removes its record", async () => {
    const kernel = igbKernel();
    const before = await outcome(kernel);
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec()]));
    expect(await daemon.pass(unselecting(spec().pciAddress))).toBe("settled");
    expect(await outcome(kernel)).toEqual(before);
    expect(await kernel.host().records.list()).toEqual(new Map());
  });

  it("removes upstream's udev rules of a PF when it is reset", async () => {
    const kernel = igbKernel();
    for (const [path, text] of [...upstreamRules(pci(pf), "enp1s0f0"), ...upstreamHelpers])
      kernel.writeFile(path, text);
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec()]));
    expect(kernel.listFiles()).toContain(`/etc/udev/rules.d/10-nm-disable-${pf}.rules`);
    await daemon.pass(unselecting(pf));
    expect(kernel.listFiles()).toEqual([]);
  });

  it("reports the kernel module that needVhostNet lacks, and applies the rest", async () => {
    const kernel = igbKernel();
    kernel.fault({ port: "modules", target: "vhost_net" }, { code: "MODPROBE_FAILED", words: "not found" });
    const daemon = daemonOn(kernel.host());
    const needing = spec({ vfGroups: [{ resourceName: "kernel", vfRange: "0-2", needVhostNet: true }] });
    expect(await daemon.pass(nodeState([needing]))).toBe("settled");
    expect(daemon.error()).toBe(
      "spec.interfaces[0].vfGroups[0].needVhostNet: /dev/vhost-net is missing: " +
        "load kernel module on vhost_net: MODPROBE_FAILED (not found)",
    );
    expect((await outcome(kernel)).find(({ pciAddress }) => pciAddress === pf)).toMatchObject({
      numVfs: 3,
      owned: true,
    });
  });

  it("keeps the VFs of a PF that the spec does not mention", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(nodeState([spec()]));
    const configured = await outcome(kernel);
    const writes = kernel.writes.length;
    expect(await daemon.pass(nodeState([]))).toBe("settled");
    expect(await outcome(kernel)).toEqual(configured);
    expect(kernel.writes.length).toBe(writes);
    expect(daemon.requests).toEqual([]);
  });

  it("keeps VFs that others created on a PF without a policy", async () => {
    const kernel = igbKernel();
    await kernel.setNumVfsByHand(pci("0000:01:00.1"), 2);
    await daemonOn(kernel.host()).pass(nodeState([spec()]));
    expect((await outcome(kernel)).find(({ pciAddress }) => pciAddress === "0000:01:00.1")?.numVfs).toBe(2);
  });
});

describe("configureNode and drains", () => {
  it("requests a drain for other devices of the node, keeps it, and withdraws it when they do not need it any more", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    let isDrainNeededElsewhere = true;
    const daemon = daemonOn(kernel.host(), {
      drains: true,
      isDrainNeededElsewhere: () => isDrainNeededElsewhere,
    });
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    expect(new Set(daemon.requests)).toEqual(new Set(["Drain_Required"]));
    const requested = daemon.requests.length;
    expect(await daemon.pass(nodeState([spec()], handshake("Drain_Required", "DrainComplete")))).toBe("settled");
    expect(daemon.requests).toHaveLength(requested);
    isDrainNeededElsewhere = false;
    expect(await daemon.pass(nodeState([spec()], handshake("Drain_Required", "DrainComplete")))).toBe("settled");
    expect(daemon.requests.slice(requested)).toEqual(["Idle"]);
  });

  it("requests no drain for the first VFs, and a drain to change them", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
    const writes = kernel.writes.length;
    expect(await daemon.pass(nodeState([spec({ numVfs: 4 })]))).toBe("waiting");
    expect(daemon.requests).toEqual(["Drain_Required"]);
    expect(kernel.writes.length).toBe(writes);
  });

  it("continues when the node is drained, and withdraws the request afterwards", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(nodeState([spec()]));
    const drained = handshake("Drain_Required", "DrainComplete");
    expect(await daemon.pass(nodeState([spec({ numVfs: 4 })], drained))).toBe("settled");
    expect(daemon.requests).toEqual(["Idle"]);
    expect((await outcome(kernel)).find(({ pciAddress }) => pciAddress === pf)?.numVfs).toBe(4);
  });

  it("ignores the answer to an old request, and sends a new request only after it", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(nodeState([spec()]));
    expect(await daemon.pass(nodeState([spec({ numVfs: 4 })], handshake("Idle", "DrainComplete")))).toBe("waiting");
    expect(daemon.requests).toEqual(["Idle"]);
    expect(await daemon.pass(nodeState([spec({ numVfs: 4 })], handshake("Idle", "Idle")))).toBe("waiting");
    expect(daemon.requests).toEqual(["Idle", "Drain_Required"]);
  });

  it.each([
    { when: "while it waits", answer: "Idle" },
    { when: "during the drain (sriov-operator.md M-52)", answer: "Draining" },
    { when: "after the drain", answer: "DrainComplete" },
  ])("withdraws its request when the spec no longer needs it, $when", async ({ answer }) => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(nodeState([spec()]));
    expect(await daemon.pass(nodeState([spec()], handshake("Drain_Required", answer)))).toBe("settled");
    expect(daemon.requests).toEqual(["Idle"]);
  });

  it("keeps the request of a node state that was created again, until the policies are merged into it", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(nodeState([spec()]));
    const created = nodeState([], handshake("Drain_Required", "Draining"));
    expect(await daemon.pass(created)).toBe("unmerged");
    expect(daemon.requests).toEqual([]);
    expect(await daemon.pass({ ...created, status: daemon.status() })).toBe("settled");
    expect(daemon.requests).toEqual(["Idle"]);
  });

  it("withdraws its request when the spec becomes impossible", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(nodeState([spec()]));
    const asking = handshake("Drain_Required", "Draining");
    expect(await daemon.pass(nodeState([spec({ numVfs: 9 })], asking))).toBe("settled");
    expect(daemon.requests).toEqual(["Idle"]);
  });

  it("withdraws its request if the remaining steps disrupt no pod, even if they fail", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(nodeState([spec()]));
    const port = daemon.shown().find(({ pciAddress }) => pciAddress === pf);
    kernel.unbindByHand(pci(port?.Vfs?.[2]?.pciAddress ?? ""));
    kernel.fault({ port: "sriov", method: "bindDriver" }, { code: "EBUSY" });
    expect(await daemon.pass(nodeState([spec()], handshake("Drain_Required", "DrainComplete")))).toBe("retry");
    expect(daemon.requests).toEqual(["Idle"]);
  });

  it("withdraws its request when drains are disabled, and continues", async () => {
    const kernel = igbKernel();
    await daemonOn(kernel.host()).pass(nodeState([spec()]));
    const daemon = daemonOn(kernel.host(), { drains: false });
    const asking = handshake("Drain_Required", "Draining");
    expect(await daemon.pass(nodeState([spec({ numVfs: 4 })], asking))).toBe("settled");
    expect(daemon.requests).toEqual(["Idle"]);
    expect((await outcome(kernel)).find(({ pciAddress }) => pciAddress === pf)?.numVfs).toBe(4);
  });

  it("keeps the node drained while steps that need it fail", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    await daemon.pass(nodeState([spec()]));
    kernel.fault({ port: "sriov", method: "setNumVfs" }, { code: "EBUSY" });
    const drained = handshake("Drain_Required", "DrainComplete");
    expect(await daemon.pass(nodeState([spec({ numVfs: 4 })], drained))).toBe("retry");
    expect(daemon.requests).toEqual([]);
  });
});

describe("configureNode and refusals", () => {
  it("reports the explanation of the kernel and keeps the configured VFs (sriov-operator.md M-32)", async () => {
    const kernel = igbKernel();
    kernel.fault(
      { port: "links", method: "setMtu", target: "enp1s0f0" },
      { code: "EINVAL", words: "mtu greater than device maximum" },
    );
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toBe("set mtu 9000 on enp1s0f0: EINVAL (mtu greater than device maximum)");
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === pf)?.numVfs).toBe(3);
  });

  it("reports a failed step while another PF is being configured", async () => {
    const kernel = igbKernel();
    const slow = Promise.withResolvers<undefined>();
    kernel.fault({ port: "sriov", method: "setNumVfs", target: pf }, { code: "ENOMEM" });
    kernel.fault(
      { port: "sriov", method: "setNumVfs", target: "0000:01:00.1" },
      {
        act: () => {
          slow.resolve(undefined);
        },
        delayMs: 300,
      },
    );
    const daemon = daemonOn(kernel.host());
    const both = [spec(), spec({ pciAddress: "0000:01:00.1" })];
    const pass = daemon.pass(nodeState(both));
    await slow.promise;
    expect(daemon.phases.map(({ kind }) => kind)).toEqual(["configuring", "failed"]);
    expect(await pass).toBe("retry");
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === "0000:01:00.1")?.numVfs).toBe(3);
  });

  it("reports a failure if the driver creates fewer VFs than requested", async () => {
    const kernel = igbKernel();
    kernel.setQuirks(pci(pf), { createsAtMost: 2 });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toContain("the driver created 2 VFs");
  });

  it("reports a request that the PF cannot satisfy, and changes nothing on it", async () => {
    const kernel = igbKernel();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec({ numVfs: 9 })]))).toBe("settled");
    expect(daemon.error()).toBe("spec.interfaces[0].numVfs: 9 VFs requested, but 0000:01:00.0 supports at most 7");
    expect(kernel.writes).toEqual([]);
  });

  it("reports the firmware limit of a Mellanox card with the message of the webhook", async () => {
    const kernel = createFakeKernel({ nics: [mlx5("0000:3b:00.0")], lockdown: "integrity" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([{ pciAddress: "0000:3b:00.0", numVfs: 17 }]))).toBe("settled");
    expect(daemon.error()).toBe(
      "spec.interfaces[0].numVfs: 17 VFs requested, but 0000:3b:00.0 supports at most 16, and its firmware settings " +
        "cannot be changed: the kernel is in lockdown mode integrity, which denies access to the firmware",
    );
    expect(kernel.writes).toEqual([]);
  });

  it("changes nothing on a PF that it cannot record", async () => {
    const kernel = igbKernel();
    const full = kernel.fault({ port: "records", method: "save" }, { code: "ENOSPC" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toContain("ENOSPC");
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === pf)?.numVfs).toBe(0);
    full.lift();
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
  });

  it.each([
    { fault: "sysfs is read-only", method: "setNumVfs", code: "EROFS" },
    { fault: "a bind is refused", method: "bindDriver", code: "EBUSY" },
  ])("fails and recovers if $fault", async ({ method, code }) => {
    const kernel = igbKernel();
    const fault = kernel.fault({ port: "sriov", method }, { code });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.error()).toContain(code);
    fault.lift();
    expect(await daemon.pass(nodeState([spec()]))).toBe("settled");
  });

  it("configures the other PF when a PF vanishes", async () => {
    const kernel = igbKernel();
    const unplug = () => {
      kernel.unplug(pci(pf));
    };
    kernel.fault({ port: "sriov", method: "setNumVfs", target: pf }, { act: unplug });
    const daemon = daemonOn(kernel.host());
    const both = [spec(), spec({ pciAddress: "0000:01:00.1" })];
    expect(await daemon.pass(nodeState(both))).toBe("retry");
    expect(await daemon.pass(nodeState(both))).toBe("settled");
    expect(daemon.error()).toBe("spec.interfaces[0].pciAddress: 0000:01:00.0 (enp1s0f0) is not a PF of this node");
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === "0000:01:00.1")?.numVfs).toBe(3);
  });

  it("reports a host that cannot be read", async () => {
    const kernel = igbKernel();
    kernel.fault({ port: "sriov", method: "listPfs" }, { code: "EACCES" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(nodeState([spec()]))).toBe("retry");
    expect(daemon.phases.at(-1)?.kind).toBe("discovery-failed");
  });
});

describe("configureNode, stopped", () => {
  it("reports the present state and the remaining steps, after whichever step it stops", async () => {
    const undisturbed = daemonOn(igbKernel().host());
    await undisturbed.pass(nodeState([spec()]));
    const stepCount = undisturbed.planned[0] ?? 0;
    const left: number[] = [];
    for (let nth = 1; nth <= stepCount; nth++) {
      const kernel = igbKernel();
      const end = new AbortController();
      let steps = 0;
      const daemon = daemonOn(kernel.host(), {
        onStep() {
          if (++steps === nth) end.abort();
        },
      });
      await expect(daemon.pass(nodeState([spec()]), end.signal)).rejects.toThrow("aborted");
      expect([nth, daemon.shown()]).toEqual([nth, (await observeNode(kernel.host())).interfaces]);
      const last = daemon.phases.at(-1);
      left.push(last?.kind === "configuring" ? last.stepCount : 0);
      expect([nth, await daemonOn(kernel.host()).pass(nodeState([spec()]))]).toEqual([nth, "settled"]);
    }
    expect(left.every((count, index) => index === 0 || count <= (left[index - 1] ?? 0))).toBe(true);
    expect(left.at(-1)).toBe(0);
  });
});

describe("configureNode, killed", () => {
  it.each([
    { when: "just before", isDone: false },
    { when: "just after", isDone: true },
  ])("converges from a kill $when each of its writes", async ({ isDone }) => {
    const undisturbed = igbKernel();
    await daemonOn(undisturbed.host()).pass(nodeState([spec()]));
    const expected = await outcome(undisturbed);
    for (let nth = 1; nth <= undisturbed.writes.length; nth++) {
      const kernel = igbKernel();
      const killed = killedAtWrite(kernel.host(), nth, isDone);
      await Promise.race([daemonOn(killed.host).pass(nodeState([spec()])), killed.death]);
      expect([nth, await daemonOn(kernel.host()).pass(nodeState([spec()]))]).toEqual([nth, "settled"]);
      expect([nth, await outcome(kernel)]).toEqual([nth, expected]);
    }
  });
});
