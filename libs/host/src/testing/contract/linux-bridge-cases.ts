// SPDX-License-Identifier: Apache-2.0
/** Contract cases of Linux bridges and of routes. */
import assert from "node:assert/strict";
import type { Host } from "../../ports/host.ts";
import type { ObservedLinuxBridge } from "../../ports/linux-bridges.ts";
import { assertRefused, linkOf, type ContractCase } from "./world.ts";

const name = "br-0000_01_00.0";

async function bridge(host: Host, wanted = name): Promise<ObservedLinuxBridge> {
  const found = (await host.linuxBridges.listBridges()).find((each) => each.name === wanted);
  assert(found, `bridge ${wanted}`);
  return found;
}

/** What a new bridge has. */
const fresh = {
  name,
  isOwn: true,
  isComplete: true,
  adminUp: false,
  vlanFiltering: false,
  vlanProtocol: "802.1Q",
  ports: [],
};

const foreign = "the bridge belongs to another program";

export const linuxBridgeCases: readonly ContractCase[] = [
  {
    name: "creates a bridge that is down, has a mark and the defaults of the kernel, and deletes it",
    async run({ host }) {
      assert.deepEqual(await host.linuxBridges.listBridges(), []);
      await host.linuxBridges.createBridge(name);
      assert.deepEqual(await host.linuxBridges.listBridges(), [fresh]);
      await host.linuxBridges.createBridge(name); // without effect
      assert.deepEqual(await host.linuxBridges.listBridges(), [fresh]);
      await host.linuxBridges.deleteBridge(name);
      assert.deepEqual(await host.linuxBridges.listBridges(), []);
    },
  },
  {
    name: "refuses to create a bridge with the name of another interface",
    async run({ host, pfs: [pf] }) {
      await assertRefused(host.linuxBridges.createBridge((await linkOf(host, pf)).name), "EEXIST");
    },
  },
  {
    name: "refuses all changes of a bridge that another program has created",
    async run({ host, pfs: [pf], addLink }) {
      await addLink(name, "bridge");
      const port = (await linkOf(host, pf)).name;
      const { linuxBridges } = host;
      const before = await linuxBridges.listBridges();
      assert.deepEqual(before, [{ ...fresh, isOwn: false, isComplete: false, adminUp: true }]);
      await assertRefused(linuxBridges.createBridge(name), "EEXIST", foreign);
      for (const refused of [
        linuxBridges.setVlans(name, { filtering: true, protocol: "802.1ad" }),
        linuxBridges.addPort(name, port),
        linuxBridges.removePort(name, port),
        linuxBridges.setPort(name, port, { learning: 0 }),
        linuxBridges.setAdminUp(name, false),
        linuxBridges.deleteBridge(name),
      ]) {
        await assertRefused(refused, "EPERM", foreign);
      }
      assert.deepEqual(await linuxBridges.listBridges(), before);
    },
  },
  {
    name: "sets the VLANs and the administrative state of a bridge",
    async run({ host: { linuxBridges, ...host } }) {
      await linuxBridges.createBridge(name);
      await linuxBridges.setVlans(name, { filtering: true, protocol: "802.1ad" });
      await linuxBridges.setAdminUp(name, true);
      const changed = await bridge({ ...host, linuxBridges });
      assert.deepEqual(changed, { ...fresh, adminUp: true, vlanFiltering: true, vlanProtocol: "802.1ad" });
      await linuxBridges.setVlans(name, { filtering: false, protocol: "802.1Q" });
      await linuxBridges.setAdminUp(name, false);
      assert.deepEqual(await linuxBridges.listBridges(), [fresh]);
    },
  },
  {
    name: "adds an interface to a bridge and releases it, with an event each time",
    async run({ host, pfs: [pf] }) {
      const port = (await linkOf(host, pf)).name;
      await host.linuxBridges.createBridge(name);
      for (const isPort of [true, false]) {
        const end = new AbortController();
        const events = host.events.watch(end.signal);
        if (isPort) await host.linuxBridges.addPort(name, port);
        else await host.linuxBridges.removePort(name, port);
        for await (const event of events) if (event.kind === "link" && event.name === port) break;
        end.abort();
        const { ports } = await bridge(host);
        const parent = { bus: "pci", name: pf };
        assert.deepEqual(
          ports.map(({ settings: _, ...rest }) => rest),
          isPort ? [{ name: port, parent }] : [],
        );
        const links = await host.links.listLinks();
        const master = links.find(({ name: other }) => other === name);
        assert.equal(master?.kind, "bridge");
        assert.equal((await linkOf(host, pf)).masterIndex, isPort ? master.index : undefined);
      }
      await assertRefused(host.linuxBridges.removePort(name, port), "EINVAL", "not a port of the bridge");
      await assertRefused(host.linuxBridges.addPort(name, "absent"), "ENODEV");
    },
  },
  {
    name: "does not take an interface away from another bridge",
    async run({ host, pfs: [pf], addLink, setMaster }) {
      const port = (await linkOf(host, pf)).name;
      await addLink("user0", "bridge");
      await setMaster(port, "user0");
      await host.linuxBridges.createBridge(name);
      const refused = host.linuxBridges.addPort(name, port);
      await assertRefused(refused, "EBUSY", "port of another interface");
      await assertRefused(host.linuxBridges.removePort(name, port), "EINVAL", "not a port of the bridge");
      const user = (await host.links.listLinks()).find(({ name: other }) => other === "user0");
      assert.equal((await linkOf(host, pf)).masterIndex, user?.index);
    },
  },
  {
    name: "changes the settings of a port, which a new port does not have",
    async run({ host, pfs: [pf] }) {
      const { linuxBridges } = host;
      const port = (await linkOf(host, pf)).name;
      const settings = async () => (await bridge(host)).ports[0]?.settings ?? {};
      await linuxBridges.createBridge(name);
      await linuxBridges.addPort(name, port);
      const { path_cost: cost, ...initial } = await settings();
      assert(cost !== undefined && cost > 0);
      assert.deepEqual(initial, {
        priority: 32,
        hairpin_mode: 0,
        bpdu_guard: 0,
        root_block: 0,
        multicast_fast_leave: 0,
        learning: 1,
        unicast_flood: 1,
        proxyarp: 0,
        proxyarp_wifi: 0,
        multicast_router: 1,
        multicast_flood: 1,
        multicast_to_unicast: 0,
        broadcast_flood: 1,
        neigh_suppress: 0,
        isolated: 0,
      });
      const others = { ...initial, path_cost: 1_000, learning: 0, isolated: 1, priority: 5, multicast_router: 2 };
      const { path_cost, learning, isolated, priority, multicast_router } = others;
      await linuxBridges.setPort(name, port, { path_cost, learning, isolated, priority, multicast_router });
      assert.deepEqual(await settings(), others);
      for (const bad of [{ "../state": 0 }, { learning: 256 }, { learning: -1 }]) {
        const [[setting, value] = []] = Object.entries(bad);
        await assertRefused(linuxBridges.setPort(name, port, bad), "EINVAL", `${setting} cannot be ${value}`);
      }
      assert.deepEqual(await settings(), others);
      await linuxBridges.removePort(name, port);
      await linuxBridges.addPort(name, port);
      assert.deepEqual({ ...(await settings()), path_cost: 0 }, { ...initial, path_cost: 0 });
    },
  },
  {
    name: "releases the ports of a bridge that is deleted",
    async run({ host, pfs: [pf] }) {
      const port = (await linkOf(host, pf)).name;
      await host.linuxBridges.createBridge(name);
      await host.linuxBridges.addPort(name, port);
      await host.linuxBridges.deleteBridge(name);
      assert.equal((await linkOf(host, pf)).masterIndex, undefined);
      await assertRefused(host.linuxBridges.deleteBridge(name), "ENODEV");
      await assertRefused(host.linuxBridges.addPort(name, port), "ENODEV");
    },
  },
  {
    name: "lists the kind of virtual interfaces, and the interface below a VLAN",
    async run({ host, pfs: [pf], addLink }) {
      const { index, name: lower } = await linkOf(host, pf);
      await addLink("vlan5", "vlan", lower);
      const found = (await host.links.listLinks()).find((link) => link.name === "vlan5");
      assert.deepEqual([found?.kind, found?.lowerIndex, found?.masterIndex], ["vlan", index, undefined]);
    },
  },
  {
    name: "lists the interfaces of default routes and of the route to an address",
    async run({ host, pfs: [pf, other], addRoute }) {
      const [first, second] = [await linkOf(host, pf), await linkOf(host, other)];
      const before = await host.routes.listDefaultRouteLinks(); // the machine itself can have one
      await addRoute("default", second.name);
      const after = [...new Set([...before, second.index])].sort((a, b) => a - b);
      assert.deepEqual(await host.routes.listDefaultRouteLinks(), after);
      await addRoute("192.0.2.1", first.name);
      await addRoute("192.0.2.2", second.name);
      assert.deepEqual(await host.routes.listRouteLinks("192.0.2.1"), [first.index]);
      assert.deepEqual(await host.routes.listRouteLinks("192.0.2.2"), [second.index]);
      await assertRefused(host.routes.listRouteLinks("example"), "EINVAL");
    },
  },
  {
    name: "asks only what is an IP address whether it answers",
    async run({ host, pfs: [pf] }) {
      const { index } = await linkOf(host, pf);
      await assertRefused(host.connectivity.readAnswer("example", 443, 100), "EINVAL");
      await assertRefused(host.connectivity.readNeighbourAnswer({ address: "example", link: index }, 100), "EINVAL");
    },
  },
  {
    name: "lists the networks of the addresses of the host with their interfaces",
    async run({ host, pfs: [pf], addRoute }) {
      const { index, name } = await linkOf(host, pf);
      await addRoute("198.18.0.0/24", name);
      const found = (await host.routes.listConnectedNetworks()).filter(({ network }) => network === "198.18.0.0/24");
      assert.deepEqual(found, [{ network: "198.18.0.0/24", links: [index] }]);
    },
  },
];
