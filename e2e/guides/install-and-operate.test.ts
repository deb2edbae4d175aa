// SPDX-License-Identifier: Apache-2.0
/**
 * Executes the commands of the README's section "Install", of docs/guide/install.md and of docs/guide/operate.md, in
 * the order in which an administrator needs them. Helm 4 installs the real chart on a real API server, and the
 * operator, its Jobs and the config daemon are processes. Images of other projects are stand-ins that only run.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { igb, pci } from "@switchyard/host/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { createWorker, type FakeWorker } from "../src/nodes/fake-worker.ts";
import { startChartCluster, type ChartCluster } from "../src/helm/chart-cluster.ts";
import { keepNodesReady } from "@switchyard/test-cluster";
import { configureAsUpstream } from "../upgrade/upstream-host.ts";
import { blocksOf, createGuidePlace } from "./guide-place.ts";
import type { Block } from "./read-guide.ts";
import { runGuide, type GuidePlace } from "./run-guide.ts";

const readme = "README.md";
const install = "docs/guide/install.md";
const operate = "docs/guide/operate.md";
const pf = "0000:01:00.0";

let cluster: ChartCluster;
let worker: FakeWorker;
let place: GuidePlace;
/** Lines of the executed blocks, by file. */
const executed = new Map<string, number[]>();

beforeAll(async () => {
  // The API server cannot reach pods, so webhooks must not be registered: their images cannot be pulled.
  const missing = ["switchyard-webhook", "network-resources-injector", "unpublished-operator"];
  cluster = await startChartCluster("helm4", { workers: true, missing });
  const { testCluster } = cluster;
  worker = testCluster.use(await createWorker(testCluster, "worker-1", [igb(pf)]));
  testCluster.use(await keepNodesReady(testCluster.transport, ["worker-1"]));
  place = await createGuidePlace(testCluster);
});

afterAll(async () => {
  await disposeOf(cluster);
});

async function follow(file: string, section: string): Promise<void> {
  const blocks = (await blocksOf(file, section)).filter(({ notExecuted }) => notExecuted === undefined);
  const outcomes = await runGuide(blocks, place);
  executed.set(file, [...(executed.get(file) ?? []), ...outcomes.map(({ block }) => block.line)]);
  expect(outcomes.map(({ block, result }) => `line ${block.line}: ${result}`)).toEqual(
    blocks.map(({ line }) => `line ${line}: done`),
  );
}

const numVfs = async (): Promise<number> => {
  return (await worker.kernel.host().sriov.readPf(pci(pf)))?.sriov?.vfs.length ?? 0;
};

describe("the README", () => {
  it("has a command that can be repeated after an installation failed, here for an image that cannot be pulled", async () => {
    // images.yaml as docs/guide/install.md writes it
    const isImages = ({ script }: Block) => script.startsWith("cat > images.yaml");
    const [images] = (await blocksOf(install, "Install the chart")).filter(isImages);
    const [command] = await blocksOf(readme, "Install");
    if (images === undefined || command === undefined) throw new Error("the guides have no such commands");
    const typo = images.script.replace("switchyard-operator", "unpublished-operator");
    expect(typo).not.toBe(images.script);
    const failing = `if ${command.script} --timeout 20s; then exit 1; fi`;
    const scripts = [typo, failing, images.script];
    const outcomes = await runGuide(
      scripts.map((script) => ({ line: 0, script })),
      place,
    );
    expect(outcomes.map(({ result }) => result)).toEqual(scripts.map(() => "done"));
  });

  it("installs the chart", async () => {
    await follow(readme, "Install");
    await cluster.helm.run(["uninstall", "switchyard", "--wait", "--timeout", "180s"]);
  });
});

describe("docs/guide/install.md", () => {
  it.each(["Install the chart", "Verify", "The first policy", "OpenShift", "Clusters without Internet"])(
    "%s",
    async (section) => {
      await follow(install, section);
    },
  );

  it("has configured the node", async () => {
    expect(await numVfs()).toBe(4);
  });
});

describe("docs/guide/operate.md", () => {
  it.each(["See whether everything works", "Replicas", "Upgrade Switchyard", "Certificates"])("%s", async (section) => {
    await follow(operate, section);
    expect(await numVfs()).toBe(4);
  });

  it("Uninstall", async () => {
    await follow(operate, "Uninstall");
    expect(await numVfs()).toBe(0);
  });

  it("Give hosts back", async () => {
    const group = { deviceType: "netdevice", policyName: "fast", resourceName: "fast", vfRange: "0-1" } as const;
    await configureAsUpstream(worker.kernel, { pciAddress: pf, name: "enp1s0f0", numVfs: 2, vfGroups: [group] });
    expect(await numVfs()).toBe(2);
    await follow(operate, "Give hosts back");
    expect(await numVfs()).toBe(0);
  });
});

describe("docs/guide/install.md without Helm", () => {
  it("Without Helm in the cluster", async () => {
    await follow(install, "Without Helm in the cluster");
  });
});

describe("each guide", () => {
  it.each([
    { file: install, numNotExecuted: 2 },
    { file: operate, numNotExecuted: 2 },
  ])("$file is executed but for $numNotExecuted blocks", async ({ file, numNotExecuted }) => {
    const blocks = await blocksOf(file);
    const wanted = blocks.filter(({ notExecuted }) => notExecuted === undefined).map(({ line }) => line);
    expect(executed.get(file)?.toSorted((a, b) => a - b)).toEqual(wanted);
    expect(blocks.length - wanted.length).toBe(numNotExecuted);
  });
});
