// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, it } from "@jest/globals";
import { startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import { createLinuxOvs } from "../linux/ovs/linux-ovs.ts";
import type { Ovs } from "../ports/ovs.ts";
import { ovsCases, runOvsCase, type OvsWorld } from "./contract/ovs-cases.ts";
import { createFakeKernel } from "./fake-kernel.ts";
import { igb } from "./nic-models.ts";

describe("Open vSwitch of the fake kernel meets the contract", () => {
  it.each(ovsCases)("$name", async (ovsCase) => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], managesOvs: true });
    const { ovs } = kernel.host();
    /** Acts on the kernel directly. The call before it ensures that a watch has started. */
    const byHand =
      <Args extends readonly unknown[], Value>(act: (...args: Args) => Value) =>
      async (...args: Args): Promise<Value> => {
        await ovs.readState().catch(() => undefined);
        return act(...args);
      };
    const { addBridge, removeBridge, addPort, removePort, setOtherConfig, stop, start, stopSwitch, startSwitch } =
      kernel.ovs;
    await runOvsCase(ovsCase, {
      ovs,
      nics: ["enp1s0f0", "enp1s0f1"],
      addBridge: byHand(addBridge),
      removeBridge: byHand(removeBridge),
      addPort: byHand(addPort),
      removePort: byHand(removePort),
      setOtherConfig: byHand(setOtherConfig),
      listBridges: byHand(kernel.ovs.listBridges),
      readOtherConfig: byHand(kernel.ovs.readOtherConfig),
      stop: byHand(stop),
      start: byHand(start),
      stopSwitch: byHand(stopSwitch),
      startSwitch: byHand(startSwitch),
    });
  });
});

describe("a real Open vSwitch meets the contract", () => {
  let server: OpenVswitch;
  let ovs: Ovs & AsyncDisposable;
  beforeAll(async () => {
    server = await startOpenVswitch({ vswitchd: true });
    ovs = createLinuxOvs({ root: "/", address: server.endpoint, livenessMs: 500 });
  }, 300_000);
  afterAll(async () => {
    await ovs[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const lines = async (...args: readonly string[]) => (await server.vsctl(...args)).split("\n").filter((line) => line);

  function worldOf(): OvsWorld {
    const run = async (...args: readonly string[]): Promise<void> => {
      await server.vsctl(...args);
    };
    return {
      ovs,
      nics: ["nic0", "nic1"],
      addBridge: (name) => run("add-br", name),
      removeBridge: (name) => run("del-br", name),
      addPort: (bridge, name) => run("add-port", bridge, name),
      removePort: (name) => run("del-port", name),
      setOtherConfig: (bridge, key, value) => run("set", "Bridge", bridge, `other_config:${key}=${value}`),
      async listBridges() {
        const ports = new Map<string, readonly string[]>();
        for (const name of await lines("list-br")) ports.set(name, (await lines("list-ports", name)).sort());
        return Object.fromEntries(ports);
      },
      async readOtherConfig(bridge) {
        const text = (await server.vsctl("get", "Bridge", bridge, "other_config")).trim();
        const entries = [...text.matchAll(/(\w+)="?(\w+)"?/g)].map(([, key = "", value = ""]) => [key, value] as const);
        return Object.fromEntries(entries);
      },
      stop: () => server.stopServer(),
      start: () => server.startServer(),
      stopSwitch: () => server.stopVswitchd(),
      startSwitch: () => server.startVswitchd(),
    };
  }

  it.each(ovsCases)(
    "$name",
    async (ovsCase) => {
      await runOvsCase(ovsCase, worldOf());
    },
    120_000,
  );
});
