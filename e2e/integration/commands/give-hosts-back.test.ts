// SPDX-License-Identifier: Apache-2.0
/**
 * `operator uninstall --give-hosts-back` on a real API server and controller manager, with a stand-in for the kubelets.
 * The cases are nodes that succeed, fail, are not ready or gone; many nodes; a killed command; names that others use;
 * and insufficient rights.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { afxdpNetworkNodeStates, nodes, sriovNetworkNodeStates } from "@switchyard/api";
import type { ResourceType } from "@switchyard/kube";
import { keepNodesReady, namespace } from "@switchyard/test-cluster";
import { startOperatorCommand, type RunningCommand } from "../../src/operator/operator-command.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";
import { cannotPull, fails, simulateCleanups, runs, succeeds, type StatusSequence } from "./cleanup-kubelets.ts";

const testMs = 5 * 60_000;
const image = "example.com/daemon:1";
const record = "configmap/switchyard-hosts-to-give-back";

let testCluster: UpstreamCluster;
let heartbeats: AsyncDisposable[] = [];

beforeAll(async () => {
  testCluster = await startUpstreamCluster({ controllerManager: true });
}, testMs);
afterAll(async () => {
  await testCluster[Symbol.asyncDispose]();
}, testMs);
afterEach(async () => {
  for (const each of heartbeats) await each[Symbol.asyncDispose]();
  heartbeats = [];
  const all = "sriovnetworknodestates,afxdpnetworknodestates,pods,configmaps";
  await testCluster.kubectl(["delete", all, "--all", "--force", "--grace-period=0"]);
  await testCluster.kubectl(["delete", "nodes", "--all"]);
}, testMs);

function giveBack(kubeconfig: string, ...more: readonly string[]): RunningCommand {
  const to = ["--kubeconfig", kubeconfig, "--namespace", namespace, "--give-hosts-back", "--cleanup-image", image];
  return startOperatorCommand(["uninstall", ...to, ...more]);
}

const run = (...more: readonly string[]) => giveBack(testCluster.cluster.kubeconfig, ...more).ended;
const play = (courseOf: (node: string) => StatusSequence) =>
  simulateCleanups(testCluster.transport, namespace, courseOf);

async function createStates(names: readonly string[], type: ResourceType = sriovNetworkNodeStates): Promise<void> {
  for (const name of names) await testCluster.as(upstream.user).create(type, { metadata: { name } });
}

const createNodes = async (names: readonly string[]): Promise<void> => {
  for (const name of names) await testCluster.as(upstream.user).create(nodes, { metadata: { name } });
};

const makeReady = async (...names: readonly string[]): Promise<void> => {
  heartbeats.push(await keepNodesReady(testCluster.transport, names));
};

const list = async (kinds: string, path: string): Promise<readonly string[]> => {
  const found = await testCluster.kubectl(["get", kinds, "-o", `jsonpath={.items[*]${path}}`]);
  return found.split(" ").filter((text) => text !== "");
};
const podNodes = () => list("pods", ".spec.nodeName");
const recorded = () => testCluster.kubectl(["get", record, "-o", "jsonpath={.data.nodes}", "--ignore-not-found"]);

describe("operator uninstall --give-hosts-back", () => {
  it(
    "reports each node, ends at its limit, and continues with what is left when it is repeated",
    async () => {
      await createStates(["w1", "w2", "w3", "w4", "w5"]);
      await createNodes(["w1", "w2", "w3", "w5"]); // w4 is gone
      await makeReady("w1", "w2", "w5");
      const courses: Record<string, StatusSequence> = {
        w2: fails("set sriov_numvfs 0: EBUSY\nlast line"),
        w5: cannotPull,
      };
      await using kubelets = play((node) => courses[node] ?? succeeds);

      const end = await run("--hosts-timeout-seconds", "10");
      expect(end.code).toBe(2);
      expect(end.lines).toContain(`hosts to give back: 5; their nodes are recorded in ConfigMap ${record.slice(10)}`);
      expect(end.lines).toContain("node w1: given back (1 of 5)");
      expect(end.lines).toContain("node w3: not ready (it has not reported)");
      expect(end.lines).toContain("node w5: waiting: ImagePullBackOff: no such image");
      expect(end.errors.trim().split("\n")).toEqual(
        expect.arrayContaining([
          "node w2: failed (exit code 1); pod switchyard-cleanup-w2 stays",
          "  set sriov_numvfs 0: EBUSY",
          "  last line",
          "node w3: not given back in time: not ready (it has not reported)",
          "node w4: does not exist any more; its host was not given back",
          "node w5: not given back in time: waiting: ImagePullBackOff: no such image",
          "3 of 5 hosts were not given back: w2, w5, w3; repeat the command for them",
        ]),
      );
      expect(kubelets.started.toSorted()).toEqual(["w1", "w2", "w5"]);
      expect([await podNodes(), await recorded()]).toEqual([["w2"], "w2\nw3\nw5"]);

      // As the operator does together with the SriovOperatorConfig.
      await testCluster.kubectl(["delete", "sriovnetworknodestates", "--all"]);
      await makeReady("w3");
      delete courses["w2"];
      delete courses["w5"];
      const again = await run();
      expect([again.errors, again.code]).toEqual(["", 0]);
      expect(again.lines.at(-1)).toBe("all hosts are given back");
      expect(kubelets.started.slice(3).toSorted()).toEqual(["w2", "w3", "w5"]);
      expect([await podNodes(), await recorded()]).toEqual([[], ""]);
    },
    testMs,
  );

  it(
    "says that no host is known, and creates nothing",
    async () => {
      const end = await run();
      expect(end).toMatchObject({ code: 0, errors: "" });
      expect(end.lines.at(-1)).toMatch(/^no node has a state of SR-IOV or AF_XDP/);
      expect([await podNodes(), await recorded()]).toEqual([[], ""]);
    },
    testMs,
  );

  it(
    "gives a host back that has AF_XDP devices only",
    async () => {
      await createStates(["w1"]);
      await createStates(["w1", "w2"], afxdpNetworkNodeStates);
      await createNodes(["w1", "w2"]);
      await makeReady("w1", "w2");
      await using kubelets = play(() => succeeds);
      const end = await run();
      expect([end.errors, end.lines.at(-1), end.code]).toEqual(["", "all hosts are given back", 0]);
      expect(kubelets.started.toSorted()).toEqual(["w1", "w2"]);
    },
    testMs,
  );

  it(
    "cleans up at most 20 nodes at once",
    async () => {
      const names = Array.from({ length: 45 }, (_, index) => `many-${index}`);
      await createStates(names);
      await createNodes(names);
      await makeReady(...names);
      await using kubelets = play(() => succeeds);
      const end = await run();
      expect([end.errors, end.code]).toEqual(["", 0]);
      expect(kubelets.started.toSorted()).toEqual(names.toSorted());
      expect(kubelets.mostAtOnce()).toBeLessThanOrEqual(20);
      expect(kubelets.mostAtOnce()).toBeGreaterThan(1);
    },
    testMs,
  );

  it(
    "starts again after it was killed, and passes --keep-vfs and pull secrets on",
    async () => {
      await createStates(["w1"]);
      await createNodes(["w1"]);
      await makeReady("w1");
      const courses: Record<string, StatusSequence> = { w1: runs };
      await using kubelets = play((node) => courses[node] ?? succeeds);
      const killed = giveBack(
        testCluster.cluster.kubeconfig,
        ...["--keep-vfs", "--image-pull-secrets", "registry,other"],
      );
      await killed.said("node w1: running");
      killed.kill("SIGKILL");
      await killed.ended;
      const passed = ["{.items[0].spec.containers[0].args}", "{.items[0].spec.imagePullSecrets[*].name}"].join(" ");
      expect(await testCluster.kubectl(["get", "pods", "-o", `jsonpath=${passed}`])).toBe(
        '["cleanup","--keep-vfs"] registry other',
      );
      delete courses["w1"];
      expect(await run()).toMatchObject({ code: 0, errors: "" });
      expect([kubelets.started, await podNodes(), await recorded()]).toEqual([["w1", "w1"], [], ""]);
    },
    testMs,
  );

  it(
    "leaves a pod of another program that has the name, and goes on with other nodes",
    async () => {
      await createStates(["w1", "w2"]);
      await createNodes(["w1", "w2"]);
      await makeReady("w1", "w2");
      const spec = { nodeName: "w1", containers: [{ name: "x", image: "x" }] };
      const foreign = { apiVersion: "v1", kind: "Pod", metadata: { name: "switchyard-cleanup-w1" }, spec };
      await testCluster.kubectl(["create", "-f", "-"], foreign);
      await using kubelets = play(() => fails(""));
      const end = await run();
      expect(end.code).toBe(2);
      expect(end.errors).toContain("node w1: ");
      expect(end.errors).toContain("a pod of this name belongs to another program");
      expect(end.errors).toContain("node w2: failed (exit code 1); pod switchyard-cleanup-w2 stays\n2 of 2 hosts");
      expect([kubelets.started, await podNodes()]).toEqual([["w2"], ["w1", "w2"]]);
    },
    testMs,
  );

  it(
    "says which rights it lacks before it deletes anything, and what it needs on the command line",
    async () => {
      await createStates(["w1"]);
      const kubeconfig = await testCluster.cluster.clientFor({ user: "nobody", groups: [] });
      const end = await giveBack(kubeconfig).ended;
      expect(end).toMatchObject({ code: 1, errors: expect.stringContaining("Forbidden") });
      expect(await list("sriovnetworknodestates", ".metadata.name")).toEqual(["w1"]);
      const args = ["uninstall", "--kubeconfig", kubeconfig, "--namespace", namespace, "--give-hosts-back"];
      const incomplete = await startOperatorCommand(args).ended;
      expect(incomplete).toMatchObject({ code: 64, errors: expect.stringContaining("needs --cleanup-image") });
    },
    testMs,
  );
});
