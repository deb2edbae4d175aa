// SPDX-License-Identifier: Apache-2.0
/** Software bridges of a node in systemd mode, on the fake kernel: what each phase of a boot does, and which PFs it leaves alone. */
import { describe, expect, it } from "@jest/globals";
import {
  bootConfigPath,
  type LinuxBridge,
  type OvsBridge,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { createFakeKernel, igb, systemKernelClock, withQuirks, type FakeKernel } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { parseBootConfig } from "../boot-files/boot-config.ts";
import type { BootPhase } from "../boot-files/boot-result.ts";
import { runPhase } from "../boot/run-phase.ts";
import type { ConnectivityGuard } from "../guard/connectivity-guard.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { silentLogger } from "@switchyard/service/testing";
import { createSystemdMode } from "./plan-for-boot.ts";

const pf = "0000:01:00.0";
const uplink = "enp1s0f0";
const other = "enp1s0f1";
const bridge = "br-0000_01_00.0";
const apiServer = "192.0.2.1";

const uplinks = [{ pciAddress: pf, name: uplink }];
const linux: SriovNetworkNodeStateSpec["bridges"] = { linux: [{ name: bridge, uplinks } satisfies LinuxBridge] };
const ovs: SriovNetworkNodeStateSpec["bridges"] = { ovs: [{ name: bridge, uplinks } satisfies OvsBridge] };
const kinds = [
  { kind: "a Linux bridge", bridges: linux },
  { kind: "an Open vSwitch bridge", bridges: ovs },
];

function asking(bridges: SriovNetworkNodeStateSpec["bridges"], numVfs = 2): SriovNetworkNodeState {
  const interfaces = [{ pciAddress: pf, name: uplink, numVfs, vfGroups: [{ vfRange: `0-${numVfs - 1}` }] }];
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces, bridges: bridges ?? {} },
  };
}

const sleep = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
const timing = {
  stepDeadlineMs: 60_000,
  linkTimeoutMs: 200,
  udevTimeoutMs: 1_000,
  nowMs: systemKernelClock.nowMs,
  sleep,
};

function newKernel(): FakeKernel {
  return createFakeKernel({ nics: [igb(pf)], managesOvs: true });
}

function daemonIn(kernel: FakeKernel, apiServerAddresses: readonly string[] = [], connectivityTimeoutMs = 0) {
  const host = kernel.host();
  const addresses = () => Promise.resolve(apiServerAddresses);
  const beginPass = (guard: ConnectivityGuard) =>
    createSystemdMode(host, {
      guard,
      maxPfs: 4,
      ovsdbAddress: "/run/openvswitch/db.sock",
      unitsFromMachineConfig: false,
      log: silentLogger,
      program: () => Promise.resolve({ id: "v1", files: [] }),
      timing,
      now: () => new Date(),
      apiServerAddresses: addresses,
    });
  return daemonOn(host, { beginPass, apiServerAddresses: addresses, connectivityTimeoutMs });
}

/** Runs a pass until the daemon requests a reboot, and stops the daemon as systemd does. */
async function passUntilReboot(kernel: FakeKernel, daemon: ReturnType<typeof daemonOn>, state: SriovNetworkNodeState) {
  const stopped = new AbortController();
  const before = kernel.requestedReboots.length;
  const passing = daemon.pass(state, stopped.signal).catch(() => undefined);
  while (kernel.requestedReboots.length === before) await delay(2);
  stopped.abort(new Error("SIGTERM"));
  await passing;
}

async function run(kernel: FakeKernel, phase: BootPhase) {
  const lines: string[] = [];
  const exitCode = await runPhase({
    phase,
    host: kernel.host(),
    timing,
    maxHanging: 4,
    limitMs: 60_000,
    signal: new AbortController().signal,
    lock: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
    log: (line) => lines.push(line),
  });
  return { exitCode, lines };
}

/** What the network service of the distribution does between the phases. */
function startNetwork(kernel: FakeKernel, routes: Readonly<Record<string, string>>): void {
  for (const [destination, name] of Object.entries(routes)) kernel.addRouteByHand(destination, name);
}

async function bootWith(kernel: FakeKernel, routes: Readonly<Record<string, string>>) {
  kernel.reboot();
  const pre = await run(kernel, "pre");
  startNetwork(kernel, routes);
  return { pre, post: await run(kernel, "post") };
}

/** The name of the bridge of the PF; undefined if it has none. */
async function bridgeOfPf(kernel: FakeKernel): Promise<string | undefined> {
  const links = await kernel.host().links.listLinks();
  const { masterIndex } = links.find(({ name }) => name === uplink) ?? {};
  const master = links.find(({ index }) => index === masterIndex)?.name;
  return kernel.ovs.listBridges()[bridge]?.includes(uplink) === true ? bridge : master;
}

async function vfCountOf(kernel: FakeKernel): Promise<number | undefined> {
  return (await kernel.host().sriov.listPfs()).find(({ pciAddress }) => pciAddress === pf)?.sriov?.numVfs;
}

async function bootConfigOf(kernel: FakeKernel) {
  const parsed = await parseBootConfig((await kernel.host().files.readText(bootConfigPath)) ?? "");
  return parsed.ok ? parsed.value : undefined;
}

const refusal = (uses: string) => `${pf} cannot become a port of bridge ${bridge}, because the host uses it: ${uses}`;

describe.each(kinds)("$kind of a node in systemd mode", ({ bridges }) => {
  it("is created by the second phase of a boot, and not by the first, which does not know the routes of the host", async () => {
    const kernel = newKernel();
    await passUntilReboot(kernel, daemonIn(kernel), asking(bridges));
    kernel.reboot();
    expect(await run(kernel, "pre")).toMatchObject({ exitCode: 0 });
    expect([await vfCountOf(kernel), await bridgeOfPf(kernel)]).toEqual([2, undefined]);
    expect(await run(kernel, "post")).toMatchObject({ exitCode: 0 });
    expect(await bridgeOfPf(kernel)).toBe(bridge);
    const daemon = daemonIn(kernel);
    expect([await daemon.pass(asking(bridges)), daemon.error()]).toEqual(["settled", ""]);
  });

  it.each([
    { what: "the default route", routes: { default: uplink }, uses: "default route" },
    {
      what: "the route to the API server",
      routes: { [apiServer]: uplink },
      uses: `route to the API server ${apiServer}`,
    },
  ])(
    "does not take a PF with $what, whether the network is up before the second phase or not",
    async ({ routes, uses }) => {
      for (const atBoot of [routes, {}]) {
        const kernel = newKernel();
        startNetwork(kernel, routes);
        await passUntilReboot(kernel, daemonIn(kernel, [apiServer]), asking(bridges));
        const { post } = await bootWith(kernel, atBoot);
        expect(post.lines.join()).toContain(refusal(uses));
        expect([await vfCountOf(kernel), await bridgeOfPf(kernel)]).toEqual([2, undefined]);
      }
    },
  );

  it("does not take a PF that gets the route to the API server during the boot", async () => {
    const kernel = newKernel();
    startNetwork(kernel, { [apiServer]: other });
    await passUntilReboot(kernel, daemonIn(kernel, [apiServer]), asking(bridges));
    const { post } = await bootWith(kernel, { [apiServer]: uplink });
    expect(post.lines.join()).toContain(refusal(`route to the API server ${apiServer}`));
    expect(await bridgeOfPf(kernel)).toBeUndefined();
  });
});

describe("ports of pods on an Open vSwitch bridge of a node in systemd mode", () => {
  it("are removed by the second phase of a boot, unless their network namespace exists, and no other port is", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf), igb("0000:02:00.0")], managesOvs: true });
    await passUntilReboot(kernel, daemonIn(kernel), asking(ovs));
    await bootWith(kernel, {});
    // Interfaces that exist when Open vSwitch starts, as representors do.
    const [first, second, users] = [other, "enp2s0f0", "enp2s0f1"];
    kernel.ovs.addPort(bridge, first, "/var/run/netns/cni-1");
    kernel.ovs.addPort(bridge, second, "/run/netns/cni-2");
    kernel.ovs.addPort(bridge, users);
    kernel.reboot();
    kernel.ovs.stop(); // The first phase runs before it.
    await run(kernel, "pre");
    kernel.ovs.start();
    await kernel.host().files.writeText("/run/netns/cni-2", "");
    const { exitCode, lines } = await run(kernel, "post");
    expect([exitCode, kernel.ovs.listBridges()[bridge]]).toEqual([0, [uplink, second, users].sort()]);
    expect(lines.filter((line) => line.includes("ports"))).toEqual([
      `remove ports ${first} from Open vSwitch bridge ${bridge}`,
    ]);
  });

  it("stay while the daemon runs", async () => {
    const kernel = newKernel();
    await passUntilReboot(kernel, daemonIn(kernel), asking(ovs));
    await bootWith(kernel, {});
    kernel.ovs.addPort(bridge, other, "/run/netns/cni-1");
    const daemon = daemonIn(kernel);
    expect([await daemon.pass(asking(ovs)), daemon.error()]).toEqual(["settled", ""]);
    expect(kernel.ovs.listBridges()[bridge]).toEqual([uplink, other].sort());
  });
});

describe("what the host uses a PF for, in the boot file", () => {
  const usesOf = async (kernel: FakeKernel) => (await bootConfigOf(kernel))?.hostUse;

  it("stays while the host has no such route, and ends when another interface has it", async () => {
    const kernel = newKernel();
    startNetwork(kernel, { default: uplink });
    await passUntilReboot(kernel, daemonIn(kernel), asking(linux));
    expect(await usesOf(kernel)).toEqual({ [pf]: ["default route"] });
    kernel.removeRoutesByHand();
    await passUntilReboot(kernel, daemonIn(kernel), asking(linux, 3));
    expect(await usesOf(kernel)).toEqual({ [pf]: ["default route"] });
    startNetwork(kernel, { default: other });
    await passUntilReboot(kernel, daemonIn(kernel), asking(linux, 4));
    expect(await usesOf(kernel)).toEqual({ "0000:01:00.1": ["default route"] });
  });

  it("causes no reboot when it changes, and the next boot obeys it", async () => {
    const kernel = newKernel();
    startNetwork(kernel, { default: uplink });
    await passUntilReboot(kernel, daemonIn(kernel), asking(linux));
    await bootWith(kernel, { default: uplink });
    for (const routes of [{ default: uplink }, {}, { default: other }]) {
      kernel.removeRoutesByHand();
      startNetwork(kernel, routes);
      const daemon = daemonIn(kernel);
      await daemon.pass(asking(linux));
      expect(daemon.error()).toContain(refusal("default route"));
    }
    expect([kernel.requestedReboots.length, await bridgeOfPf(kernel)]).toEqual([1, undefined]);

    await bootWith(kernel, { default: other });
    expect(await bridgeOfPf(kernel)).toBe(bridge);
  });

  it("does not keep the bridge away from its PF if the host has moved its address to the bridge", async () => {
    const kernel = newKernel();
    await passUntilReboot(kernel, daemonIn(kernel), asking(linux));
    await bootWith(kernel, {});
    startNetwork(kernel, { default: bridge });
    const daemon = daemonIn(kernel);
    expect([await daemon.pass(asking(linux)), daemon.shown()[0]?.hostUse]).toEqual(["settled", ["default route"]]);
    expect(await usesOf(kernel)).toEqual({});
    await bootWith(kernel, {});
    expect(await bridgeOfPf(kernel)).toBe(bridge);
  });
});

describe("a change that cuts a node in systemd mode off from its network", () => {
  const asked: SriovNetworkNodeState = {
    ...asking({}),
    spec: { interfaces: [{ pciAddress: pf, numVfs: 2, mtu: 9000 }] },
  };
  const guardedDaemonIn = (kernel: FakeKernel) => daemonIn(kernel, [apiServer], 30);
  const mtuOf = async (kernel: FakeKernel) =>
    (await kernel.host().links.listLinks()).find(({ name }) => name === uplink)?.mtu;

  async function booted(kernel: FakeKernel) {
    startNetwork(kernel, { default: uplink });
    await passUntilReboot(kernel, guardedDaemonIn(kernel), asked);
    return await bootWith(kernel, { default: uplink });
  }

  it("is undone by the boot, and neither made again by the next boot nor a reason to reboot", async () => {
    const kernel = createFakeKernel({ nics: [withQuirks(igb(pf), { losesConnectivity: { mtuAbove: 4000 } })] });
    const { pre, post } = await booted(kernel);
    expect(pre.exitCode).toBe(0);
    expect([post.exitCode, await mtuOf(kernel), await vfCountOf(kernel)]).toEqual([1, 1500, 0]);
    const daemon = guardedDaemonIn(kernel);
    await daemon.pass(asked);
    expect(daemon.error()).toMatch(/the node lost its network by this change: .*default gateway .* worked before it/);
    expect(daemon.status().conditions?.find(({ type }) => type === "RolledBack")?.reason).toBe("GatewayUnreachable");
    expect(kernel.requestedReboots.length).toBe(1);
    await bootWith(kernel, { default: uplink });
    expect([await mtuOf(kernel), await vfCountOf(kernel)]).toEqual([1500, 0]);
  });

  it("is undone by the daemon if the second phase was killed before it could decide", async () => {
    const kernel = createFakeKernel({ nics: [withQuirks(igb(pf), { losesConnectivity: { mtuAbove: 4000 } })] });
    startNetwork(kernel, { default: uplink });
    await passUntilReboot(kernel, guardedDaemonIn(kernel), asked);
    kernel.reboot();
    await run(kernel, "pre");
    startNetwork(kernel, { default: uplink });
    expect(await mtuOf(kernel)).toBe(9000);
    await guardedDaemonIn(kernel).pass(asked);
    expect(await mtuOf(kernel)).toBe(1500);
  });

  it("is kept if the gateway answers after the boot, although the API server starts later", async () => {
    const kernel = newKernel();
    startNetwork(kernel, { default: uplink });
    await passUntilReboot(kernel, guardedDaemonIn(kernel), asked);
    kernel.silenceByHand(apiServer, true);
    const { post } = await bootWith(kernel, { default: uplink });
    expect([post.exitCode, await mtuOf(kernel), await vfCountOf(kernel)]).toEqual([0, 9000, 2]);
  });
});
