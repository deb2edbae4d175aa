// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpOperatorConfig, AfxdpOperatorConfigSpec, Condition } from "@switchyard/api";
import { createAfxdpConfigReconciler, devicePluginSummary, type DevicePluginState } from "./afxdp-config-reconciler.ts";

const running: DevicePluginState = { name: "afxdp-device-plugin", problems: [], isDeployed: true, pending: undefined };

/** Reconciles a config, and returns "TYPE=STATUS REASON: MESSAGE" of the conditions that are True, else Ready's. */
async function report(
  spec: AfxdpOperatorConfigSpec,
  state: Partial<DevicePluginState> & { readonly hasBpfman?: boolean } = {},
  name = "default",
): Promise<readonly string[]> {
  const config: AfxdpOperatorConfig = {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpOperatorConfig",
    spec,
    metadata: { name, namespace: "sriov", generation: 3 },
  };
  let written: readonly Condition[] = [];
  const reconcile = createAfxdpConfigReconciler({
    configs: { get: () => config } as never,
    components: () => devicePluginSummary({ ...running, ...state }),
    hasBpfman: () => state.hasBpfman === true,
    writer: {
      applyStatus: (object: AfxdpOperatorConfig) => {
        written = object.status?.conditions ?? [];
        return Promise.resolve("written");
      },
    } as never,
    recordTransition: () => undefined,
    now: () => new Date(0),
  });
  await reconcile(name, new AbortController().signal);
  expect(written.every(({ observedGeneration }) => observedGeneration === 3)).toBe(true);
  return written
    .filter(({ status }) => status === "True")
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
}

describe("the conditions of an AfxdpOperatorConfig", () => {
  it("are Ready if the device plugin is deployed, and also Progressing while pods are missing", async () => {
    expect(await report({})).toEqual(["Ready OperatorConfigReady: deployed as configured: afxdp-device-plugin"]);
    expect(await report({}, { pending: "afxdp-device-plugin: 1 of 2 pods available" })).toEqual([
      "Ready OperatorConfigReady: deployed as configured: afxdp-device-plugin",
      "Progressing RollingOut: afxdp-device-plugin: 1 of 2 pods available",
    ]);
  });

  it("are Progressing until the DaemonSet exists", async () => {
    const nowhere = { unplaced: ["afxdp-device-plugin can run on no node: none of the 2 nodes has the labels a=b"] };
    expect(await report({}, nowhere)).toEqual(expect.arrayContaining([expect.stringContaining("can run on no node")]));
    const state = { isDeployed: false, pending: "afxdp-device-plugin is being started" };
    expect(await report({}, state)).toEqual(["Progressing RollingOut: afxdp-device-plugin is being started"]);
  });

  it("are Degraded with all reasons why something is not deployed", async () => {
    const problems = ["spec: cannot be deployed"];
    expect(await report({ loader: "bpfman" }, { problems })).toEqual([
      "Degraded UnsupportedConfiguration: spec.loader: bpfman is not installed: the API server has neither " +
        "ClusterBpfApplications nor XdpPrograms of bpfman.io/v1alpha1; install bpfman, or use loader builtin; " +
        "spec: cannot be deployed",
    ]);
    expect(await report({ loader: "bpfman" }, { hasBpfman: true })).toEqual([
      "Ready OperatorConfigReady: deployed as configured: afxdp-device-plugin",
    ]);
    expect(await report({ provider: "upstream" }, { name: "afxdp-plugins" })).toEqual([
      "Ready OperatorConfigReady: deployed as configured: afxdp-plugins",
    ]);
  });

  it("say that a config with another name has no effect", async () => {
    expect((await report({}, {}, "other")).join("\n")).toContain('only the AfxdpOperatorConfig "default" is used');
  });
});
