// SPDX-License-Identifier: Apache-2.0
/**
 * Tests kernel arguments and the reboot on a real kernel with a real systemd, on a machine without an IOMMU. QEMU passes the
 * arguments of the kernel, so what the daemon configures in the boot loader has no effect: after one reboot, the missing argument
 * is an error. Programs of the guest stand in for update-grub.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { applyPolicy, policySpec, type NodeLog } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const within = { withinMs: 300_000 };
let watched: WatchedNode;
let news: NodeLog;
let node: GuestNode;

/** Writes boot entries from the files in /etc/default/grub.d, as update-grub does. */
const updateGrub = `#!/bin/sh
set -e
echo run >>/var/update-grub.log
sleep 2 # a real one takes seconds
. /etc/default/grub
for file in /etc/default/grub.d/*.cfg; do . "$file"; done
mkdir -p /boot/grub
for kind in quiet single; do
  printf 'menuentry x {\\n\\tlinux\\t/vmlinuz root=/dev/vda ro %s %s\\n}\\n' "$GRUB_CMDLINE_LINUX" $kind
done >/boot/grub/grub.cfg
`;

const setUp = `mkdir -p /etc/default/grub.d /usr/sbin
echo 'GRUB_CMDLINE_LINUX="panic=30"' >/etc/default/grub
echo '# of the administrator' >/etc/default/grub.d/50-admin.cfg
cat >/usr/sbin/update-grub <<'END'
${updateGrub}END
chmod 755 /usr/sbin/update-grub`;

beforeAll(async () => {
  const cpu = "max,vendor=GenuineIntel"; // only the IOMMU of Intel can need an argument
  watched = await startWatchedNode({ boot: "systemd", iommu: false, cpu });
  ({ news, node } = watched);
  await inGuest(setUp);
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

async function inGuest(command: string): Promise<string> {
  const { stdout, stderr, code } = await node.guest.exec(command, { timeoutMs: 180_000 });
  expect({ command, code, stderr }).toMatchObject({ code: 0 });
  return stdout.trim();
}

const readBootId = () => inGuest("cat /proc/sys/kernel/random/boot_id");
const isReason = (reason: string) =>
  status()?.conditions?.some((condition) => condition.type === "Ready" && condition.reason === reason);
const status = () => news.states.get("vm")?.status;

describe("a node without an active IOMMU", () => {
  it("configures the arguments and reboots once; an argument that is missing then is an error", async () => {
    const firstBoot = await readBootId();
    const killed = node.startDaemon();
    await eventually(
      "the node reports its kernel",
      () => status()?.system?.kernel?.bootLoader === "update-grub",
      within,
    );
    expect(status()?.system?.kernel).toEqual({ bootLoader: "update-grub", cpuVendor: "intel", iommu: false });

    const wanted = { numVfs: 2, deviceType: "vfio-pci", resourceName: "dpdk" } as const;
    await applyPolicy(watched.testCluster, "dpdk", policySpec({ pfNames: ["enp1s0f0"] }, wanted));
    // It is killed while update-grub runs, and the next daemon continues.
    await inGuest('until [ -e /var/update-grub.log ]; do :; done; pkill -KILL -f "[m]ain.mjs .*--kubeconfig"');
    await killed.exitCode;
    const daemon = node.startDaemon();
    // The container runtime stops the daemon during the shutdown. No runtime does it here.
    await eventually("the node reports that it reboots", () => isReason("Rebooting"), within);
    const rebooted = node.guest.nextBoot();
    await inGuest("until [ -e /etc/sriov-operator/reboot.json ]; do sleep 0.1; done");
    daemon.kill("SIGTERM");
    await rebooted;

    const secondBoot = await readBootId();
    expect(secondBoot).not.toBe(firstBoot);
    expect(await inGuest("cat /etc/default/grub.d/90-switchyard.cfg")).toContain(
      'GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX} intel_iommu=on iommu=pt"',
    );
    expect(
      await inGuest("grep -c 'panic=30 intel_iommu=on iommu=pt' /boot/grub/grub.cfg; cat /var/update-grub.log"),
    ).toMatch(/^2\nrun(?:\nrun)?$/); // again, if it had not ended when the second daemon started
    expect(JSON.parse(await inGuest("cat /etc/sriov-operator/reboot.json"))).toEqual({
      bootId: firstBoot,
      causes: ["kernel argument intel_iommu=on", "kernel argument iommu=pt"],
    });
    // The node was drained before it went down.
    expect(news.states.get("vm")?.metadata.annotations).toMatchObject({
      "sriovnetwork.openshift.io/desired-state": "Reboot_Required",
      "sriovnetwork.openshift.io/current-state": "DrainComplete",
    });
    const events = await watched.testCluster.kubectl([
      "get",
      "events.events.k8s.io",
      "-A",
      "-o",
      "jsonpath={.items[*].reason}",
    ]);
    expect(events.split(" ").filter((reason) => reason === "RebootNode")).toHaveLength(1);

    const second = node.startDaemon();
    await eventually(
      "the missing argument is reported",
      () => status()?.lastSyncError?.includes("kernel argument intel_iommu=on is not in effect after a reboot"),
      within,
    );
    await eventually(
      "the drain has ended",
      () => news.states.get("vm")?.metadata.annotations?.["sriovnetwork.openshift.io/desired-state"] === "Idle",
      within,
    );
    // The rest of the policy is applied.
    expect(await inGuest("cat /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs")).toBe("2");
    expect(await readBootId()).toBe(secondBoot);
    second.kill("SIGTERM");
    expect(await second.exitCode).toBe(0);
  }, 900_000);
});
