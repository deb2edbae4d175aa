// SPDX-License-Identifier: Apache-2.0
/**
 * The real device plugin never offers VF 0 of the management PF of a host whose OVN runs on its SmartNIC, whatever
 * policies select, in both forms of the configuration.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Node, SriovNetworkNodePolicy, SriovNetworkNodePolicySpec } from "@switchyard/api";
import { createRules, mergePolicies, policiesSelecting } from "@switchyard/policy";
import {
  formatDevicePluginConfig,
  nodeDevicePluginConfig,
  policyDevicePluginConfig,
  withoutManagementVf,
  type RenderedDevicePluginConfig,
} from "@switchyard/render";
import { missingForPods } from "@switchyard/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPlugin } from "../../device-plugin/run-plugin.ts";
import { pfStatus, vfAddresses, writeFakeSysfs } from "../../device-plugin/fake-pf.ts";
import { offersOfPlugin } from "../../device-plugin/offers-of-plugin.ts";

const mellanox = { vendor: "15b3", driver: "mlx5_core", numVfs: 4 };
/** A BlueField-2 and a ConnectX-6 Dx: their VFs have the same device ID. */
const interfaces = [pfStatus({ ...mellanox, deviceID: "a2d6" }), pfStatus({ ...mellanox, deviceID: "101d", slot: 2 })];
const nics = ["a2d6", "101d"].map((pfDevice) => ({ vendor: "15b3", pfDevice, vfDevice: "101e" }));
const other = vfAddresses(0, 3, 2);

const marker = { "switchyard.io/ovn-offload-pool": "dpu-host" };
const hosts = [
  { host: "a host without a resource for VF 0", labels: marker, resource: {} },
  {
    host: "a host with a resource for VF 0",
    labels: { ...marker, "switchyard.io/ovn-management-resource": "mgmt" },
    resource: { mgmt: vfAddresses(0, 0) },
  },
];
const selectors: readonly {
  readonly nicSelector: SriovNetworkNodePolicySpec["nicSelector"];
  /** VFs of the policy's resource. Without any, there is no such resource. */
  readonly fast: readonly string[];
}[] = [
  { nicSelector: { pfNames: ["ens1f0"] }, fast: vfAddresses(1, 3) },
  { nicSelector: { pfNames: ["ens1f0#0-3"] }, fast: vfAddresses(1, 3) },
  { nicSelector: { pfNames: ["ens1f0#0-1"] }, fast: vfAddresses(1, 1) },
  { nicSelector: { pfNames: ["ens1f0#1-3"] }, fast: vfAddresses(1, 3) },
  { nicSelector: { pfNames: ["ens1f0#2-2"] }, fast: vfAddresses(2, 2) },
  { nicSelector: { pfNames: ["ens1f0#0-0"] }, fast: [] },
  { nicSelector: { pfNames: ["ens1f0", "ens2f0#0-0"] }, fast: [...vfAddresses(1, 3), ...vfAddresses(0, 0, 2)] },
  { nicSelector: { vendor: "15b3", deviceID: "a2d6" }, fast: vfAddresses(1, 3) },
  { nicSelector: { vendor: "15b3" }, fast: [...vfAddresses(1, 3), ...other] },
  { nicSelector: { rootDevices: ["0000:01:00.0"] }, fast: vfAddresses(1, 3) },
];
const cases = hosts.flatMap((host) =>
  selectors.map((one) => ({ ...host, ...one, selects: JSON.stringify(one.nicSelector) })),
);

let bin: string;
let directory: string;
let sys: string;
beforeAll(async () => {
  bin = await buildPlugin();
  directory = await mkdtemp(join(tmpdir(), "switchyard-sriovdp-"));
  sys = join(directory, "sys");
  await writeFakeSysfs(sys, interfaces, "101e");
}, 900_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

function rulesFor(nicSelector: SriovNetworkNodePolicySpec["nicSelector"]) {
  const policy: SriovNetworkNodePolicy = {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "fast" },
    spec: { resourceName: "fast", nodeSelector: {}, numVfs: 4, nicSelector },
  };
  return createRules({ policies: [policy], pools: [] });
}

function nodeWith(labels: Readonly<Record<string, string>>): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1", labels } };
}

async function offers({ config }: RenderedDevicePluginConfig) {
  const resources = config.resourceList?.length ?? 0;
  if (resources === 0) return {}; // device-plugin-config writes "none" instead
  const offered = await offersOfPlugin({ bin, directory, sys, config: formatDevicePluginConfig(config), resources });
  return Object.fromEntries(Object.entries(offered).map(([name, devices]) => [name, devices.toSorted()]));
}

function configOfState(labels: Readonly<Record<string, string>>, selector: SriovNetworkNodePolicySpec["nicSelector"]) {
  const { spec } = mergePolicies(nodeWith(labels), interfaces, rulesFor(selector));
  const kind = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState" } as const;
  return nodeDevicePluginConfig({ ...kind, metadata: { name: "worker-1" }, spec, status: { interfaces } });
}

function configInUpstreamsForm(
  labels: Readonly<Record<string, string>>,
  selector: SriovNetworkNodePolicySpec["nicSelector"],
) {
  const node = nodeWith(labels);
  const policies = withoutManagementVf(policiesSelecting(node, rulesFor(selector)), { node, interfaces });
  return policyDevicePluginConfig({ policies, interfaces, nics });
}

const missing = missingForPods();

(missing === undefined ? describe : describe.skip)(`the real device plugin (${missing ?? "with a fake sysfs"})`, () => {
  it("offers VF 0 of other hosts", async () => {
    const all = { fast: vfAddresses(0, 3) };
    expect(await offers(configOfState({}, { pfNames: ["ens1f0"] }))).toEqual(all);
    expect(await offers(configInUpstreamsForm({}, { pfNames: ["ens1f0"] }))).toEqual(all);
  }, 120_000);

  it.each(cases)(
    "offers VF 0 of $host not to a policy that selects $selects",
    async (one) => {
      const expected = { ...(one.fast.length > 0 && { fast: one.fast.toSorted() }), ...one.resource };
      expect(await offers(configOfState(one.labels, one.nicSelector))).toEqual(expected);
      expect(await offers(configInUpstreamsForm(one.labels, one.nicSelector))).toEqual(expected);
    },
    120_000,
  );
});
