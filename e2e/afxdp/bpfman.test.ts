// SPDX-License-Identifier: Apache-2.0
/**
 * Loader bpfman with the real bpfman on a NIC of a real kernel. The operator, the config daemon and the device plugin
 * run with a real API server, as does bpfman's daemon, which attaches its dispatcher to igb. Only bpfman-operator and
 * its agent are played (e2e/src/nodes/bpfman-agent.ts), because they are in no package registry.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { AfxdpLoadedProgram } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { namespace, type TestCluster } from "@switchyard/test-cluster";
import { bpfmanCrds, eventually } from "@switchyard/testing";
import type { GuestProcess } from "@switchyard/vm-lab";
import { disposeOf } from "../src/dispose-of.ts";
import { startBpfmanAgent } from "../src/nodes/bpfman-agent.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";
import { startBpfmanGuest, type BpfmanGuest } from "./bpfman-guest.ts";
import { eventuallyMatches } from "../src/api/plain-api.ts";

const device = "0000:01:00.1";
const sender = "0000:01:00.0";
const resource = "afxdp/fast";
const within = { withinMs: 240_000 };
const programFile = "/var/lib/bpfman/switchyard/xsk_redirect.o";

let watched: WatchedNode;
let testCluster: TestCluster;
let guest: BpfmanGuest;
let plugin: GuestProcess;
let agent: AsyncDisposable | undefined;
let [port, otherPort] = ["", ""];

beforeAll(async () => {
  watched = await startWatchedNode({ udev: true });
  ({ testCluster } = watched);
  guest = await startBpfmanGuest(watched);
  port = await inGuest(`ls /sys/bus/pci/devices/${device}/net`);
  otherPort = await inGuest(`ls /sys/bus/pci/devices/${sender}/net`);
  // Packets of the other port may arrive at any queue; the test reads one.
  await inGuest(`ethtool -L ${port} combined 1; ip link set ${port} up; ip link set ${otherPort} up`);
  await inGuest(
    `ip address add 192.0.2.1/24 dev ${otherPort}; ip neigh replace 192.0.2.77 lladdr ff:ff:ff:ff:ff:ff dev ${otherPort}`,
  );
  watched.node.startDaemon();
  plugin = startPlugin("bpfman");
}, 1_800_000);

afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

function startPlugin(loader: "builtin" | "bpfman"): GuestProcess {
  const started = guest.startPlugin(loader);
  started.stderr.resume();
  return started;
}

async function apply(kind: string, name: string, spec: object): Promise<void> {
  const object = { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind, metadata: { name, namespace }, spec };
  await testCluster.kubectl(["apply", "-f", "-"], object);
}

async function statusOf(object: string): Promise<Readonly<Record<string, unknown>>> {
  const { status } = JSON.parse(await testCluster.kubectl(["get", object, "-o", "json"])) as {
    readonly status?: unknown;
  };
  return isRecord(status) ? status : {};
}

/** Waits until the status matches. */
function reports(object: string, expected: object): Promise<void> {
  return eventuallyMatches(object, () => statusOf(object), expected, within.withinMs);
}

const ready = (status: string, message: string) => ({
  conditions: expect.arrayContaining([
    expect.objectContaining({ type: "Ready", status, message: expect.stringContaining(message) }),
  ]),
});

const applications = async (): Promise<string> =>
  testCluster.kubectl(["get", "clusterbpfapplications", "-o", "jsonpath={.items[*].metadata.name}"]);

/** "xdp_dispatcher" while bpfman's program is attached, "" without a program. */
const programOnPort = async (): Promise<string> =>
  inGuest(`ip -d link show ${port} | sed -n 's/.*prog\\/xdp id [0-9]* name \\([^ ]*\\).*/\\1/p'`);

const setPolicy = () =>
  apply("AfxdpNetworkNodePolicy", "fast", {
    poolName: "fast",
    nodeSelector: { "node-role.kubernetes.io/worker": "" },
    nicSelector: { rootDevices: [device] },
  });
const removePolicy = () => testCluster.kubectl(["delete", "afxdpnetworknodepolicies", "--all"]);

async function row(): Promise<Partial<AfxdpLoadedProgram>> {
  const { programs } = await statusOf("afxdpnetworknodestate/vm");
  return Array.isArray(programs) && isRecord(programs[0]) ? programs[0] : {};
}

async function isHealthy(): Promise<boolean> {
  const devices: unknown = await guest.ask({ devices: resource });
  return JSON.stringify(devices) === JSON.stringify([{ id: device, isHealthy: true }]);
}

describe("loader bpfman", () => {
  it("is reported as not installed where it is not", async () => {
    await apply("AfxdpOperatorConfig", "default", { loader: "bpfman" });
    await reports("afxdpoperatorconfig/default", ready("False", "spec.loader: bpfman is not installed"));
  }, 300_000);

  it("has bpfman load and attach a program, whose map a pod gets and receives packets by", async () => {
    await testCluster.cluster.applyCrds(bpfmanCrds("0.6"));
    agent = startBpfmanAgent({
      transport: testCluster.transport,
      version: "0.6",
      nodeName: "vm",
      loader: guest.loader,
    });
    await setPolicy();
    await reports("afxdpnetworknodepolicy/fast", ready("True", "1 of 1 nodes configured"));
    const { programID } = await row();
    expect(await programOnPort()).toBe("xdp_dispatcher");
    expect(await inGuest(`ls /run/bpfman/fs/maps/${programID}`)).toBe("xsks_map");
    expect(await applications()).toMatch(/^afxdp-vm-0000-01-00-1-[0-9a-f]{8}$/);
    await eventually("the plugin offers the device", isHealthy, within);
    const allocated = await guest.ask({ allocate: { resource, ids: [device] } });
    expect(allocated).toMatchObject({ environment: { AFXDP_DEVICES_FAST: port } });
    const containers = [{ name: "app", devices: [{ resourceName: resource, ids: [device] }] }];
    await guest.ask({ pods: [{ name: "dpdk", namespace: "default", containers }] });
    const sending = watched.node.guest.spawn("while sleep 0.1; do bash -c 'echo hello >/dev/udp/192.0.2.77/9'; done");
    const received = await guest.ask({ receive: { device: port, podName: "dpdk", withinMs: 60_000 } });
    sending.kill("SIGKILL");
    expect(received).toEqual({ packets: expect.any(Number) });
    expect(received["packets"]).toBeGreaterThan(0);
  }, 900_000);

  it("keeps the program of a pod when the policy is removed, and leaves nothing behind after the pod", async () => {
    await removePolicy();
    await eventually("the program is to be released", async () => (await row()).release === true, within);
    await inGuest("sleep 5");
    expect([await programOnPort(), (await row()).release]).toEqual(["xdp_dispatcher", true]);
    await guest.ask({ pods: [] });
    await eventually("the object is gone", async () => (await applications()) === "", within);
    await eventually("the program is gone", async () => (await programOnPort()) === "", within);
    expect(await inGuest("ls /run/bpfman/fs/maps; ls /sys/fs/bpf/switchyard/afxdp")).toBe("");
    expect(await row()).toEqual({});
  }, 600_000);

  it("is told on the policy that another program has the device, which stays, and what bpfman refuses", async () => {
    // libbpf, in ip, loads the same file.
    await inGuest(`ip link set dev ${port} xdpdrv object ${programFile} section xdp`);
    expect(await programOnPort()).toBe("xsk_redirect");
    await setPolicy();
    await reports("afxdpnetworknodepolicy/fast", ready("False", "is not offered: the host uses it: XDP program"));
    expect(await programOnPort()).toBe("xsk_redirect");
    await inGuest(`ip link set dev ${port} xdpdrv off`);
    await reports("afxdpnetworknodepolicy/fast", ready("True", "1 of 1 nodes configured"));

    const missing = { functionName: "xsk_redirect", path: "/var/lib/bpfman/missing.o" };
    await apply("AfxdpOperatorConfig", "default", { loader: "bpfman", bpfman: { program: missing } });
    await reports("afxdpnetworknodepolicy/fast", ready("False", "bpfman could not load the program (LoadError)"));
    expect(await programOnPort()).toBe("");
  }, 900_000);

  it("gives the device to the plugin with loader builtin when bpfman's program is gone, and takes it back", async () => {
    await apply("AfxdpOperatorConfig", "default", { loader: "bpfman", bpfman: null });
    await reports("afxdpnetworknodepolicy/fast", ready("True", "1 of 1 nodes configured"));
    await apply("AfxdpOperatorConfig", "default", { loader: "builtin" });
    plugin.kill("SIGTERM");
    await plugin.exitCode;
    plugin = startPlugin("builtin");
    await eventually("bpfman's program is gone", async () => (await programOnPort()) === "", within);
    await eventually("the plugin offers the device", isHealthy, within);
    await guest.ask({ allocate: { resource, ids: [device] } });
    expect(await programOnPort()).toBe("switchyard_xsk");
    await apply("AfxdpOperatorConfig", "default", { loader: "bpfman" });
    plugin.kill("SIGTERM");
    await plugin.exitCode;
    plugin = startPlugin("bpfman");
    await eventually("bpfman has the device", async () => (await programOnPort()) === "xdp_dispatcher", within);
    await reports("afxdpnetworknodepolicy/fast", ready("True", "1 of 1 nodes configured"));
  }, 900_000);
});
