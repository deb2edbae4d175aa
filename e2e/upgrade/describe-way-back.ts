// SPDX-License-Identifier: Apache-2.0
/**
 * describeWayBack declares the tests of the command with which docs/guide/upgrade.md goes back to upstream's operator,
 * by one version of Helm. It leaves exactly upstream's operator, can be repeated, and repairs what a rollback left that
 * Helm refused.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { annotations, nodes, type ResourceType } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { componentKinds } from "@switchyard/render";
import { namespace } from "@switchyard/test-cluster";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { switchyardChart } from "../src/helm/chart-cluster.ts";
import { prepareHelm, upstreamChart, type Helm, type HelmVersion } from "../src/helm/helm.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { release, startMigration, type Migration } from "./chart-migration.ts";

/** Which Helm does what. */
interface WayBack {
  /** The Helm that has installed upstream's chart. It decides how later versions apply objects. */
  readonly installedBy: HelmVersion;
  /** The Helm that upgrades to Switchyard's chart and goes back. */
  readonly version: HelmVersion;
  /** What a rollback to upstream's revision is refused with, for versions that refuse it. */
  readonly rollbackIsRefusedWith?: RegExp;
}

const deployments: ResourceType = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};
const { ServiceAccount, Role, RoleBinding, ClusterRole, ClusterRoleBinding } = componentKinds;
const rightsOfDaemons = [ServiceAccount, Role, RoleBinding, ClusterRole, ClusterRoleBinding];
const waiting = ["--wait", "--timeout", "180s"];
/** The first run builds both versions of Helm. */
const startLimitMs = 1_800_000;

export function describeWayBack({ installedBy, version, rollbackIsRefusedWith }: WayBack): void {
  jest.setTimeout(600_000);

  describe(`the way back by ${version}, after an installation by ${installedBy}`, () => {
    let migration: Migration;
    let helm: Helm;
    let upstreams: unknown;
    /** What the guide saves before the upgrade. Later, Helm may not have the revision any more: it keeps ten. */
    let values: unknown;

    beforeAll(async () => {
      migration = await startMigration(installedBy);
      const { cluster, directory } = migration.testCluster;
      const place = { kubeconfig: cluster.kubeconfig, namespace, directory: join(directory, "back") };
      helm = await prepareHelm(version, place);
      upstreams = await operatorPod();
      values = JSON.parse(await helm.run(["get", "values", release, "-o", "json"]));
      await toSwitchyard();
    }, startLimitMs);

    afterAll(async () => {
      await disposeOf(migration);
    });

    const toSwitchyard = () => helm.run(["upgrade", release, switchyardChart, ...waiting]);

    /** The command of the guide, with the values that the guide saves before the upgrade. */
    async function toUpstream(): Promise<void> {
      const server = version.startsWith("helm4") ? ["--server-side=true", "--force-conflicts"] : [];
      const args = ["upgrade", release, await upstreamChart("1.6.0"), "--take-ownership", "--reset-values"];
      await helm.run([...args, ...server, ...waiting], isRecord(values) ? values : {});
    }

    /** Containers of the operator's Deployment, without what the API server adds to each. */
    async function operatorPod(): Promise<unknown> {
      const found = await migration.testCluster.read(deployments, `${release}-sriov-network-operator`);
      const containers = fieldAt(found, "spec", "template", "spec", "containers");
      return (Array.isArray(containers) ? containers : []).map((container: unknown) => {
        const fields = ["name", "image", "command", "args", "ports", "livenessProbe", "readinessProbe", "startupProbe"];
        return Object.fromEntries(fields.map((field) => [field, fieldAt(container, field)]));
      });
    }

    /** The revision whose chart is upstream's, as `helm history` shows it. */
    async function upstreamsRevision(): Promise<string> {
      const history: unknown = JSON.parse(await helm.run(["history", release, "-o", "json"]));
      const ofUpstream = (Array.isArray(history) ? history : []).filter((row: unknown) =>
        String(fieldAt(row, "chart")).startsWith("sriov-network-operator-chart"),
      );
      return String(fieldAt(ofUpstream.at(0), "revision"));
    }

    async function expectUpstream(): Promise<void> {
      expect(await operatorPod()).toEqual(upstreams);
      for (const type of rightsOfDaemons) {
        const found = await migration.testCluster.find(type, "sriov-network-config-daemon");
        expect([type.kind, found?.metadata.name]).toEqual([type.kind, "sriov-network-config-daemon"]);
      }
      for (const { name } of migration.nodes) {
        const { metadata } = await migration.testCluster.read(nodes, name);
        expect([name, metadata.annotations?.[annotations.nodeState]]).toEqual([name, "Idle"]);
      }
    }

    it("leaves upstream's operator, and nothing of Switchyard's in its pod", async () => {
      await toUpstream();
      await expectUpstream();
    });

    it("can be repeated", async () => {
      await toUpstream();
      await expectUpstream();
    });

    it("can be gone again after another upgrade", async () => {
      await toSwitchyard();
      expect(await operatorPod()).not.toEqual(upstreams);
      await toUpstream();
      await expectUpstream();
    });

    if (rollbackIsRefusedWith === undefined) return;

    it("repairs a release whose rollback Helm refused: upgrade first, then go back", async () => {
      await toSwitchyard();
      const rollback = ["rollback", release, await upstreamsRevision(), ...waiting];
      expect(await helm.try(rollback)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(rollbackIsRefusedWith),
      });
      await toSwitchyard();
      await toUpstream();
      await expectUpstream();
    });

    it("never has two operators in the Deployment, not even after a refused rollback was repeated", async () => {
      await toSwitchyard();
      const rollback = ["rollback", release, await upstreamsRevision()];
      expect(await helm.try(rollback)).toMatchObject({ status: 1 });
      await helm.try(rollback);
      const pod = await operatorPod();
      expect(Array.isArray(pod) ? pod.map((container: unknown) => fieldAt(container, "name")) : []).toEqual([
        `${release}-sriov-network-operator`,
      ]);
      await toSwitchyard();
      await toUpstream();
      await expectUpstream();
    });
  });
}
