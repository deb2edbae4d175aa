// SPDX-License-Identifier: Apache-2.0
/** The connectivity guard on the fake kernel, whose only way to the API server is a PF that stops passing packets after a change. */
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState, SriovNetworkNodeStateSpec } from "@switchyard/api";
import {
  createFakeKernel,
  fakeGateway,
  ice,
  igb,
  mlx5,
  pci,
  type DriverQuirks,
  type FakeNic,
} from "@switchyard/host/testing";
import fc from "fast-check";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { guardFile, readGuardRecord } from "./guard-record.ts";

const pf = pci("0000:18:00.0");
const apiServer = "192.0.2.1";

const guarded = { connectivityTimeoutMs: 30, apiServerAddresses: () => Promise.resolve([apiServer]) };

function stateOf(spec: SriovNetworkNodeStateSpec): SriovNetworkNodeState {
  const metadata = { name: "worker-1", generation: 1 };
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState", metadata, spec };
}

function asking(more: Partial<InterfaceSpec>, numVfs = 2): SriovNetworkNodeState {
  const vfGroups = [{ resourceName: "r", vfRange: `0-${numVfs - 1}` }];
  return stateOf({ interfaces: [{ pciAddress: pf, numVfs, vfGroups, ...more }] });
}

async function nodeWith(nic: FakeNic, losesConnectivity: DriverQuirks["losesConnectivity"] = {}) {
  const kernel = createFakeKernel({ nics: [nic] });
  const first = daemonOn(kernel.host(), guarded);
  await first.pass(stateOf({})); // udev has named the interfaces
  kernel.addRouteByHand("default", first.shown()[0]?.name ?? "");
  kernel.setQuirks(pf, { losesConnectivity });
  const reaches = () => kernel.host().connectivity.readAnswer(apiServer, 6443, 1);
  return { kernel, reaches, daemon: daemonOn(kernel.host(), guarded) };
}

type Node = Awaited<ReturnType<typeof nodeWith>>;

/** Runs passes and returns the writes of the last one. */
async function pass({ kernel, daemon }: Pick<Node, "kernel" | "daemon">, state: SriovNetworkNodeState, count = 1) {
  let first = 0;
  for (let nth = 1; nth <= count; nth++) {
    first = kernel.writes.length;
    await daemon.pass(state);
  }
  return kernel.writes.slice(first).map(({ method }) => method);
}

const conditionOf = ({ daemon }: Pick<Node, "daemon">) =>
  daemon.status().conditions?.find(({ type }) => type === "RolledBack");

const cuts = [
  { what: "its MTU", nic: igb(pf), quirk: { mtuAbove: 1500 }, change: { mtu: 9000 } },
  { what: "its VFs", nic: igb(pf), quirk: { withVfs: true }, change: {} },
  { what: "its mode", nic: mlx5(pf), quirk: { inSwitchdev: true }, change: { eSwitchMode: "switchdev" } },
  {
    what: "its mode, which ice changes without VFs",
    nic: ice(pf),
    quirk: { inSwitchdev: true },
    change: { eSwitchMode: "switchdev" },
  },
];

describe("a PF that carries traffic of the host", () => {
  it.each(cuts)(
    "gets its former state back if a change of $what cuts the node off, once",
    async ({ nic, quirk, change }) => {
      const node = await nodeWith(nic, quirk);
      await pass(node, asking(change));
      const [shown] = node.daemon.shown();
      expect(await node.reaches()).toBe(true);
      expect([shown?.mtu, shown?.numVfs, shown?.eSwitchMode ?? "legacy"]).toEqual([1500, 0, "legacy"]);
      expect(shown?.rolledBack).toMatchObject({
        probe: `TCP connection to the API server ${apiServer}, port 6443`,
        reachable: true,
      });
      expect(conditionOf(node)).toMatchObject({ status: "True", reason: "ApiServerUnreachable" });
      expect(node.daemon.status()).toMatchObject({ syncStatus: "Failed" });
      expect(node.daemon.error()).toMatch(/^spec\.interfaces\[0\]: the node lost its network by this change: /);
      expect(await pass(node, asking(change), 2)).toEqual([]);
      // Another daemon knows it, too.
      const next = { kernel: node.kernel, daemon: daemonOn(node.kernel.host(), guarded) };
      expect(await pass(next, asking(change))).toEqual([]);
      expect(conditionOf(next)?.status).toBe("True");
    },
  );

  it("gets the VFs back that it had, with their drivers and addresses", async () => {
    const node = await nodeWith(ice(pf), { inSwitchdev: true });
    const legacy: Partial<InterfaceSpec> = {
      vfGroups: [
        { resourceName: "k", vfRange: "0-0" },
        { resourceName: "u", vfRange: "1-1", deviceType: "vfio-pci" },
      ],
    };
    await pass(node, asking(legacy), 2);
    expect(node.daemon.error()).toBe("");
    const vfs = () => node.daemon.shown()[0]?.Vfs?.map(({ vfID, driver, adminMac }) => [vfID, driver, adminMac]);
    const before = vfs();
    await pass(node, asking({ ...legacy, eSwitchMode: "switchdev" }));
    expect([await node.reaches(), vfs()]).toEqual([true, before]);
    expect(node.daemon.shown()[0]?.rolledBack?.error).toBeUndefined();
  });

  it("is changed again when its spec changes, and keeps a change after which the network works", async () => {
    const node = await nodeWith(igb(pf), { mtuAbove: 4000 });
    await pass(node, asking({ mtu: 9000 }));
    expect(conditionOf(node)?.status).toBe("True");
    await pass(node, asking({ mtu: 3000 }), 2);
    expect([node.daemon.error(), conditionOf(node)]).toEqual(["", undefined]);
    expect(node.daemon.shown()[0]).toMatchObject({ mtu: 3000, numVfs: 2 });
    expect(await readGuardRecord(node.kernel.host().files)).toEqual({ rolledBack: {} });
    expect(node.kernel.listFiles()).not.toContain(guardFile);
  });

  it("is changed without regard to what did not work before, or is not on its way", async () => {
    const silent = await nodeWith(igb(pf), { mtuAbove: 1500 });
    for (const address of [apiServer, fakeGateway]) silent.kernel.silenceByHand(address, true);
    await pass(silent, asking({ mtu: 9000 }), 2);
    expect([silent.daemon.error(), silent.daemon.shown()[0]?.mtu]).toEqual(["", 9000]);

    const elsewhere = await nodeWith(igb(pf), { mtuAbove: 1500 });
    elsewhere.kernel.removeRoutesByHand();
    elsewhere.kernel.addRouteByHand("default", "enp24s0f1");
    await pass(elsewhere, asking({ mtu: 9000 }), 2);
    expect([elsewhere.daemon.error(), elsewhere.daemon.shown()[0]?.mtu]).toEqual(["", 9000]);
  });

  it("is also watched by its gateway, and by the interface of one of its VFs", async () => {
    const node = await nodeWith(igb(pf), { mtuAbove: 1500 });
    node.kernel.silenceByHand(apiServer, true);
    await pass(node, asking({ mtu: 9000 }));
    expect(conditionOf(node)).toMatchObject({ reason: "GatewayUnreachable" });
    expect(node.daemon.shown()[0]?.rolledBack?.probe).toBe(`default gateway ${fakeGateway} as neighbour on enp24s0f0`);
  });

  it("says that the probe still fails if the change was not the cause", async () => {
    const node = await nodeWith(igb(pf));
    const silence = (): void => {
      node.kernel.silenceByHand(apiServer, true);
    };
    node.kernel.fault({ port: "links", method: "setMtu" }, { act: silence });
    await pass(node, asking({ mtu: 9000 }));
    expect(node.daemon.shown()[0]?.rolledBack).toMatchObject({
      reachable: false,
      undone: expect.arrayContaining([`set mtu 9000 -> 1500 on ${pf}`]),
    });
    expect(node.daemon.error()).toContain("it still fails, so the change may not be the cause");
  });

  it("is not changed further while the rollback is refused, and gets its state back when it is possible", async () => {
    const node = await nodeWith(igb(pf), { mtuAbove: 1500 });
    let broken: ReturnType<typeof node.kernel.fault> | undefined;
    const breakReads = (): void => {
      broken = node.kernel.fault({ port: "sriov", method: "listPfs" }, { code: "EIO" });
    };
    const reads = node.kernel.fault({ port: "links", method: "setMtu", nth: 1 }, { act: breakReads });
    await pass(node, asking({ mtu: 9000 }));
    expect([reads.hits, await node.reaches()]).toEqual([1, false]);
    expect((await readGuardRecord(node.kernel.host().files)).open?.failed).toBeDefined();
    await pass(node, asking({ mtu: 9000 }));
    expect(await node.reaches()).toBe(false);
    broken?.lift();
    expect(await pass(node, asking({ mtu: 9000 }), 3)).toEqual([]);
    expect([await node.reaches(), conditionOf(node)?.status]).toEqual([true, "True"]);
  });

  it("has its VFs again after a kill at any write of a change of its mode", async () => {
    const vfGroups: InterfaceSpec["vfGroups"] = [
      { resourceName: "k", vfRange: "0-0" },
      { resourceName: "u", vfRange: "1-1", deviceType: "vfio-pci" },
    ];
    for (let nth = 1; ; nth++) {
      const node = await nodeWith(ice(pf), { inSwitchdev: true });
      await pass(node, asking({ vfGroups }), 2);
      const vfsOf = ({ daemon }: Pick<Node, "daemon">) =>
        daemon.shown()[0]?.Vfs?.map(({ vfID, driver, adminMac }) => [vfID, driver, adminMac]);
      const before = vfsOf(node);
      const change = asking({ vfGroups, eSwitchMode: "switchdev" });
      const killed = killedAtWrite(node.kernel.host(), nth, nth % 2 === 0);
      const passing = daemonOn(killed.host, guarded).pass(change);
      const isEnded = await Promise.race([killed.death.then(() => false), passing.then(() => true)]);
      if (isEnded) break;
      const next = { kernel: node.kernel, daemon: daemonOn(node.kernel.host(), guarded) };
      const last = await pass(next, change, 3);
      expect([nth, await node.reaches(), last, vfsOf(next)]).toEqual([nth, true, [], before]);
    }
  });

  it.each([false, true])("has its network and comes to rest after a kill at any write, done: %j", async (isDone) => {
    const change = asking({ mtu: 9000 });
    for (let nth = 1; ; nth++) {
      const node = await nodeWith(igb(pf), { mtuAbove: 1500 });
      const killed = killedAtWrite(node.kernel.host(), nth, isDone);
      const passing = daemonOn(killed.host, guarded).pass(change);
      const isEnded = await Promise.race([killed.death.then(() => false), passing.then(() => true)]);
      if (isEnded) break;
      const next = { kernel: node.kernel, daemon: daemonOn(node.kernel.host(), guarded) };
      const last = await pass(next, change, 3);
      expect([nth, await node.reaches(), last]).toEqual([nth, true, []]);
      expect([nth, conditionOf(next)?.status, next.daemon.shown()[0]?.mtu]).toEqual([nth, "True", 1500]);
    }
  });
});

describe("the record", () => {
  it("is read from any content of its file", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((open) => `{"open":${open}}`),
        ),
        async (text) => {
          kernel.writeFile(guardFile, text);
          expect((await readGuardRecord(kernel.host().files)).open).toBeUndefined();
        },
      ),
    );
  });
});
