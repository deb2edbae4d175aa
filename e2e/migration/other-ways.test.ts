// SPDX-License-Identifier: Apache-2.0
/**
 * From the real Go operator to Switchyard by the other ways of docs/guide/upgrade.md: without Helm, and by an uninstallation that the
 * guide advises against. Both leave VFs, drains and NetworkAttachmentDefinitions as they are.
 */
import { afterEach, describe, it, jest } from "@jest/globals";
import { sriovNetworkNodeStates } from "@switchyard/api";
import { missingUpstreamOperator, upstreamOperator } from "@switchyard/go-programs";
import { eventually } from "@switchyard/testing";
import { join } from "node:path";
import { readManifest } from "../src/helm/helm.ts";
import { switchyardChart } from "../src/helm/chart-cluster.ts";
import { disposeOf } from "../src/dispose-of.ts";
import { operatorName, release, startGoCluster, type GoCluster } from "./go-cluster.ts";
import { startJudge } from "./judge.ts";
import { allowEviction } from "./settle.ts";

jest.setTimeout(1_800_000);
const missing = missingUpstreamOperator();
if (missing !== undefined) console.error(`SKIPPED: ${missing}`);

(missing === undefined ? describe : describe.skip)(`other ways to Switchyard${missing ? ` (${missing})` : ""}`, () => {
  let place: GoCluster | undefined;

  afterEach(async () => {
    await disposeOf(place);
    place = undefined;
  });

  async function start(): Promise<GoCluster> {
    place = await startGoCluster("helm3", await upstreamOperator());
    return place;
  }

  it("takes over without Helm: upstream's operator is stopped, and the manifests are applied", async () => {
    const started = await start();
    const { testCluster, helm, values } = started;
    const judge = await startJudge(started);
    judge.begin();
    await testCluster.kubectl(["scale", "deployment", operatorName, "--replicas=0"]);
    await eventually("upstream's operator has ended", async () => {
      return (await testCluster.kubectl(["get", "pods", "-l", "name=sriov-network-operator", "-o", "name"])) === "";
    });
    await testCluster.cluster.applyCrds(join(switchyardChart, "crds"));
    const manifest = await helm.run(
      ["template", "switchyard", switchyardChart, "--no-hooks", "--kube-version", "1.34.0"],
      values,
    );
    const items = readManifest(manifest).filter(({ kind }) => kind !== "CustomResourceDefinition");
    const apply = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
    await testCluster.kubectl(apply, { apiVersion: "v1", kind: "List", items });
    await judge.untilDaemonsAre("Switchyard's");
    await allowEviction(testCluster);
    await judge.expectAllIdle();
    await judge.expectNothingLost();
  });

  it("installs a new release after upstream's was uninstalled, and the nodes keep their VFs", async () => {
    const started = await start();
    const { testCluster, helm, values } = started;
    const judge = await startJudge(started);
    judge.begin();
    await helm.run(["uninstall", release, "--wait", "--timeout", "180s"]);
    await eventually(
      "the node states are gone",
      async () => (await testCluster.find(sriovNetworkNodeStates, "rdma")) === undefined,
      { withinMs: 120_000 },
    );
    await helm.run(["install", release, switchyardChart, "--wait", "--timeout", "300s"], values);
    await judge.untilDaemonsAre("Switchyard's");
    await allowEviction(testCluster);
    await judge.expectAllIdle();
    await judge.expectNothingLost({ keepsDaemonSets: false });
  });
});
