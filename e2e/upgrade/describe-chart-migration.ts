// SPDX-License-Identifier: Apache-2.0
/**
 * describeChartMigration declares the tests of a migration by one version of Helm: from upstream's chart to Switchyard's,
 * back by a rollback, to Switchyard again, and an uninstall.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  annotations,
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type ResourceType,
} from "@switchyard/api";
import { connect, isRecord, objectPath } from "@switchyard/kube";
import { componentKinds } from "@switchyard/render";
import { namespace } from "@switchyard/test-cluster";
import { eventually, findWorkspaceRoot, isWrite, type AuditEvent } from "@switchyard/testing";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { disposeOf } from "../src/dispose-of.ts";
import { readManifest, type HelmVersion } from "../src/helm/helm.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import type { PodRun } from "../src/pods/run-pods.ts";
import { upstream } from "../src/operator/upstream-cluster.ts";
import { changesOf } from "./upstream-host.ts";
import { switchyardChart } from "../src/helm/chart-cluster.ts";
import { release, startMigration, type Migration } from "./chart-migration.ts";

const { DaemonSet, ServiceAccount, Role, RoleBinding, ClusterRole, ClusterRoleBinding } = componentKinds;
const daemon = "sriov-network-config-daemon";
/** Objects that upstream's chart creates and Switchyard's operator writes. */
const rightsOfDaemons = [ServiceAccount, Role, RoleBinding, ClusterRole, ClusterRoleBinding];

const crds: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};
const deployments: ResourceType = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};
const deployment = "sriov-sriov-network-operator";
const upgrade = ["upgrade", release, switchyardChart, "--wait", "--timeout", "180s"];

export function describeChartMigration(version: HelmVersion): void {
  let migration: Migration;
  /** Time of the first upgrade, by the clock of the audit log. */
  let startedAt: string;
  let uidsBefore: Readonly<Record<string, string | undefined>>;
  const writesBefore = new Map<string, number>();

  beforeAll(async () => {
    migration = await startMigration(version);
    uidsBefore = await readUids();
    for (const [name, { kernel }] of migration.world.workers) writesBefore.set(name, kernel.writes.length);
    startedAt = new Date().toISOString();
  });

  afterAll(async () => {
    await disposeOf(migration);
  });

  const nodeNames = () => migration.nodes.map(({ name }) => name);

  /** The uid of every object that has to survive. */
  async function readUids(): Promise<Readonly<Record<string, string | undefined>>> {
    const objects: readonly (readonly [ResourceType, string])[] = [
      [sriovOperatorConfigs, "default"],
      ...nodeNames().map((name) => [sriovNetworkNodeStates, name] as const),
      ...rightsOfDaemons.map((type) => [type, daemon] as const),
      [DaemonSet, daemon],
      [DaemonSet, "sriov-device-plugin"],
      [deployments, deployment],
    ];
    const found = objects.map(async ([type, name]) => {
      return [`${type.kind} ${name}`, (await migration.testCluster.find(type, name))?.metadata.uid] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  }

  /** Returns what was changed on the host since upstream configured it. */
  function actsOn(name: string): readonly string[] {
    const worker = migration.world.workers.get(name);
    return worker === undefined ? [] : changesOf(worker.kernel, writesBefore.get(name) ?? 0);
  }

  async function writesSince(since: string): Promise<readonly AuditEvent[]> {
    return (await migration.testCluster.audit()).filter((event) => isWrite(event) && event.stageTimestamp > since);
  }

  /** Waits until Switchyard's daemon has reported each node, and every policy is Ready. */
  async function untilSwitchyardRuns(): Promise<void> {
    for (const name of nodeNames()) {
      await eventually(
        `Switchyard's daemon has reported ${name}`,
        async () => {
          const state = await migration.testCluster.read(sriovNetworkNodeStates, name);
          const isReported = fieldAt(state, "status", "observedGeneration") === state.metadata.generation;
          return isReported && isSwitchyards(await migration.testCluster.read(DaemonSet, daemon));
        },
        { withinMs: 120_000 },
      );
    }
    await migration.testCluster.kubectl([
      "wait",
      "--for=condition=Ready",
      "--timeout=60s",
      "sriovnetworknodepolicy",
      "--all",
    ]);
  }

  /** The pods of both operators, in the order of their starts. */
  const operatorRuns = () =>
    migration.pods.runs.filter(({ pod }) => pod.metadata.labels?.["name"] === "sriov-network-operator");

  function expectOneOperatorAtATime(): void {
    const runs = operatorRuns();
    for (const [index, run] of runs.entries()) {
      const previous = runs[index - 1];
      if (previous === undefined) continue;
      expect(previous.endedMs ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(run.startedMs);
    }
  }

  function expectUntouchedHosts(): void {
    for (const name of nodeNames()) expect([name, actsOn(name)]).toEqual([name, []]);
  }

  async function expectNoDrain(): Promise<void> {
    const writes = await writesSince(startedAt);
    const words = writes.map(({ requestObject }) => JSON.stringify(requestObject)).join("\n");
    expect(words).not.toMatch(/Drain_Required|Reboot_Required|"unschedulable":true/);
    expect(writes.filter(({ requestURI }) => requestURI.includes("/eviction"))).toEqual([]);
    for (const name of nodeNames()) {
      const { metadata } = await migration.testCluster.read(nodes, name);
      expect([name, metadata.annotations?.[annotations.nodeState]]).toEqual([name, "Idle"]);
    }
  }

  /** The version of each object of the release and of each CRD, and the operator's pods. */
  async function readVersions(): Promise<unknown> {
    const { helm, testCluster } = migration;
    const items = readManifest(await helm.run(["get", "manifest", release]));
    const list = await testCluster.kubectl(["get", "-f", "-", "-o", "json"], { apiVersion: "v1", kind: "List", items });
    const all = await testCluster.kubectl(["get", "crds", "-o", "json"]);
    const versions = [list, all].flatMap((text) => {
      const found = fieldAt(JSON.parse(text) as unknown, "items");
      return (Array.isArray(found) ? found : []).map((object: unknown) => {
        const metadata = ["name", "resourceVersion"].map((field) => fieldAt(object, "metadata", field));
        return [fieldAt(object, "kind"), ...metadata].join(" ");
      });
    });
    return { versions, pods: operatorRuns().map(({ pod, exits }) => [pod.metadata.name, exits]) };
  }

  describe(`an upgrade by ${version} with --reuse-values`, () => {
    const args = ["upgrade", release, switchyardChart, "--reuse-values"];

    it("is refused with a sentence, because it keeps upstream's images, and changes nothing", async () => {
      const { status, stderr } = await migration.helm.try(args);
      expect([status, stderr]).toEqual([1, expect.stringContaining("use --reset-then-reuse-values instead")]);
      expect(stderr).not.toContain("nil pointer");
      expect(await readUids()).toEqual(uidsBefore);
      expect(operatorRuns()).toHaveLength(1);
    });

    it("renders what the API server takes if the images are set", async () => {
      const images = ["operator", "sriovConfigDaemon", "webhook"].map((name) => `images.${name}=example.com/${name}:1`);
      await migration.helm.run([...args, "--dry-run=server", "--set", images.join(",")]);
    });
  });

  describe(`one upgrade by ${version} from upstream's chart to Switchyard's`, () => {
    it("succeeds with the values of the old release", async () => {
      await migration.helm.run(upgrade);
      await untilSwitchyardRuns();
      const found = await migration.testCluster.read(deployments, deployment);
      const env = fieldAt(found, "spec", "template", "spec", "containers", 0, "env");
      expect(env).toContainEqual({ name: "RESOURCE_PREFIX", value: "example.com" });
      expect(env).toContainEqual({
        name: "SRIOV_DEVICE_PLUGIN_IMAGE",
        value: "mirror.example.com/sriov-network-device-plugin:v3.9.0",
      });
    });

    it("replaces the schema of every CRD", async () => {
      const directory = join(findWorkspaceRoot(), "charts/switchyard/crds");
      for (const file of await readdir(directory)) {
        const ours: unknown = parse(await readFile(join(directory, file), "utf8"));
        const name = fieldAt(ours, "metadata", "name");
        if (typeof name !== "string" || name.startsWith("network-attachment-definitions.")) continue;
        const schema = ["spec", "versions", 0, "schema"] as const;
        const live = await migration.testCluster.read(crds, name);
        expect([name, fieldAt(live, ...schema)]).toEqual([name, fieldAt(ours, ...schema)]);
      }
    });

    it("keeps the config, the node states, the DaemonSets and the rights of the daemons", async () => {
      expect(await readUids()).toEqual(uidsBefore);
    });

    it("never runs two operators at once", () => {
      expect(operatorRuns().length).toBeGreaterThan(1);
      expectOneOperatorAtATime();
    });

    it("runs no program of the operator that ends by itself with an error", async () => {
      for (const { pod, exits } of migration.pods.runs) {
        const { name } = pod.metadata;
        const failed = exits.filter((status) => status !== 0);
        expect([name, failed, failed.length > 0 && (await migration.pods.logOf(name))]).toEqual([name, [], false]);
      }
    });

    it("is refused no request: the rights in the chart suffice", async () => {
      const prefix = `system:serviceaccount:${namespace}:`;
      const refused = (await migration.testCluster.audit()).filter(({ user, responseStatus }) => {
        return user.username?.startsWith(prefix) === true && responseStatus?.code === 403;
      });
      expect(refused.map(({ user, verb, requestURI }) => [user.username, verb, requestURI].join(" "))).toEqual([]);
    });

    it("changes no host and drains no node", async () => {
      expectUntouchedHosts();
      await expectNoDrain();
    });
  });

  describe("the same upgrade again", () => {
    it("writes no object and restarts no pod", async () => {
      const before = await readVersions();
      await migration.helm.run(upgrade);
      expect(await readVersions()).toEqual(before);
    });
  });

  describe("a rollback and another upgrade", () => {
    it("gives the cluster back to upstream's operator", async () => {
      const { helm, testCluster } = migration;
      // Helm 4 applies on the server, where Switchyard's operator owns the rights of the daemons.
      const force = version === "helm4" ? ["--force-conflicts"] : [];
      const history: unknown = JSON.parse(await helm.run(["history", release, "-o", "json"]));
      // Without a revision, Helm goes back by one: to Switchyard's first upgrade, since the upgrade was repeated.
      const rows: readonly unknown[] = Array.isArray(history) ? history : [];
      const ofUpstream = rows.find((row) => String(fieldAt(row, "chart")).startsWith("sriov-network-operator-chart"));
      const revision = String(fieldAt(ofUpstream, "revision"));
      await helm.run(["rollback", release, revision, "--wait", "--timeout", "120s", ...force]);
      const found = await testCluster.read(deployments, deployment);
      expect(isSwitchyards(found)).toBe(false);
      await eventually("upstream's operator runs", () => {
        const last = operatorRuns().at(-1);
        return last?.endedMs === undefined && last !== undefined && !isSwitchyards(last.pod);
      });
      for (const type of rightsOfDaemons) {
        expect([type.kind, (await testCluster.find(type, daemon))?.metadata.name]).toEqual([type.kind, daemon]);
      }
      expectOneOperatorAtATime();
    });

    it("leaves upstream's daemons the rights that they need", async () => {
      await migration.deployAsUpstream();
      const { testCluster, pods } = migration;
      const isLast = (run: PodRun) => run.endedMs === undefined && run.pod.metadata.labels?.["app"] === daemon;
      const { pod } = pods.runs.findLast(isLast) ?? {};
      const [name = "", node = ""] = [pod?.metadata.name, pod?.spec.nodeName];
      const bound = ["--bound-object-kind=Pod", `--bound-object-name=${name}`];
      const token = (await testCluster.kubectl(["create", "token", daemon, ...bound])).trim();
      await using transport = await connect({ kubeconfig: await testCluster.cluster.clientFor({ token }) });
      const as = { query: { dryRun: "All", fieldManager: upstream.daemon } };
      const patch = { ...as, method: "PATCH", contentType: "application/merge-patch+json" } as const;
      const annotation = { metadata: { annotations: { [annotations.nodeState]: "Draining" } } };
      await transport.request({ ...patch, path: objectPath(nodes, { name: node }), body: annotation });
      const desired = { metadata: { annotations: { [annotations.desiredState]: "Draining" } } };
      const place = { name: node, namespace };
      await transport.request({ ...patch, path: objectPath(sriovNetworkNodeStates, place), body: desired });
      const state = await testCluster.read(sriovNetworkNodeStates, node);
      const status = { syncStatus: "Succeeded", lastSyncError: "" };
      const path = objectPath(sriovNetworkNodeStates, place, "status");
      await transport.request({ ...as, method: "PUT", path, body: { ...state, status } });
    });

    it("succeeds again, with the same objects, hosts and nodes", async () => {
      await migration.helm.run(upgrade);
      await untilSwitchyardRuns();
      expect(await readUids()).toEqual(uidsBefore);
      expectOneOperatorAtATime();
      expectUntouchedHosts();
      await expectNoDrain();
    });
  });

  describe("an uninstall", () => {
    it("leaves the CRDs, the policies and the VFs, and no component", async () => {
      const { helm, testCluster } = migration;
      await helm.run(["uninstall", release, "--wait", "--timeout", "180s"]);
      const policies = await testCluster.kubectl(["get", "sriovnetworknodepolicies", "-o", "name"]);
      expect(policies.trim().split("\n").length).toBeGreaterThan(1);
      expect(await testCluster.find(sriovOperatorConfigs, "default")).toBeUndefined();
      await eventually("all DaemonSets are deleted", async () => {
        return (await testCluster.kubectl(["get", "daemonsets", "-n", namespace, "-o", "name"])).trim() === "";
      });
      for (const type of [componentKinds.MutatingWebhookConfiguration, componentKinds.ValidatingWebhookConfiguration]) {
        expect(await testCluster.find(type, "sriov-operator-webhook-config")).toBeUndefined();
      }
      expectUntouchedHosts();
      expect(
        await testCluster.kubectl(["get", "crd", sriovNetworkNodePolicies.plural + ".sriovnetwork.openshift.io"]),
      ).toContain(sriovNetworkNodePolicies.plural);
    });
  });
}

/** Whether the pod template, or the pod, has one of Switchyard's images. */
function isSwitchyards(object: unknown): boolean {
  const template = fieldAt(object, "spec", "template") ?? object;
  const containers = fieldAt(template, "spec", "containers");
  return (Array.isArray(containers) ? containers : []).some((container: unknown) => {
    const image = isRecord(container) ? container["image"] : undefined;
    return typeof image === "string" && image.includes("switchyard-");
  });
}
