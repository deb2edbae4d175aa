// SPDX-License-Identifier: Apache-2.0
/**
 * describeWalk declares the walk between upstream's operator and Switchyard by one version of Helm: there, back, there, back, there
 * again, and the rollback. The API server's audit log is the judge of what the hand-overs have done. Without the sources of
 * upstream's operator, the tests are skipped and say so.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { sriovNetworkNodeStates, sriovOperatorConfigs } from "@switchyard/api";
import { missingUpstreamOperator, upstreamOperator, type UpstreamOperator } from "@switchyard/go-programs";
import { namespace } from "@switchyard/test-cluster";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fieldAt } from "../src/api/plain-api.ts";
import { disposeOf } from "../src/dispose-of.ts";
import { switchyardChart } from "../src/helm/chart-cluster.ts";
import { prepareHelm, type Helm, type HelmResult, type HelmVersion } from "../src/helm/helm.ts";
import { operatorName, release, startGoCluster, type GoCluster } from "./go-cluster.ts";
import { handshake } from "./go-daemon.ts";
import { goNodes } from "./go-nodes.ts";
import { startJudge, type Judge } from "./judge.ts";
import { expectNoLeftovers, readNames } from "./leftovers.ts";
import { writePolicies, type PolicyWriter } from "./policy-writer.ts";
import { allowEviction } from "./settle.ts";

/** Which Helm does what. */
interface Walk {
  readonly installedBy: HelmVersion;
  /** The Helm of all hand-overs. */
  readonly version: HelmVersion;
  /** What `helm rollback` to upstream's revision is refused with, for versions that refuse it. */
  readonly rollbackIsRefusedWith?: RegExp;
}

const waiting = ["--wait", "--timeout", "300s"];

export function describeWalk({ installedBy, version, rollbackIsRefusedWith }: Walk): void {
  jest.setTimeout(900_000);
  const missing = missingUpstreamOperator();
  if (missing !== undefined) console.error(`SKIPPED: ${missing}`);
  const name = `the walk by ${version}, after an installation by ${installedBy}`;

  (missing === undefined ? describe : describe.skip)(missing === undefined ? name : `${name} (${missing})`, () => {
    let go: UpstreamOperator;
    let place: GoCluster;
    let helm: Helm;
    let writer: PolicyWriter;
    let judge: Judge;
    /** Names of all objects of the operator and its components before the first hand-over. */
    let before: readonly string[];
    let since: string;

    beforeAll(async () => {
      go = await upstreamOperator();
      place = await startGoCluster(installedBy, go);
      const { cluster, directory } = place.testCluster;
      helm = await prepareHelm(version, {
        kubeconfig: cluster.kubeconfig,
        namespace,
        directory: join(directory, "walk"),
      });
      judge = await startJudge(place);
      before = await readNames(place.testCluster);
      writer = place.testCluster.use(writePolicies(place.testCluster));
    }, 1_800_000);

    afterAll(async () => {
      await keepPods();
      await disposeOf(place);
    });

    /** Leaves a list of all workloads beside the logs. */
    async function keepPods(): Promise<void> {
      const directory = process.env["SWITCHYARD_TEST_LOGS"];
      if (directory === undefined) return;
      const list = await place.testCluster.kubectl(["get", "daemonsets,deployments,pods,nodes", "-o", "yaml"]);
      await writeFile(join(directory, "workloads.log"), list);
    }

    async function toSwitchyard(): Promise<void> {
      since = judge.begin();
      await helm.run(["upgrade", release, switchyardChart, ...waiting]);
    }

    /** The command of docs/guide/upgrade.md. */
    async function toUpstream(): Promise<void> {
      since = judge.begin();
      const server = version.startsWith("helm4") ? ["--server-side=true", "--force-conflicts"] : [];
      const args = ["upgrade", release, go.chart, "--take-ownership", "--reset-values", ...server, ...waiting];
      await helm.run(args, place.values);
    }

    /** As the guide says: upstream's operator writes specs without bridges until it has looked at the policies again. */
    async function lookAgain(): Promise<void> {
      for (let i = 0; i < 30; i += 1) {
        await place.testCluster.kubectl(["label", "nodes", "--all", "--overwrite", `example.com/look-again=${i}`]);
        await sleep(2_000);
      }
      await place.testCluster.kubectl(["label", "nodes", "--all", "example.com/look-again-"]);
    }

    async function untilUpstreamWorks(): Promise<void> {
      await Promise.all([lookAgain(), judge.untilDaemonsAre("upstream's")]);
    }

    /** To the revision whose chart is upstream's, as `helm history` shows it. */
    async function rollback(): Promise<HelmResult> {
      const history: unknown = JSON.parse(await helm.run(["history", release, "-o", "json"]));
      const ofUpstream = (Array.isArray(history) ? history : []).filter((row: unknown) =>
        String(fieldAt(row, "chart")).startsWith("sriov-network-operator-chart"),
      );
      const revision = String(fieldAt(ofUpstream.at(-1), "revision"));
      since = judge.begin();
      // Helm 4 rolls back as that revision was applied: by the way back, on the server.
      const force = version.startsWith("helm4") ? ["--force-conflicts"] : [];
      return helm.try(["rollback", release, revision, ...force, ...waiting]);
    }

    async function containersOfOperator(): Promise<readonly string[]> {
      const path = "jsonpath={.spec.template.spec.containers[*].name}";
      const names = await place.testCluster.kubectl(["get", "deployment", operatorName, "-o", path]);
      return names.split(" ");
    }

    /** The commands of step 3 of the guide. */
    async function untilReady(): Promise<void> {
      const wait = ["wait", "--for=condition=Ready", "sriovoperatorconfig/default", "--timeout=180s"];
      await place.testCluster.kubectl(wait);
    }

    /** Upstream's operator registers its webhook before it serves, so only Switchyard can keep this promise. */
    function expectNoRefusal(): void {
      expect(writer.refusals(since).slice(0, 3)).toEqual([]);
    }

    /** Says how long the hand-over took. */
    async function timed(what: string, handOver: () => Promise<void>): Promise<void> {
      const startMs = performance.now();
      await handOver();
      const seconds = (ms: number) => (ms / 1_000).toFixed(1);
      const unreviewed = `policies were not reviewed for ${seconds(writer.unreviewedMs(since))} s`;
      console.log(`${version}: ${what} took ${seconds(performance.now() - startMs)} s; ${unreviewed}`);
    }

    async function takeOver(): Promise<void> {
      await timed("the upgrade", toSwitchyard);
      await untilReady();
      expectNoRefusal();
      await judge.untilDaemonsAre("Switchyard's");
    }

    async function goBack(): Promise<void> {
      await timed("the way back", toUpstream);
      await untilUpstreamWorks();
    }

    async function expectRest(): Promise<void> {
      await judge.expectAllIdle();
      await judge.expectNothingLost();
    }

    it("takes the cluster over, and a wait for Ready that follows ends by Switchyard's word", async () => {
      await toSwitchyard();
      const config = await place.testCluster.read(sriovOperatorConfigs, "default");
      const message = fieldAt(config, "metadata", "managedFields");
      const owners = (Array.isArray(message) ? message : []).filter((entry: unknown) =>
        JSON.stringify(fieldAt(entry, "fieldsV1")).includes('"f:message"'),
      );
      expect(owners.map((entry: unknown) => fieldAt(entry, "manager"))).not.toContain("sriov-network-operator");
      await untilReady();
      expectNoRefusal();
      await judge.untilDaemonsAre("Switchyard's");
      await judge.expectNothingLost();
    });

    it("finishes what upstream had begun, and leaves the node of an administrator cordoned", async () => {
      const { name: blocked } = goNodes.find(({ answer }) => answer === "Draining") ?? { name: "" };
      const state = await place.testCluster.read(sriovNetworkNodeStates, blocked);
      expect(handshake(state).current).toBe("Draining");
      await allowEviction(place.testCluster);
      await judge.expectAllIdle();
    });

    it("goes back, drains nothing, and leaves upstream's operator at work", async () => {
      await goBack();
      await expectRest();
    });

    it("leaves only what switchyard migrate leftovers lists and removes", async () => {
      await expectNoLeftovers(place.testCluster, before);
    });

    it("takes over again", async () => {
      await takeOver();
      await expectRest();
    });

    it("goes back again, and takes over a third time", async () => {
      await goBack();
      await expectRest();
      await takeOver();
      await expectRest();
    });

    if (rollbackIsRefusedWith === undefined) {
      it("goes back by helm rollback, too", async () => {
        const { status, stderr } = await rollback();
        expect(status === 0 ? "" : stderr).toBe("");
        await untilUpstreamWorks();
        await expectRest();
        expect(await containersOfOperator()).toEqual([operatorName]);
      });
    } else {
      it("is not harmed by a rollback that Helm refuses, nor by its repetition, and goes back after the upgrade", async () => {
        expect(await rollback()).toMatchObject({ status: 1, stderr: expect.stringMatching(rollbackIsRefusedWith) });
        // Helm waits for a pod that is never ready, and upstream's operator works meanwhile.
        await Promise.all([rollback(), lookAgain()]);
        expect(await containersOfOperator()).toEqual([operatorName]);
        await toSwitchyard();
        await judge.untilDaemonsAre("Switchyard's");
        await goBack();
        await expectRest();
        expect(await containersOfOperator()).toEqual([operatorName]);
      });
    }
  });
}
