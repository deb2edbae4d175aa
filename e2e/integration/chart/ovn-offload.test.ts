// SPDX-License-Identifier: Apache-2.0
/**
 * The service ovn-offload as the chart deploys it: as a process with the rights and variables of its pod, on a real API server
 * with and without OpenShift's kinds.
 */
import { afterEach, expect, it } from "@jest/globals";
import { fieldAt } from "../../src/api/plain-api.ts";
import { openshiftCrds } from "@switchyard/test-cluster";
import {
  eventually,
  findFreePorts,
  findWorkspaceRoot,
  spawnGuarded,
  startControlPlane,
  type ControlPlane,
} from "@switchyard/testing";
import { join } from "node:path";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import { chartTemplates, namespace, type ChartObject } from "./template-chart.ts";

const within = { withinMs: 120_000 };
const role = "node-role.kubernetes.io/dpu-host";
let stack = new AsyncDisposableStack();

afterEach(async () => {
  const ended = stack;
  stack = new AsyncDisposableStack();
  await ended.disposeAsync();
});

const interfaces = ["0000:3b:00.0", "0000:3b:00.1"].map((pciAddress) => {
  return { pciAddress, vendor: "15b3", deviceID: "a2d6", cardMode: { current: "embedded-cpu" } };
});

async function applyTo(cluster: ControlPlane, ...objects: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input });
}

/** A host with a SmartNIC, and what an administrator selects it by. */
function cluster(isOpenshift: boolean): readonly object[] {
  const labels = { [role]: "", "kubernetes.io/os": "linux" };
  const pool = {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name: "dpu-host" },
    spec: {
      nodeSelector: { matchLabels: { [role]: "" } },
      machineConfigSelector: { matchLabels: { "machineconfiguration.openshift.io/role": "dpu-host" } },
    },
  };
  return [
    { apiVersion: "v1", kind: "Node", metadata: { name: "host-1", labels } },
    { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1", labels: { "kubernetes.io/os": "linux" } } },
    ...(isOpenshift
      ? [
          pool,
          { apiVersion: "operator.openshift.io/v1", kind: "DNS", metadata: { name: "default" }, spec: {} },
          {
            apiVersion: "config.openshift.io/v1",
            kind: "ClusterVersion",
            metadata: { name: "version" },
            spec: { clusterID: "d3c7f0a6-6f0e-4f6c-8f43-1c52b0f8e9aa" },
          },
        ]
      : []),
    {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodeState",
      metadata: { name: "host-1", namespace },
    },
    {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      metadata: { name: "default", namespace },
      spec: { ovnHardwareOffload: [{ nodeSelector: { [role]: "" } }] },
    },
  ];
}

/** Starts the program with the token and the variables of the Deployment's pod. Returns the address of its probes. */
async function startAsDeployed(server: ControlPlane, objects: readonly ChartObject[]): Promise<string> {
  const pod = fieldAt(
    objects.find(({ kind }) => kind === "Deployment"),
    ...["spec", "template", "spec"],
  );
  const account = String(fieldAt(pod, "serviceAccountName"));
  const token = (await server.kubectl(["create", "token", account, "-n", namespace])).trim();
  const [port = 0] = await findFreePorts(1);
  const given = fieldAt(pod, "containers", 0, "env");
  const env = (Array.isArray(given) ? given : []).flatMap((one) => {
    const value = fieldAt(one, "value");
    return typeof value === "string" ? [`${String(fieldAt(one, "name"))}=${value}`] : [];
  });
  const own = [`NAMESPACE=${namespace}`, `HEALTH_ADDRESS=127.0.0.1:${port}`, "METRICS_ADDRESS=0"];
  const kubeconfig = `KUBECONFIG=${await server.clientFor({ token })}`;
  const program = join(findWorkspaceRoot(), "apps/ovn-offload/src/main.ts");
  const command = ["-i", ...env, ...own, kubeconfig, process.execPath, program];
  const started = spawnGuarded("/usr/bin/env", command, { log: join(server.dataDir, "ovn-offload.log") });
  stack.defer(() => started.kill());
  return `http://127.0.0.1:${port}`;
}

it.each([
  { of: "OpenShift", clusterType: "openshift", namespaces: ["openshift-ovn-kubernetes", "openshift-network-operator"] },
  { of: "other clusters", clusterType: "kubernetes", namespaces: ["ovn-kubernetes"] },
])("has the rights that it needs on $of, and no others", async ({ clusterType, namespaces }) => {
  const isOpenshift = clusterType === "openshift";
  using chart = await chartTemplates();
  const rendered = await chart.objects({ ovnOffload: { enabled: true }, operator: { clusterType } });
  const objects = rendered.filter((object) => {
    return fieldAt(object, "metadata", "labels", "app.kubernetes.io/component") === "ovn-offload";
  });
  const server = stack.use(await startControlPlane());
  await server.applyCrds(crdFolder);
  if (isOpenshift) for (const file of await openshiftCrds()) await server.applyCrds(file);
  for (const name of [namespace, ...namespaces]) await server.kubectl(["create", "namespace", name]);
  await applyTo(server, ...objects.filter(({ kind }) => kind !== "Deployment"), ...cluster(isOpenshift));
  const state = ["patch", "sriovnetworknodestate", "host-1", "-n", namespace, "--subresource=status", "--type=merge"];
  await server.kubectl([...state, "-p", JSON.stringify({ status: { interfaces, syncStatus: "Succeeded" } })]);

  // Admission taints new nodes until they are ready, and pods of DNS could run on none.
  await server.kubectl(["patch", "node", "worker-1", "--type=merge", "-p", '{"spec":{"taints":null}}']);
  const probes = await startAsDeployed(server, objects);
  const isOk = async () => (await fetch(`${probes}/readyz`).catch(() => undefined))?.status === 200;
  await eventually("all caches are synced", isOk, within);
  const get = (...args: readonly string[]) => server.kubectl(["get", ...args]);
  const marker = "jsonpath={.metadata.labels.switchyard\\.io/ovn-offload-pool}";
  await eventually(
    "the host is marked",
    async () => (await get("node", "host-1", "-o", marker)) === "dpu-host",
    within,
  );
  const policies = () => get("sriovnetworknodepolicies", "-n", namespace, "-o", "name");
  await eventually(
    "it has a policy",
    async () => (await policies()).includes("ovn-offload-dpu-host-bluefield-2"),
    within,
  );
  const status = "jsonpath={.status.ovnHardwareOffload[0].pool}";
  const pool = () => get("sriovoperatorconfig", "default", "-n", namespace, "-o", status);
  await eventually("the status names the pool", async () => (await pool()) === "dpu-host", within);
  const events = () => get("events.events.k8s.io", "-n", namespace, "-o", "jsonpath={.items[*].reason}");
  await eventually("an event tells it", async () => (await events()).includes("OvnOffloadSelected"), within);
  if (isOpenshift) {
    const selector = "jsonpath={.spec.nodePlacement.nodeSelector.switchyard\\.io/dns-eligible}|{.spec.nodePlacement}";
    const dns = () => get("dns.operator.openshift.io", "default", "-o", selector);
    await eventually("DNS is placed", async () => (await dns()).includes("dns-eligible"), within);
  }

  const account = `system:serviceaccount:${namespace}:sw-sriov-network-operator-ovn-offload`;
  const may = async (...right: readonly string[]) => {
    return (await server.kubectl(["auth", "can-i", ...right, "--as", account]).catch(() => "no")).trim() === "yes";
  };
  const [first = ""] = namespaces;
  expect(await may("patch", "configmaps/ovn-management-ports", "-n", first)).toBe(true);
  expect(await may("list", "pods", "-A")).toBe(true);
  expect(await may("create", "machineconfigs.machineconfiguration.openshift.io")).toBe(isOpenshift);
  for (const right of [
    ...[
      ["get", "secrets", "-A"],
      ["delete", "nodes"],
      ["create", "pods", "-n", namespace],
      ["escalate", "clusterroles"],
    ],
    ...[
      ["patch", "configmaps/other", "-n", first],
      ["patch", "sriovoperatorconfigs/default", "-n", namespace],
    ],
    ...[
      ["create", "configmaps", "-n", "default"],
      ["list", "configmaps", "-n", "kube-system"],
    ],
  ]) {
    expect([right, await may(...right)]).toEqual([right, false]);
  }
});
