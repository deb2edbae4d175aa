// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the systemd mode with a real systemd, real reboots and real VFs. The daemon installs it and reboots the node.
 * The units configure the node before a stand-in for the kubelet starts, while nothing reaches the API server. Daemon
 * mode removes it.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { applyPolicy, policyIs, policySpec, type NodeLog, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { disposeOf } from "../src/dispose-of.ts";
import { kubeletStandIn, startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const sysfs = "/sys/bus/pci/devices/0000:01:00.0";
/** A boot with systemd takes twenty seconds, and several times as long on a loaded machine. */
const withinMs = 300_000;
const units = ["sriov-config.service", "sriov-config-post-network.service"];
const result = "/etc/sriov-operator/sriov-interface-result.yaml";

let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode({ boot: "systemd" }, { commandLimitMs: withinMs });
  ({ testCluster, news, node } = watched);
  const drivers = `for n in 0 1 2; do basename $(readlink ${sysfs}/virtfn$n/driver); done`;
  await inGuest(kubeletStandIn(`${drivers}; cat /sys/class/net/enp1s0f0v0/mtu`));
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

async function bootId(): Promise<string> {
  return inGuest("cat /proc/sys/kernel/random/boot_id");
}

function isReason(reason: string): boolean {
  const conditions = news.states.get("vm")?.status?.conditions ?? [];
  return conditions.some((condition) => condition.type === "Ready" && condition.reason === reason);
}

/** Reads a time stamp of a unit in microseconds since the kernel started. */
async function timeOf(unit: string, property: string): Promise<number> {
  return Number(await inGuest(`systemctl show --value -p ${property} ${unit}`));
}

const systemdMode = ["--use-systemd-service=true"];
const found = "igbvf\nigbvf\nvfio-pci\n9000";

describe("a node in systemd mode", () => {
  it(
    "reboots once for its policies, and has configured VFs when the kubelet starts, without an API server",
    async () => {
      const first = await bootId();
      const installing = node.startDaemon(systemdMode);
      const wanted = { numVfs: 3, mtu: 9000, resourceName: "fast" };
      await applyPolicy(testCluster, "fast", policySpec({ pfNames: ["enp1s0f0#0-1"] }, wanted));
      const userSpace = { ...wanted, deviceType: "vfio-pci", resourceName: "dpdk" } as const;
      await applyPolicy(testCluster, "dpdk", policySpec({ pfNames: ["enp1s0f0#2-2"] }, userSpace));
      await eventually("the node reports that it reboots", () => isReason("Rebooting"), { withinMs });
      // The container runtime stops the daemon during the shutdown. No runtime does it here.
      const rebooted = node.guest.nextBoot();
      await inGuest("until [ -e /etc/sriov-operator/reboot.json ]; do sleep 0.1; done").catch(() => undefined);
      installing.kill("SIGTERM");
      await rebooted;

      expect(await inGuest(`cat ${result}; journalctl -b -o cat -u ${units.join(" -u ")}`)).toContain(
        'syncStatus: "Succeeded"',
      );
      expect(await inGuest("cat /run/kubelet-found")).toBe(found);
      const [pre = "", post = ""] = units;
      const [preEnd, postStart, postEnd, kubelet] = await Promise.all([
        timeOf(pre, "ExecMainExitTimestampMonotonic"),
        timeOf(post, "ExecMainStartTimestampMonotonic"),
        timeOf(post, "ExecMainExitTimestampMonotonic"),
        timeOf("kubelet.service", "ExecMainStartTimestampMonotonic"),
      ]);
      expect([preEnd, preEnd <= postStart, postStart < postEnd, postEnd <= kubelet]).toEqual([
        expect.any(Number),
        ...[true, true, true],
      ]);
      expect(preEnd).toBeGreaterThan(0);

      const second = await bootId();
      expect(second).not.toBe(first);
      const daemon = node.startDaemon(systemdMode);
      await policyIs(news, "fast", "Ready", withinMs);
      await policyIs(news, "dpdk", "Ready", withinMs);
      // The node state has a watch of its own, whose events can come later.
      const isDone = () => {
        const { syncStatus, lastSyncError } = news.states.get("vm")?.status ?? {};
        return syncStatus === "Succeeded" && lastSyncError === "";
      };
      await eventually("the node state shows it, too", isDone, { withinMs });
      expect(await bootId()).toBe(second);
      daemon.kill("SIGTERM");
      await daemon.exitCode;
    },
    4 * withinMs,
  );

  it(
    "is configured by the second unit after a SIGKILL of the first",
    async () => {
      const program = "/bin/sh /var/lib/sriov/switchyard/config-daemon boot pre";
      const kill = `${program} & until [ "$$(cat ${sysfs}/sriov_numvfs)" = 3 ]; do :; done; kill -9 $$!; echo killed`;
      await inGuest(`mkdir -p /etc/systemd/system/sriov-config.service.d
cat >/etc/systemd/system/sriov-config.service.d/kill.conf <<'EOF'
[Service]
ExecStart=
ExecStart=/bin/sh -c '${kill}'
EOF`);
      await node.guest.reboot();
      expect(await inGuest("journalctl -b -o cat -u sriov-config.service")).toContain("killed");
      expect(await inGuest("cat /run/kubelet-found")).toBe(found);
      await inGuest("rm -r /etc/systemd/system/sriov-config.service.d; systemctl daemon-reload");
    },
    2 * withinMs,
  );

  it(
    "starts its kubelet although the configuration is broken",
    async () => {
      await inGuest(
        "cd /etc/sriov-operator; sed -i '1!d' sriov-interface-config.yaml; echo 'spec: {' >>sriov-interface-config.yaml",
      );
      await node.guest.reboot();
      expect(await inGuest("systemctl is-active kubelet.service")).toBe("active");
      expect(await inGuest(`systemctl show --value -p Result ${units.join(" ")}`)).toBe("exit-code\n\nexit-code");
      expect(await inGuest(`cat ${result} ${sysfs}/sriov_numvfs`)).toMatch(
        /lastSyncError: "post: .* is not valid YAML[^]*\n0$/,
      );
    },
    2 * withinMs,
  );

  it(
    "loses units, program and files in daemon mode, and is configured by the daemon",
    async () => {
      const daemon = node.startDaemon();
      const files =
        "ls -d /etc/systemd/system/sriov-* /etc/systemd/system/*/sriov-* /var/lib/sriov /etc/sriov-operator/sriov-*";
      await eventually("the files are gone", async () => (await inGuest(`${files} 2>/dev/null | wc -l`)) === "0", {
        withinMs,
      });
      await eventually("the VFs are configured", async () => (await inGuest(`cat ${sysfs}/sriov_numvfs`)) === "3", {
        withinMs,
      });
      expect(await inGuest("systemctl list-unit-files --no-legend 'sriov-*' | wc -l")).toBe("0");
      daemon.kill("SIGTERM");
      await daemon.exitCode;
    },
    2 * withinMs,
  );
});
