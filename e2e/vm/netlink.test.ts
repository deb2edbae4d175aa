// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the functions of libs/netlink that the kernel of this machine may not support, on a stock Debian kernel,
 * against iproute2 and ethtool.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { bootGuest, bundleForGuest, type Guest } from "@switchyard/vm-lab";
import { disposeOf } from "../src/dispose-of.ts";

const limitMs = 180_000;
let guest: Guest;

beforeAll(async () => {
  guest = await bootGuest({
    udev: true,
    share: await bundleForGuest("libs/netlink/src/testing/call-verb.ts"),
  });
}, 900_000);
afterAll(async () => {
  await disposeOf(guest);
});

async function run(command: string): Promise<string> {
  const { code, stdout, stderr } = await guest.exec(command, { timeoutMs: limitMs });
  expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
  return stdout.trim();
}

/** Calls a function of the library in the guest. */
async function call(verb: string, ...values: readonly unknown[]): Promise<unknown> {
  const words = values.map((value) => `'${JSON.stringify(value)}'`).join(" ");
  return JSON.parse(await run(`node /share/main.mjs ${verb} ${words}`)) as unknown;
}

const error = (code: string): unknown => ({ error: expect.objectContaining({ code }) });

describe("Linux bridges", () => {
  it("are created, configured, connected to ports, listed and deleted", async () => {
    await call("createBridge", { name: "br0", vlanFiltering: true, vlanProtocol: "802.1ad" });
    await call("setLinkAlias", "br0", "ours");
    const [shown] = JSON.parse(await run("ip -json -details link show br0")) as [
      { ifindex: number; ifalias: string; linkinfo: { info_data: Record<string, unknown> } },
    ];
    expect(shown).toMatchObject({
      ifalias: "ours",
      linkinfo: { info_data: { vlan_filtering: 1, vlan_protocol: "802.1ad" } },
    });
    const index = shown.ifindex;
    expect(await call("listBridges")).toEqual([
      {
        index,
        name: "br0",
        alias: "ours",
        group: 0,
        adminUp: false,
        vlanFiltering: true,
        vlanProtocol: "802.1ad",
      },
    ]);
    expect(await call("createBridge", { name: "br0" })).toEqual(error("EEXIST"));

    await call("setMaster", "enp1s0f1", index);
    expect(await run("readlink /sys/class/net/enp1s0f1/master")).toMatch(/br0$/);
    await call("setBridgePort", "enp1s0f1", { learning: 0, priority: 7, path_cost: 1_000, isolated: 1 });
    const files = ["learning", "priority", "path_cost", "isolated", "unicast_flood"];
    const brport = files.map((file) => `/sys/class/net/enp1s0f1/brport/${file}`);
    expect(await run(`cat ${brport.join(" ")}`)).toBe("0\n7\n1000\n1\n1");
    const parent = { bus: "pci", name: "0000:01:00.1" };
    const settings: unknown = expect.objectContaining({ learning: 0, priority: 7, path_cost: 1_000, isolated: 1 });
    expect(await call("listBridgePorts", index)).toEqual([
      { index: expect.any(Number), name: "enp1s0f1", parent, settings },
    ]);
    expect(await call("getLink", "enp1s0f1")).toMatchObject({ masterIndex: index });
    await call("setBridge", { name: "br0", vlanFiltering: false, vlanProtocol: "802.1Q" });
    expect(await call("listBridges")).toMatchObject([{ vlanFiltering: false, vlanProtocol: "802.1Q" }]);
    await call("setMaster", "enp1s0f1", 0);
    expect(await run("ls /sys/class/net/br0/brif")).toBe("");

    await call("deleteLink", "br0");
    expect(await call("listBridges")).toEqual([]);
    expect(await call("deleteLink", "br0")).toEqual(error("ENODEV"));
    await call("createBridge", { name: "br1", group: 42 });
    expect(await run("ip -o link show group 42")).toContain("br1");
    expect(await call("listBridges")).toMatchObject([{ name: "br1", group: 42 }]);
    await call("deleteLink", "br1");
    expect(await call("deleteLink", "enp1s0f1")).toEqual(error("EOPNOTSUPP"));
  }, 300_000);
});

describe("features", () => {
  it("are read and changed", async () => {
    const read = async () => (await call("getFeatures", "enp1s0f0")) as { active: string[]; changeable: string[] };
    const shown = async (name: string) => run(`ethtool -k enp1s0f0 | grep "^\\s*${name}:"`);
    const name = "rx-all";
    expect(await call("getFeatures", "enp1s0f0")).not.toHaveProperty("error");
    expect((await read()).changeable).toContain(name);
    for (const on of [true, false]) {
      expect(await call("setFeature", "enp1s0f0", { name, on })).toBe(true);
      expect((await read()).active.includes(name)).toBe(on);
      expect(await shown(name)).toContain(on ? "on" : "off");
    }
    // Changing a fixed feature has no effect and returns no error.
    expect((await read()).changeable).not.toContain("netns-local");
    expect(await call("setFeature", "enp1s0f0", { name: "tx-fcoe-segmentation", on: true })).toBe(false);
    expect(await call("setFeature", "enp1s0f0", { name: "no-such-feature", on: true })).toEqual(error("EOPNOTSUPP"));
    expect(await call("getFeatures", "nowhere0")).toEqual(error("ENODEV"));
  }, 300_000);
});

describe("vDPA devices", () => {
  it("are added to a management device, listed and deleted", async () => {
    await run("modprobe vdpa_sim_net");
    const management = { device: "vdpasim_net" };
    expect(await call("listVdpaManagementDevices")).not.toHaveProperty("error");
    expect(await call("listVdpaManagementDevices")).toContainEqual({
      ...management,
      maxVirtqueues: expect.any(Number),
    });
    await call("addVdpaDevice", { name: "vdpa0", management });
    const { dev } = JSON.parse(await run("vdpa -j dev show")) as { dev: Record<string, { max_vqs: number }> };
    expect(await call("listVdpaDevices")).toEqual([
      { name: "vdpa0", management, deviceId: 1, maxVirtqueues: dev["vdpa0"]?.max_vqs },
    ]);
    expect(await call("addVdpaDevice", { name: "vdpa0", management })).toEqual(error("EEXIST"));
    expect(await call("addVdpaDevice", { name: "x", management: { bus: "pci", device: "0000:01:00.0" } })).toEqual(
      error("ENODEV"),
    );
    await call("deleteVdpaDevice", "vdpa0");
    expect(await call("listVdpaDevices")).toEqual([]);
    expect(await call("deleteVdpaDevice", "vdpa0")).toEqual(error("ENODEV"));
  }, 300_000);
});

describe("the RDMA mode", () => {
  it("is changed", async () => {
    for (const mode of ["exclusive", "shared"]) {
      await call("setRdmaMode", mode);
      expect(await call("getRdmaMode")).toBe(mode);
      expect(await run("rdma system show")).toContain(`netns ${mode}`);
    }
  }, 300_000);
});
