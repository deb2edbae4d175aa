// SPDX-License-Identifier: Apache-2.0
/**
 * Tests eswitch modes, representors and udev rules on a real kernel (igbsw in the VM lab, which has an embedded switch), with
 * a real udev, a real API server and the operator.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { applyPolicy, type NodeLog, policyIs, policySpec, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const pf = "0000:01:00.0";
const sysfs = `/sys/bus/pci/devices/${pf}`;
/** Drivers number PFs by port, and the port of function 0 need not be port 0. */
const firstPort = 2;
const uplink = `enp1s0f0np${firstPort}`;
const rules = "/etc/udev/rules.d";
const parameters = "/sys/module/igbsw/parameters";
const within = { withinMs: 240_000 };
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode({
    udev: true,
    driver: "igbsw",
    kernelArguments: [`igbsw.lab_first_port=${firstPort}`],
  });
  ({ testCluster, news, node } = watched);
  await inGuest(`mkdir -p ${rules}; echo '# of the administrator' > ${rules}/99-admin.rules`);
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

const wanted = { numVfs: 3, eSwitchMode: "switchdev", resourceName: "switched" } as const;

async function applyWanted(): Promise<void> {
  await applyPolicy(testCluster, "switched", policySpec({ pfNames: [`${uplink}#0-1`] }, wanted));
  const userSpace = { ...wanted, deviceType: "vfio-pci", resourceName: "dpdk" } as const;
  await applyPolicy(testCluster, "dpdk", policySpec({ pfNames: [`${uplink}#2-2`] }, userSpace));
}

async function isReady(): Promise<void> {
  await policyIs(news, "switched", "Ready", within.withinMs);
  await policyIs(news, "dpdk", "Ready", within.withinMs);
}

async function reset(): Promise<void> {
  await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all"]);
  const state = `ls /etc/sriov-operator/pci; cat ${sysfs}/sriov_numvfs; devlink dev eswitch show pci/${pf}`;
  await eventually("the PF is reset", async () => /^0\n.* mode legacy /.test(await inGuest(state)), within);
}

const status = () => news.states.get("vm")?.status;
const vfsOfStatus = () => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf)?.Vfs ?? [];

/** Reads the state of the kernel and of udev. */
async function seen() {
  const properties = (name: string) => `udevadm info -q property /sys/class/net/${name} | grep -c NM_UNMANAGED=1`;
  return {
    mode: (await inGuest(`devlink dev eswitch show pci/${pf}`)).replace(/^\S+ /, ""),
    count: await inGuest(`cat ${sysfs}/sriov_numvfs`),
    drivers: await inGuest(`for n in 0 1 2; do basename $(readlink ${sysfs}/virtfn$n/driver); done`),
    representors: await inGuest(
      `cd /sys/class/net; for i in *; do echo $i $(cat $i/phys_port_name 2>/dev/null); done | grep pf${firstPort}vf`,
    ),
    offload: await inGuest(`ethtool -k ${uplink} | grep hw-tc-offload`),
    steering: await inGuest(`devlink dev param show pci/${pf} name flow_steering_mode | grep -o "value .*"`),
    unmanaged: await inGuest(`${properties("enp1s0f0v0")}; ${properties("enp1s0f0v1")}; ${properties(uplink)}`),
  };
}

const asWanted = {
  mode: "mode switchdev inline-mode none encap-mode none",
  count: "3",
  drivers: "igbvf\nigbvf\nvfio-pci",
  representors: [0, 1, 2].map((vf) => `${uplink}_${vf} pf${firstPort}vf${vf}`).join("\n"),
  offload: "hw-tc-offload: on",
  steering: "value smfs",
  unmanaged: "1\n1\n0",
};

describe("switchdev mode on igbsw", () => {
  it("is set with named representors, reported, and reset with the rules", async () => {
    const daemon = node.startDaemon();
    await applyWanted();
    await isReady();
    expect(await seen()).toEqual(asWanted);
    expect(vfsOfStatus().map(({ representorName }) => representorName)).toEqual(
      [0, 1, 2].map((vf) => `${uplink}_${vf}`),
    );
    expect(await inGuest(`ls ${rules}`)).toBe(
      [`10-nm-disable-${pf}.rules`, `10-pf-name-${pf}.rules`, `20-switchdev-${pf}.rules`, "99-admin.rules"].join("\n"),
    );
    await reset();
    expect(await inGuest(`ls ${rules}`)).toBe("99-admin.rules");
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 600_000);

  it.each([
    { point: "the VFs are there", when: `[ "$(cat ${sysfs}/sriov_numvfs)" = 3 ]` },
    { point: "the mode has changed", when: `devlink dev eswitch show pci/${pf} | grep -q switchdev` },
  ])(
    "converges after a SIGKILL when $point",
    async ({ when }) => {
      const first = node.startDaemon();
      const killed = inGuest(`until ${when}; do :; done; pkill -KILL -f "[m]ain.mjs .*--kubeconfig"; echo killed`);
      await applyWanted();
      expect(await killed).toBe("killed");
      await first.exitCode;
      const second = node.startDaemon();
      await isReady();
      expect(await seen()).toEqual(asWanted);
      await reset();
      second.kill("SIGTERM");
      expect(await second.exitCode).toBe(0);
    },
    600_000,
  );

  it("reports the driver's refusal on the node and the policy, leaves the PF as it was, and continues when it ends", async () => {
    await inGuest(`echo 16 > ${parameters}/lab_refuse_mode`);
    const daemon = node.startDaemon();
    await applyWanted();
    const refusal = `set eswitch mode switchdev on ${pf}: EBUSY (igbsw: the lab refuses to change the mode)`;
    await eventually(
      "the node state has the refusal",
      () => status()?.lastSyncError?.includes(refusal) === true,
      within,
    );
    expect(status()?.syncStatus).toBe("Failed");
    await eventually(
      "the policy has the refusal",
      () => JSON.stringify(news.policies.get("switched")?.status?.conditions ?? []).includes("the lab refuses"),
      within,
    );
    await eventually("the PF has no VFs", async () => (await inGuest(`cat ${sysfs}/sriov_numvfs`)) === "0", within);
    await inGuest(`echo 0 > ${parameters}/lab_refuse_mode`);
    await isReady();
    expect(await seen()).toEqual(asWanted);
    await reset();
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 600_000);

  it("names the VF whose representor never appears", async () => {
    await inGuest(`echo 1 > ${parameters}/lab_missing_representor`);
    const daemon = node.startDaemon();
    await applyWanted();
    await eventually(
      "the node state names the VF",
      () => status()?.lastSyncError?.includes(`VF 1 of ${pf} has no representor`) === true,
      within,
    );
    await inGuest(`echo -1 > ${parameters}/lab_missing_representor`);
    await reset();
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 600_000);
});
