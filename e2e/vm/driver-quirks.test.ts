// SPDX-License-Identifier: Apache-2.0
/**
 * Tests quirks of drivers on a real kernel. The lab's test drivers create fewer VFs, refuse a number or an eswitch mode, create
 * interfaces late, and number ports in their own way. The fake kernel has the same quirks (driver-quirks.ts).
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { GuestDaemon } from "@switchyard/vm-lab/guest-node";
import { applyPolicy, policyIs, policySpec, type NodeLog, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const within = { withinMs: 240_000 };
const pf = "0000:01:00.0";
const sysfs = `/sys/bus/pci/devices/${pf}`;
const firstPort = 3;
const uplink = `enp1s0f0np${firstPort}`;
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let daemon: GuestDaemon;

beforeAll(async () => {
  watched = await startWatchedNode({
    udev: true,
    driver: "igbsw",
    vfDriver: "igbvfsw",
    kernelArguments: [`igbsw.lab_first_port=${firstPort}`],
  });
  ({ testCluster, news } = watched);
  daemon = watched.node.startDaemon();
}, 900_000);

afterAll(async () => {
  daemon.kill("SIGTERM");
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);
const set = (parameter: string, value: number, module = "igbsw") =>
  inGuest(`modprobe ${module}; echo ${value} >/sys/module/${module}/parameters/${parameter}`);
const numVfs = () => inGuest(`cat ${sysfs}/sriov_numvfs`);
const drivers = () => inGuest(`for vf in ${sysfs}/virtfn*; do basename $(readlink $vf/driver); done`);
const status = () => news.states.get("vm")?.status;
const vfsOfStatus = () => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf)?.Vfs ?? [];

async function ask(settings: {
  readonly numVfs: number;
  readonly eSwitchMode?: "switchdev" | "legacy";
}): Promise<void> {
  await applyPolicy(testCluster, "quirks", policySpec({ pfNames: [uplink] }, { ...settings, resourceName: "quirks" }));
}

async function isReady(): Promise<void> {
  await policyIs(news, "quirks", "Ready", within.withinMs);
}

async function isRefused(text: string): Promise<void> {
  await eventually(`lastSyncError has "${text}"`, () => status()?.lastSyncError?.includes(text) === true, within);
}

describe("a driver with quirks", () => {
  it("that creates fewer VFs than requested keeps them, and the node says so", async () => {
    await set("lab_max_vfs", 3);
    await ask({ numVfs: 5 });
    await isRefused("5 VFs were requested, but the driver of 0000:01:00.0 created only 3");
    expect([await numVfs(), await drivers()]).toEqual(["3", "igbvf\nigbvf\nigbvf"]);
    await set("lab_max_vfs", 0);
  }, 600_000);

  it("that refuses a number keeps the former VFs, and the node has the errno and the line of the kernel log", async () => {
    await ask({ numVfs: 2 });
    await isReady();
    const before = await inGuest(`ip link show ${uplink} | grep -o "link/ether [^ ]*" | tail -n +2`);
    await set("lab_refuse_above", 4);
    await ask({ numVfs: 6 });
    await isRefused("ENOSPC");
    await isRefused("Only 4 interrupts available for VFs");
    await eventually("the former VFs are back", async () => (await drivers()) === "igbvf\nigbvf", within);
    expect(await inGuest(`ip link show ${uplink} | grep -o "link/ether [^ ]*" | tail -n +2`)).toBe(before);
    await set("lab_refuse_above", 0);
  }, 600_000);

  it("whose VFs the kernel does not probe gets them bound nevertheless", async () => {
    await inGuest(`echo 0 >${sysfs}/sriov_drivers_autoprobe`);
    await ask({ numVfs: 3 });
    await isReady();
    expect(await drivers()).toBe("igbvf\nigbvf\nigbvf");
    await inGuest(`echo 1 >${sysfs}/sriov_drivers_autoprobe`);
  }, 600_000);

  it("whose interfaces appear late is ready with them", async () => {
    await set("lab_interface_ms", 3_000, "igbvfsw");
    await ask({ numVfs: 4 });
    await isReady();
    expect(vfsOfStatus().map(({ name }) => name)).toEqual([0, 1, 2, 3].map((vf) => `enp1s0f0v${vf}`));
    await set("lab_interface_ms", 0, "igbvfsw");
  }, 600_000);

  it("that refuses an eswitch mode keeps the VFs with their drivers", async () => {
    await set("lab_refuse_mode", 95);
    await ask({ numVfs: 4, eSwitchMode: "switchdev" });
    await isRefused("EOPNOTSUPP (igbsw: the lab refuses to change the mode)");
    await eventually(
      "the VFs have their drivers",
      async () => (await drivers()) === Array(4).fill("igbvf").join("\n"),
      within,
    );
    expect(await numVfs()).toBe("4");
    await set("lab_refuse_mode", 0);
  }, 600_000);

  it("that numbers ports in another way than PCI functions has the representors of its own port", async () => {
    await ask({ numVfs: 2, eSwitchMode: "switchdev" });
    await isReady();
    const names = vfsOfStatus().map(({ representorName = "" }) => representorName);
    const ports = await inGuest(`cd /sys/class/net; cat ${names.map((name) => `${name}/phys_port_name`).join(" ")}`);
    expect(ports).toBe(`pf${firstPort}vf0\npf${firstPort}vf1`);
  }, 600_000);
});
