// SPDX-License-Identifier: Apache-2.0
/** Linux bridges on the fake kernel. */
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, LinuxBridge, SriovNetworkNodeState, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { createFakeKernel, igb, type FakeKernel } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = "0000:01:00.0";
const uplink = "enp1s0f0";
const bridge = "br-0000_01_00.0";
const ruleFile = `/etc/udev/rules.d/10-nm-disable-${bridge}.rules`;

const pfSpec: InterfaceSpec = { pciAddress: pf, name: uplink, numVfs: 2, vfGroups: [{ vfRange: "0-1" }] };
const wanted: LinuxBridge = {
  name: bridge,
  bridge: { vlanFiltering: true, vlanProtocol: "802.1ad" },
  uplinks: [{ pciAddress: pf, name: uplink, uplink: { learning: "0" } }],
};

function stateWith(spec: SriovNetworkNodeStateSpec): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec,
  };
}

const withBridge = stateWith({ interfaces: [pfSpec], bridges: { linux: [wanted] } });
const withoutBridge = stateWith({ interfaces: [pfSpec] });
const unselecting = stateWith({ unselected: [pf] });

/** A node on which an administrator has a bridge with the other port. */
function newKernel(): FakeKernel {
  const kernel = createFakeKernel({ nics: [igb(pf)], managesOvs: true });
  kernel.addLinkByHand("br-user", "bridge");
  kernel.setMasterByHand("enp1s0f1", "br-user");
  return kernel;
}

/** All bridges with their ports, as `ip link` shows them. */
async function bridgesOf(kernel: FakeKernel): Promise<Readonly<Record<string, readonly string[]>>> {
  const links = await kernel.host().links.listLinks();
  const portsOf = (index: number) => links.filter(({ masterIndex }) => masterIndex === index).map(({ name }) => name);
  const bridges = links.filter(({ kind }) => kind === "bridge");
  return Object.fromEntries(bridges.map(({ name, index }) => [name, portsOf(index)]));
}

const users = { "br-user": ["enp1s0f1"] };

describe("a Linux bridge of the spec", () => {
  it("is created with the PF as its port, reported, and then left unchanged", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await bridgesOf(kernel)).toEqual({ [bridge]: [uplink], ...users });
    expect(daemon.last()?.bridges?.linux).toEqual([
      {
        ...wanted,
        linkAdminState: "up",
        uplinks: [{ pciAddress: pf, name: uplink, uplink: { learning: "0", path_cost: "100" } }],
      },
    ]);
    expect(daemon.shown().map(({ bridge: name }) => name)).toEqual([bridge, undefined]);
    const writes = kernel.writes.length;
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(kernel.writes.length).toBe(writes);
  });

  it("is repaired after any change by hand", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    const before = await kernel.host().linuxBridges.listBridges();
    const { linuxBridges } = kernel.host();
    const drifts: (() => unknown)[] = [
      () => linuxBridges.setAdminUp(bridge, false),
      () => linuxBridges.setVlans(bridge, { filtering: false, protocol: "802.1ad" }),
      () => linuxBridges.setVlans(bridge, { filtering: true, protocol: "802.1Q" }),
      () => linuxBridges.setPort(bridge, uplink, { learning: 1, isolated: 1 }),
      () => linuxBridges.removePort(bridge, uplink),
      () => {
        kernel.deleteLinkByHand(bridge);
      },
    ];
    for (const [nth, drift] of drifts.entries()) {
      await drift();
      expect([nth, await daemon.pass(withBridge)]).toEqual([nth, "settled"]);
      expect([nth, await linuxBridges.listBridges()]).toEqual([
        nth,
        expect.arrayContaining(before.map((each) => expect.objectContaining({ name: each.name, ports: each.ports }))),
      ]);
      expect([nth, await bridgesOf(kernel)]).toEqual([nth, { [bridge]: [uplink], ...users }]);
    }
  });

  it("keeps the ports of pods", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    kernel.addLinkByHand("pod0", "veth");
    kernel.setMasterByHand("pod0", bridge);
    const { linuxBridges } = kernel.host();
    await linuxBridges.setPort(bridge, uplink, { learning: 1 });
    await daemon.pass(withBridge);
    expect((await bridgesOf(kernel))[bridge]).toEqual([uplink, "pod0"]);
  });

  it("disappears when the spec has it no more, and when the PF is reset", async () => {
    for (const state of [withoutBridge, unselecting]) {
      const kernel = newKernel();
      const daemon = daemonOn(kernel.host());
      await daemon.pass(withBridge);
      expect(await daemon.pass(state)).toBe("settled");
      expect(await bridgesOf(kernel)).toEqual(users);
      expect([daemon.error(), daemon.last()?.bridges?.linux]).toEqual(["", []]);
      expect(kernel.listFiles().filter((path) => path.includes(bridge))).toEqual([]);
    }
  });

  it("stays while the spec does not name its PF", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    await daemon.pass(stateWith({}));
    expect(await bridgesOf(kernel)).toEqual({ [bridge]: [uplink], ...users });
  });

  it("replaces an Open vSwitch bridge of the same PF, and the other way round", async () => {
    const kernel = newKernel();
    const daemon = daemonOn(kernel.host());
    const ovs = [{ name: bridge, uplinks: [{ pciAddress: pf, name: uplink }] }];
    const withOvs = stateWith({ interfaces: [pfSpec], bridges: { ovs } });
    await daemon.pass(withOvs);
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect([kernel.ovs.listBridges(), await bridgesOf(kernel)]).toEqual([{}, { [bridge]: [uplink], ...users }]);
    expect(await daemon.pass(withOvs)).toBe("settled");
    expect([kernel.ovs.listBridges(), await bridgesOf(kernel)]).toEqual([{ [bridge]: [uplink] }, users]);
    expect(daemon.error()).toBe("");
  });

  it("is refused on a node whose daemon does not manage bridges, and removed there", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    expect(daemon.error()).toContain("runs without --manage-software-bridges");
    expect(await bridgesOf(kernel)).toEqual({});
    await kernel.host().linuxBridges.createBridge(bridge);
    await daemon.pass(withoutBridge);
    expect(await bridgesOf(kernel)).toEqual({});
  });
});

describe("a Linux bridge that cannot be created", () => {
  it.each<{ why: string; prepare: (kernel: FakeKernel) => void; error: string }>([
    {
      why: "the PF carries the default route",
      prepare: (kernel) => {
        kernel.addRouteByHand("default", uplink);
      },
      error: "the host uses it: default route",
    },
    {
      why: "a VLAN on the PF carries the default route",
      prepare: (kernel) => {
        kernel.addLinkByHand("vlan5", "vlan", uplink);
        kernel.addRouteByHand("default", "vlan5");
      },
      error: "the host uses it: default route",
    },
    {
      why: "the host has an address in a storage network on the PF",
      prepare: (kernel) => {
        kernel.addRouteByHand("10.7.0.0/16", uplink);
      },
      error:
        "the host uses it: network 10.7.0.0/16; if the host can do without, name the networks in " +
        "spec.bridge.disconnectedNetworks of the policy",
    },
    {
      why: "the host has an address on a VLAN of the PF",
      prepare: (kernel) => {
        kernel.addLinkByHand("vlan5", "vlan", uplink);
        kernel.addRouteByHand("2001:db8:7::/64", "vlan5");
      },
      error: "the host uses it: network 2001:db8:7::/64",
    },
    {
      why: "the PF is a port of another bridge",
      prepare: (kernel) => {
        kernel.setMasterByHand(uplink, "br-user");
      },
      error: "the host uses it: port of bridge br-user",
    },
    {
      why: "another program has a bridge of this name",
      prepare: (kernel) => {
        kernel.addLinkByHand(bridge, "bridge");
      },
      error: `the host uses it: another program uses the name ${bridge}`,
    },
  ])("because $why: nothing of it is touched, and the VFs are configured", async ({ prepare, error }) => {
    const kernel = newKernel();
    prepare(kernel);
    const before = await bridgesOf(kernel);
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(daemon.error()).toContain(error);
    expect(await bridgesOf(kernel)).toEqual(before);
    expect(daemon.shown()[0]).toMatchObject({ numVfs: 2 });
    await daemon.pass(withoutBridge);
    expect(daemon.error()).toBe("");
    await daemon.pass(unselecting);
    expect(await bridgesOf(kernel)).toEqual(before);
  });

  it("is created if the policy names the networks that the host loses, but not if it loses its default route, too", async () => {
    const [linux] = withBridge.spec?.bridges?.linux ?? [];
    if (linux === undefined) throw new Error("the spec has a bridge");
    const bridges = { linux: [{ ...linux, disconnectedNetworks: ["10.7.0.0/16"] }] };
    const allowing = { ...withBridge, spec: { ...withBridge.spec, bridges } };
    for (const { routes, error } of [
      { routes: ["10.7.0.0/16"], error: "" },
      { routes: ["10.7.0.0/16", "10.8.0.0/16"], error: "the host uses it: network 10.8.0.0/16; if" },
      { routes: ["10.7.0.0/16", "default"], error: "the host uses it: default route" },
    ]) {
      const kernel = newKernel();
      for (const route of routes) kernel.addRouteByHand(route, uplink);
      const daemon = daemonOn(kernel.host());
      await daemon.pass(allowing);
      expect(daemon.error()).toContain(error);
      expect(((await bridgesOf(kernel))[bridge] ?? []).length).toBe(error === "" ? 1 : 0);
      // The address stays on the PF, and works again without the bridge.
      await daemon.pass(withoutBridge);
      expect(daemon.error()).toBe("");
    }
  });

  it("is created as soon as the route has moved", async () => {
    const kernel = newKernel();
    kernel.addRouteByHand("default", uplink);
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    kernel.removeRoutesByHand();
    await daemon.pass(withBridge);
    expect([daemon.error(), (await bridgesOf(kernel))[bridge]]).toEqual(["", [uplink]]);
  });

  it("reports a port that somebody takes meanwhile, and recovers", async () => {
    const kernel = newKernel();
    const fault = kernel.fault(
      { port: "linuxBridges", method: "addPort" },
      { code: "EBUSY", words: "port of another" },
    );
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(withBridge)).toBe("retry");
    expect(daemon.error()).toContain(`add port ${uplink} on ${bridge}: EBUSY (port of another)`);
    fault.lift();
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(await bridgesOf(kernel)).toEqual({ [bridge]: [uplink], ...users });
  });
});

describe("a daemon that is killed while it changes a Linux bridge", () => {
  it.each([
    { does: "creates", before: withoutBridge, after: withBridge, left: { [bridge]: [uplink], ...users } },
    { does: "changes", before: withBridge, after: changed(), left: { [bridge]: [uplink], ...users } },
    { does: "removes", before: withBridge, after: withoutBridge, left: users },
    { does: "resets the PF and removes", before: withBridge, after: unselecting, left: users },
  ])("converges when it $does one, before and after each write", async ({ before, after, left }) => {
    async function prepared(): Promise<FakeKernel> {
      const kernel = newKernel();
      await daemonOn(kernel.host()).pass(before);
      return kernel;
    }
    const undisturbed = await prepared();
    const first = undisturbed.writes.length;
    await daemonOn(undisturbed.host()).pass(after);
    expect(await bridgesOf(undisturbed)).toEqual(left);
    const count = undisturbed.writes.length - first;
    expect(count).toBeGreaterThan(0);
    for (const isDone of [false, true]) {
      for (let nth = 1; nth <= count; nth++) {
        const kernel = await prepared();
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        await Promise.race([daemonOn(killed.host).pass(after), killed.death]);
        const next = daemonOn(kernel.host());
        expect([nth, await next.pass(after), next.error()]).toEqual([nth, "settled", ""]);
        expect([nth, await bridgesOf(kernel)]).toEqual([nth, left]);
        const rules = kernel.listFiles().filter((path) => path.includes("10-nm-disable-br-"));
        expect([nth, rules]).toEqual([nth, Object.hasOwn(left, bridge) ? [ruleFile] : []]);
      }
    }
  });

  function changed(): SriovNetworkNodeState {
    const linux = [{ ...wanted, bridge: {}, uplinks: [{ pciAddress: pf, uplink: { isolated: "1" } }] }];
    return stateWith({ interfaces: [pfSpec], bridges: { linux } });
  }
});
