// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the firmware settings of Mellanox cards on a real kernel. igbsw has the ids of a ConnectX-5, programs in the
 * guest stand in for mstconfig and mstfwreset, and a bind mount stands in for sriov_totalvfs, which follows the
 * firmware. The VFs, systemd, the reboot, the API server and the operator are real. The last test runs Debian's
 * mstconfig, which refuses the emulated card.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { InterfaceStatus } from "@switchyard/api";
import { mstflintStandIn } from "@switchyard/host/testing";
import { applyPolicy, namespace, policyIs, policySpec, type NodeLog, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const pf = "0000:01:00.0";
const sysfs = `/sys/bus/pci/devices/${pf}`;
const uplink = "enp1s0f0np0";
const cards = "/var/lib/cards";
const settings = `${cards}/settings-0000:01:00`;
const rebootFile = "/etc/sriov-operator/reboot.json";
const desiredState = "sriovnetwork.openshift.io/desired-state";
const withinMs = 300_000;
const limitMs = 1_200_000;

let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;
/** The values that the annotation with the requested drain has had. */
let requests: string[] = [];

/** Starts a cluster with the node. Only a boot with systemd can be rebooted by the daemon, and it takes several times as long. */
async function startNode(boot: "fast" | "systemd"): Promise<void> {
  const ids = ["lab_vendor=0x15b3", "lab_device=0x1017", "lab_vf_device=0x1018"];
  watched = await startWatchedNode(
    { boot, udev: true, driver: "igbsw", kernelArguments: ids.map((id) => `igbsw.${id}`) },
    { commandLimitMs: withinMs },
  );
  ({ testCluster, news, node } = watched);
  news.states.subscribe(({ after }) => {
    const request = after?.metadata.annotations?.[desiredState];
    if (request !== undefined && request !== requests.at(-1)) requests.push(request);
  });
  const directory = await mkdtemp(join(tmpdir(), "switchyard-mstflint-"));
  await writeFile(join(directory, "program"), mstflintStandIn(cards));
  await writeFile(join(directory, "on-reset"), followFirmware);
  await node.guest.push(join(directory, "on-reset"), `${cards}/on-reset`);
  for (const name of ["mstconfig", "mstfwreset"]) {
    await node.guest.push(join(directory, "program"), `/usr/bin/${name}`, { mode: "755" });
  }
  await rm(directory, { recursive: true });
  await startCard();
}

afterEach(async () => {
  // A test that fails leaves its daemon, and the next daemon would wait for its lock.
  await inGuest('pkill -KILL -f "[m]ain.mjs --kubeconfig" || true');
  await inGuest(`rm -f ${cards}/mode ${rebootFile}; rm -f ${cards}/calls`);
  requests = [];
}, limitMs);

const inGuest = (command: string) => watched.inGuest(command);

/** sriov_totalvfs of both ports follows NUM_OF_VFS, up to the 7 VFs of the emulated card. */
const followFirmware = `count=$(sed -n 's/^NUM_OF_VFS [0-9]* \\([0-9]*\\) .*/\\1/p' ${settings})
[ "$count" -le 7 ] || count=7
for port in 0 1; do
  file=$(readlink -f /sys/bus/pci/devices/0000:01:00.$port)/sriov_totalvfs
  echo "$count" >${cards}/totalvfs-$port
  grep -q "$file" /proc/mounts || mount --bind ${cards}/totalvfs-$port "$file"
done
`;

/** After a boot, igbvf must know the VFs of the card, and the firmware uses the settings of the next boot. */
async function startCard(): Promise<void> {
  const driver = "/sys/bus/pci/drivers/igbvf/new_id";
  await inGuest(`modprobe igbvf; for id in 10ca 1018; do echo 15b3 $id >${driver}; done`);
  await inGuest(
    `[ -e ${settings} ] || printf 'SRIOV_EN 1 1 1\\nLINK_TYPE_P1 2 2 2\\nLINK_TYPE_P2 2 2 2\\n' >${settings}`,
  );
  await inGuest(`grep -q NUM_OF_VFS ${settings} || echo NUM_OF_VFS 4 4 4 >>${settings}`);
  await inGuest(
    `sed -i 's/^\\([A-Z0-9_]* [0-9]*\\) [0-9]* \\([0-9]*\\)$/\\1 \\2 \\2/' ${settings}; sh ${cards}/on-reset`,
  );
  expect(await inGuest(`cat ${sysfs}/vendor ${sysfs}/device`)).toBe("0x15b3\n0x1017");
}

async function setFirmwareByHand(count: number): Promise<void> {
  await inGuest(`sed -i 's/^NUM_OF_VFS .*/NUM_OF_VFS 4 ${count} ${count}/' ${settings}; sh ${cards}/on-reset`);
}

async function allowReset(isAllowed: boolean): Promise<void> {
  const patch = JSON.stringify({ spec: { featureGates: { mellanoxFirmwareReset: isAllowed } } });
  await testCluster.kubectl(["patch", "sriovoperatorconfig", "default", "-n", namespace, "--type=merge", "-p", patch]);
}

/** Returns the calls of a program that changes the firmware. */
async function changes(): Promise<readonly string[]> {
  const calls = (await inGuest(`cat ${cards}/calls 2>/dev/null || true`)).split("\n");
  return calls.filter((call) => / (?:set|reset)\b/.test(call));
}

const request = (numVfs: number) =>
  applyPolicy(testCluster, "many", policySpec({ pfNames: [uplink] }, { numVfs, resourceName: "many" }));

async function reset(): Promise<void> {
  await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);
  const state = `ls /etc/sriov-operator/pci; cat ${sysfs}/sriov_numvfs`;
  await eventually("the PF is released", async () => (await inGuest(state)) === "0", { withinMs });
}

const status = () => news.states.get("vm")?.status;
const card = (): InterfaceStatus | undefined => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf);
const failsWith = (text: string) =>
  eventually(`the node state has "${text}"`, () => status()?.lastSyncError?.includes(text), { withinMs });

const set = `mstconfig -d ${pf} -y set NUM_OF_VFS=6`;
const resetCard = `mstfwreset -d ${pf} --skip_driver -l 3 -y reset`;

describe("the firmware of a card that allows fewer VFs than a policy requests", () => {
  beforeAll(() => startNode("fast"), limitMs);
  afterAll(async () => {
    await disposeOf(watched);
  }, 60_000);

  it(
    "is changed and reset after a drain, and gets its earlier value back without the policy",
    async () => {
      const daemon = node.startDaemon();
      await request(6);
      await policyIs(news, "many", "Ready", withinMs);
      expect(await inGuest(`cat ${sysfs}/sriov_numvfs ${sysfs}/sriov_totalvfs`)).toBe("6\n6");
      expect(await changes()).toEqual([set, resetCard]);
      expect(requests).toContain("Drain_Required");
      expect(card()).toMatchObject({
        vendor: "15b3",
        deviceID: "1017",
        numVfs: 6,
        totalvfs: 6,
        firmware: { numVfs: { current: 6, next: 6 }, initial: { numVfs: 4 }, resetAllowed: true },
      });

      await reset();
      expect(await inGuest(`grep NUM_OF_VFS ${settings}`)).toBe("NUM_OF_VFS 4 6 4");
      expect(await changes()).toEqual([set, resetCard, `mstconfig -d ${pf} -y set NUM_OF_VFS=4`]);
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );

  it.each([
    { point: "the firmware is being changed", call: "mstconfig .* set" },
    { point: "the card is being reset", call: "mstfwreset" },
  ])(
    "converges after a SIGKILL while $point",
    async ({ call }) => {
      await setFirmwareByHand(4);
      const first = node.startDaemon();
      const isCalled = `grep -q '^${call}' ${cards}/calls 2>/dev/null`;
      const killed = inGuest(`until ${isCalled}; do :; done; pkill -KILL -f "[m]ain.mjs .*--kubeconfig"; echo killed`);
      await request(6);
      expect(await killed).toBe("killed");
      await first.exitCode;
      const second = node.startDaemon();
      await policyIs(news, "many", "Ready", withinMs);
      expect(await inGuest(`cat ${sysfs}/sriov_numvfs; grep NUM_OF_VFS ${settings}`)).toBe("6\nNUM_OF_VFS 4 6 6");
      await reset();
      expect(await inGuest(`grep NUM_OF_VFS ${settings}`)).toBe("NUM_OF_VFS 4 6 4");
      second.kill("SIGTERM");
      expect(await second.exitCode).toBe(0);
    },
    limitMs,
  );

  it.each([
    { does: "hangs", mode: "hang", words: "mstconfig did not end within 30 s" },
    { does: "refuses the card", mode: "refuse", words: "mstconfig: -E- Failed to open the device" },
    {
      does: "prints something else",
      mode: "garbage",
      words: "mstconfig printed no table of the settings of this card",
    },
  ])(
    "is reported as not changeable if mstconfig $does, and VFs within the limit are still created",
    async ({ mode, words }) => {
      await setFirmwareByHand(4);
      await inGuest(`echo ${mode} >${cards}/mode`);
      const daemon = node.startDaemon();
      await request(2);
      await policyIs(news, "many", "Ready", withinMs);
      await request(6);
      await failsWith(`6 VFs requested, but ${pf} supports at most 4, and its firmware settings cannot be changed: `);
      await failsWith(words);
      await policyIs(news, "many", "Degraded", withinMs);
      expect(await inGuest(`cat ${sysfs}/sriov_numvfs; pgrep -fc "[s]leep 600" || true`)).toBe("2\n0");
      expect(await changes()).toEqual([]);
      await reset();
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );

  it(
    "is reported with the words of Debian's mstconfig, which cannot open the emulated card",
    async () => {
      await setFirmwareByHand(4);
      await inGuest("cp /opt/mstflint/mstconfig /usr/bin/mstconfig");
      const daemon = node.startDaemon();
      await request(6);
      await failsWith(
        "cannot be changed: read firmware settings on 0000:01:00.0: FIRMWARE_TOOL_FAILED (mstconfig: -E-",
      );
      await reset();
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );
});

describe("the firmware of a card that must not be reset", () => {
  beforeAll(() => startNode("systemd"), limitMs);
  afterAll(async () => {
    await disposeOf(watched);
  }, 60_000);

  it(
    "is changed, and the node reboots once",
    async () => {
      await allowReset(false);
      const firstBoot = await inGuest("cat /proc/sys/kernel/random/boot_id");
      const daemon = node.startDaemon();
      const rebooted = node.guest.nextBoot();
      await request(6);
      await eventually(
        "the node reports that it reboots",
        () => status()?.conditions?.some(({ type, reason }) => type === "Ready" && reason === "Rebooting"),
        { withinMs },
      );
      // The container runtime stops the daemon during the shutdown. No runtime does it here.
      await inGuest(`until [ -e ${rebootFile} ]; do sleep 0.1; done`).catch(() => undefined);
      daemon.kill("SIGTERM");
      await rebooted;
      expect(await inGuest("cat /proc/sys/kernel/random/boot_id")).not.toBe(firstBoot);
      expect(requests).toContain("Reboot_Required");
      expect(JSON.parse(await inGuest(`cat ${rebootFile}`))).toEqual({
        bootId: firstBoot,
        causes: ["firmware 0000:01:00 NUM_OF_VFS=6"],
      });

      await startCard();
      const second = node.startDaemon();
      await policyIs(news, "many", "Ready", withinMs);
      expect(await inGuest(`cat ${sysfs}/sriov_numvfs; ls ${rebootFile} 2>&1 || true`)).toMatch(/^6\n.*No such file/);
      expect(await changes()).toEqual([set]);
      const events = ["get", "events.events.k8s.io", "-A", "-o", "jsonpath={.items[*].reason}"];
      const reasons = (await testCluster.kubectl(events)).split(" ");
      expect(reasons.filter((reason) => reason === "RebootNode")).toHaveLength(1);
      await reset();
      second.kill("SIGTERM");
      expect(await second.exitCode).toBe(0);
    },
    limitMs,
  );
});
