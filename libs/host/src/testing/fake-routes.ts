// SPDX-License-Identifier: Apache-2.0
/**
 * Implements Routes on the fake kernel, which has default routes, routes to single addresses and connected networks. A route ends with its
 * interface.
 */
import { isIP } from "node:net";
import type { Routes } from "../ports/links.ts";
import type { Netdevs } from "./fake-netdevs.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeRoutes {
  readonly port: Routes;
  /** Adds a route to "default", to an address, or to a connected network ("10.7.0.0/16"), through an interface. */
  add(destination: string, name: string): void;
  removeAll(): void;
}

export function createFakeRoutes(netdevs: Netdevs): FakeRoutes {
  const routes: { readonly destination: string; readonly index: number }[] = [];

  function linksTo(wanted: string): readonly number[] {
    const present = new Set(netdevs.listVisible().flatMap(({ index, adminUp }) => (adminUp ? [index] : [])));
    const found = routes.filter(({ destination, index }) => destination === wanted && present.has(index));
    return [...new Set(found.map(({ index }) => index))].sort((a, b) => a - b);
  }

  return {
    port: {
      listDefaultRouteLinks: () => answer(() => linksTo("default")),
      listConnectedNetworks: () =>
        answer(() => {
          const networks = new Set(routes.map(({ destination }) => destination).filter((each) => each.includes("/")));
          return [...networks]
            .map((network) => ({ network, links: linksTo(network) }))
            .filter(({ links }) => links.length > 0);
        }),
      listRouteLinks: (address) =>
        answer(() => {
          if (isIP(address) === 0) throw new Refusal("EINVAL");
          const specific = linksTo(address);
          return specific.length > 0 ? specific : linksTo("default").slice(0, 1);
        }),
    },
    add: (destination, name) => void routes.push({ destination, index: netdevs.find(name).index }),
    removeAll: () => void routes.splice(0),
  };
}
