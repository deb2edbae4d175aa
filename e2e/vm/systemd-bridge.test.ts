// SPDX-License-Identifier: Apache-2.0
/**
 * Tests a Linux bridge in systemd mode on a PF that carries the default route of its host, with a real systemd, real
 * routes and real reboots. The units must not take the PF from the host, neither before nor after its network is up. A
 * unit with the name of ifupdown's stands in for the network service, and igbsw (igb with a simulated eswitch) for a
 * switchdev NIC.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  applyPolicy,
  enableFeatureGate,
  policyIs,
  policySpec,
  type NodeLog,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { disposeOf } from "../src/dispose-of.ts";
import { kubeletStandIn, startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

/** A boot with systemd takes twenty seconds, and several times as long on a loaded machine. */
const withinMs = 300_000;
const bridge = "br-0000_01_00.0";
const uplink = "enp1s0f0np0";
const other = "enp1s0f1np1";
const units = "-u sriov-config.service -u sriov-config-post-network.service";
const bootFile = "/etc/sriov-operator/sriov-interface-config.yaml";
const result = "/etc/sriov-operator/sriov-interface-result.yaml";

let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

/** Installs and starts the network service of the host, which gives an interface an address and the default route. */
function networkOn(name: string): string {
  const unit = [
    "[Unit]",
    "Before=network.target network-online.target",
    "[Service]",
    "Type=oneshot",
    "RemainAfterExit=yes",
    `ExecStart=/bin/sh -c 'ip link set ${name} up && ip address replace 198.51.100.10/24 dev ${name}'`,
    `ExecStart=/bin/sh -c 'ip route replace default via 198.51.100.1 dev ${name}'`,
    "[Install]",
    "WantedBy=multi-user.target",
  ];
  return [
    `printf '%s\\n' ${unit.map((line) => JSON.stringify(line)).join(" ")} >/etc/systemd/system/networking.service`,
    "systemctl daemon-reload",
    "systemctl enable networking.service",
    `ip address flush dev ${uplink}; ip address flush dev ${other}`,
    "systemctl restart networking.service",
    "ip route show default",
  ].join("\n");
}

beforeAll(async () => {
  watched = await startWatchedNode({ boot: "systemd", driver: "igbsw" }, { commandLimitMs: withinMs });
  ({ testCluster, news, node } = watched);
  await enableFeatureGate(testCluster, "manageSoftwareBridges");
  expect(await inGuest(networkOn(uplink))).toContain(`dev ${uplink}`);
  const found = [
    "cat /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs",
    `echo master: $(readlink /sys/class/net/${uplink}/master)`,
    "ip -o route show default",
  ];
  await inGuest(kubeletStandIn(found.join("; ")));
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);
const startDaemon = () => node.startDaemon(["--use-systemd-service=true", "--manage-software-bridges"]);
const lastSyncError = () => news.states.get("vm")?.status?.lastSyncError ?? "";
const readBootId = () => inGuest("cat /proc/sys/kernel/random/boot_id");
/** What the kubelet found: the number of VFs, the bridge of the PF, and the default route. */
const readFound = async () => (await inGuest("cat /run/kubelet-found")).split("\n");

describe("a PF with the default route, and a policy with a Linux bridge, in systemd mode", () => {
  it(
    "stays with the host in both phases of a boot, which create its VFs",
    async () => {
      const installing = startDaemon();
      const settings = {
        numVfs: 2,
        eSwitchMode: "switchdev",
        bridge: { linux: {} },
        resourceName: "switched",
      } as const;
      await applyPolicy(testCluster, "switched", policySpec({ pfNames: [uplink] }, settings));
      const isRebooting = () =>
        news.states
          .get("vm")
          ?.status?.conditions?.some(({ type, reason }) => type === "Ready" && reason === "Rebooting") === true;
      await eventually("the node reports that it reboots", isRebooting, { withinMs });
      // The container runtime stops the daemon during the shutdown. No runtime does it here.
      const rebooted = node.guest.nextBoot();
      await inGuest("until [ -e /etc/sriov-operator/reboot.json ]; do sleep 0.1; done").catch(() => undefined);
      installing.kill("SIGTERM");
      await rebooted;

      expect(await readFound()).toEqual(["2", "master:", expect.stringContaining(`dev ${uplink}`)]);
      expect(await inGuest(`journalctl -b -o cat ${units}`)).not.toContain("create Linux bridge");
      expect(await inGuest(`cat ${result}`)).toContain(
        `cannot become a port of bridge ${bridge}, because the host uses it: default route`,
      );
    },
    4 * withinMs,
  );

  it(
    "gets the bridge in the boot after the host has moved its default route",
    async () => {
      const first = startDaemon();
      await eventually("the node state shows why", () => lastSyncError().includes("default route"), { withinMs });
      first.kill("SIGTERM");
      await first.exitCode;
      expect(await inGuest(networkOn(other))).toContain(`dev ${other}`);
      const bootId = await readBootId();
      const second = startDaemon();
      const isReleased = async () => !(await inGuest(`sed -n '/hostUse/,$p' ${bootFile}`)).includes('"0000:01:00.0"');
      await eventually("the boot file no longer says that the host uses the PF", isReleased, { withinMs });
      second.kill("SIGTERM");
      await second.exitCode;
      expect(await readBootId()).toBe(bootId); // a route alone reboots no node

      await node.guest.reboot();
      const [numVfs, master, route] = await readFound();
      expect([numVfs, master?.endsWith(`/${bridge}`), route]).toEqual([
        ...["2", true],
        expect.stringContaining(`dev ${other}`),
      ]);
      expect(await inGuest(`cat ${result}`)).toContain('syncStatus: "Succeeded"');
      const third = startDaemon();
      await policyIs(news, "switched", "Ready", withinMs);
      third.kill("SIGTERM");
      await third.exitCode;
    },
    4 * withinMs,
  );
});
