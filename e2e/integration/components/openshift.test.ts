// SPDX-License-Identifier: Apache-2.0
/**
 * The operator on OpenShift, with its rights there: the cluster's TLS profile and topology, and hardware offload of
 * MachineConfigPools. OpenShift's CRDs are installed, its operators are not running.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { connect, type Transport } from "@switchyard/kube";
import { operatorIdentity, type ComponentSettings } from "@switchyard/render";
import {
  eventually,
  spawnGuarded,
  startControlPlane,
  type ControlPlane,
  type GuardedProcess,
} from "@switchyard/testing";
import { join } from "node:path";
import { crdFolder, openshiftCrds } from "../../src/crds/crd-objects.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { deployedOperatorArguments } from "../../src/operator/operator-command.ts";
import { readIfThere } from "../../src/api/plain-api.ts";

const settings: ComponentSettings = { ...componentSettings, clusterType: "openshift" };
const ours = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}`;
const machines = "/apis/machineconfiguration.openshift.io/v1";
const offload = `${machines}/machineconfigs/00-offload-ovs-hw-offload`;

let cluster: ControlPlane;
let admin: Transport;
let operator: GuardedProcess;

beforeAll(async () => {
  cluster = await startControlPlane();
  await cluster.applyCrds(crdFolder);
  admin = await connect({ kubeconfig: cluster.kubeconfig });
  await create([
    ...openshiftCrds,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    ...operatorIdentity(settings),
  ]);
  await cluster.kindsServed();
  await create([ourObject("SriovOperatorConfig", "default", { enableOperatorWebhook: true })]);
  const args = await deployedOperatorArguments(cluster);
  const flags = ["--cluster-type=openshift", "--webhook-image=example.com/webhook:1"];
  operator = spawnGuarded(process.execPath, [...args, ...flags], { log: join(cluster.dataDir, "operator.log") });
}, 600_000);

afterAll(async () => {
  await operator.kill();
  await admin[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}, 60_000);

function ourObject(kind: string, name: string, spec: object, metadata: object = {}): object {
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind, metadata: { ...metadata, name, namespace }, spec };
}

async function create(items: readonly object[]): Promise<void> {
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
}

/** Returns the object as JSON, or "" if it does not exist. */
async function read(path: string): Promise<string> {
  const object = await readIfThere(admin, path);
  return object === undefined ? "" : JSON.stringify(object);
}

async function has(path: string, ...words: readonly string[]): Promise<void> {
  await eventually(`${path} has ${words.join(", ")}`, async () => {
    const text = await read(path);
    return text !== "" && words.every((word) => text.includes(word));
  });
}

describe("OpenShift's TLS profile", () => {
  it("is applied to Switchyard's servers once the APIServer requires it of all components", async () => {
    const webhook = `/apis/apps/v1/namespaces/${namespace}/daemonsets/operator-webhook`;
    await has(webhook, "example.com/webhook:1");
    expect(await read(webhook)).not.toContain("TLS_MIN_VERSION");
    const spec = { tlsAdherence: "StrictAllComponents", tlsSecurityProfile: { type: "Modern" } };
    await create([{ apiVersion: "config.openshift.io/v1", kind: "APIServer", metadata: { name: "cluster" }, spec }]);
    await has(webhook, '{"name":"TLS_MIN_VERSION","value":"VersionTLS13"}');
  });
});

describe("a control plane that is hosted elsewhere", () => {
  it("is recognized by the Infrastructure object, whatever roles the nodes have", async () => {
    const webhook = `/apis/apps/v1/namespaces/${namespace}/daemonsets/operator-webhook`;
    const labels = { "node-role.kubernetes.io/control-plane": "" };
    await create([{ apiVersion: "v1", kind: "Node", metadata: { name: "control-1", labels } }]);
    await has(webhook, '"key":"node-role.kubernetes.io/control-plane"');
    const kind = { apiVersion: "config.openshift.io/v1", kind: "Infrastructure", metadata: { name: "cluster" } };
    await create([{ ...kind, status: { controlPlaneTopology: "External" } }]);
    await eventually("the webhook runs on any node", async () => {
      const text = await read(webhook);
      return !text.includes('"nodeAffinity"') && !text.includes('"nodeSelector":{"node-role');
    });
  });
});

describe("hardware offload", () => {
  it("is configured while its SriovNetworkPoolConfig exists, and the pool's status reports the progress", async () => {
    const pool = `${ours}/sriovnetworkpoolconfigs/offload`;
    await create([ourObject("SriovNetworkPoolConfig", "offload", { ovsHardwareOffloadConfig: { name: "offload" } })]);
    await has(pool, "MachineConfigPool offload does not exist");
    expect(await read(offload)).toBe("");
    await create([
      { apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfigPool", metadata: { name: "offload" } },
    ]);
    // The operator does not watch MachineConfigPools. It reads them again at each change of a Switchyard object.
    await cluster.kubectl([
      "patch",
      "sriovoperatorconfig",
      "default",
      "-n",
      namespace,
      "--type=merge",
      "-p",
      '{"spec":{"logLevel":2}}',
    ]);
    await has(
      offload,
      "--no-wait set Open_vSwitch . other_config:hw-offload=true",
      '"machineconfiguration.openshift.io/role":"offload"',
    );
    await has(pool, '"reason":"Configuring"');
    await admin.request({ method: "DELETE", path: pool });
    await eventually("no MachineConfig", async () => (await read(offload)) === "");
  });

  it("does not block the deletion of a pool that has upstream's finalizer", async () => {
    const finalizers = ["poolconfig.finalizers.sriovnetwork.openshift.io"];
    const held = ourObject("SriovNetworkPoolConfig", "held", { maxUnavailable: 1 }, { finalizers });
    await create([held]);
    const path = `${ours}/sriovnetworkpoolconfigs/held`;
    await admin.request({ method: "DELETE", path });
    await eventually("the pool is gone", async () => (await read(path)) === "");
  });
});
