// SPDX-License-Identifier: Apache-2.0
/**
 * Tests vDPA devices on the VFs of a real kernel: QEMU emulates a virtio NIC with two VFs, which are vDPA management devices with the
 * driver vp-vdpa. The API server, the operator, the daemon and udev are real. vm/vdpa tests the steps without VFs.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { applyPolicy, namespace, policyIs, policySpec, type NodeLog, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { bootGuest, bundleForGuest } from "@switchyard/vm-lab";
import type { GuestDaemon, GuestNode } from "@switchyard/vm-lab/guest-node";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const pf = "0000:02:00.0";
const [first, second] = ["0000:02:00.1", "0000:02:00.2"];
const sysfs = `/sys/bus/pci/devices/${pf}`;
const machine = { udev: true, virtioVfs: 2 } as const;
const within = { withinMs: 240_000 };
const limitMs = 900_000;

describe("the host contract of virtio VFs on a real kernel", () => {
  it(
    "holds in every case",
    async () => {
      const share = await bundleForGuest("libs/host/src/testing/host-contract-main.ts");
      await using guest = await bootGuest({ ...machine, share });
      const { stdout, stderr } = await guest.exec(["node", "/share/main.mjs", "virtio"], { timeoutMs: 600_000 });
      const lines = stdout.trimEnd().split("\n");
      expect(lines.filter((line) => !line.startsWith("ok ")).concat(stderr)).toEqual([
        expect.stringMatching(/^5 passed, 0 failed, \d+ skipped$/),
        "",
      ]);
    },
    limitMs,
  );
});

describe("vDPA devices on virtio VFs", () => {
  let watched: WatchedNode;
  let testCluster: TestCluster;
  let news: NodeLog;
  let node: GuestNode;

  beforeAll(async () => {
    watched = await startWatchedNode(machine);
    ({ testCluster, news, node } = watched);
  }, limitMs);

  // A test that fails leaves its daemon, and the next daemon would wait for its lock.
  afterEach(() => inGuest('pkill -KILL -f "[m]ain.mjs --kubeconfig" || true'), limitMs);

  afterAll(async () => {
    await disposeOf(watched);
  }, 60_000);

  const inGuest = (command: string) => watched.inGuest(command);
  const driver = (vf: string) => inGuest(`basename $(readlink /sys/bus/pci/devices/${vf}/driver)`);
  const status = () => news.states.get("vm")?.status;
  const vfs = () => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf)?.Vfs ?? [];
  const types = () => vfs().map(({ vdpaType }) => vdpaType);

  /** The vDPA devices as iproute2 reports them, with their drivers. */
  async function devices(): Promise<Readonly<Record<string, string>>> {
    const { dev = {} } = JSON.parse(await inGuest("vdpa -j dev show")) as { dev?: Record<string, unknown> };
    const names = Object.keys(dev).toSorted();
    const bound = await Promise.all(
      names.map((name) => inGuest(`basename $(readlink /sys/bus/vdpa/devices/${name}/driver)`)),
    );
    return Object.fromEntries(names.map((name, nth) => [name, bound[nth] ?? ""]));
  }

  /** Requests a vDPA device of this type on one VF, or none. A policy that selects virtio NICs by their vendor needs no eswitch. */
  async function request(name: string, vf: number, vdpaType?: "virtio" | "vhost"): Promise<void> {
    const selector = { vendor: "1af4", pfNames: [`enp2s0#${vf}-${vf}`] };
    const wanted = { numVfs: 2, resourceName: name, ...(vdpaType && { vdpaType }) };
    await applyPolicy(testCluster, name, policySpec(selector, wanted));
  }

  async function end(daemon: GuestDaemon): Promise<void> {
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }

  const isReady = (name: string) => policyIs(news, name, "Ready", within.withinMs);

  async function reset(): Promise<void> {
    await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);
    const state = `ls /etc/sriov-operator/pci; cat ${sysfs}/sriov_numvfs`;
    await eventually("the PF is reset", async () => (await inGuest(state)) === "0", within);
    expect(await devices()).toEqual({});
  }

  it(
    "are created on vp-vdpa, usable, reported, changed, and removed with their VFs",
    async () => {
      const daemon = node.startDaemon();
      await request("virtio", 0, "virtio");
      await request("vhost", 1, "vhost");
      await isReady("virtio");
      await isReady("vhost");
      expect(await devices()).toEqual({ [`vdpa:${first}`]: "virtio_vdpa", [`vdpa:${second}`]: "vhost_vdpa" });
      expect([await driver(first), await driver(second)]).toEqual(["vp-vdpa", "vp-vdpa"]);
      expect(types()).toEqual(["virtio", "vhost"]);
      expect(vfs()[0]).toMatchObject({ pciAddress: first, driver: "vp-vdpa" });
      expect(await inGuest("ls /dev/vhost-vdpa-*")).toBe("/dev/vhost-vdpa-0");

      // QEMU connects the VFs and the PF: what the virtio interface of the host answers passes through its vDPA device.
      await inGuest(`ip netns add other; ip link set enp2s0v0 netns other
ip -n other addr add 192.0.2.1/24 dev enp2s0v0; ip -n other link set enp2s0v0 up; ip addr add 192.0.2.2/24 dev enp2s0`);
      expect(await inGuest("busybox ping -c 1 -W 20 192.0.2.1 >/dev/null && echo answered")).toBe("answered");
      await inGuest("ip netns delete other; ip addr del 192.0.2.2/24 dev enp2s0");

      await request("virtio", 0, "vhost");
      await eventually("the type has changed", () => types()[0] === "vhost", within);
      expect(await devices()).toEqual({ [`vdpa:${first}`]: "vhost_vdpa", [`vdpa:${second}`]: "vhost_vdpa" });
      await request("vhost", 1);
      await eventually("VF 1 has its interface again", () => vfs()[1]?.name === "enp2s0v1", within);
      expect(await devices()).toEqual({ [`vdpa:${first}`]: "vhost_vdpa" });
      expect(await driver(second)).toBe("virtio-pci");
      await reset();
      await end(daemon);
    },
    limitMs,
  );

  it(
    "of an administrator are left alone on other VFs, and are reported on a VF that needs its own",
    async () => {
      const daemon = node.startDaemon();
      await request("virtio", 0, "virtio");
      await isReady("virtio");
      await inGuest(`cd /sys/bus/pci/devices/${second}; echo vp-vdpa > driver_override; echo ${second} > driver/unbind
echo ${second} > /sys/bus/pci/drivers_probe; vdpa dev add name mine mgmtdev pci/${second}`);
      await request("virtio", 0, "vhost");
      await eventually("the type has changed", () => types()[0] === "vhost", within);
      expect(Object.keys(await devices())).toEqual(["mine", `vdpa:${first}`]);
      await request("vhost", 1, "vhost");
      const refusal = `add vDPA device vdpa:${second} on ${second}: ENOSPC (the VF has the vDPA device mine)`;
      await eventually("the refusal is reported", () => status()?.lastSyncError?.includes(refusal), within);
      expect(Object.keys(await devices())).toEqual(["mine", `vdpa:${first}`]);
      await inGuest("vdpa dev del mine");
      await isReady("vhost");
      expect(Object.keys(await devices())).toEqual([`vdpa:${first}`, `vdpa:${second}`]);
      await reset();
      await end(daemon);
    },
    limitMs,
  );

  it.each([
    { point: "the VFs are there", when: `[ "$(cat ${sysfs}/sriov_numvfs)" = 2 ]` },
    { point: "a VF is bound to vp-vdpa", when: `[ -e /sys/bus/pci/drivers/vp-vdpa/${first} ]` },
    { point: "a device is there", when: `[ -e /sys/bus/vdpa/devices/vdpa:${first} ]` },
  ])(
    "are complete after a SIGKILL when $point, and gone after one when they are removed",
    async ({ when }) => {
      const kill = (until: string) =>
        inGuest(`until ${until}; do :; done; pkill -KILL -f "[m]ain.mjs .*--kubeconfig"; echo killed`);
      const daemon = node.startDaemon();
      const killed = kill(when);
      await request("virtio", 0, "virtio");
      await request("vhost", 1, "vhost");
      expect(await killed).toBe("killed");
      await daemon.exitCode;
      const secondDaemon = node.startDaemon();
      await isReady("virtio");
      await isReady("vhost");
      expect(await devices()).toEqual({ [`vdpa:${first}`]: "virtio_vdpa", [`vdpa:${second}`]: "vhost_vdpa" });

      const killedAgain = kill(`[ ! -e /sys/bus/vdpa/devices/vdpa:${first} ]`);
      await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);
      expect(await killedAgain).toBe("killed");
      await secondDaemon.exitCode;
      const last = node.startDaemon();
      await reset();
      await end(last);
    },
    limitMs,
  );
});
