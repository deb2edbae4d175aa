// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus } from "@switchyard/api";
import type { NeededRoute } from "../observe/host-use.ts";
import { hostNetworkAtBoot } from "./host-network-at-boot.ts";

const pciAddress = "0000:01:00.0";
const pf: InterfaceStatus = { pciAddress, name: "enp1s0f0" };
const address = "192.0.2.1";
const toApiServer = `route to the API server ${address}`;
const nowhere: readonly NeededRoute[] = [
  { text: "default route", links: [] },
  { text: toApiServer, links: [] },
];
const elsewhere = nowhere.map(({ text }) => ({ text, links: [7] }));
const none = { hostUse: {}, apiServerAddresses: [] };

const recorded = (...uses: readonly string[]) => ({ hostUse: { [pciAddress]: uses }, apiServerAddresses: [address] });
const usesOf = (...given: Parameters<typeof hostNetworkAtBoot>) => hostNetworkAtBoot(...given).hostUse[pciAddress];

describe("hostNetworkAtBoot", () => {
  it("returns what is observed, and the addresses of the API server", () => {
    const found = { interfaces: [{ ...pf, hostUse: ["default route", "port of bond bond0"] }], routes: elsewhere };
    expect(hostNetworkAtBoot(found, [address], none)).toEqual(recorded("default route", "port of bond bond0"));
  });

  it.each([
    { what: "the host has no such route", found: { interfaces: [pf], routes: nowhere } },
    { what: "the interface is not there", found: { interfaces: [{ pciAddress }], routes: elsewhere } },
    { what: "the PF is not there", found: { interfaces: [], routes: elsewhere } },
    { what: "routes are not read", found: { interfaces: [pf] } },
    { what: "the host cannot be read", found: undefined },
  ])("keeps a recorded use while $what", ({ found }) => {
    expect(usesOf(found, [address], recorded("default route", toApiServer))).toEqual(["default route", toApiServer]);
  });

  it("ends a recorded use when another interface has the route", () => {
    expect(usesOf({ interfaces: [pf], routes: elsewhere }, [address], recorded("default route", toApiServer))).toBe(
      undefined,
    );
  });

  it("ends a recorded use that is not a route when it is not observed any more", () => {
    const before = recorded("port of bond bond0", "another program uses the name br-0000_01_00.0");
    expect(usesOf({ interfaces: [pf], routes: nowhere }, [address], before)).toBeUndefined();
  });

  it("keeps addresses of the API server, and routes to them, while its name cannot be looked up", () => {
    const found = { interfaces: [pf], routes: [{ text: "default route", links: [7] }] };
    expect(hostNetworkAtBoot(found, [], recorded(toApiServer))).toEqual(recorded(toApiServer));
    expect(hostNetworkAtBoot(found, ["192.0.2.2"], recorded(toApiServer))).toEqual({
      ...none,
      apiServerAddresses: ["192.0.2.2"],
    });
  });

  it("has no use for a PF whose bridge is Switchyard's, because the next boot must create the bridge again", () => {
    const attached = { ...pf, bridge: "br-0000_01_00.0", hostUse: ["default route"] };
    expect(usesOf({ interfaces: [attached], routes: elsewhere }, [], recorded("default route"))).toBeUndefined();
  });
});
