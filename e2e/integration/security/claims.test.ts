// SPDX-License-Identifier: Apache-2.0
/**
 * The driver of ResourceClaims on a real API server, which accepts what is rendered for a node. The driver's token writes
 * ResourceSlices and claims of its node, and nothing of another node.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { draDriverName, type SriovNetworkNodeState } from "@switchyard/api";
import { connect, isKubeError, type Transport } from "@switchyard/kube";
import { renderDeviceClasses, renderResourceSlices } from "@switchyard/render";
import { eventually } from "@switchyard/testing";
import { prepareCluster, type DeployedCluster } from "./deployed-cluster.ts";

const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;
const account = "sriov-dra-driver";
const group = "/apis/resource.k8s.io/v1";
const slicesPath = `${group}/resourceslices`;

let deployed: DeployedCluster;
let admin: Transport;
let driver: Transport;

beforeAll(async () => {
  deployed = await prepareCluster();
  for (const manifest of deployed.manifests) await deployed.apply(manifest);
  admin = await connect({ kubeconfig: deployed.cluster.kubeconfig });
  driver = await deployed.clientOf(account, "worker-1");
  const query = { dryRun: "All" };
  await eventually("writes of nodes are limited", () =>
    driver.request({ method: "POST", path: slicesPath, query, body: sliceOf("worker-2") }).then(
      () => false,
      (error: unknown) => isKubeError(error, "Forbidden"),
    ),
  );
}, coldStartMs);
afterAll(async () => {
  await driver[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await deployed[Symbol.asyncDispose]();
});

/** 300 VFs of two PFs, with all attributes, some of them withheld. */
const state: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1" },
  spec: {
    interfaces: [0, 1].map((pf) => ({
      pciAddress: `0000:0${pf}:00.0`,
      vfGroups: [{ resourceName: "fast_net", vfRange: "0-149" }],
    })),
  },
  status: {
    interfaces: [0, 1].map((pf) => ({
      pciAddress: `0000:0${pf}:00.0`,
      ...{ name: `ens${pf}`, vendor: "15b3", deviceID: "101d", linkType: "ETH", linkSpeed: "100000 Mb/s" },
      ...{ eSwitchMode: "switchdev", pcieRoot: "pci0000:00", numaNode: pf },
      Vfs: Array.from({ length: 150 }, (_, vfID) => ({
        pciAddress: `0000:${(0x10 + pf).toString(16)}:${(vfID >> 3).toString(16).padStart(2, "0")}.${vfID & 7}`,
        vfID,
        ...{ driver: "mlx5_core", deviceID: "101e", mtu: 9000, rdmaDevice: `mlx5_${vfID}` },
        ...{ guid: "0c42:a103:0016:054c", representorName: `ens${pf}_${vfID}` },
      })),
    })),
  },
};

function slicesOf(nodeName: string) {
  const withheld = new Map([["0000:10:00.1", { reason: "draining", message: "" }]] as const);
  const down = { key: "switchyard.io/link", value: "down", effect: "NoSchedule" } as const;
  const taints = new Map([["0000:01:00.0", [down]]]);
  return renderResourceSlices({
    ...{ nodeName, nodeUid: "u", state, resources: { prefix: "openshift.io" }, withheld, taints },
  });
}

function sliceOf(nodeName: string, of = draDriverName) {
  const [first] = slicesOf(nodeName);
  return { ...first, metadata: { name: `${nodeName}-x` }, spec: { ...first?.spec, driver: of } };
}

const refusal = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => "done",
    (error: unknown) => (isKubeError(error) ? { code: error.code, message: error.message } : error),
  );

describe("the driver of ResourceClaims", () => {
  it(
    "writes the slices of its node, which the API server accepts, and deletes them",
    async () => {
      const slices = slicesOf("worker-1");
      expect(slices.map(({ spec }) => spec.devices.length)).toEqual([64, 64, 64, 64, 44]);
      for (const body of slices) await driver.request({ method: "POST", path: slicesPath, body });
      for (const { metadata } of slices) {
        await driver.request({ method: "DELETE", path: `${slicesPath}/${metadata.name}` });
      }
    },
    testMs,
  );

  it(
    "cannot write slices of another node or driver, delete them, or write any with a token without a node",
    async () => {
      const onlyOwn = { code: "Forbidden", message: expect.stringContaining("of its node worker-1") as unknown };
      expect(await refusal(driver.request({ method: "POST", path: slicesPath, body: sliceOf("worker-2") }))).toEqual(
        onlyOwn,
      );
      await admin.request({ method: "POST", path: slicesPath, body: sliceOf("worker-2") });
      expect(await refusal(driver.request({ method: "DELETE", path: `${slicesPath}/worker-2-x` }))).toEqual(onlyOwn);
      const labelled = driver.request({
        method: "PATCH",
        path: `${slicesPath}/worker-2-x`,
        contentType: "application/merge-patch+json",
        body: { metadata: { labels: { a: "b" } } },
      });
      expect(await refusal(labelled)).toEqual(onlyOwn);
      expect(
        await refusal(
          driver.request({ method: "POST", path: slicesPath, body: sliceOf("worker-1", "gpu.example.com") }),
        ),
      ).toEqual({ code: "Forbidden", message: expect.stringContaining("of the driver") as unknown });
      await using homeless = await deployed.clientOf(account);
      const any = await refusal(homeless.request({ method: "POST", path: slicesPath, body: sliceOf("worker-1") }));
      expect(any).toMatchObject({ code: "Forbidden" });
    },
    testMs,
  );

  it(
    "writes the devices of claims of its node, not of another node, and allocates none",
    async () => {
      for (const node of ["worker-1", "worker-2"]) await allocate(node);
      await driver.request(statusOf("worker-1"));
      const needs = (right: string) => ({
        message: expect.stringMatching(new RegExp(`Forbidden: .*${right}`)) as unknown,
      });
      expect(await refusal(driver.request(statusOf("worker-2")))).toMatchObject(needs("resourceclaims/driver"));
      const allocation = driver.request({
        ...{ method: "PATCH", path: claimPath("worker-1"), contentType: "application/merge-patch+json" },
        body: { status: { allocation: null } },
      } as const);
      expect(await refusal(allocation)).toMatchObject(needs("resourceclaims/binding"));
    },
    testMs,
  );
});

describe("DeviceClasses", () => {
  it(
    "are accepted from the operator, with the names of extended resources",
    async () => {
      const classes = renderDeviceClasses({ prefix: "openshift.io", resourceNames: ["fast_net", "fast-net"] });
      for (const body of classes) {
        await deployed.operator.request({ method: "POST", path: `${group}/deviceclasses`, body });
      }
      expect(classes).toHaveLength(3);
    },
    testMs,
  );
});

const claimsPath = `${group}/namespaces/default/resourceclaims`;
const claimPath = (node: string): string => `${claimsPath}/claim-${node}/status`;

/** Creates a claim with a VF of the node, as the scheduler does. */
async function allocate(node: string): Promise<void> {
  const exactly = { deviceClassName: draDriverName };
  const metadata = { name: `claim-${node}`, namespace: "default" };
  const spec = { devices: { requests: [{ name: "vf", exactly }] } };
  await admin.request({
    method: "POST",
    path: claimsPath,
    body: { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata, spec },
  });
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  await admin.request({
    method: "PATCH",
    path: claimPath(node),
    contentType: "application/merge-patch+json",
    body: {
      status: {
        allocation: {
          devices: { results: [{ request: "vf", driver: draDriverName, pool: node, device: "0000-10-00-0" }] },
          nodeSelector: { nodeSelectorTerms: [{ matchFields }] },
        },
      },
    },
  });
}

function statusOf(node: string) {
  const device = { driver: draDriverName, pool: node, device: "0000-10-00-0", data: { pciAddress: "0000:10:00.0" } };
  return {
    method: "PATCH",
    path: claimPath(node),
    query: { fieldManager: "test", force: true },
    contentType: "application/apply-patch+yaml",
    body: {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name: `claim-${node}`, namespace: "default" },
      status: { devices: [device] },
    },
  } as const;
}
