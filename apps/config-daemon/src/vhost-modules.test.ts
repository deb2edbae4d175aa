// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import { createFakeKernel, igb } from "@switchyard/host/testing";
import { createVhostModules } from "./vhost-modules.ts";

const plain = { resourceName: "a", vfRange: "0-0" };
const needing: SriovNetworkNodeStateSpec = {
  interfaces: [
    { pciAddress: "0000:01:00.0", vfGroups: [plain] },
    { pciAddress: "0000:01:00.1", vfGroups: [plain, { ...plain, needVhostNet: true }] },
  ],
};

function setUp() {
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
  const loads = () => kernel.writes.filter(({ method }) => method === "load").map(({ args }) => args[0]);
  return { kernel, loads, load: createVhostModules(kernel.host()) };
}

describe("modules for needVhostNet", () => {
  it("are loaded once, where some VF needs them", async () => {
    const { load, loads } = setUp();
    expect(await load({ interfaces: [{ pciAddress: "0000:01:00.0", vfGroups: [plain] }] })).toEqual([]);
    expect(await load({})).toEqual([]);
    expect(loads()).toEqual([]);
    expect([await load(needing), await load(needing)]).toEqual([[], []]);
    expect(loads()).toEqual(["tun", "vhost_net"]);
  });

  it("that the host does not have are a problem of the spec, until it has them", async () => {
    const { kernel, load, loads } = setUp();
    const fault = kernel.fault({ port: "modules", target: "vhost_net" }, { code: "MODPROBE_FAILED", words: "FATAL" });
    expect(await load(needing)).toEqual([
      {
        code: "missing-module",
        field: "spec.interfaces[1].vfGroups[1].needVhostNet",
        message: "/dev/vhost-net is missing: load kernel module on vhost_net: MODPROBE_FAILED (FATAL)",
      },
    ]);
    fault.lift();
    expect(await load(needing)).toEqual([]);
    expect(loads()).toEqual(["tun", "vhost_net", "vhost_net"]);
  });

  it("are not missed where the device is there without them", async () => {
    const { kernel, load } = setUp();
    kernel.fault({ port: "modules", target: "tun" }, { code: "MODPROBE_FAILED" });
    kernel.writeFile("/dev/net/tun", "");
    expect(await load(needing)).toEqual([]);
  });
});
