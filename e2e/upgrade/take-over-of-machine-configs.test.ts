// SPDX-License-Identifier: Apache-2.0
/**
 * Switchyard takes over the MachineConfigs that upstream's operator wrote on OpenShift. A changed MachineConfig reboots
 * all machines of its pool. So the MachineConfig for hardware offload must not be written at all. The one of the
 * systemd mode must be deleted.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  machineConfigPools,
  machineConfigs,
  operatorConfigName,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  upstreamFinalizers,
  type ResourceType,
} from "@switchyard/api";
import { objectPath, type KubeObject } from "@switchyard/kube";
import { eventually, isWrite } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { openshiftCrds } from "../src/crds/crd-objects.ts";
import { installOperator, operatorUser, upstreamEnvironment, type DeployedOperator } from "./deployed-operator.ts";
import { offloadByUpstream, systemdModeByUpstream } from "./upstream-machine-configs.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";

let testCluster: UpstreamCluster;
let operator: DeployedOperator;
/** The MachineConfig for hardware offload as upstream left it. */
let offload: KubeObject;
let others: KubeObject;

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  await testCluster.cluster.applyCrds(openshiftCrds);
  const { as } = testCluster;
  for (const name of ["master", "offload", "worker"])
    await as("machine-config").create(machineConfigPools, { metadata: { name } });
  offload = await as(upstream.operator).create(machineConfigs, offloadByUpstream("offload"));
  await as(upstream.operator).create(machineConfigs, systemdModeByUpstream());
  others = await as("kubectl-create").create(machineConfigs, offloadByUpstream("worker"));
  await as(upstream.user).create(sriovOperatorConfigs, {
    metadata: { name: operatorConfigName, finalizers: [upstreamFinalizers.operatorConfig] },
    spec: { configurationMode: "systemd" },
  });
  await as(upstream.user).create(sriovNetworkPoolConfigs, {
    metadata: { name: "hw-offload", finalizers: [upstreamFinalizers.poolConfig] },
    spec: { ovsHardwareOffloadConfig: { name: "offload" } },
  });
  operator = await installOperator(testCluster, { ...upstreamEnvironment(""), CLUSTER_TYPE: "openshift" });
  operator.start();
}, 120_000);

afterAll(async () => {
  await operator.stop();
  await disposeOf(testCluster);
}, 60_000);

async function writesTo(type: ResourceType, name: string): Promise<readonly string[]> {
  const ours = (await testCluster.audit()).filter(({ user, objectRef }) => {
    return user.username === operatorUser && objectRef?.resource === type.plural && objectRef.name === name;
  });
  return ours.filter(isWrite).map(({ verb }) => verb);
}

describe("upstream's MachineConfigs", () => {
  it("are treated like those that Switchyard's operator writes", async () => {
    await eventually("the pool is reconciled", async () => {
      const pool = await testCluster.read(sriovNetworkPoolConfigs, "hw-offload");
      return JSON.stringify(pool).includes('"reason":"Configuring"') && pool.metadata.finalizers === undefined;
    });
  });

  it("are not written if Switchyard uses them for the same purpose", async () => {
    expect(await writesTo(machineConfigs, offload.metadata.name)).toEqual([]);
    expect(await testCluster.read(machineConfigs, offload.metadata.name)).toEqual(offload);
  });

  it("are replaced in systemd mode with one write, and deleted in daemon mode", async () => {
    const name = "sriov-config-service";
    const find = async () => JSON.stringify((await testCluster.find(machineConfigs, name)) ?? "none");
    await eventually("the MachineConfig starts Switchyard's program", async () => {
      return (await find()).includes("/var/lib/sriov/switchyard/config-daemon boot post");
    });
    expect(await find()).not.toContain("sriov-network-config-daemon");
    expect(await writesTo(machineConfigs, name)).toEqual(["patch"]);

    const mode = { spec: { configurationMode: "daemon" } };
    const patch = ["patch", "sriovoperatorconfigs", operatorConfigName, "--type=merge", "-p", JSON.stringify(mode)];
    await testCluster.kubectl(patch);
    await eventually("the MachineConfig is deleted", async () => (await find()) === '"none"');
    expect(await writesTo(machineConfigs, name)).toEqual(["patch", "delete"]);
  });

  it("are deleted with their pool, but not if another client wrote one under that name", async () => {
    const { name } = offload.metadata;
    await testCluster.transport.request({
      method: "DELETE",
      path: objectPath(
        sriovNetworkPoolConfigs,
        (await testCluster.read(sriovNetworkPoolConfigs, "hw-offload")).metadata,
      ),
    });
    await eventually(
      "the pool's MachineConfig is deleted",
      async () => (await testCluster.find(machineConfigs, name)) === undefined,
    );
    expect(await testCluster.read(machineConfigs, others.metadata.name)).toEqual(others);
  });
});
