// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovOperatorConfig } from "@switchyard/api";
import {
  componentImageVariables,
  componentInventory,
  grantsNodeRights,
  renderComponents,
  type ComponentSettings,
} from "@switchyard/render";
import { createComponentCluster } from "../testing/component-cluster.ts";
import { removeUnowned, syncComponents } from "./sync-components.ts";

const namespace = "sriov-network-operator";

const settings: ComponentSettings = {
  namespace,
  resourcePrefix: "openshift.io",
  clusterType: "kubernetes",
  cniBinPath: "/opt/cni/bin",
  operatorServiceAccount: "switchyard-operator",
  images: Object.fromEntries(Object.keys(componentImageVariables).map((name) => [name, `example.com/${name}:1`])),
  imagePullSecrets: [],
  webhook: { certificates: { kind: "self-made" }, secretName: "operator-webhook-cert", port: 6443 },
  injector: { certificates: { kind: "self-made" }, secretName: "network-resources-injector-cert", port: 6443 },
  tls: { cipherSuites: [], curvePreferences: [] },
  metricsExporter: { port: 9110 },
  useExternalDrainer: false,
  devMode: false,
};

const config: SriovOperatorConfig = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovOperatorConfig",
  spec: {},
  metadata: { name: "default", namespace, uid: "uid-1" },
};

/** The objects that grant permissions to processes on nodes. */
const rights = [
  "ClusterRoleBinding sriov-device-plugin",
  "ClusterRoleBinding sriov-network-config-daemon",
  "RoleBinding sriov-device-plugin",
  "RoleBinding sriov-network-config-daemon",
];
const awaited = "node components get their permissions once the admission policies that limit them are in force";

function setUp() {
  const cluster = createComponentCluster(componentInventory(settings));
  const { components } = renderComponents({ sriov: config }, settings);
  const { signal } = new AbortController();
  return {
    ...cluster,
    sync: () => syncComponents(cluster.deps, components, signal),
    removeUnowned: () => removeUnowned(cluster.deps, signal),
    granted: () => cluster.present().filter((name) => rights.includes(name)),
    withheld: (failures: readonly { readonly kind: string; readonly name: string; readonly error: unknown }[]) =>
      failures
        .filter(({ error }) => String(error).startsWith("not granted, because the admission policies"))
        .map(({ kind, name }) => `${kind} ${name}`)
        .sort(),
  };
}

describe("permissions of processes on nodes", () => {
  it("are granted by these objects", () => {
    const { components } = renderComponents({ sriov: config }, settings);
    const found = components.flatMap(({ objects }) => objects.filter(grantsNodeRights));
    expect(found.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual(rights);
  });

  it("are granted when the cache shows the policies, not when they are written", async () => {
    const { sync, holdBack, deliver, granted, present } = setUp();
    holdBack();
    expect((await sync()).incomplete).toContain(awaited);
    expect(present()).toContain("ValidatingAdmissionPolicy switchyard-own-node");
    expect(granted()).toEqual([]);
    deliver();
    expect((await sync()).incomplete).not.toContain(awaited);
    expect(granted()).toEqual(rights);
  });

  it.each([
    ["ValidatingAdmissionPolicy", "a policy"],
    ["ValidatingAdmissionPolicyBinding", "a binding of a policy"],
  ])("are not granted if the API server does not serve %s", async (kind) => {
    const { sync, unserve, granted, withheld } = setUp();
    unserve(kind);
    const { failures } = await sync();
    expect(granted()).toEqual([]);
    expect(withheld(failures)).toEqual(rights);
    expect(failures).toContainEqual(
      expect.objectContaining({
        kind,
        name: "switchyard-own-node",
        error: expect.objectContaining({ code: "NotFound" }),
      }),
    );
  });

  it("are removed if a policy is refused, and come back with it", async () => {
    const { sync, refuse, lose, granted, withheld } = setUp();
    await sync();
    expect(granted()).toEqual(rights);
    lose("ValidatingAdmissionPolicy", "switchyard-own-node-state");
    refuse("switchyard-own-node-state", "Forbidden");
    const { failures } = await sync();
    expect(granted()).toEqual([]);
    expect(withheld(failures)).toEqual(rights);
    refuse("switchyard-own-node-state", undefined);
    await sync();
    expect(granted()).toEqual(rights);
  });

  it.each([
    { code: "TooManyRequests", status: 429 },
    { code: "InternalError", status: 500 },
    { code: "Timeout", status: 504 },
  ])("stay while the API server cannot accept a policy temporarily: $code", async ({ code, status }) => {
    const { sync, refuse, granted, withheld } = setUp();
    await sync();
    refuse("switchyard-own-node", code, status);
    const { failures, incomplete } = await sync();
    expect(failures).toMatchObject([{ name: "switchyard-own-node" }, { name: "switchyard-own-node" }]);
    expect(withheld(failures)).toEqual([]);
    expect(incomplete).toContain(awaited);
    expect(granted()).toEqual(rights);
  });

  it("stay while a deleted policy is recreated", async () => {
    const { sync, lose, granted, holdBack, deliver, history } = setUp();
    await sync();
    lose("ValidatingAdmissionPolicy", "switchyard-own-node");
    holdBack();
    const { length } = history;
    await sync();
    expect(history.slice(length)).toContain("switchyard-own-node");
    expect(history.slice(length).filter((name) => name.startsWith("-"))).toEqual([]);
    deliver();
    await sync();
    expect(granted()).toEqual(rights);
  });

  it("are removed before the policies when the SriovOperatorConfig is gone", async () => {
    const { sync, removeUnowned, history, granted } = setUp();
    await sync();
    const { length } = history;
    await removeUnowned();
    expect(granted()).toEqual([]);
    const removed = history.slice(length);
    const lastRight = removed.lastIndexOf("-sriov-network-config-daemon");
    expect(lastRight).toBeGreaterThanOrEqual(0);
    expect(removed.lastIndexOf("-sriov-device-plugin")).toBeLessThan(removed.indexOf("-switchyard-own-node"));
    expect(lastRight).toBeLessThan(removed.indexOf("-switchyard-own-node"));
  });
});
