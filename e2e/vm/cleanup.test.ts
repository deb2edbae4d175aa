// SPDX-License-Identifier: Apache-2.0
/**
 * Tests `config-daemon cleanup` on a real kernel with a real systemd, udev and Open vSwitch. The node is in systemd
 * mode, with switchdev PFs on igbsw, a bridge of each kind, and an RDMA mode. Next to each of them, the administrator
 * has something similar, which must stay.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
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
import { isDeepStrictEqual } from "node:util";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const [first, second] = ["0000:01:00.0", "0000:01:00.1"];
const [uplink, other] = ["enp1s0f0np0", "enp1s0f1np1"];
const [ovsBridge, linuxBridge] = [`br-${first}`.replaceAll(":", "_"), `br-${second}`.replaceAll(":", "_")];
const withinMs = 300_000;
const limitMs = 1_200_000;
const bridgeFlags = ["--manage-software-bridges"];

let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;
/** The files and bridges of the administrator, with their content. */
let foreign: string;

/** A fast boot has no service manager. Hardware offload is configured first, so that nothing has to restart ovs-vswitchd. */
const startOvs = `/usr/share/openvswitch/scripts/ovs-ctl start --system-id=random --no-monitor
ovs-vsctl set Open_vSwitch . other_config:hw-offload=true
/usr/share/openvswitch/scripts/ovs-ctl restart --system-id=random --no-monitor`;

/** What the administrator has beside each thing that Switchyard configures. */
const setUpForeign = `mkdir -p /etc/udev/rules.d /etc/modprobe.d /etc/sriov-operator/infiniband /etc/systemd/system
echo '# mine' >/etc/udev/rules.d/99-admin.rules
echo 'options ib_core recv_queue_size=512' >/etc/modprobe.d/mine.conf
echo '[]' >/etc/sriov-operator/infiniband/guids
printf '[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n' \\
  >/etc/systemd/system/sriov-mine.service
ip link add br-user type bridge; ip link add user0 type dummy; ip link set user0 master br-user`;

const readForeign = `cd /etc; tail -n +1 udev/rules.d/99-admin.rules modprobe.d/mine.conf sriov-operator/infiniband/guids
cat systemd/system/sriov-mine.service; ls /sys/class/net/br-user/brif`;
const readForeignOvs = "ovs-vsctl list-ports ovs-user";

async function startNode(boot: "fast" | "systemd", driver: "igb" | "igbsw"): Promise<void> {
  watched = await startWatchedNode({ boot, udev: true, driver }, { commandLimitMs: withinMs });
  ({ testCluster, news, node } = watched);
  await inGuest(setUpForeign);
  foreign = await inGuest(readForeign);
  await inGuest("touch /etc/before; sleep 0.1");
}

// A test that fails leaves its daemon, and the next daemon would wait for its lock.
afterEach(() => inGuest('pkill -KILL -f "[m]ain.mjs --kubeconfig" || true'), limitMs);

const inGuest = (command: string) => watched.inGuest(command);

function startDaemon(...flags: readonly string[]) {
  return node.startDaemon([...bridgeFlags, ...flags]);
}

async function cleanup(...flags: readonly string[]) {
  const command = ["node", "/share/main.mjs", "cleanup", "--host-root", "/", ...flags];
  const { code, stdout, stderr } = await node.guest.exec(command, { timeoutMs: withinMs });
  return { code, lines: stdout.trim().split("\n"), stderr };
}

const settings = { eSwitchMode: "switchdev", mtu: 2_000 } as const;

async function applyPolicies(): Promise<void> {
  const ovs = { bridge: { ovs: {} } };
  await applyPolicy(
    testCluster,
    "ovs",
    policySpec({ pfNames: [uplink] }, { ...settings, ...ovs, numVfs: 3, resourceName: "ovs" }),
  );
  const linux = { bridge: { linux: {} } };
  await applyPolicy(
    testCluster,
    "linux",
    policySpec({ pfNames: [other] }, { ...settings, ...linux, numVfs: 2, resourceName: "linux" }),
  );
  await testCluster.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkPoolConfig",
    metadata: { name: "rdma" },
    spec: { nodeSelector: {}, rdmaMode: "exclusive" },
  });
}

/** What the kernel, udev, Open vSwitch and systemd have of Switchyard, and its files. */
async function seen() {
  const sysfs = "/sys/bus/pci/devices";
  const files = "/etc/udev/rules.d /etc/systemd /etc/modprobe.d /etc/sriov-operator /var/lib/sriov /etc/default";
  return {
    vfs: await inGuest(`cat ${sysfs}/${first}/sriov_numvfs ${sysfs}/${second}/sriov_numvfs`),
    modes: await inGuest(
      `for pf in ${first} ${second}; do devlink dev eswitch show pci/$pf | grep -o 'mode [a-z]*' | head -1; done`,
    ),
    mtus: await inGuest(`cat ${sysfs}/${first}/net/${uplink}/mtu ${sysfs}/${second}/net/${other}/mtu`),
    ovs: await inGuest("ovs-vsctl list-br"),
    bridges: await inGuest("cd /sys/class/net; ls -d */bridge"),
    files: await inGuest(
      `find ${files} -newer /etc/before ! -type d 2>/dev/null | grep -v -e admin.rules -e mine -e user-bridge -e guids | sort`,
    ),
  };
}

const configured = {
  vfs: "3\n2",
  modes: "mode switchdev\nmode switchdev",
  mtus: "2000\n2000",
  ovs: `${ovsBridge}\novs-user`,
  bridges: `${linuxBridge}/bridge\nbr-user/bridge`,
};

const clean = {
  vfs: "0\n0",
  modes: "mode legacy\nmode legacy",
  mtus: "1500\n1500",
  ovs: "ovs-user",
  bridges: "br-user/bridge",
  files: "",
};

/** Starts a daemon and waits until it has configured the node. The policies can still be ready from an earlier daemon. */
async function startUntilConfigured() {
  const daemon = startDaemon();
  const isConfigured = async () => {
    const { files: _files, ...now } = await seen();
    return isDeepStrictEqual(now, configured);
  };
  await eventually("the node is configured", isConfigured, { withinMs });
  for (const name of ["ovs", "linux"]) await policyIs(news, name, "Ready", withinMs);
  return daemon;
}

/** Lets a daemon configure the node, and ends it. */
async function configure(): Promise<void> {
  const daemon = await startUntilConfigured();
  daemon.kill("SIGTERM");
  expect(await daemon.exitCode).toBe(0);
  expect(await seen()).toMatchObject(configured);
}

/** Removes by hand what --keep-vfs has kept. */
const removeKept = [first, second]
  .map((pf) => `cd /sys/bus/pci/devices/${pf}; echo 0 >sriov_numvfs; devlink dev eswitch set pci/${pf} mode legacy`)
  .concat(`ip link set ${uplink} mtu 1500; ip link set ${other} mtu 1500`)
  .join("\n");

async function foreignStays(): Promise<void> {
  expect([await inGuest(readForeign), await inGuest(readForeignOvs)]).toEqual([foreign, "user1"]);
}

describe("config-daemon cleanup of PFs, bridges, rules and files", () => {
  beforeAll(async () => {
    await startNode("fast", "igbsw");
    await enableFeatureGate(testCluster, "manageSoftwareBridges");
    await inGuest(startOvs);
    await inGuest("ip link add user1 type dummy; ovs-vsctl add-br ovs-user -- add-port ovs-user user1");
    await applyPolicies();
  }, limitMs);
  afterAll(async () => {
    await disposeOf(watched);
  }, 60_000);

  it(
    "lists what it would do, then removes it, and nothing of the administrator",
    async () => {
      await configure();
      const before = await seen();
      const planned = await cleanup("--dry-run");
      expect({ code: planned.code, stderr: planned.stderr }).toEqual({ code: 0, stderr: "" });
      expect(planned.lines).toEqual(
        expect.arrayContaining([
          `would set sriov_numvfs 3 -> 0 on ${first}`,
          `would release ${first}`,
          `would release ${second}`,
        ]),
      );
      expect(await seen()).toEqual(before);

      const { code, stderr } = await cleanup();
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(await seen()).toEqual(clean);
      await foreignStays();
      expect(await cleanup("--dry-run")).toEqual({ code: 0, lines: ["nothing to do"], stderr: "" });
    },
    limitMs,
  );

  it(
    "keeps VFs, MTU and mode with --keep-vfs, and removes the rest",
    async () => {
      await configure();
      const { code, stderr } = await cleanup("--keep-vfs");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const { vfs, modes, mtus } = configured;
      expect(await seen()).toEqual({ ...clean, vfs, modes, mtus });
      await foreignStays();
      // What is kept belongs to the administrator from now on.
      await inGuest(removeKept);
      expect(await seen()).toEqual(clean);
    },
    limitMs,
  );

  it(
    "can be killed and repeated",
    async () => {
      await configure();
      const sysfs = `/sys/bus/pci/devices/${first}`;
      const killed = inGuest(
        `until [ "$(cat ${sysfs}/sriov_numvfs)" = 0 ]; do :; done; pkill -KILL -f "[m]ain.mjs cleanup"; echo killed`,
      );
      expect((await cleanup()).code).not.toBe(0);
      expect(await killed).toBe("killed");
      expect((await cleanup()).code).toBe(0);
      expect(await seen()).toEqual(clean);
      await foreignStays();
    },
    limitMs,
  );

  it(
    "waits for the lock of the node, and names its holder",
    async () => {
      const daemon = await startUntilConfigured();
      const { code, stderr } = await cleanup();
      expect(code).toBe(1);
      expect(stderr).toContain("/run/switchyard/config-daemon.lock is held by process ");
      expect(await seen()).toMatchObject(configured);
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );
});

describe("config-daemon cleanup of a node in systemd mode", () => {
  const units = "systemctl list-unit-files --no-legend 'sriov-*' | cut -d' ' -f1";

  beforeAll(() => startNode("systemd", "igb"), limitMs);
  afterAll(async () => {
    await disposeOf(watched);
  }, 60_000);

  it(
    "disables and removes the units and their program, and no other unit",
    async () => {
      // Without policies, the daemon installs the units without a reboot.
      const daemon = node.startDaemon(["--use-systemd-service=true"]);
      const own = "sriov-config-post-network.service\nsriov-config.service\nsriov-mine.service";
      await eventually("the units are installed", async () => (await inGuest(units)) === own, { withinMs });
      await eventually("the node is configured", () => news.states.get("vm")?.status?.syncStatus === "Succeeded", {
        withinMs,
      });
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
      const { code, stderr } = await cleanup();
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(await inGuest(`${units}; ls /var/lib/sriov 2>&1; ls /etc/sriov-operator`)).toMatch(
        /^sriov-mine\.service\n(?:.*No such file.*\n)?infiniband(?:\npci)?$/,
      );
      expect(await inGuest(readForeign)).toBe(foreign);
    },
    limitMs,
  );
});
