// SPDX-License-Identifier: Apache-2.0
/**
 * A property over random nodes on the fake kernel: what is Ready is usable. Cards, drivers, firmware, requests and what the host, other
 * programs and pods do to the devices are random. The daemon configures the node, and the device plugin's rules say what is offered.
 * Each device of a pool that is Ready must then receive a packet from the wire. `npm test` tries 100 nodes, the nightly run 1,600.
 */
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { AfxdpInterfaceSpec, AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import { nodePools } from "@switchyard/afxdp-device-plugin/pools";
import { afxdpOn } from "@switchyard/config-daemon/testing/afxdp";
import { createFakeKernel, ice, igb, mlx5, pci, type FakeKernel, type FakePort } from "@switchyard/host/testing";
import { afxdpDevices, createAfxdpRules, mergeAfxdpPolicies, poolVerdict } from "@switchyard/policy";

const pf = pci("0000:3b:00.0");

/** What a card, its driver and its firmware can be. */
const cards = {
  mlx5: () => mlx5(pf, { ports: 1 }),
  "mlx5 that probes lightly": () => changed(mlx5, { probesSubfunctionsLightly: true }),
  "mlx5 without subfunctions": () => without(mlx5),
  "mlx5 with a small MTU": () => changed(mlx5, { maxMtu: 2000 }),
  ice: () => ice(pf, { ports: 1 }),
  "ice without subfunctions": () => without(ice),
  igb: () => igb(pf, { ports: 1 }),
};

function changed(model: typeof mlx5, more: Partial<FakePort>) {
  return { ports: model(pf, { ports: 1 }).ports.map((port) => ({ ...port, ...more })) };
}

function without(model: typeof mlx5) {
  return { ports: model(pf, { ports: 1 }).ports.map(({ maxSubfunctions: _none, ...port }) => port) };
}

const disturbances = [
  "foreign program on the port",
  "foreign program on a device",
  "route on the port",
  "route on a device",
  "port in a bridge",
  "VLAN on the port",
  "port down",
  "representor down",
  "MTU of the port",
  "MTU of a representor",
  "driver fails on subfunctions",
  "device in a pod",
  "device in a pod and back",
] as const;

const node = fc.record({
  card: fc.constantFrom(...(Object.keys(cards) as (keyof typeof cards)[])),
  mode: fc.constantFrom("primary" as const, "subfunction" as const),
  numSfs: fc.integer({ min: 1, max: 3 }),
  mtu: fc.option(fc.constantFrom(1500, 3000, 9000), { nil: undefined }),
  queues: fc.option(fc.constantFrom(1, 4), { nil: undefined }),
  before: fc.array(fc.constantFrom(...disturbances), { maxLength: 2 }),
  during: fc.array(fc.constantFrom(...disturbances), { maxLength: 3 }),
});

type RandomNode = typeof node extends fc.Arbitrary<infer Value> ? Value : never;

const foreign = { id: 99, name: "xsk_def_prog", mode: "native", isOwn: false } as const;

/** Names of the interfaces that pods would get. */
async function devicesOf(kernel: FakeKernel, mode: AfxdpInterfaceSpec["mode"]): Promise<readonly string[]> {
  const host = kernel.host();
  if (mode === "subfunction") return (await host.subfunctions.list()).flatMap(({ netdev }) => netdev ?? []);
  return (await host.sriov.readPf(pf))?.netdevs.slice(0, 1) ?? [];
}

/** Does nothing if what it changes does not exist, or is so already. */
async function disturb(
  kernel: FakeKernel,
  what: (typeof disturbances)[number],
  mode: AfxdpInterfaceSpec["mode"],
): Promise<void> {
  const host = kernel.host();
  const links = await host.links.listLinks();
  const has = (name: string) => links.some((link) => link.name === name);
  const [port] = await devicesOf(kernel, "primary");
  const [device] = await devicesOf(kernel, mode);
  const [representor] = (await host.subfunctions.list()).flatMap((one) => one.representor ?? []);
  const target = what.includes("representor") ? representor : what.includes("port") ? port : device;
  if (what === "driver fails on subfunctions") kernel.failSubfunctionProbe(pf);
  if (target === undefined) return;
  if (what.startsWith("foreign program")) {
    if ((await host.xdp.readPrograms(target)).length === 0) kernel.attachXdpProgram(target, foreign);
  } else if (what.startsWith("route")) {
    await host.links.setAdminUp(target, true);
    kernel.addRouteByHand("default", target);
  } else if (what === "port in a bridge") {
    if (!has("br0")) kernel.addLinkByHand("br0", "bridge");
    kernel.setMasterByHand(target, "br0");
  } else if (what === "VLAN on the port") {
    if (!has("vlan7")) kernel.addLinkByHand("vlan7", "vlan", target);
  } else if (what.endsWith("down")) await host.links.setAdminUp(target, false);
  else if (what.startsWith("MTU")) await host.links.setMtu(target, 1300);
  else if (what.startsWith("device in a pod")) {
    const back = kernel.moveLinkToPod(target);
    if (what.endsWith("back")) back();
  }
}

/** Returns why a packet from the wire does not reach the program of a pod that gets the device; undefined if it does. */
async function obstacle(
  kernel: FakeKernel,
  name: string,
  mode: AfxdpInterfaceSpec["mode"],
): Promise<string | undefined> {
  const host = kernel.host();
  const links = await host.links.listLinks();
  const link = links.find((one) => one.name === name);
  if (link === undefined) return undefined; // a pod has it
  if ((await host.xdp.readPrograms(name)).some(({ isOwn }) => !isOwn)) return "another program takes its packets";
  if (link.masterIndex !== undefined) return "a bridge takes its packets";
  if (links.some(({ lowerIndex }) => lowerIndex === link.index)) return "the host uses it";
  if ((await host.routes.listDefaultRouteLinks()).includes(link.index)) return "the host loses its default route";
  const [portName] = await devicesOf(kernel, "primary");
  const port = links.find((one) => one.name === portName);
  if (port?.adminUp !== true) return "the port is down";
  if (mode === "primary") return undefined;
  const one = (await host.subfunctions.list()).find(({ netdev }) => netdev === name);
  const representor = links.find((each) => each.name === one?.representor);
  if (representor?.adminUp !== true) return "the representor is down";
  const least = Math.min(port.mtu, representor.mtu);
  return least < link.mtu ? `packets longer than ${least} do not reach it` : undefined;
}

/** Configures a random node. Returns each device of the pool with its obstacle if the pool is Ready. */
async function readyDevices(random: RandomNode): Promise<readonly string[]> {
  const { card, mode, numSfs, mtu, queues, before, during } = random;
  const kernel = createFakeKernel({ nics: [cards[card]()], udevMs: 0 });
  const daemon = afxdpOn(kernel.host(), { isDrained: () => true });
  for (const what of before) await disturb(kernel, what, mode);
  const policy = {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpNetworkNodePolicy",
    metadata: { name: "fast" },
    spec: {
      poolName: "fast",
      nodeSelector: {},
      nicSelector: { rootDevices: [pf] },
      ...(mode === "subfunction" && { numSfs }),
      ...(mtu !== undefined && { mtu }),
      ...(queues !== undefined && { queues }),
    },
  } as const;
  const rules = createAfxdpRules({ policies: [policy] });
  let spec: AfxdpNetworkNodeStateSpec = {};
  const merge = () => {
    const status = { interfaces: daemon.shown() };
    const worker = { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" } } as const;
    return mergeAfxdpPolicies(worker, afxdpDevices(status, undefined, spec), rules);
  };
  const pass = async () => {
    for (let count = 0; count < 4; count++) {
      await daemon.pass(spec);
      const merged = merge();
      if (JSON.stringify(merged.spec) === JSON.stringify(spec) && count > 1) break;
      ({ spec } = merged);
    }
  };
  await pass();
  for (const what of during) await disturb(kernel, what, mode);
  await pass();
  const status = { interfaces: daemon.shown() };
  const { pools, problems } = nodePools({ spec, status }, []);
  const offered = pools.find(({ name }) => name === "fast")?.devices ?? [];
  const found = [...(problems.get("fast") ?? [])];
  // What the plugin asks the kernel itself.
  for (const { name } of offered) {
    const isOnHost = (await kernel.host().links.listLinks()).some((link) => link.name === name);
    const programs = isOnHost ? await kernel.host().xdp.readPrograms(name) : [];
    if (programs.some(({ isOwn }) => !isOwn)) found.push(`device ${name}: a foreign program`);
  }
  const error = daemon.error();
  const { kind } = poolVerdict("fast", {
    spec,
    status: {
      syncStatus: error === "" ? "Succeeded" : "Failed",
      pools: [{ name: "fast", announced: offered.length, ...(found.length > 0 && { error: found.join("; ") }) }],
    },
  });
  const isRefused = merge().problems.some(({ severity }) => severity === "error");
  if (kind !== "ready" || isRefused || spec.interfaces === undefined) return [];
  return Promise.all(offered.map(async ({ name }) => (await obstacle(kernel, name, mode)) ?? "usable"));
}

describe("an AF_XDP policy that is Ready", () => {
  it("gives each pod that asks a device that receives packets", async () => {
    let usable = 0;
    await fc.assert(
      fc.asyncProperty(node, async (random) => {
        const devices = await readyDevices(random);
        expect(devices.filter((text) => text !== "usable")).toEqual([]);
        usable += devices.length;
      }),
      { numRuns: 400 },
    );
    expect(usable).toBeGreaterThan(20); // otherwise nothing was ever Ready
  });
});
