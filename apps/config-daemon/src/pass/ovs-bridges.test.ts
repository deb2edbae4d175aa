// SPDX-License-Identifier: Apache-2.0
/** Open vSwitch bridges on the fake kernel. */
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, OvsBridge, SriovNetworkNodeState, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { createFakeKernel, igb, type FakeKernel } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = "0000:01:00.0";
const bridge = "br-0000_01_00.0";
const rule = `/etc/udev/rules.d/10-nm-disable-${bridge}.rules`;
const upstreamsFile = "/etc/sriov-operator/managed-ovs-bridges.json";

const pfSpec: InterfaceSpec = { pciAddress: pf, name: "enp1s0f0", numVfs: 2, vfGroups: [{ vfRange: "0-1" }] };
const wanted: OvsBridge = {
  name: bridge,
  bridge: { otherConfig: { a: "1" } },
  uplinks: [{ pciAddress: pf, name: "enp1s0f0", interface: { mtuRequest: 1500 } }],
};

function stateWith(
  spec: SriovNetworkNodeStateSpec,
  status: SriovNetworkNodeState["status"] = {},
): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec,
    status,
  };
}

const withBridge = stateWith({ interfaces: [pfSpec], bridges: { ovs: [wanted] } });
const withoutBridge = stateWith({ interfaces: [pfSpec] });

/** A node on which an administrator has a bridge of another NIC. */
function ovsKernel(): FakeKernel {
  const kernel = createFakeKernel({ nics: [igb(pf)], managesOvs: true });
  kernel.ovs.addBridge("br-user");
  kernel.ovs.addPort("br-user", "enp1s0f1");
  return kernel;
}

const users = { "br-user": ["enp1s0f1"] };

describe("a node with Open vSwitch", () => {
  it("gets the bridge of the spec, reports it, and changes nothing afterwards", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(kernel.ovs.listBridges()).toEqual({ [bridge]: ["enp1s0f0"], ...users });
    expect(daemon.last()).toMatchObject({
      bridges: { ovs: [wanted] },
      openVSwitch: { hardwareOffload: false, otherBridges: [{ name: "br-user", pciAddresses: ["0000:01:00.1"] }] },
    });
    expect(daemon.shown()[0]?.bridge).toBe(bridge);
    const writes = kernel.writes.length;
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(kernel.writes.length).toBe(writes);
  });

  it("is not Succeeded while ovs-vswitchd does not run, drains nothing for it, and is Succeeded again afterwards", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    const writes = kernel.writes.length;
    kernel.ovs.stopSwitch();
    await daemon.pass(withBridge);
    expect(daemon.error()).toContain(`bridge ${bridge} forwards no packets: ovs-vswitchd does not run`);
    expect(daemon.last()?.openVSwitch?.switchError).toMatch(/^ovs-vswitchd does not run/);
    expect(daemon.last()?.bridges).toMatchObject({ ovs: [{ name: bridge }] });
    expect(daemon.status().syncStatus).toBe("Failed");
    kernel.ovs.startSwitch();
    await daemon.pass(withBridge);
    expect(daemon.error()).toBe("");
    expect(kernel.writes.length).toBe(writes);
  });

  it("repairs what somebody changed, and keeps what they added", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    kernel.ovs.setOtherConfig(bridge, "a", "2");
    kernel.ovs.setOtherConfig(bridge, "theirs", "3");
    kernel.ovs.removePort("enp1s0f0");
    kernel.ovs.addPort(bridge, "enp1s0f0v0");
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(kernel.ovs.readOtherConfig(bridge)).toEqual({ a: "1", theirs: "3" });
    expect(kernel.ovs.listBridges()[bridge]).toEqual(["enp1s0f0", "enp1s0f0v0"]);
  });

  it("follows the interface of the PF to its new name", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    kernel.renameLink("enp1s0f0", "uplink0");
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(kernel.ovs.listBridges()[bridge]).toEqual(["uplink0"]);
  });

  it("removes ports whose interface is gone from its own bridges only", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    kernel.ovs.addPort(bridge, "enp1s0f0_7");
    kernel.ovs.addPort("br-user", "gone");
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(kernel.ovs.listBridges()).toEqual({ [bridge]: ["enp1s0f0"], "br-user": ["enp1s0f1", "gone"] });
  });

  it("loses the bridge when the spec no longer has it, and keeps the bridges of others", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    expect(kernel.listFiles()).toContain(rule); // NetworkManager must not manage the bridge
    expect(await daemon.pass(withoutBridge)).toBe("settled");
    expect(kernel.ovs.listBridges()).toEqual(users);
    expect(daemon.last()?.bridges?.ovs).toEqual([]);
    expect(kernel.listFiles()).not.toContain(rule);
  });

  it("loses the bridge and the VFs when no policy selects the PF any more", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    expect(await daemon.pass(stateWith({ unselected: [pf] }))).toBe("settled");
    expect([kernel.ovs.listBridges(), daemon.shown()[0]?.numVfs]).toEqual([users, 0]);
  });

  it("keeps the bridge of a PF that the spec does not mention", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    expect(await daemon.pass(stateWith({}))).toBe("settled");
    expect(kernel.ovs.listBridges()).toEqual({ [bridge]: ["enp1s0f0"], ...users });
  });

  it("reports a bridge of somebody else with the same name, and leaves it alone", async () => {
    const kernel = ovsKernel();
    kernel.ovs.addBridge(bridge);
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(daemon.error()).toBe(
      `spec.bridges.ovs[0]: bridge ${bridge} exists and was not created by Switchyard: remove it, or let it manage the PF`,
    );
    expect(await daemon.pass(withoutBridge)).toBe("settled");
    expect(kernel.ovs.listBridges()).toEqual({ [bridge]: [], ...users });
    expect(daemon.shown()[0]?.numVfs).toBe(2);
  });

  it("requests a drain to remove the bridge of VFs, and none to create it with them", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(await daemon.pass(withoutBridge)).toBe("waiting");
    expect(daemon.requests).toEqual(["Drain_Required"]);
  });

  it("turns hardware offload on, and restarts ovs-vswitchd once", async () => {
    const kernel = ovsKernel();
    const host = kernel.host();
    kernel.writeFile("/run/openvswitch/ovs-vswitchd.pid", "77\n");
    let restarts = 0;
    const systemd = {
      ...host.systemd,
      restartUnit(name: string) {
        kernel.writeFile("/run/openvswitch/ovs-vswitchd.pid", "78\n");
        restarts += name === "ovs-vswitchd.service" ? 1 : 100;
        return Promise.resolve();
      },
    };
    const switchdev = stateWith({ interfaces: [{ ...pfSpec, eSwitchMode: "switchdev" }] });
    const daemon = daemonOn({ ...host, systemd });
    await daemon.pass(switchdev);
    await daemon.pass(switchdev);
    expect([restarts, daemon.last()?.openVSwitch?.hardwareOffload]).toEqual([1, true]);
  });
});

describe("a node whose Open vSwitch is down", () => {
  it("gets its VFs, reports the socket, keeps its bridges in the status, and recovers", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    kernel.ovs.stop();
    const more = { ...pfSpec, numVfs: 4, vfGroups: [{ vfRange: "0-3" }] };
    const state = stateWith({ interfaces: [more], bridges: { ovs: [wanted] } }, { bridges: { ovs: [wanted] } });
    expect(await daemon.pass(state)).toBe("settled");
    expect(daemon.error()).toMatch(/^spec\.bridges\.ovs\[0\]: the state of bridge .* is unknown: .*db\.sock/);
    expect([daemon.shown()[0]?.numVfs, daemon.last()?.bridges?.ovs]).toEqual([4, undefined]);
    kernel.ovs.start();
    await daemon.pass(state);
    expect(daemon.error()).toBe("");
  });

  it("keeps the record of an unselected PF until its bridge is removed", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    kernel.ovs.stop();
    const unselected = stateWith({ unselected: [pf] }, { bridges: { ovs: [wanted] } });
    expect(await daemon.pass(unselected)).toBe("retry");
    expect([daemon.shown()[0]?.numVfs, daemon.shown()[0]?.owned]).toEqual([0, true]);
    expect(daemon.error()).toContain(`remove bridge on ${bridge}: ENOTCONN`);
    kernel.ovs.start();
    expect(await daemon.pass(unselected)).toBe("settled");
    expect([kernel.ovs.listBridges(), daemon.shown()[0]?.owned]).toEqual([users, undefined]);
  });

  it("reports what ovs-vswitchd answers, and configures everything else", async () => {
    const kernel = ovsKernel();
    kernel.fault({ port: "ovs", method: "setBridge" }, { code: "ETIMEDOUT", words: "ovs-vswitchd has not applied it" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(withBridge)).toBe("retry");
    expect(daemon.error()).toBe(
      `set bridge with uplink enp1s0f0 on ${bridge}: ETIMEDOUT (ovs-vswitchd has not applied it)`,
    );
    expect(daemon.shown()[0]?.numVfs).toBe(2);
  });
});

describe("bridges of the Go operator", () => {
  const entry = { name: bridge, bridge: { otherConfig: { a: "0" } }, uplinks: [{ pciAddress: pf, name: "enp1s0f0" }] };

  function upstreamKernel(text: string): FakeKernel {
    const kernel = ovsKernel();
    kernel.ovs.addBridge(bridge);
    kernel.ovs.addPort(bridge, "enp1s0f0");
    kernel.ovs.setOtherConfig(bridge, "a", "0");
    kernel.ovs.setOtherConfig(bridge, "theirs", "3");
    kernel.writeFile(upstreamsFile, text);
    return kernel;
  }

  it("are adopted with the entries that it set, and stay in their list for the way back", async () => {
    const kernel = upstreamKernel(JSON.stringify({ [bridge]: entry }));
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(withBridge)).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(JSON.parse((await kernel.host().files.readText(upstreamsFile)) ?? "")).toEqual({
      [bridge]: { ...wanted, writtenBy: "switchyard" },
    });
    expect(kernel.ovs.readOtherConfig(bridge)).toEqual({ a: "1", theirs: "3" });
    expect(await daemon.pass(stateWith({ unselected: [pf] }))).toBe("settled");
    expect(kernel.ovs.listBridges()).toEqual(users);
    expect(kernel.listFiles()).not.toContain(upstreamsFile);
  });

  it("are adopted when Open vSwitch answers", async () => {
    const kernel = upstreamKernel(JSON.stringify({ [bridge]: entry }));
    kernel.ovs.stop();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(stateWith({}));
    expect(kernel.listFiles()).toEqual([upstreamsFile]);
    kernel.ovs.start();
    await daemon.pass(stateWith({}));
    expect(daemon.last()?.bridges?.ovs?.map(({ name }) => name)).toEqual([bridge]);
  });

  it.each([
    { what: "text that is not JSON", text: "{" },
    { what: "an array", text: "[1]" },
    { what: "a name of another kind", text: JSON.stringify({ "br-user": { ...entry, name: "br-user" } }) },
    { what: "an empty file", text: "" },
  ])("are not adopted from $what", async ({ text }) => {
    const kernel = upstreamKernel(text);
    const daemon = daemonOn(kernel.host());
    await daemon.pass(stateWith({}));
    expect([daemon.last()?.bridges?.ovs, kernel.listFiles()]).toEqual([[], [upstreamsFile]]);
  });

  it("are adopted whatever their entry has", async () => {
    const kernel = upstreamKernel(JSON.stringify({ [bridge]: { uplinks: { 0: 7 }, bridge: [null] }, other: 1 }));
    const daemon = daemonOn(kernel.host());
    await daemon.pass(stateWith({}));
    expect(daemon.last()?.bridges?.ovs).toEqual([{ name: bridge }]);
    const list: unknown = JSON.parse((await kernel.host().files.readText(upstreamsFile)) ?? "");
    expect(list).toEqual({ other: 1, [bridge]: { name: bridge, bridge: {}, uplinks: [], writtenBy: "switchyard" } });
  });

  it("are not taken from somebody else because Switchyard has listed a bridge of this name", async () => {
    const listed = JSON.stringify({ [bridge]: { ...entry, writtenBy: "switchyard" } });
    const kernel = upstreamKernel(listed);
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withBridge);
    expect(daemon.error()).toContain(`bridge ${bridge} exists and was not created by Switchyard`);
  });
});

describe("a daemon killed while it configures bridges", () => {
  it.each([
    { when: "just before", isDone: false, state: withBridge, bridges: { [bridge]: ["enp1s0f0"], ...users } },
    { when: "just after", isDone: true, state: withBridge, bridges: { [bridge]: ["enp1s0f0"], ...users } },
    { when: "just before", isDone: false, state: stateWith({ unselected: [pf] }), bridges: users },
    { when: "just after", isDone: true, state: stateWith({ unselected: [pf] }), bridges: users },
  ])("converges from a kill $when each of its writes: $bridges", async ({ isDone, state, bridges }) => {
    const prepared = async (): Promise<FakeKernel> => {
      const kernel = ovsKernel();
      kernel.writeFile(upstreamsFile, JSON.stringify({ [bridge]: { name: bridge } }));
      if (state !== withBridge) await daemonOn(kernel.host()).pass(withBridge);
      return kernel;
    };
    const undisturbed = await prepared();
    const before = undisturbed.writes.length;
    await daemonOn(undisturbed.host()).pass(state);
    expect(undisturbed.ovs.listBridges()).toEqual(bridges);
    for (let nth = 1; nth <= undisturbed.writes.length - before; nth++) {
      const kernel = await prepared();
      const killed = killedAtWrite(kernel.host(), nth, isDone);
      await Promise.race([daemonOn(killed.host).pass(state), killed.death]);
      expect([nth, await daemonOn(kernel.host()).pass(state)]).toEqual([nth, "settled"]);
      expect([nth, kernel.ovs.listBridges()]).toEqual([nth, bridges]);
      expect(kernel.ovs.readOtherConfig("br-user")).toEqual({});
    }
  });
});
