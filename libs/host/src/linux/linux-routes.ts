// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxRoutes implements Routes over rtnetlink.
 * Usage: `createLinuxRoutes(new NetlinkSocket({ protocol: protocols.route }))`.
 */
import { defaultRouteLinks, routeLinks, type NetlinkSocket } from "@switchyard/netlink";
import { operations } from "../calls/operations.ts";
import type { Routes } from "../ports/routes.ts";
import { askKernel } from "./ask-kernel.ts";

/** The caller disposes of the socket. */
export function createLinuxRoutes(socket: NetlinkSocket): Routes {
  const { routes: at } = operations;
  return {
    listDefaultRouteLinks: () => askKernel(at.listDefaultRouteLinks(), () => defaultRouteLinks(socket)),
    listRouteLinks: (address) => askKernel(at.listRouteLinks(address), () => routeLinks(socket, address)),
  };
}
