// SPDX-License-Identifier: Apache-2.0
/**
 * A node with provider upstream on a real API server: device-plugin-config as init container and sidecar, with the rights and the
 * bundle of its pod. A program plays the device plugin of afxdp-plugins-for-kubernetes, and another one the kubelet.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodeStates,
  upstreamDeviceDirectory,
  type AfxdpInterfaceStatus,
  type AfxdpPoolSpec,
} from "@switchyard/api";
import { connect, isRecord, objectPath, type Transport } from "@switchyard/kube";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import { eventually, findWorkspaceRoot, spawnGuarded } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundleApp } from "../../src/bundle-app.ts";
import { namespace } from "../../src/operator/identity-objects.ts";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { prepareCluster, type DeployedCluster } from "../security/deployed-cluster.ts";

const node = "worker-1";
const root = findWorkspaceRoot();
const pluginName = `adp-it-${process.pid}`.slice(0, 15);
const port = (slot: number, name?: string): AfxdpInterfaceStatus => {
  return { pciAddress: `0000:8${slot}:00.0`, driver: "ice", linkAdminState: "up", ...(name !== undefined && { name }) };
};
const intel: AfxdpPoolSpec = { name: "intel", mode: "primary" };

let deployed: DeployedCluster;
let user: Transport;
let directory: string;
let bundle: string;
let kubeconfig: string;
const stack = new AsyncDisposableStack();
let sidecar: KeptProcess | undefined;
let kubelet: FakeKubelet | undefined;

beforeAll(async () => {
  deployed = stack.use(await prepareCluster());
  for (const manifest of deployed.manifests) await deployed.apply(manifest);
  user = stack.use(await connect({ kubeconfig: deployed.cluster.kubeconfig }));
  kubeconfig = await deployed.kubeconfigOf("afxdp-plugins", node);
  directory = await mkdtemp(join(tmpdir(), "switchyard-adp-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  bundle = await bundleApp("apps/device-plugin-config", directory);
  await mkdir(join(directory, "interfaces"));
  const parameters = join(directory, "root/proc/sys/kernel");
  await mkdir(parameters, { recursive: true });
  await writeFile(join(parameters, "osrelease"), "6.8.0-45-generic\n");
  await writeFile(join(parameters, "unprivileged_bpf_disabled"), "2\n");
  for (const name of ["ens1", "ens2"]) await writeFile(join(directory, "interfaces", name), "");
}, 600_000);

afterEach(() => sidecar?.mustBeAlive());

afterAll(() => stack.disposeAsync(), 60_000);

const own = (): readonly string[] => [
  ...[bundle, "--kubeconfig", kubeconfig, "--namespace", namespace, "--node-name", node, "--plugin", "afxdp"],
  ...["--config-file", join(directory, "config/config.json"), "--plugin-process", pluginName],
  ...["--kubelet-directory", join(directory, "kubelet"), "--host-root", join(directory, "root")],
];

/** The plugin, in the loop of its container. */
function startPlugin(): void {
  const program = join(root, "apps/device-plugin-config/src/afxdp-plugins/testing/fake-afxdp-dp.ts");
  const args = [pluginName, join(directory, "config/config.json"), join(directory, "kubelet")];
  const loop = `trap 'kill $!; wait $!; exit' TERM; while :; do "$@" & wait $!; sleep 0.1; done`;
  const command = ["-c", loop, "sh", process.execPath, program, ...args, join(directory, "interfaces")];
  const shell = spawnGuarded("/bin/sh", command, { log: join(directory, "plugin.log") });
  stack.defer(async () => {
    shell.signal("TERM");
    await shell.exited;
  });
}

const pluginStarts = async (): Promise<number> =>
  (await readFile(join(directory, "plugin.log"), "utf8")).split("\n").filter((line) => line.startsWith("Found "))
    .length;

/** Sets spec and status as operator and config daemon would. All devices are in the first pool. */
async function setState(pools: readonly AfxdpPoolSpec[], interfaces: readonly AfxdpInterfaceStatus[]): Promise<void> {
  const path = objectPath(afxdpNetworkNodeStates, { namespace, name: node });
  const poolName = pools[0]?.name ?? "";
  const wanted = interfaces.map(({ pciAddress }) => ({ pciAddress, mode: "primary", poolName }));
  const contentType = "application/merge-patch+json";
  const spec = { pools, interfaces: pools.length === 0 ? [] : wanted };
  const stored = await user.request({ method: "PATCH", path, contentType, body: { spec } });
  const generation = isRecord(stored) && isRecord(stored["metadata"]) ? stored["metadata"]["generation"] : 0;
  const status = { interfaces, syncStatus: "Succeeded", observedGeneration: generation };
  await user.request({ method: "PATCH", path: `${path}/status`, contentType, body: { status } });
}

async function poolsBecome(expected: readonly object[]): Promise<void> {
  let found: unknown;
  const isThere = async (): Promise<boolean> => {
    const path = objectPath(afxdpNetworkNodeStates, { namespace, name: node });
    const state = await user.request({ method: "GET", path });
    found = isRecord(state) && isRecord(state["status"]) ? state["status"]["pools"] : undefined;
    try {
      expect(found).toEqual(expected);
      return true;
    } catch {
      return false;
    }
  };
  await eventually("the pools of the status", isThere, { withinMs: 90_000 }).catch(() => {
    expect(found).toEqual(expected);
  });
}

const row = (name: string, count: number) => ({ name, announced: count, allocatable: count });

describe("a node with provider upstream", () => {
  it("starts its plugin when the devices are configured", async () => {
    const waiting = promisify(execFile)(process.execPath, [...own(), "--wait"], { timeout: 60_000 });
    await setState([intel], [port(1, "ens1")]);
    await waiting;
    expect(JSON.parse(await readFile(join(directory, "config/config.json"), "utf8"))).toEqual({
      logLevel: "info",
      pools: [{ name: "intel", mode: "primary", devices: [{ name: "ens1" }] }],
    });
    const recorded = await readFile(join(directory, "root", upstreamDeviceDirectory, "0000:81:00.0"), "utf8");
    expect(JSON.parse(recorded)).toMatchObject({ device: "0000:81:00.0", names: ["ens1"], pools: ["intel"] });
    kubelet = await startFakeKubelet(join(directory, "kubelet"));
    stack.defer(() => kubelet?.[Symbol.asyncDispose]());
    startPlugin();
    const started = spawnKept(own(), { log: join(directory, "sidecar.log"), name: "afxdp-plugins-sidecar" });
    sidecar = started;
    stack.defer(() => started.kill());
    await poolsBecome([row("intel", 1)]);
  });

  it("offers another device and another pool after a restart of the plugin", async () => {
    const starts = await pluginStarts();
    await setState([intel, { ...intel, name: "other" }], [port(1, "ens1"), port(2, "ens2")]);
    await poolsBecome([row("intel", 2), row("other", 0)]);
    expect(await pluginStarts()).toBe(starts + 1);
  });

  it("keeps offering a device that a pod has, and writes nothing for it", async () => {
    const starts = await pluginStarts();
    await setState([intel], [port(1), port(2, "ens2")]);
    await poolsBecome([row("intel", 2)]);
    expect(await readFile(join(directory, "config/config.json"), "utf8")).toContain("ens1");
    expect(await pluginStarts()).toBe(starts);
  });

  it("says on the node state why a pool is not offered", async () => {
    await setState([{ ...intel, bpfMapPinning: true, uid: 1500 }], [port(1, "ens1")]);
    const error = expect.stringContaining("bpfMapPinning must be false with uid 1500 and provider upstream") as unknown;
    await poolsBecome([{ ...row("intel", 0), error }]);
  });

  it("restarts a plugin that the kubelet does not know, because the kubelet restarted", async () => {
    await setState([intel], [port(1, "ens1")]);
    await poolsBecome([row("intel", 1)]);
    const starts = await pluginStarts();
    await kubelet?.[Symbol.asyncDispose]();
    kubelet = await startFakeKubelet(join(directory, "kubelet"));
    await poolsBecome([row("intel", 0)]);
    await poolsBecome([row("intel", 1)]);
    expect(await pluginStarts()).toBe(starts + 1);
  });
});
