// SPDX-License-Identifier: Apache-2.0
/**
 * Tests `switchyard verify` on a node with a real kubelet, Multus, sriov-cni and real VFs: a network that works, and six faults, of
 * which it has to name the layer. All pods are gone afterwards. The parts build on each other.
 */
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { eventually, findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { installedCluster, type InstalledCluster } from "./installed-cluster.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { createParts, createTimings } from "./timings.ts";
import { exclusivePool, networkIn, pluginFaults } from "./verify-networks.ts";
import { namespace, policyWith } from "./vf-pods.ts";

/** An idle machine needs seconds, a busy one minutes. */
const within = { withinMs: 900_000, everyMs: 500 };
const limitMs = 1_800_000;
const program = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
const timings = createTimings();
const part = createParts(limitMs);

let installed: InstalledCluster;
let cluster: KubeCluster;

beforeAll(async () => {
  installed = await installedCluster(timings);
  ({ cluster } = installed);
  await cluster.inGuest(
    "cp /usr/lib/lab/lab-fault /opt/cni/bin/ && chmod 755 /opt/cni/bin/lab-fault && modprobe ib_core",
  );
  await timings.during("policy to allocatable", async () => {
    await apply(policyWith(4));
    await apply(networkIn(100, { name: "blue" }));
    await apply(networkIn(200, { name: "green" }));
    for (const fault of pluginFaults) await apply(networkIn(100, { name: `fault-${fault}`, fault }));
    const ready = ["wait", "-n", namespace, "--for=condition=Ready", "sriovnetworknodepolicy/fast", "--timeout=15m"];
    await cluster.kubectl(ready);
    const allocatable = `jsonpath={.items[0].status.allocatable['openshift\\.io/fast']}`;
    const has = async (): Promise<boolean> => (await cluster.kubectl(["get", "nodes", "-o", allocatable])) === "4";
    await eventually("4 VFs are allocatable", has, within);
  });
}, limitMs);

afterAll(async () => {
  timings.print();
  await disposeOf(installed);
}, 120_000);

const apply = (object: unknown): Promise<string> => cluster.kubectl(["apply", "-f", "-"], object);
const pods = (): Promise<string> =>
  cluster.kubectl(["get", "pods", "-A", "-l", "switchyard.io/verify", "-o", "jsonpath={.items[*].metadata.name}"]);

interface Answer {
  readonly code: number;
  readonly stderr: string;
  readonly checks: readonly {
    readonly node: string;
    readonly peerNode?: string;
    readonly status: string;
    readonly failedLayer?: string;
    readonly results: readonly { readonly layer: string; readonly status: string; readonly text: string }[];
  }[];
}

function argumentsFor(...more: readonly string[]): readonly string[] {
  return [program, "verify", "--kubeconfig", cluster.controlPlane.kubeconfig, ...more];
}

async function verify(...more: readonly string[]): Promise<Answer> {
  const args = argumentsFor("-o", "json", "--timeout", "600", ...more);
  const { status, stdout, stderr } = await timings.during(more.join(" "), () => runProgram(process.execPath, args));
  if (stdout === "") throw new Error(stderr);
  const { verifications } = JSON.parse(stdout) as { readonly verifications: readonly Pick<Answer, "checks">[] };
  return { code: Number(status), stderr, checks: verifications.flatMap(({ checks }) => checks) };
}

/** Fails with the sentences of the layers that failed, if one is another. */
function expectFailure({ code, checks }: Answer, layer: string): void {
  const others = checks.filter(({ failedLayer }) => failedLayer !== layer);
  expect(others.flatMap(({ results }) => results.filter(({ status }) => status === "failed"))).toEqual([]);
  expect({ code, layers: checks.map(({ failedLayer }) => failedLayer) }).toEqual({ code: 1, layers: [layer] });
}

describe("switchyard verify on a real node", () => {
  part("passes all layers of a network that works, and removes its pods", async () => {
    const { code, checks } = await verify("--network", "blue", "--isolated-from", "green", "--throughput");
    const statuses = Object.fromEntries((checks[0]?.results ?? []).map(({ layer, status }) => [layer, status]));
    const { rdma, ...others } = statuses;
    expect(checks).toHaveLength(1);
    expect(new Set(Object.values(others))).toEqual(new Set(["ok"]));
    expect({ code, rdma, status: checks[0]?.status }).toEqual({ code: 0, rdma: "notChecked", status: "ok" });
    expect(await pods()).toBe("");
  });

  for (const fault of pluginFaults) {
    part(`names the layer ${fault} if it is broken`, async () => {
      expectFailure(await verify("--network", `fault-${fault}`, "--isolated-from", "green"), fault);
      expect(await pods()).toBe("");
    });
  }

  part("removes its pods when it is interrupted", async () => {
    const child = spawn(process.execPath, argumentsFor("--network", "blue", "--timeout", "600"), { stdio: "ignore" });
    const exited = once(child, "exit");
    await eventually("pods exist", async () => (await pods()) !== "", within);
    child.kill("SIGINT");
    expect(await exited).toEqual([1, null]);
    expect(await pods()).toBe("");
  });

  part("removes the pods of a killed command, which have ended by themselves", async () => {
    const child = spawn(process.execPath, argumentsFor("--network", "blue", "--timeout", "1"), { stdio: "ignore" });
    const exited = once(child, "exit");
    await eventually("pods exist", async () => (await pods()) !== "", within);
    child.kill("SIGKILL");
    await exited;
    const phases = "jsonpath={.items[*].status.phase}";
    const haveEnded = async (): Promise<boolean> => {
      const text = await cluster.kubectl(["get", "pods", "-A", "-l", "switchyard.io/verify", "-o", phases]);
      return text.split(" ").every((phase) => phase === "Failed" || phase === "Succeeded");
    };
    await eventually("the pods have ended", haveEnded, within);
    const { code, stderr } = await verify("--network", "blue", "--isolated-from", "green");
    expect(stderr).toMatch(/removed \d+ pods? of (?:an )?earlier runs?/);
    expect({ code, pods: await pods() }).toEqual({ code: 0, pods: "" });
  });

  // The last part, because the node restarts for the mode.
  part("names the layer rdma if the node does not have the mode that its pool requires", async () => {
    await apply(exclusivePool);
    const path = "jsonpath={.items[0].spec.system.rdmaMode}";
    const asks = async (): Promise<boolean> =>
      (await cluster.kubectl(["get", "sriovnetworknodestates", "-n", namespace, "-o", path])) === "exclusive";
    await eventually("the node state requires exclusive", asks, within);
    expectFailure(await verify("--network", "blue"), "rdma");
  });
});
