// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InventoryItem, Manifest, RenderedComponent } from "@switchyard/render";
import { createComponentCluster } from "../testing/component-cluster.ts";
import { removeUnowned, syncComponents } from "./sync-components.ts";

const namespace = "sriov-network-operator";
const kinds = {
  role: {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    kind: "ClusterRole",
    plural: "clusterroles",
    namespaced: false,
  },
  daemonSet: { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
  service: { group: "", version: "v1", kind: "Service", plural: "services", namespaced: true },
  monitor: {
    group: "monitoring.coreos.com",
    version: "v1",
    kind: "ServiceMonitor",
    plural: "servicemonitors",
    namespaced: true,
  },
  registration: {
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "validatingwebhookconfigurations",
    kind: "ValidatingWebhookConfiguration",
    namespaced: false,
  },
} as const;

const inventory: readonly InventoryItem[] = [
  { component: "operator-webhook", type: kinds.role, name: "webhook-role" },
  { component: "operator-webhook", type: kinds.service, name: "webhook-service", namespace },
  { component: "operator-webhook", type: kinds.daemonSet, name: "webhook", namespace },
  { component: "operator-webhook", type: kinds.registration, name: "webhook-config" },
  { component: "metrics-exporter", type: kinds.daemonSet, name: "exporter", namespace },
  { component: "metrics-exporter", type: kinds.monitor, name: "monitor", namespace },
];

/** The whole inventory of the component except for these names. */
function deployed(name: RenderedComponent["name"], ...without: readonly string[]): RenderedComponent {
  const items = inventory.filter((item) => item.component === name && !without.includes(item.name));
  const objects = items.map(({ type, namespace: inside, ...item }): Manifest => {
    const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
    const metadata = { name: item.name, ...(inside && { namespace: inside }) };
    return { apiVersion, kind: type.kind, metadata, ...(type === kinds.registration && answering("Fail")) };
  });
  return { name, state: "deployed", objects };
}

/** failurePolicy of a webhook registration. */
function answering(failurePolicy: "Fail" | "Ignore") {
  return { webhooks: [{ name: "webhook", failurePolicy }] };
}

function disabled(name: RenderedComponent["name"]): RenderedComponent {
  return { name, state: "disabled", objects: [] };
}

function setUp() {
  const cluster = createComponentCluster(inventory);
  const { signal } = new AbortController();
  return {
    ...cluster,
    sync: (...components: readonly RenderedComponent[]) => syncComponents(cluster.deps, components, signal),
    registered: () => cluster.get(kinds.registration.kind, "webhook-config"),
    removeUnowned: () => removeUnowned(cluster.deps, signal),
  };
}

const one = { desired: 1, updated: 1, available: 1 };

describe("components", () => {
  it("are applied in order, and the webhook is registered once one of its pods serves", async () => {
    const { sync, roll, history } = setUp();
    const first = await sync(deployed("operator-webhook"));
    expect(history).toEqual(["webhook-role", "webhook-service", "webhook"]);
    expect(first).toEqual({
      failures: [],
      incomplete: ["operator-webhook is registered as a webhook once one of its pods is available"],
      pending: ["webhook is being started"],
      replaced: [],
      isStale: false,
      lacking: [],
    });
    roll("webhook", one);
    expect(await sync(deployed("operator-webhook"))).toMatchObject({ incomplete: [], pending: [] });
    expect(history.slice(3)).toEqual(["webhook-role", "webhook-service", "webhook", "webhook-config"]);
  });

  it("stay registered while their pods are down, and the pods are counted", async () => {
    const { sync, roll, present } = setUp();
    await sync(deployed("operator-webhook"));
    roll("webhook", one);
    await sync(deployed("operator-webhook"));
    roll("webhook", { desired: 3, updated: 2, available: 0 });
    const { incomplete, pending } = await sync(deployed("operator-webhook"));
    expect(incomplete).toEqual([]);
    expect(pending).toEqual(["webhook: 2 of 3 pods updated, 0 of 3 pods available"]);
    expect(present()).toContain("ValidatingWebhookConfiguration webhook-config");
  });

  it("let upstream's webhook registration refuse nothing before a pod of this operator serves (sriov-operator.md M-50)", async () => {
    const { sync, roll, put, registered } = setUp();
    put("upstream", "DaemonSet", "webhook");
    put("upstream", kinds.registration.kind, "webhook-config", answering("Fail"));
    for (const counts of [
      { desired: 3, updated: 0, available: 3 }, // upstream's pods, which are replaced one by one
      { desired: 3, updated: 1, available: 2 },
    ]) {
      roll("webhook", counts);
      const { incomplete } = await sync(deployed("operator-webhook"));
      expect(incomplete).toContain(
        "requests that operator-webhook does not answer are admitted until one of its pods is available",
      );
      expect(registered()).toMatchObject(answering("Ignore"));
    }
    roll("webhook", { desired: 3, updated: 1, available: 3 });
    await sync(deployed("operator-webhook"));
    expect(registered()).toMatchObject(answering("Fail"));
    roll("webhook", { desired: 3, updated: 1, available: 0 });
    await sync(deployed("operator-webhook"));
    expect(registered()).toMatchObject(answering("Fail"));
  });

  it("let upstream's registration ignore failures before anything of its webhook changes", async () => {
    const { sync, put, history } = setUp();
    put("upstream", "DaemonSet", "webhook");
    put("upstream", kinds.registration.kind, "webhook-config", answering("Fail"));
    await sync(deployed("operator-webhook"));
    expect(history[0]).toBe("webhook-config: Ignore");
    expect(history.slice(1)).toEqual(["webhook-role", "webhook-service", "webhook", "webhook-config"]);
  });

  it("leave a registration that they made themselves, and one that already ignores failures, in its place", async () => {
    const { sync, put, roll, history } = setUp();
    put("upstream", "DaemonSet", "webhook");
    put("upstream", kinds.registration.kind, "webhook-config", answering("Ignore"));
    await sync(deployed("operator-webhook"));
    roll("webhook", one);
    await sync(deployed("operator-webhook")); // now with Fail, as this operator sets it
    await sync(deployed("operator-webhook"));
    const pass = ["webhook-role", "webhook-service", "webhook", "webhook-config"];
    expect(history).toEqual([...pass, ...pass, ...pass]);
  });

  it("keep a failurePolicy Ignore that a user set until a pod serves again", async () => {
    const { sync, roll, put, registered } = setUp();
    await sync(deployed("operator-webhook"));
    roll("webhook", one);
    await sync(deployed("operator-webhook"));
    roll("webhook", { ...one, available: 0 });
    put("somebody", kinds.registration.kind, "webhook-config", answering("Ignore"));
    await sync(deployed("operator-webhook"));
    expect(registered()).toMatchObject(answering("Ignore"));
    roll("webhook", one);
    await sync(deployed("operator-webhook"));
    expect(registered()).toMatchObject(answering("Fail"));
  });

  it("are removed when they are disabled, registrations before their server", async () => {
    const { sync, roll, present, history } = setUp();
    await sync(deployed("operator-webhook"));
    roll("webhook", one);
    await sync(deployed("operator-webhook"), deployed("metrics-exporter"));
    const { length } = history;
    await sync(disabled("operator-webhook"), deployed("metrics-exporter"));
    expect(history.slice(length)).toEqual([
      ...["-webhook-config", "-webhook", "-webhook-service", "-webhook-role"],
      ...["exporter", "monitor"],
    ]);
    expect(present()).toEqual(["DaemonSet exporter", "ServiceMonitor monitor"]);
  });

  it("lose objects that are no longer rendered", async () => {
    const { sync, present } = setUp();
    await sync(deployed("metrics-exporter"));
    await sync(deployed("metrics-exporter", "monitor"));
    expect(present()).toEqual(["DaemonSet exporter"]);
  });

  it("include leftovers of upstream's operator and nothing of other clients when they are removed", async () => {
    const { sync, put, present } = setUp();
    put("upstream", "ServiceMonitor", "monitor");
    put("somebody", "ClusterRole", "webhook-role");
    await sync(disabled("operator-webhook"), disabled("metrics-exporter"));
    expect(present()).toEqual(["ClusterRole webhook-role"]);
  });

  it("are left unchanged if they cannot be rendered, while others are applied", async () => {
    const { sync, present } = setUp();
    await sync(deployed("metrics-exporter"));
    const failed = { name: "metrics-exporter", state: "failed", objects: [] } as const;
    await sync(failed, deployed("operator-webhook"));
    expect(present()).toContain("ServiceMonitor monitor");
    expect(present()).toContain("DaemonSet webhook");
  });

  it("are applied except for an object that is refused", async () => {
    const { sync, refuse, present } = setUp();
    refuse("webhook-role", "Forbidden");
    const { failures } = await sync(deployed("operator-webhook"), deployed("metrics-exporter"));
    expect(failures).toMatchObject([{ kind: "ClusterRole", name: "webhook-role", error: { code: "Forbidden" } }]);
    expect(present()).toEqual([
      ...["DaemonSet exporter", "DaemonSet webhook", "Service webhook-service", "ServiceMonitor monitor"],
    ]);
    refuse("webhook-role", undefined);
    expect((await sync(deployed("operator-webhook"))).failures).toEqual([]);
  });

  it("report a kind that the API server does not serve without sending requests for it", async () => {
    const { sync, unserve, history } = setUp();
    unserve("ServiceMonitor");
    const { failures } = await sync(deployed("metrics-exporter"));
    expect(failures).toMatchObject([{ kind: "ServiceMonitor", name: "monitor", error: { code: "NotFound" } }]);
    expect(history).toEqual(["exporter"]);
  });

  it("are reconciled again if an object changed before its deletion", async () => {
    const { sync, refuse } = setUp();
    await sync(deployed("metrics-exporter"));
    refuse("monitor", "Conflict");
    expect(await sync(deployed("metrics-exporter", "monitor"))).toMatchObject({ failures: [], isStale: true });
  });
});

describe("removeUnowned", () => {
  it("removes what the garbage collector does not delete", async () => {
    const { sync, roll, put, removeUnowned, present } = setUp();
    await sync(deployed("operator-webhook"), deployed("metrics-exporter"));
    roll("webhook", one);
    await sync(deployed("operator-webhook"));
    const owner = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      name: "default",
      uid: "1",
    };
    put("us", "DaemonSet", "webhook", { metadata: { ownerReferences: [owner] } });
    await removeUnowned();
    expect(present()).toEqual(["DaemonSet webhook"]);
  });
});
