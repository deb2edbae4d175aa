// SPDX-License-Identifier: Apache-2.0
/** The operator in a cluster whose CRDs are older than it: it says which, writes nothing, and resumes by itself. */
import { expect, it } from "@jest/globals";
import { nodes, operatorConfigName, sriovNetworkNodeStates, sriovOperatorConfigs } from "@switchyard/api";
import { connect, isKubeError, objectPath } from "@switchyard/kube";
import {
  eventually,
  findFreePorts,
  findWorkspaceRoot,
  isWrite,
  spawnGuarded,
  startControlPlane,
} from "@switchyard/testing";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { componentImageFlags, startOperatorCommand } from "../../src/operator/operator-command.ts";
import { writeOlderCrds } from "../../src/crds/older-crds.ts";

const testMs = 6 * 60_000;
const namespace = "sriov-network-operator";
const withinMs = 120_000;

it(
  "is not ready, names the CRDs, writes nothing but its Lease, and resumes after crds apply",
  async () => {
    await using stack = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), "switchyard-outdated-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const cluster = stack.use(await startControlPlane({ auditLog: true }));
    const transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" }));
    const older = await writeOlderCrds(directory);
    await cluster.applyCrds(older);
    await cluster.applyCrds(join(findWorkspaceRoot(), "libs/testing/testdata/multus"));
    await cluster.kubectl(["create", "namespace", namespace]);
    const objects = [
      { apiVersion: "v1", kind: nodes.kind, metadata: { name: "worker-1", labels: workerLabels } },
      {
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: sriovOperatorConfigs.kind,
        metadata: { name: operatorConfigName, namespace },
        spec: { logLevel: 2 },
      },
    ];
    const list = { apiVersion: "v1", kind: "List", items: objects };
    await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(list) });

    const [port = 0] = await findFreePorts(1);
    const log = join(directory, "operator.log");
    const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
    const flags = [
      "--kubeconfig",
      cluster.kubeconfig,
      "--namespace",
      namespace,
      "--health-address",
      `127.0.0.1:${port}`,
    ];
    const operator = spawnGuarded(process.execPath, [main, ...flags, ...componentImageFlags], { log });
    stack.defer(() => operator.kill());
    const logged = async () => readFile(log, "utf8").catch(() => "");
    const ready = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return { ok: response?.ok === true, text: (await response?.text()) ?? "" };
    };
    const stateExists = async () => {
      const path = objectPath(sriovNetworkNodeStates, { name: "worker-1", namespace });
      return transport.request({ method: "GET", path }).then(
        () => true,
        (error: unknown) => {
          if (isKubeError(error, "NotFound")) return false;
          throw error;
        },
      );
    };

    await eventually("leads", async () => (await logged()).includes("started leading"), { withinMs });
    await eventually("reason", async () => (await ready()).text.includes("lacks"), { withinMs });
    const { ok, text } = await ready();
    expect(ok).toBe(false);
    expect(text).toContain("bridgenetworks.sriovnetwork.openshift.io is not installed");
    expect(text).toMatch(/sriovnetworknodestates.sriovnetwork.openshift.io lacks .* and \d+ more fields/);
    expect(text).toContain('run "kubectl apply --server-side --force-conflicts -f charts/switchyard/crds"');
    expect(await logged()).toContain("CustomResourceDefinitions are older than the operator; writing nothing");
    const writes = (await cluster.auditEvents()).filter((event) => isWrite(event) && event.userAgent === "switchyard");
    expect(writes.filter(({ objectRef }) => objectRef?.resource !== "leases")).toEqual([]);
    expect(await stateExists()).toBe(false);

    const applied = await startOperatorCommand(["crds", "apply", "--kubeconfig", cluster.kubeconfig]).ended;
    expect(applied).toMatchObject({ code: 0, errors: "" });
    await eventually("node state", stateExists, { withinMs });
    await eventually("ready", async () => (await ready()).ok, { withinMs });

    await cluster.applyCrds(older);
    await eventually("outdated again", async () => (await ready()).text.includes("lacks"), { withinMs });
    expect(operator.hasExited()).toBe(false);
  },
  testMs,
);

const workerLabels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
