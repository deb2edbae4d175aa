// SPDX-License-Identifier: Apache-2.0
/** Open vSwitch bridges of PFs whose eswitch mode changes, on the fake kernel. */
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { createFakeKernel, mlx5, type FakeKernel } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = "0000:3b:00.0";
const bridge = "br-0000_3b_00.0";
const uplink = "enp59s0f0np0";

function stateWith(spec: SriovNetworkNodeStateSpec): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec,
  };
}

const withVfs = (numVfs: number): SriovNetworkNodeState =>
  stateWith({
    interfaces: [
      {
        pciAddress: pf,
        eSwitchMode: "switchdev",
        numVfs,
        vfGroups: [{ vfRange: `0-${numVfs - 1}`, resourceName: "sw" }],
      },
    ],
    bridges: { ovs: [{ name: bridge, uplinks: [{ pciAddress: pf, name: "written-by-the-operator" }] }] },
  });

function ovsKernel(): FakeKernel {
  const kernel = createFakeKernel({ nics: [mlx5(pf)], managesOvs: true });
  kernel.writeFile("/usr/lib/systemd/system/ovs-vswitchd.service", "[Service]\nExecStart=/usr/sbin/ovs-vswitchd\n");
  kernel.ovs.addBridge("br-user");
  return kernel;
}

async function outcome(kernel: FakeKernel) {
  const daemon = daemonOn(kernel.host());
  await daemon.pass(stateWith({})); // only observes
  const [first] = daemon.shown();
  return {
    mode: first?.eSwitchMode,
    numVfs: first?.numVfs,
    owned: first?.owned,
    bridges: kernel.ovs.listBridges(),
    rule: kernel.listFiles().includes(`/etc/udev/rules.d/10-nm-disable-${bridge}.rules`),
  };
}

const configured = {
  mode: "switchdev",
  numVfs: 2,
  owned: true,
  bridges: { [bridge]: [uplink], "br-user": [] },
  rule: true,
};
const reset = { mode: "legacy", numVfs: 0, owned: undefined, bridges: { "br-user": [] }, rule: false };

describe("a PF in switchdev mode with a bridge", () => {
  it("is configured in one pass, and then has nothing left to do", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    expect([await daemon.pass(withVfs(2)), daemon.error()]).toEqual(["settled", ""]);
    expect(await outcome(kernel)).toEqual(configured);
    const writes = kernel.writes.length;
    expect(await daemon.pass(withVfs(2))).toBe("settled");
    expect(kernel.writes.slice(writes)).toEqual([]);
  });

  it("keeps its bridge, and the ports of others that still exist, when the number of VFs changes", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withVfs(2));
    for (const vf of [0, 1]) kernel.ovs.addPort(bridge, `${uplink}_${vf}`);
    expect([await daemon.pass(withVfs(1)), daemon.error()]).toEqual(["settled", ""]);
    expect(kernel.ovs.listBridges()[bridge]).toEqual([uplink, `${uplink}_0`]);
  });

  it("leaves its bridge and switchdev mode when no policy selects it any more", async () => {
    const kernel = ovsKernel();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(withVfs(2));
    expect([await daemon.pass(stateWith({ unselected: [pf] })), daemon.error()]).toEqual(["settled", ""]);
    expect(await outcome(kernel)).toEqual(reset);
  });

  it("stays in its mode while its bridge cannot be removed", async () => {
    const kernel = ovsKernel();
    await daemonOn(kernel.host()).pass(withVfs(2));
    const daemon = daemonOn(kernel.host());
    const fault = kernel.fault({ port: "ovs", method: "removeBridge" }, { code: "ETIMEDOUT" });
    expect(await daemon.pass(stateWith({ unselected: [pf] }))).toBe("retry");
    expect(await outcome(kernel)).toEqual({ ...configured, rule: false });
    fault.lift();
    expect(await daemon.pass(stateWith({ unselected: [pf] }))).toBe("settled");
    expect(await outcome(kernel)).toEqual(reset);
  });

  it.each([
    { what: "configuration", when: "just before", isDone: false, state: withVfs(2), expected: configured },
    { what: "configuration", when: "just after", isDone: true, state: withVfs(2), expected: configured },
    { what: "reset", when: "just before", isDone: false, state: stateWith({ unselected: [pf] }), expected: reset },
    { what: "reset", when: "just after", isDone: true, state: stateWith({ unselected: [pf] }), expected: reset },
  ])(
    "converges from a kill $when each write of its $what",
    async ({ isDone, state, expected }) => {
      const prepared = async (): Promise<FakeKernel> => {
        const kernel = ovsKernel();
        if (expected === reset) await daemonOn(kernel.host()).pass(withVfs(2));
        return kernel;
      };
      const undisturbed = await prepared();
      const before = undisturbed.writes.length;
      await daemonOn(undisturbed.host()).pass(state);
      for (let nth = 1; nth <= undisturbed.writes.length - before; nth++) {
        const kernel = await prepared();
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        await Promise.race([daemonOn(killed.host).pass(state), killed.death]);
        expect([nth, await daemonOn(kernel.host()).pass(state)]).toEqual([nth, "settled"]);
        expect([nth, await outcome(kernel)]).toEqual([nth, expected]);
      }
    },
    60_000,
  );
});
