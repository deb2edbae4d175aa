// SPDX-License-Identifier: Apache-2.0
/**
 * The device plugin's configuration on a real API server with the operator. Tests the init container, the sidecar, a
 * fake plugin that counts its restarts, the label on nodes, upstream's ConfigMap, and a fleet that is too large for the
 * ConfigMap.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type Condition,
  type SriovNetworkNodePolicySpec,
} from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { collectionPath, connect, isKubeError, objectPath, patchMetadata, type Transport } from "@switchyard/kube";
import {
  type ControlPlane,
  eventually,
  findWorkspaceRoot,
  type GuardedProcess,
  isWrite,
  missingForPods,
  podCommand,
  spawnGuarded,
  startControlPlane,
} from "@switchyard/testing";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { startCountingPlugin, type CountingPlugin } from "./counting-plugin.ts";
import { bundleApp } from "../../src/bundle-app.ts";
import { makeVfs, pfStatus, readState, report, startKernel, vfAddresses } from "../../device-plugin/fake-pf.ts";

const node = "worker-1";
const serviceAccount = "device-plugin-config";
const user = `system:serviceaccount:${namespace}:${serviceAccount}`;
const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true } as const;

const stack = new AsyncDisposableStack();
let cluster: ControlPlane;
let transport: Transport;
let directory: string;
let ownKubeconfig: string;
let plugin: CountingPlugin;
/** Path of the bundle of the process under test, as the image contains it. */
let bundle: string;

beforeAll(async () => {
  cluster = stack.use(await startControlPlane({ auditLog: true }));
  directory = await mkdtemp(join(tmpdir(), "switchyard-dp-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  await cluster.kubectl(["create", "namespace", namespace]);
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  plugin = stack.use(await startCountingPlugin(directory));
  bundle = await bundleApp("apps/device-plugin-config", directory);
  await startKernel(directory, "boot-1");

  // The roles that the process needs.
  const role = (name: string, verbs: string, resource: string, ...only: readonly string[]) => {
    const what = [`--verb=${verbs}`, `--resource=${resource}`, ...only.map((each) => `--resource-name=${each}`)];
    return cluster.kubectl(["create", "-n", namespace, "role", name, ...what]);
  };
  const bind = (name: string) =>
    cluster.kubectl(["create", "-n", namespace, "rolebinding", name, `--role=${name}`, `--user=${user}`]);
  const { plural, group } = sriovNetworkNodeStates;
  await role("reader", "get,list,watch", `${plural}.${group}`);
  await role("reporter", "patch", `${plural}.${group}/status`);
  await role("config-reader", "get,list,watch", `${sriovOperatorConfigs.plural}.${group}`, "default");
  for (const name of ["reader", "reporter", "config-reader"]) await bind(name);
  ownKubeconfig = await cluster.clientFor({ user });

  const flags = ["--kubeconfig", cluster.kubeconfig, "--leader-elect=false", "--write-configmap"];
  start("operator", "apps/operator/src/main.ts", flags);
  await apply({ ...of("SriovOperatorConfig", "default"), spec: { disableDrain: true } });
  await createNode(node);
  await eventually("the node's state", () => readState(transport, node));
}, 600_000);

afterAll(() => stack.disposeAsync(), 60_000);

const of = (kind: string, name: string) => ({
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind,
  metadata: { name, namespace },
});

async function apply(object: unknown): Promise<void> {
  await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(object) });
}

async function applyPolicy(name: string, spec: Partial<SriovNetworkNodePolicySpec>): Promise<void> {
  const whole = { nodeSelector: labels, resourceName: name, numVfs: 4, nicSelector: { pfNames: ["ens1f0"] }, ...spec };
  await apply({ ...of("SriovNetworkNodePolicy", name), spec: whole });
}

async function createNode(name: string, more = {}): Promise<void> {
  const body = { apiVersion: "v1", kind: "Node", metadata: { name, labels: { ...labels, ...more } } };
  await transport.request({ method: "POST", path: collectionPath(nodes), body });
}

/** Starts a process. Its log is `<name>.log`. */
function start(name: string, script: string, flags: readonly string[]): GuardedProcess {
  const args = [resolve(findWorkspaceRoot(), script), "--namespace", namespace, ...flags];
  const started = spawnGuarded(process.execPath, args, { log: join(directory, `${name}.log`) });
  stack.defer(() => started.kill());
  return started;
}

const running: GuardedProcess[] = [];

/** Starts the process under test. */
function startConfigurator(name: string, flags: readonly string[], nodeName = node): GuardedProcess {
  const started = start(name, bundle, ["--kubeconfig", ownKubeconfig, ...configuratorFlags(nodeName), ...flags]);
  running.push(started);
  return started;
}

function configuratorFlags(nodeName: string): readonly string[] {
  const host = ["--node-name", nodeName, "--host-root", directory];
  return [...host, "--config-file", join(directory, "pcidp/config.json"), "--plugin-process", plugin.name];
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.kill()));
});

/** The VFs of each resource in the plugin's file; undefined if the file does not exist. */
async function handedOut(): Promise<Readonly<Record<string, readonly string[]>> | undefined> {
  const text = await readFile(join(directory, "pcidp/config.json"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const { resourceList } = JSON.parse(text) as { resourceList: { resourceName: string; selectors: Selectors }[] };
  return Object.fromEntries(resourceList.map(({ resourceName, selectors }) => [resourceName, selectors.pciAddresses]));
}

interface Selectors {
  readonly pciAddresses: readonly string[];
}

async function fileHas(what: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const wanted = JSON.stringify(what);
  await eventually(`the file has ${wanted}`, async () => JSON.stringify(await handedOut()) === wanted);
}

const nothing = { none: ["none"] };

async function condition(): Promise<Condition | undefined> {
  const { status } = await readState(transport, node);
  return status?.conditions?.find(({ type }) => type === "DevicePluginConfigured");
}

async function conditionIs(status: string, reason: string): Promise<Condition> {
  return eventually(`DevicePluginConfigured=${status} ${reason}`, async () => {
    const found = await condition();
    return found?.status === status && found.reason === reason ? found : undefined;
  });
}

async function specHas(what: string): Promise<void> {
  await eventually(`the spec has ${what}`, async () => {
    return JSON.stringify((await readState(transport, node)).spec).includes(what);
  });
}

/** Reports that the VFs are configured, as the daemon does. */
async function reportDone(numVfs: number, rest = {}, bootID = "boot-1"): Promise<void> {
  await report(transport, node, { interfaces: [pfStatus({ numVfs, ...rest })], syncStatus: "Succeeded", bootID });
}

async function labelIs(value: string | undefined): Promise<void> {
  const key = "sriovnetwork.openshift.io/device-plugin";
  await eventually(`the label is ${value ?? "gone"}`, async () => {
    const found = await cluster.kubectl(["get", "node", node, "-o", "json"]);
    const { metadata } = JSON.parse(found) as { metadata: { labels: Record<string, string | undefined> } };
    return metadata.labels[key] === value;
  });
}

const log = (name: string) => readFile(join(directory, `${name}.log`), "utf8");

describe("the init container", () => {
  it("waits for the daemon's report, and until the kernel has the reported VFs, and then writes the file", async () => {
    await report(transport, node, { interfaces: [pfStatus({ numVfs: 0, owned: false })], syncStatus: "Succeeded" });
    await applyPolicy("fast", {});
    await specHas("fast");
    await labelIs("Enabled");
    const init = startConfigurator("init", ["--wait"]);
    expect((await conditionIs("False", "VfsMissing")).message).toContain(
      "fast: 4 VFs of 0000:01:00.0 have not been created yet",
    );
    expect(await handedOut()).toBeUndefined();
    await reportDone(4);
    await conditionIs("False", "Configuring");
    expect([await handedOut(), init.hasExited()]).toEqual([undefined, false]);
    await makeVfs(directory, vfAddresses(0, 3));
    expect(await init.exited).toBe(0);
    expect(await handedOut()).toEqual({ fast: vfAddresses(0, 3) });
    expect((await conditionIs("True", "Configured")).message).toBe("VFs advertised: fast: 4");
    expect(plugin.signals()).toBe(0);
  });

  it("waits for the daemon after a reboot, also if all VFs exist", async () => {
    const file = join(directory, "rebooted/config.json");
    await startKernel(directory, "boot-2");
    const init = startConfigurator("init-2", ["--wait", "--config-file", file]);
    expect((await conditionIs("False", "Configuring")).message).toBe(
      "fast: 4 VFs of 0000:01:00.0 have not been configured by the config daemon since the node started; no VFs are advertised",
    );
    await report(transport, node, { syncStatus: "InProgress" }); // a report during a pass does not change bootID
    await reportDone(4, { linkSpeed: "1000 Mb/s" });
    expect(init.hasExited()).toBe(false);
    await reportDone(4, {}, "boot-2");
    expect(await init.exited).toBe(0);
    expect(await readFile(file, "utf8")).toContain(vfAddresses(3, 3)[0]);
    await conditionIs("True", "Configured");
  });

  it("lets the plugin start at once without the gate, and without VFs that the daemon has not inspected in this boot", async () => {
    const file = join(directory, "other/config.json");
    const flags = ["--block-until-configured=false", "--config-file", file];
    await startKernel(directory, "boot-3");
    expect(await startConfigurator("no-gate-2", ["--wait", ...flags]).exited).toBe(0);
    expect(await readFile(file, "utf8")).toContain('"none"');
    const follower = startConfigurator("no-gate-3", flags);
    await conditionIs("False", "Configuring");
    await reportDone(4, { linkSpeed: "1000 Mb/s" }, "boot-2");
    expect(await readFile(file, "utf8")).toContain('"none"');
    const before = plugin.signals();
    await reportDone(4, {}, "boot-3");
    await eventually("the file has the VFs", async () =>
      (await readFile(file, "utf8")).includes(vfAddresses(3, 3)[0] ?? "?"),
    );
    await eventually("the plugin got a signal", () => plugin.signals() === before + 1);
    await follower.kill();
    await reportDone(4, {}, "boot-1");
    await startKernel(directory, "boot-1");
  });

  it("exits with status 1 if it is terminated while it waits", async () => {
    const file = join(directory, "rebooted/config.json"); // from a test above: an emptyDir survives a reboot
    await startKernel(directory, "boot-5");
    const init = startConfigurator("init-3", ["--wait", "--config-file", file]);
    await eventually("it waits", async () =>
      (await log("init-3")).includes("not been configured by the config daemon"),
    );
    init.signal("TERM");
    expect(await init.exited).toBe(1);
    await startKernel(directory, "boot-1");
  });

  it("writes a file without VFs if the gate is off and the node has no state", async () => {
    const flags = ["--wait", "--block-until-configured=false", "--config-file", join(directory, "other/config.json")];
    expect(await startConfigurator("no-gate", flags, "nobody").exited).toBe(0);
    expect(await readFile(join(directory, "other/config.json"), "utf8")).toContain('"none"');
  });
});

describe("the sidecar", () => {
  it("restarts the plugin once for each change of its resources, and for no other change", async () => {
    const before = plugin.signals();
    await startKernel(directory, "boot-4"); // the daemon has not reported this boot, and a running plugin keeps its VFs
    const first = startConfigurator("follower-1", []);
    await eventually("it follows", async () => (await log("follower-1")).includes("VFs advertised: fast: 4"));

    // To create more VFs, the daemon removes the existing ones. They are withdrawn before that.
    await applyPolicy("fast", { numVfs: 6 });
    await fileHas(nothing);
    await conditionIs("False", "Configuring");
    await eventually("a first signal", () => plugin.signals() === before + 1);
    await makeVfs(directory, vfAddresses(0, 5));
    await reportDone(6);
    await fileHas({ fast: vfAddresses(0, 5) });
    await eventually("a second signal", () => plugin.signals() === before + 2);
    await conditionIs("True", "Configured");

    // A changed link speed does not concern the plugin; a changed resource name does and causes the only signal.
    await reportDone(6, { linkSpeed: "1000 Mb/s" });
    await reportDone(6, { linkSpeed: "-1 Mb/s" });
    await first.kill();
    const second = startConfigurator("follower-2", []);
    await eventually("it follows", async () => (await log("follower-2")).includes("VFs advertised: fast: 6"));
    await applyPolicy("fast", { numVfs: 6, resourceName: "faster" });
    await fileHas({ faster: vfAddresses(0, 5) });
    await eventually("a third signal", () => plugin.signals() === before + 3);

    // The VFs were removed and created again with the same addresses while the sidecar was not looking.
    await makeVfs(directory, vfAddresses(2, 2));
    await reportDone(6, { linkSpeed: "1000 Mb/s" });
    await eventually("a fourth signal", () => plugin.signals() === before + 4);
    await second.kill();
    expect(await handedOut()).toEqual({ faster: vfAddresses(0, 5) });
  });

  it("reports resources that the plugin cannot offer as requested", async () => {
    startConfigurator("follower-3", []);
    await applyPolicy("fast", { numVfs: 6, resourceName: "fast" });
    await applyPolicy("other", {
      numVfs: 1,
      resourceName: "fast",
      needVhostNet: true,
      nicSelector: { pfNames: ["ens2f0"] },
    });
    await makeVfs(directory, vfAddresses(0, 0, 2));
    const interfaces = [pfStatus({ numVfs: 6 }), pfStatus({ numVfs: 1, slot: 2 })];
    await report(transport, node, { interfaces, syncStatus: "Succeeded" });
    const { message } = await conditionIs("False", "NotPossible");
    expect(message).toMatch(
      /^fast: deviceType, isRdma, needVhostNet, .* differ between its VFs .*; VFs advertised: fast: 7$/,
    );
    await cluster.kubectl(["delete", "-n", namespace, sriovNetworkNodePolicies.plural, "other"]);
    await conditionIs("True", "Configured");
  });

  it("applies logLevel of the SriovOperatorConfig at once", async () => {
    startConfigurator("follower-6", []);
    await conditionIs("True", "Configured");
    let vfs = 6;
    /** Changes the number of VFs and returns whether the sidecar logs that. */
    async function isLogged(): Promise<boolean> {
      const counted = (text: string) => text.split(`VFs advertised: fast: ${vfs}"`).length;
      vfs = 13 - vfs; // alternates between 6 and 7
      const before = counted(await log("follower-6"));
      await makeVfs(directory, vfAddresses(0, vfs - 1));
      await applyPolicy("fast", { numVfs: vfs });
      await reportDone(vfs);
      const told = `VFs advertised: fast: ${vfs}`;
      await eventually(told, async () => (await conditionIs("True", "Configured")).message === told);
      return counted(await log("follower-6")) > before;
    }
    for (const [logLevel, logs] of [
      [0, false],
      [1, true],
      [0, false],
      [null, true],
    ] as const) {
      await apply({ ...of("SriovOperatorConfig", "default"), spec: { disableDrain: true, logLevel } });
      await eventually(`logLevel ${logLevel} is followed`, async () => (await isLogged()) === logs);
    }
    await applyPolicy("fast", { numVfs: 6 });
    await makeVfs(directory, vfAddresses(0, 5));
    await reportDone(6);
  });

  it("reports a file that it cannot write", async () => {
    startConfigurator("follower-4", ["--config-file", join(bundle, "config.json")]);
    expect((await conditionIs("False", "NotApplied")).message).toContain("ENOTDIR");
  });

  it("sends no requests while its node state does not change", async () => {
    const asked = async () => {
      const events = await cluster.auditEvents();
      return events.filter((event) => event.user.username === user);
    };
    const writes = async () => (await asked()).filter(isWrite).length;
    const follower = startConfigurator("follower-5", []);
    await conditionIs("True", "Configured");
    await eventually("it follows", async () => (await log("follower-5")).includes("VFs advertised"));
    let last = -1;
    const isQuiet = async () => {
      const count = (await asked()).length;
      const isSame = count === last;
      last = count;
      return isSame;
    };
    await eventually("its first requests are over", isQuiet, { everyMs: 2_000 });
    const before = await asked();
    const writesBefore = await writes();
    // The process does not watch the states of other nodes.
    for (const other of ["idle-1", "idle-2", "idle-3"]) {
      await createNode(other, { "node-role.kubernetes.io/worker": "no" });
      await cluster.kubectl(["get", "nodes"]);
    }
    expect((await asked()).length).toBe(before.length);
    expect(await writes()).toBe(writesBefore);
    follower.signal("TERM");
    expect(await follower.exited).toBe(0);
  });

  const missing = missingForPods();
  (missing === undefined ? it : it.skip)(
    `needs little memory in a pod (${missing ?? "by its service account"})`,
    async () => {
      const flags = ["--namespace", namespace, ...configuratorFlags(node)];
      const program = [process.execPath, bundle, ...flags];
      const { file, args } = podCommand(await cluster.podAccount(namespace, serviceAccount), program);
      const follower = spawnGuarded(file, args, { log: join(directory, "pod.log") });
      running.push(follower);
      await eventually("it follows", async () => (await log("pod")).includes("VFs advertised"));
      const resident = await residentKiB();
      expect(resident).toBeGreaterThan(30 * 1024);
      expect(resident).toBeLessThan(65 * 1024);
      follower.signal("TERM");
      expect(await follower.exited).toBe(0);
    },
  );
});

/** The resident memory of the process under test. */
async function residentKiB(): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "rss=,args="]);
  const sizes = stdout.split("\n").flatMap((line) => {
    const [, size, args = ""] = /^\s*(\d+) (.*)$/.exec(line) ?? [];
    return args.startsWith(process.execPath) && args.includes(`--host-root ${directory}`) ? [Number(size)] : [];
  });
  return Math.max(...sizes);
}

describe("the label on nodes", () => {
  it("follows the node's resources, and is removed when the node is no longer selected", async () => {
    await labelIs("Enabled");
    await cluster.kubectl(["delete", "-n", namespace, sriovNetworkNodePolicies.plural, "fast"]);
    await labelIs("Disabled");
    await applyPolicy("fast", {});
    await labelIs("Enabled");
    const object = { metadata: { name: node, labels } };
    await patchMetadata({ transport, type: nodes, object, labels: { "node-role.kubernetes.io/worker": "no" } });
    await labelIs(undefined);
    const back = { metadata: { name: node, labels: { "node-role.kubernetes.io/worker": "no" } } };
    await patchMetadata({ transport, type: nodes, object: back, labels: { "node-role.kubernetes.io/worker": "" } });
    await labelIs("Enabled");
  });
});

describe("upstream's ConfigMap", () => {
  const read = async () => {
    const path = objectPath(configMaps, { name: "device-plugin-config", namespace });
    const found = (await transport.request({ method: "GET", path })) as { data?: Record<string, string> };
    return found.data ?? {};
  };
  const conditionOfConfig = async () => {
    const config = await cluster.kubectl(["get", "-n", namespace, "sriovoperatorconfig", "default", "-o", "json"]);
    const { status } = JSON.parse(config) as { status?: { conditions?: Condition[] } };
    return status?.conditions?.find(({ type }) => type === "DevicePluginConfigMap");
  };
  const conditionIsNow = (status: string, reason: string) =>
    eventually(`DevicePluginConfigMap=${status} ${reason}`, async () => {
      const found = await conditionOfConfig();
      return found?.status === status && found.reason === reason ? found : undefined;
    });

  it("equals upstream's byte for byte, and is created again when somebody deletes it", async () => {
    const wanted =
      '{"resourceList":[{"resourceName":"fast","selectors":{"pfNames":["ens1f0"],' +
      '"IsRdma":false,"NeedVhostNet":false},"SelectorObj":null}]}';
    await eventually("the node's entry in the ConfigMap", async () => (await read())[node] === wanted);
    await conditionIsNow("True", "Written");
    await cluster.kubectl(["delete", "-n", namespace, "configmap", "device-plugin-config"]);
    await eventually("the ConfigMap exists again", async () => {
      try {
        return (await read())[node] === wanted;
      } catch (error) {
        if (isKubeError(error, "NotFound")) return false;
        throw error;
      }
    });
  });

  it("is not updated while the fleet is too large for it, and the SriovOperatorConfig reports that", async () => {
    const fleet = Array.from({ length: 300 }, (_, index) => `fleet-${index}`);
    for (let from = 0; from < fleet.length; from += 50) {
      await Promise.all(fleet.slice(from, from + 50).map((name) => createNode(name, { fleet: "" })));
    }
    await eventually("the ConfigMap has all nodes", async () => Object.keys(await read()).length > fleet.length);
    const pfNames = Array.from({ length: 200 }, (_, port) => `a-rather-long-name-${port}`);
    await applyPolicy("long", { nodeSelector: { fleet: "" }, nicSelector: { pfNames } });
    const { message } = await conditionIsNow("False", "TooLarge");
    expect(message).toMatch(/ 1\d{6} bytes for 301 nodes, more than the limit of 1048576 bytes; it is not updated/);
    expect((await read())["fleet-7"]).not.toContain("rather-long");
    await applyPolicy("long", { nodeSelector: { fleet: "" }, nicSelector: { pfNames: ["ens9"] } });
    await conditionIsNow("True", "Written");
    expect((await read())["fleet-7"]).toContain("ens9");
  });
});
