// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that nothing of the plugins of upstream is left on a node (igb, systemd, kernel 6.12). device-plugin-config records the device
 * that the plugin gets. What the plugin leaves is real, without the plugin: testpmd, with its libxdp, attaches xsk_def_prog in a
 * dispatcher and is killed; BPF file systems are mounted. The other port has a program of the same name, which no record mentions.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startGuestAfxdpNode, type GuestAfxdpNode } from "@switchyard/demo/guest-afxdp-node";
import { dpdkDisk } from "@switchyard/demo/guest-pod";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { bundleForGuest, type GuestProcess } from "@switchyard/vm-lab";
import type { GuestDaemon } from "@switchyard/vm-lab/guest-node";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const [pf, name, other] = ["0000:01:00.1", "enp1s0f1", "enp1s0f0"];
const id = "3f2b8a10-1111-4222-8333-0123456789ab";
const mount = `/run/afxdp_dp/port/${id}`;
const socket = `/tmp/afxdp_dp/afxdp_port/${id}.sock`;
const record = `/var/lib/switchyard/upstream-devices/${pf}`;
const detaching = `detach XDP program xsk_def_prog from ${name}`;
const forgetting = `remove the record that the plugins of upstream had ${pf}`;
const withinMs = 300_000;
const limitMs = 900_000;

/** testpmd as a program on the host, whose libxdp attaches a program. */
const testpmd = `mount -t proc proc /dpdk/proc; mount -t sysfs sysfs /dpdk/sys; mount --bind /sys/fs/bpf /dpdk/sys/fs/bpf
mount -t tmpfs tmpfs /dpdk/tmp; export XDG_RUNTIME_DIR=/tmp
exec chroot /dpdk dpdk-testpmd --no-pci --no-huge --no-shconf --no-telemetry --vdev=net_af_xdp0,iface=${name} \\
  -- --forward-mode=rxonly --auto-start --stats-period=1 --nb-cores=1 --no-mlockall --total-num-mbufs=8192`;

/** The administrator's program, a BPF file system and files beside those of the plugin. */
const setUpForeign = `mkdir -p /run/afxdp_dp/port/notes /run/mine /tmp/afxdp_dp/afxdp_port
mount -t bpf bpf /run/afxdp_dp/port/notes; mount -t bpf bpf /run/mine; touch /tmp/afxdp_dp/afxdp_port/notes
node /share/foreign/main.mjs ${other} xsk_def_prog`;
const readForeign = `ip -details link show ${other} | grep -o 'name xsk_def_prog'; ls /tmp/afxdp_dp/afxdp_port
grep -c -e '/run/mine .*bpf' -e '/run/afxdp_dp/port/notes .*bpf' /proc/self/mountinfo`;

describe("what the plugins of upstream leave", () => {
  let directory = "";
  let watched: WatchedNode;
  let node: GuestAfxdpNode;
  let daemon: GuestDaemon;
  const inGuest = (command: string) => watched.inGuest(command);
  const kubectl = (...args: string[]) => watched.testCluster.kubectl([...args, "-n", namespace]);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "switchyard-leftovers-"));
    watched = await startWatchedNode({ boot: "systemd", disks: [await dpdkDisk(directory)] });
    node = await startGuestAfxdpNode(watched.node, "vm");
    for (const [file, to] of [
      ["e2e/afxdp/attach-foreign-program.ts", "foreign"],
      ["apps/device-plugin-config/src/main.ts", "sidecar"],
    ] as const)
      await cp(await bundleForGuest(file), join(watched.node.share, to), { recursive: true });
    await inGuest("mkdir -p /dpdk && mount /dev/vdb /dpdk; mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf");
    daemon = watched.node.startDaemon();
  }, limitMs);
  afterAll(async () => {
    await disposeOf(watched);
    await rm(directory, { recursive: true });
  }, 60_000);

  async function apply(kind: string, objectName: string, spec: object): Promise<void> {
    const apiVersion = "afxdpnetwork.hns.dev/v1alpha1";
    const object = { apiVersion, kind, metadata: { name: objectName, namespace }, spec };
    await watched.testCluster.kubectl(["apply", "-f", "-"], object);
  }

  /** Runs the init container. Its kernel release is one that the plugin can read. */
  async function recordDevice(): Promise<void> {
    const root = "/run/pod-root";
    await inGuest(`mkdir -p ${root}/proc/sys/kernel ${root}/var/lib /var/lib/switchyard
      ln -sfn /var/lib/switchyard ${root}/var/lib/switchyard; echo 6.12.0 >${root}/proc/sys/kernel/osrelease
      echo 2 >${root}/proc/sys/kernel/unprivileged_bpf_disabled`);
    const flags = `--plugin afxdp --wait --config-file /run/adp/config.json --host-root ${root} --node-name vm`;
    const cluster = `--kubeconfig /share/kubeconfig --namespace ${namespace} --health-address 0`;
    const init = watched.node.guest.exec(`node /share/sidecar/main.mjs ${flags} ${cluster}`, { timeoutMs: withinMs });
    const { code, stderr } = await init.catch((error: unknown) => {
      throw new Error(`the init container waits for the daemon: ${daemon.log()}`, { cause: error });
    });
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(await inGuest(`cat ${record}`))).toMatchObject({ device: pf, names: [name], pools: ["port"] });
  }

  const programs = () => inGuest(`ip -details link show ${name} | grep -o 'prog/xdp.*'`);

  /** Starts testpmd, and does what the plugin does when it pins a map and makes a socket. Returns testpmd. */
  async function leave(): Promise<GuestProcess> {
    await inGuest(`mkdir -p ${mount}; mount -t bpf bpf ${mount}; mount --make-shared ${mount}`);
    await inGuest(`node -e 'require("net").createServer().listen("${socket}", () => process.kill(process.pid, 9))'`);
    const started = watched.node.guest.spawn(["unshare", "--mount", "sh", "-c", testpmd], { input: true });
    let output = "";
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const attached = async () => (await programs()).includes("xdp_dispatcher");
    await eventually("testpmd has attached its program", attached, { withinMs }).catch((error: unknown) => {
      throw new Error(`testpmd: ${output}`, { cause: error });
    });
    return started;
  }

  const left = () => inGuest(`ls -d ${mount} ${socket} ${record} 2>&-; grep -o '${mount}' /proc/self/mountinfo`);
  const wantedDevices = () =>
    kubectl(
      "get",
      "afxdpnetworknodestates/vm",
      "--ignore-not-found",
      "-o",
      "jsonpath={.spec.interfaces[*].pciAddress}",
    );
  const error = () => kubectl("get", "afxdpnetworknodestate/vm", "-o", "jsonpath={.status.lastSyncError}");

  it(
    "stays while a program on the host uses it, and the state of the node says so; then the daemon removes it",
    async () => {
      await inGuest(setUpForeign);
      await apply("AfxdpOperatorConfig", "default", { provider: "upstream" });
      const spec = { poolName: "port", nodeSelector: {}, nicSelector: { rootDevices: [pf] } };
      await apply("AfxdpNetworkNodePolicy", "port", spec);
      // Before that, the init container would configure a plugin without devices.
      await eventually("the node state has the device", async () => (await wantedDevices()) === pf, { withinMs });
      await recordDevice();
      const started = await leave();
      await apply("AfxdpOperatorConfig", "default", { provider: "switchyard" });
      const problem = `XDP program xsk_def_prog stays on ${name}: AF_XDP sockets of the host use the interface (1)`;
      await eventually("the state says why", async () => (await error()).includes(problem), { withinMs });
      expect(await programs()).toContain("xdp_dispatcher");
      await eventually("the mount is gone", async () => !(await left()).includes(mount), { withinMs });

      await inGuest("pkill -KILL dpdk-testpmd");
      await started.exitCode;
      await eventually("the program is detached", async () => (await programs()) === "", { withinMs });
      await eventually("nothing is left", async () => (await left()) === "", { withinMs });
      await eventually("the state has no error", async () => (await error()) === "", { withinMs });
      expect(await inGuest(readForeign)).toBe("name xsk_def_prog\nnotes\n2");
    },
    limitMs,
  );

  it(
    "stays if the policy is deleted while a pod has the device, and goes with the pod",
    async () => {
      await apply("AfxdpOperatorConfig", "default", { provider: "upstream" });
      await recordDevice();
      const started = await leave();
      await inGuest("pkill -KILL dpdk-testpmd");
      await started.exitCode;
      const devices = [{ resourceName: "afxdp/port", ids: [name] }];
      await node.kubelet({ pods: [{ name: "app", namespace: "default", containers: [{ name: "app", devices }] }] });
      await kubectl("delete", "afxdpnetworknodepolicies", "--all");
      await eventually("the device is given back", async () => (await inGuest("ls /etc/sriov-operator/afxdp")) === "", {
        withinMs,
      });
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
      const { code, stdout, stderr } = await watched.node.guest.exec("node /share/main.mjs cleanup --host-root /", {
        timeoutMs: withinMs,
      });
      const uses = [`${name}: in use by a pod`, "pool port: pods have devices of the pool"];
      const why = uses.map((use) => `what the plugins of upstream left stays on ${use}`).join("; ");
      expect({ code, stdout, stderr: stderr.trim() }).toEqual({ code: 1, stdout: "", stderr: why });
      expect(await programs()).toContain("xdp_dispatcher");
      expect((await left()).split("\n")).toHaveLength(4);

      await node.kubelet({ pods: [] });
      const planned = await inGuest("node /share/main.mjs cleanup --host-root / --dry-run");
      const actions = [detaching, `unmount ${mount} and remove it`, `remove ${socket}`, forgetting];
      expect(planned.split("\n")).toEqual(expect.arrayContaining(actions.map((action) => `would ${action}`)));
      // The socket may be younger than two minutes.
      const cleanUp = () => inGuest("node /share/main.mjs cleanup --host-root / 2>&1");
      const done: string[] = [];
      await eventually(
        "cleanup has removed everything",
        async () => {
          done.push(...(await cleanUp()).split("\n"));
          return (await left()) === "";
        },
        { withinMs },
      );
      expect(done).toEqual(expect.arrayContaining(actions));
      expect(await programs()).toBe("");
      expect(await inGuest(readForeign)).toBe("name xsk_def_prog\nnotes\n2");
    },
    limitMs,
  );
});
