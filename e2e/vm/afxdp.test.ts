// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the config daemon with AF_XDP policies on a real kernel (igbsw in the VM lab, whose subfunctions have the kernel interfaces
 * of a ConnectX), with a real API server and the operator.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { macsOf, pciDevice, pf, startAfxdpNode, withinMs, type AfxdpNode } from "../src/nodes/afxdp-node.ts";

const parameters = "/sys/module/igbsw/parameters";
/** Drivers number PFs by port, and the port of function 0 need not be port 0. */
const pfNumber = 2;
let watched: AfxdpNode;

beforeAll(async () => {
  watched = await startAfxdpNode({ udev: true, kernelArguments: [`igbsw.lab_first_port=${pfNumber}`] });
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);
const setPolicy: AfxdpNode["setPolicy"] = (spec) => watched.setPolicy(spec);
const reports: AfxdpNode["reports"] = (object, expected) => watched.reports(object, expected);
const policyIsReady = () => watched.policyIsReady();
const subfunctions = () => watched.subfunctions();

const mode = async (): Promise<string> => {
  return / mode (\w+)/.exec(await inGuest(`devlink dev eswitch show ${pciDevice}`))?.[1] ?? "";
};

const startDaemon = () => watched.startDaemon();

async function stop(daemon: ReturnType<typeof startDaemon>): Promise<void> {
  daemon.kill("SIGTERM");
  expect(await daemon.exitCode).toBe(0);
}

/** A daemon that stops before the last step of a reset leaves the record, with the mode that the next reset restores. */
async function recordIsRemoved(): Promise<void> {
  const files = () => inGuest("find /etc/sriov-operator/afxdp -type f 2>&- | wc -l");
  await eventually("the record of the NIC is removed", async () => (await files()) === "0", { withinMs });
}

async function reset(): Promise<void> {
  await watched.testCluster.kubectl(["delete", "afxdpnetworknodepolicies", "--all"]);
  await eventually("the NIC is reset", async () => (await mode()) === "legacy", { withinMs });
  await recordIsRemoved();
  expect(await subfunctions()).toEqual([]);
  expect(await inGuest(`devlink port show | grep -c pcisf`)).toBe("0");
}

describe("AF_XDP devices on igbsw", () => {
  it("are created for a policy, keep their place in a change, and are removed with it", async () => {
    const daemon = startDaemon();
    await setPolicy({ numSfs: 2, mtu: 1400 });
    await policyIsReady();
    const two = await subfunctions();
    expect(two.map((one) => one.split(" ")[1])).toEqual(["1400", "1400"]);
    expect(await mode()).toBe("switchdev");
    const macs = macsOf(two);
    for (const mac of macs) expect(mac).toMatch(/^.[26ae]:/); // locally administered
    const made = { state: "active", mtu: 1400, poolName: "fast", owned: true, name: expect.any(String) };
    const device = expect.stringMatching(/^auxiliary\/mlx5_core\.sf\.\d+$/);
    await reports("afxdpnetworknodestate/vm", {
      syncStatus: "Succeeded",
      ...watched.isTrue("Ready"),
      interfaces: expect.arrayContaining([
        expect.objectContaining({
          pciAddress: pf,
          maxSfs: 64,
          numSfs: 2,
          eSwitchMode: "switchdev",
          initialESwitchMode: "legacy",
          subfunctions: macs.map((mac) => expect.objectContaining({ ...made, device, mac, assignedMac: mac })),
        }),
      ]),
    });
    await setPolicy({ numSfs: 4, mtu: 1400 });
    await reports("afxdpnetworknodestate/vm", {
      syncStatus: "Succeeded",
      interfaces: expect.arrayContaining([expect.objectContaining({ pciAddress: pf, numSfs: 4 })]),
    });
    const four = await subfunctions();
    expect(four.length).toBe(4);
    expect(four).toEqual(expect.arrayContaining([...two]));
    await stop(daemon);

    // As after a reboot: the kernel has forgotten the subfunctions.
    await inGuest(`devlink dev eswitch set ${pciDevice} mode legacy`);
    const next = startDaemon();
    await eventually("they are there again", async () => (await subfunctions()).length === 4, { withinMs });
    await policyIsReady();
    expect(macsOf(await subfunctions())).toEqual(macsOf(four));
    const [port = ""] = /pci\/0000:01:00\.0\/\d+(?=.* flavour pcisf)/.exec(await inGuest("devlink port show")) ?? [];
    await inGuest(
      `for change in "state inactive" "hw_addr 00:00:00:00:77:77" "state active"; do devlink port function set ${port} $change; done`,
    );
    const isRepaired = async () => macsOf(await subfunctions()).join() === macsOf(four).join();
    await eventually("a changed address is repaired", isRepaired, { withinMs });
    await policyIsReady();
    await reset();
    await stop(next);
  }, 600_000);

  it("get the interfaces that their driver creates only when it is told, as mlx5_core since Linux 6.5", async () => {
    await inGuest("echo Y >/sys/module/igbsw/parameters/lab_light_sfs");
    const daemon = startDaemon();
    await setPolicy({ numSfs: 2 });
    await policyIsReady();
    expect((await subfunctions()).map((one) => one.split(" ")[0])).toEqual(["0", "1"]);
    const shown = await inGuest("devlink dev param show auxiliary/mlx5_core.sf.2 name enable_eth");
    expect(shown).toMatch(/driverinit value true/);
    await inGuest("echo N >/sys/module/igbsw/parameters/lab_light_sfs");
    await reset();
    await stop(daemon);
  }, 600_000);

  it("carry packets between two network namespaces, through a bridge of their representors", async () => {
    const daemon = startDaemon();
    await setPolicy({ numSfs: 2 });
    await policyIsReady();
    const ports = await inGuest("devlink port show");
    const representors = [...ports.matchAll(/ netdev (\S+) flavour pcisf /g)].map(([, name]) => name);
    expect(representors.length).toBe(2);
    await inGuest("ip link add sfs type bridge && ip link set sfs up");
    for (const name of representors) await inGuest(`ip link set ${name} master sfs up`);
    const names = (await inGuest("ls -d /sys/bus/auxiliary/devices/*.sf.*/net/* | xargs -n1 basename")).split("\n");
    for (const [at, name] of names.entries()) {
      await inGuest(`ip netns add pod${at} && ip link set ${name} netns pod${at}`);
      await inGuest(`ip -n pod${at} addr add 192.0.2.${at + 1}/24 dev ${name} && ip -n pod${at} link set ${name} up`);
    }
    const ping = "ip netns exec pod0 busybox ping -c 1 -w 60 192.0.2.2 >/dev/null && echo answered";
    expect(await inGuest(ping)).toBe("answered");
    await inGuest("ip netns delete pod0; ip netns delete pod1; ip link delete sfs");
    await reset();
    await stop(daemon);
  }, 600_000);

  it("of the administrator stay, and are not counted", async () => {
    await inGuest(`devlink dev eswitch set ${pciDevice} mode switchdev`);
    const added = await inGuest(`devlink -j port add ${pciDevice} flavour pcisf pfnum ${pfNumber} sfnum 77`);
    const [port = ""] = /pci\/0000:01:00\.0\/\d+/.exec(added) ?? [];
    await inGuest(`devlink port function set ${port} hw_addr 00:00:00:00:77:77 state active; udevadm settle`);
    const foreign = await subfunctions();
    expect(foreign).toEqual([expect.stringMatching(/^77 1500 00:00:00:00:77:77 /)]);
    const daemon = startDaemon();
    await setPolicy({ numSfs: 2 });
    await policyIsReady();
    expect((await subfunctions()).length).toBe(3);
    await watched.testCluster.kubectl(["delete", "afxdpnetworknodepolicies", "--all"]);
    await eventually("the daemon's own are gone", async () => (await subfunctions()).length === 1, { withinMs });
    await recordIsRemoved();
    expect(await subfunctions()).toEqual(foreign);
    expect(await mode()).toBe("switchdev");
    await stop(daemon);
    await inGuest(`devlink port function set ${port} state inactive; devlink port del ${port}`);
    await inGuest(`devlink dev eswitch set ${pciDevice} mode legacy`);
  }, 600_000);

  it.each([
    { point: "the mode has changed", when: `devlink dev eswitch show ${pciDevice} | grep -q switchdev` },
    { point: "a subfunction is there", when: "devlink port show | grep -q pcisf" },
    { point: "a subfunction is active", when: "ls -d /sys/bus/auxiliary/devices/*.sf.* >/dev/null 2>&1" },
  ])(
    "are complete after a SIGKILL when $point, and nothing is left of them afterwards",
    async ({ when }) => {
      const first = startDaemon();
      const killed = inGuest(`until ${when}; do :; done; pkill -KILL -f "[m]ain.mjs .*--kubeconfig"; echo killed`);
      await setPolicy({ numSfs: 3, mtu: 1400 });
      expect(await killed).toBe("killed");
      await first.exitCode;
      const second = startDaemon();
      await policyIsReady();
      expect((await subfunctions()).length).toBe(3);
      await reset();
      await stop(second);
    },
    600_000,
  );

  it("are reported within the time limit if no driver takes their device, and configured when one does", async () => {
    await inGuest("echo 0 >/sys/bus/auxiliary/drivers_autoprobe");
    const daemon = startDaemon();
    await setPolicy({ numSfs: 2 });
    const error = `wait for network interface on subfunction 0 of ${pf}: ETIMEDOUT (its driver has created none after 10 s)`;
    await reports("afxdpnetworknodestate/vm", {
      syncStatus: "Failed",
      lastSyncError: expect.stringContaining(error),
      ...watched.isTrue("Degraded"),
    });
    await inGuest("echo 1 >/sys/bus/auxiliary/drivers_autoprobe");
    await policyIsReady();
    expect((await subfunctions()).length).toBe(2);
    await inGuest("echo 0 >/sys/bus/auxiliary/drivers_autoprobe");
    await setPolicy({ numSfs: 3 });
    await reports("afxdpnetworknodestate/vm", { syncStatus: "Failed" });
    await reset();
    await inGuest("echo 1 >/sys/bus/auxiliary/drivers_autoprobe");
    await stop(daemon);
  }, 600_000);

  it("show what the driver refuses, and come when it no longer does", async () => {
    await inGuest(`echo 16 > ${parameters}/lab_refuse_mode`);
    const daemon = startDaemon();
    await setPolicy({ numSfs: 1 });
    const refusal = "EBUSY (igbsw: the lab refuses to change the mode)";
    await reports("afxdpnetworknodestate/vm", {
      syncStatus: "Failed",
      lastSyncError: expect.stringContaining(refusal),
      ...watched.isTrue("Degraded"),
    });
    expect(await subfunctions()).toEqual([]);
    await inGuest(`echo 0 > ${parameters}/lab_refuse_mode`);
    await policyIsReady();
    expect((await subfunctions()).length).toBe(1);
    await reset();
    await stop(daemon);
  }, 600_000);
});
