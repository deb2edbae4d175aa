// SPDX-License-Identifier: Apache-2.0
/**
 * Implements Connectivity on the fake kernel. An address answers if a route leads to it over an interface whose port passes packets.
 * The interface must be up and not a port of a bridge, and no quirk of its card may be in the way (losesConnectivity).
 */
import { isIP } from "node:net";
import type { PciAddress } from "@switchyard/api";
import type { Connectivity } from "../ports/connectivity.ts";
import type { Routes } from "../ports/links.ts";
import type { QuirksByPf } from "./driver-quirks.ts";
import type { AnyFunction } from "./fake-functions.ts";
import type { Netdev, Netdevs } from "./fake-netdevs.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeConnectivityDeps {
  readonly netdevs: Netdevs;
  readonly routes: Routes;
  readonly quirks: QuirksByPf;
  readonly find: (address: PciAddress) => AnyFunction | undefined;
}

export interface FakeConnectivity {
  readonly port: Connectivity;
  /** Makes the address answer nobody, as a server that is down; false ends this. */
  silence(address: string, isSilent: boolean): void;
}

/** The gateway of each default route of the fake kernel. */
export const fakeGateway = "192.0.2.254";

export function createFakeConnectivity({ netdevs, routes, quirks, find }: FakeConnectivityDeps): FakeConnectivity {
  const silent = new Set<string>();

  function passes(index: number): boolean {
    const link = netdevs.listVisible().find((netdev) => netdev.index === index);
    if (link?.adminUp !== true || netdevs.listVisible().some(isBridgeOf(link))) return false;
    if (link.lowerIndex !== undefined) return passes(link.lowerIndex);
    if (link.kind === undefined) return link.parent === undefined || isPassing(link);
    return netdevs.listVisible().some((port) => port.masterIndex === index && port.adminUp && isPassing(port));
  }

  function isPassing({ parent, mtu }: Netdev): boolean {
    const fn = parent === undefined ? undefined : find(parent);
    if (fn?.kind !== "pf") return true;
    const { mtuAbove = Infinity, withVfs, inSwitchdev } = quirks.of(fn.pciAddress).losesConnectivity ?? {};
    const isSwitchdev = inSwitchdev === true && fn.eswitchMode === "switchdev";
    return mtu <= mtuAbove && !(withVfs === true && fn.vfs.length > 0) && !isSwitchdev;
  }

  const answersOver = (address: string, links: readonly number[]): boolean =>
    !silent.has(address) && links.some(passes);
  return {
    port: {
      async listGateways() {
        return (await routes.listDefaultRouteLinks()).map((link) => ({ address: fakeGateway, link }));
      },
      async readAnswer(address) {
        if (isIP(address) === 0) throw new Refusal("EINVAL");
        return answersOver(address, await routes.listRouteLinks(address));
      },
      readNeighbourAnswer: ({ address, link }) =>
        answer(() => {
          if (isIP(address) === 0) throw new Refusal("EINVAL");
          return answersOver(address, [link]);
        }),
    },
    silence(address, isSilent) {
      if (isSilent) silent.add(address);
      else silent.delete(address);
    },
  };
}

function isBridgeOf({ masterIndex }: Netdev): (other: Netdev) => boolean {
  return ({ index, kind }) => index === masterIndex && kind === "bridge";
}
