// SPDX-License-Identifier: Apache-2.0
/**
 * Running pods keep their VFs when objects are deleted and recreated, and when interfaces are renamed or disappear
 * for a moment. Drains are off, so that a mistake would remove the VFs at once.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import {
  applyPolicy,
  namespace,
  type NodeLog,
  policyIs,
  startTestCluster,
  type TestCluster,
  logNodeChanges,
  silentNarrator,
} from "@switchyard/test-cluster";
import { igb, pci } from "@switchyard/host/testing";
import { eventually } from "@switchyard/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import { createWorker, type FakeWorker } from "../../src/nodes/fake-worker.ts";

const pf = pci("0000:01:00.0");
const node = "worker-1";
const policySpec = {
  nodeSelector: {},
  nicSelector: { pfNames: ["enp1s0f0"] },
  resourceName: "fast",
  numVfs: 4,
  mtu: 9000,
};
let testCluster: TestCluster;
let news: NodeLog;
let worker: FakeWorker;

beforeAll(async () => {
  testCluster = await startTestCluster(silentNarrator);
  await createConfig();
  news = logNodeChanges(testCluster.transport, silentNarrator);
  worker = await createWorker(testCluster, node, [igb("0000:01:00.0")]);
  worker.startDaemon();
  await applyPolicy(testCluster, "fast", policySpec);
  await policyIs(news, "fast", "Ready");
}, 600_000);

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await news[Symbol.asyncDispose]();
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

async function createConfig(): Promise<void> {
  await testCluster.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec: { disableDrain: true },
  });
}

/** The schema watch resumes after up to a minute. */
const patient = { withinMs: 120_000 };

/** Reason and message of the condition ResetHeld; "" if it does not exist. */
async function held(): Promise<string> {
  const path = '{range .status.conditions[?(@.type=="ResetHeld")]}{.reason}: {.message}{end}';
  return testCluster.kubectl(["get", "sriovoperatorconfig", "default", "-o", `jsonpath=${path}`]);
}

/** Waits until the daemon has applied the current spec and `holds`. */
async function settled(what: string, holds: (state: SriovNetworkNodeState) => boolean = () => true) {
  return eventually(what, () => {
    const state = news.states.get(node);
    const isSeen = state?.status?.observedGeneration === state?.metadata.generation;
    return state?.status?.syncStatus === "Succeeded" && isSeen && holds(state) ? state : undefined;
  });
}

/** Whether the operator has merged the policy's VFs into the spec. */
const isConfigured = ({ spec }: SriovNetworkNodeState): boolean =>
  spec?.interfaces?.some(({ pciAddress, numVfs }) => pciAddress === pf && numVfs === 4) === true;

/** The calls that change VFs, drivers or links while `act` runs. `act` must wait until the daemon has settled. */
async function hostWritesDuring(act: () => Promise<void>): Promise<readonly string[]> {
  const before = worker.kernel.writes.length;
  await act();
  return worker.kernel.writes
    .slice(before)
    .flatMap(({ port, method }) => (port === "records" ? [] : `${port}.${method}`));
}

describe("VFs in use stay", () => {
  it("when the node's SriovNetworkNodeState is deleted and created again", async () => {
    const { metadata } = await settled("configured", isConfigured);
    const writes = await hostWritesDuring(async () => {
      await testCluster.kubectl(["delete", "sriovnetworknodestate", node]);
      await settled("made again", (state) => state.metadata.uid !== metadata.uid && isConfigured(state));
    });
    expect(writes).toEqual([]);
  }, 60_000);

  it("when the SriovOperatorConfig is deleted with the node states that it owns, and created again", async () => {
    const { metadata } = await settled("configured", isConfigured);
    const writes = await hostWritesDuring(async () => {
      await testCluster.kubectl(["delete", "sriovoperatorconfig", "default"]);
      await testCluster.kubectl(["delete", "sriovnetworknodestate", node]); // as the garbage collector does
      await createConfig();
      await settled("made again", (state) => state.metadata.uid !== metadata.uid && isConfigured(state));
    });
    expect(writes).toEqual([]);
  }, 60_000);

  it("when the policy is deleted and created again within two seconds, as kubectl replace --force and Argo CD do", async () => {
    await settled("configured", isConfigured);
    const writes = await hostWritesDuring(async () => {
      const specs: unknown[] = [];
      const seen = news.states.get(node)?.metadata.generation;
      await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "fast"]);
      await sleep(500);
      specs.push(news.states.get(node)?.metadata.generation);
      await applyPolicy(testCluster, "fast", policySpec);
      await policyIs(news, "fast", "Ready");
      specs.push((await settled("configured", isConfigured)).metadata.generation);
      expect(specs).toEqual([seen, seen]);
    });
    expect(writes).toEqual([]);
  }, 60_000);

  it("when the daemon starts while its node state is new", async () => {
    await worker.daemon.kill();
    const writes = await hostWritesDuring(async () => {
      await testCluster.kubectl(["delete", "sriovnetworknodestate", node]);
      worker.startDaemon();
      await settled("made again", isConfigured);
    });
    expect(writes).toEqual([]);
  }, 60_000);

  it("when the CustomResourceDefinition of the policies is deleted and created again, with the node states or without", async () => {
    await settled("configured", isConfigured);
    const kinds = ["sriovnetworknodepolicies", "sriovnetworknodestates"];
    for (const replaced of [kinds.slice(0, 1), kinds]) {
      const writes = await hostWritesDuring(async () => {
        const crds = replaced.map((plural) => `${plural}.sriovnetwork.openshift.io`);
        await testCluster.kubectl(["delete", "crd", ...crds]);
        await testCluster.kubectl(["apply", "--server-side", "--force-conflicts", "-f", crdFolder]);
        await eventually("the reset is held", async () => (await held()).startsWith("RestorePending"), patient);
        expect(await held()).toContain("node worker-1 keeps its configuration without policies");
        const { spec } = await settled("kept", () => true);
        expect(spec?.unselected).toBeUndefined();
        await applyPolicy(testCluster, "fast", policySpec);
        await settled("configured", isConfigured);
        await eventually("nothing is held", async () => (await held()) === "", patient);
      });
      expect(writes).toEqual([]);
    }
  }, 240_000);

  it("while the PF's network interface is in another network namespace", async () => {
    const writes = await hostWritesDuring(async () => {
      worker.kernel.moveToPod(pf);
      const away = await settled("the interface is away", ({ status }) => {
        return status?.interfaces?.some(({ pciAddress, name }) => pciAddress === pf && name === undefined) === true;
      });
      expect(isConfigured(away)).toBe(true);
      worker.kernel.returnFromPod(pf);
      await settled("the interface is back", ({ status }) => {
        return status?.interfaces?.some(({ pciAddress, name }) => pciAddress === pf && name !== undefined) === true;
      });
    });
    // An interface is down after it was moved to another namespace. The daemon has restarted, so udev reads its rules again.
    expect(writes).toEqual(["udev.reloadRules", "links.setAdminUp"]);
  }, 60_000);

  it("when somebody renames the PF that the policy names", async () => {
    const writes = await hostWritesDuring(async () => {
      worker.kernel.renameLink("enp1s0f0", "renamed0");
      const renamed = await settled("renamed", ({ spec }) => spec?.interfaces?.[0]?.name === "renamed0");
      expect(renamed.status?.interfaces?.[0]?.recordedNames).toEqual(["enp1s0f0"]);
      worker.kernel.renameLink("renamed0", "enp1s0f0");
      await settled("named as before", ({ spec }) => spec?.interfaces?.[0]?.name === "enp1s0f0");
    });
    expect(writes).toEqual([]);
  }, 60_000);

  it("until no policy selects the PF", async () => {
    await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "fast"]);
    const { spec } = await settled("reset", ({ status }) => status?.interfaces?.[0]?.numVfs === 0);
    await settled("given up", (state) => state.spec?.unselected === undefined);
    expect(spec?.interfaces).toEqual([]);
    expect(await worker.kernel.host().records.list()).toEqual(new Map());
  }, 60_000);
});
