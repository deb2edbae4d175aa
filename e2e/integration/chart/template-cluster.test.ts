// SPDX-License-Identifier: Apache-2.0
/** What the chart renders depends on a few objects of the cluster, and `operator check`, which is its test, on the operator's. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { namespace } from "@switchyard/test-cluster";
import { findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { prepareHelm, readManifest, type Helm } from "../../src/helm/helm.ts";
import { fieldAt } from "../../src/api/plain-api.ts";
import { startUpstreamCluster, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";
import { chartDirectory, idOf } from "./template-chart.ts";

let testCluster: UpstreamCluster;
let kubeconfig: string;
let helm: Helm;

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  kubeconfig = testCluster.cluster.kubeconfig;
  helm = await prepareHelm("helm4", { kubeconfig, namespace, directory: testCluster.directory });
}, 180_000);
afterAll(async () => {
  await testCluster[Symbol.asyncDispose]();
});

/** Installs without Jobs, as nothing runs pods here. Returns the identities of the objects of the release. */
async function install(release: string, ...set: readonly string[]): Promise<readonly string[]> {
  await helm.run(["install", release, chartDirectory, "--no-hooks", ...set.flatMap((value) => ["--set", value])]);
  return readManifest(await helm.run(["get", "manifest", release])).map(idOf);
}

const uninstall = (release: string) => helm.run(["uninstall", release, "--no-hooks"]);

describe("the CRD of NetworkAttachmentDefinitions", () => {
  const name = "network-attachment-definitions.k8s.cni.cncf.io";
  const id = `CustomResourceDefinition/${name}`;
  const live = async (): Promise<unknown> => JSON.parse(await testCluster.kubectl(["get", "crd", name, "-o", "json"]));
  const foreign = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name, labels: { "example.com/from": "multus" } },
    spec: {
      group: "k8s.cni.cncf.io",
      scope: "Namespaced",
      names: { plural: "network-attachment-definitions", kind: "NetworkAttachmentDefinition" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  beforeEach(async () => {
    await testCluster.kubectl(["delete", "crd", name, "--ignore-not-found"]);
  });

  it("is created if it is missing, and stays with its NetworkAttachmentDefinitions after uninstallation", async () => {
    expect(await install("one")).toContain(id);
    await helm.run(["upgrade", "one", chartDirectory, "--no-hooks"]);
    expect(readManifest(await helm.run(["get", "manifest", "one"])).map(idOf)).toContain(id);
    await uninstall("one");
    expect(fieldAt(await live(), "metadata", "deletionTimestamp")).toBeUndefined();
  });

  it("is not touched if it belongs to Multus", async () => {
    await testCluster.kubectl(["create", "-f", "-"], foreign);
    const before = await live();
    expect(await install("two")).not.toContain(id);
    expect(await live()).toEqual(before);
    await uninstall("two");
    expect(await live()).toEqual(before);
  });

  it("is not created if the value is false", async () => {
    expect(await install("three", "crds.networkAttachmentDefinition=false")).not.toContain(id);
    await uninstall("three");
  });
});

describe.each(["helm3", "helm4"] as const)("an upgrade by %s that changes nothing", (version) => {
  let client: Helm;
  beforeAll(async () => {
    const { directory } = testCluster;
    client = version === "helm4" ? helm : await prepareHelm(version, { kubeconfig, namespace, directory });
  }, 300_000);

  /** Kind, name and version of each object of the release. */
  async function versions(): Promise<readonly string[]> {
    const items = readManifest(await client.run(["get", "manifest", "same"]));
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    const list = await testCluster.cluster.kubectl(["get", "-f", "-", "-o", "json"], { input });
    const found = fieldAt(JSON.parse(list) as unknown, "items");
    return (Array.isArray(found) ? found : []).map((object: unknown) => {
      const metadata = ["name", "resourceVersion"].map((field) => fieldAt(object, "metadata", field));
      return [fieldAt(object, "kind"), ...metadata].join(" ");
    });
  }

  const everything = [
    ...["ovnOffload.enabled=true", "ovnOffload.ovnNamespace=default", "eveBridge.enabled=true"],
    ...["sriovOperatorConfig.deploy=true", "afxdpOperatorConfig.deploy=true", "operator.replicas=2"],
    ...["operator.podDisruptionBudget.enabled=true", "networkPolicy.enabled=true", "metrics.dashboard.enabled=true"],
    ...["operator.admissionControllers.enabled=true", "operator.writeConfigMap=true"],
  ];
  it.each([
    { with: "the default values", values: [] },
    { with: "all parts", values: everything },
    { with: "all parts on OpenShift", values: [...everything, "operator.clusterType=openshift"] },
  ])("writes no object, with $with", async ({ values }) => {
    for (const name of ["openshift-ovn-kubernetes", "openshift-network-operator"]) {
      await testCluster.kubectl(["create", "namespace", name]).catch(() => undefined); // exists
    }
    const args = ["same", chartDirectory, "--no-hooks", ...values.flatMap((value) => ["--set", value])];
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => {
      await client.run(["uninstall", "same", "--no-hooks"]);
      await testCluster.kubectl(["delete", "sriovoperatorconfig,afxdpoperatorconfig", "--all"]);
    });
    await client.run(["install", ...args]);
    const before = await versions();
    expect(before.length).toBeGreaterThan(5);
    await client.run(["upgrade", ...args]);
    expect(await versions()).toEqual(before);
  });
});

describe("kinds that the cluster does not have", () => {
  it.each([
    ["metrics.alerts.enabled=true", "the cluster has no Prometheus operator (API group monitoring.coreos.com/v1)"],
    [
      "operator.admissionControllers.enabled=true,operator.admissionControllers.certificates.certManager.enabled=true",
      "the cluster has no cert-manager (API group cert-manager.io/v1)",
    ],
  ])("are reported before anything changes: %s", async (values, says) => {
    const { status, stderr } = await helm.try(["install", "four", chartDirectory, "--set", values]);
    expect(status).not.toBe(0);
    expect(stderr).toContain(says);
    expect(await helm.run(["list", "--short"])).not.toContain("four");
  });
});

describe("NOTES", () => {
  it("warn of a missing config, of Pod Security and of values without an effect", async () => {
    const label = "pod-security.kubernetes.io/enforce";
    await testCluster.kubectl(["label", "namespace", namespace, `${label}=restricted`]);
    const notes = await helm.run(["install", "five", chartDirectory, "--no-hooks", "--set", "operator.nameOverride=x"]);
    expect(notes).toContain("2. Create the SriovOperatorConfig. Without it no component is deployed");
    expect(notes).toContain('enforces the Pod Security Standard "restricted"');
    expect(notes).toContain("operator.nameOverride has no effect");
    expect(notes).not.toContain("ovnOffload.enabled");
    await testCluster.kubectl(["label", "namespace", namespace, "--overwrite", `${label}=privileged`]);
    const later = await helm.run([
      "upgrade",
      "five",
      chartDirectory,
      "--no-hooks",
      "--set",
      "sriovOperatorConfig.deploy=true,ovnOffload.enabled=true,ovnOffload.ovnNamespace=default",
    ]);
    expect(later).toContain("ovnOffload.enabled is true: before you uninstall or set it to false");
    expect(later).not.toContain("WARNING");
    expect(later).toContain("wait --for=condition=Ready sriovoperatorconfig/default");
    await uninstall("five");
    await testCluster.kubectl(["delete", "sriovoperatorconfig", "--all"]);
  });
});

describe("operator check", () => {
  const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");

  /** Runs the command with a time limit that is long enough for a result that is expected. */
  function check(seconds: number): Promise<{ readonly status: number; readonly said: string }> {
    const args = [
      main,
      "check",
      "--kubeconfig",
      kubeconfig,
      "--namespace",
      namespace,
      "--timeout-seconds",
      `${seconds}`,
    ];
    return new Promise((resolve) => {
      execFile(process.execPath, args, (error, stdout, stderr) => {
        resolve({
          status: error === null ? 0 : typeof error.code === "number" ? error.code : -1,
          said: stdout + stderr,
        });
      });
    });
  }

  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "switchyard-operator", namespace },
    spec: { holderIdentity: "replica-1", leaseDurationSeconds: 15 },
  };
  const config = {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec: {},
  };

  it("fails while no replica leads, and if a Lease is only what a dead replica has left", async () => {
    expect(await check(3)).toEqual({
      status: 1,
      said: expect.stringContaining("no replica of the operator holds Lease switchyard-operator"),
    });
    await testCluster.kubectl(["create", "-f", "-"], lease);
    expect(await check(3)).toEqual({
      status: 1,
      said: expect.stringContaining("replica-1 holds Lease switchyard-operator, but does not renew it"),
    });
  });

  it("succeeds when the operator leads and there is no config, which it reports", async () => {
    await testCluster.kubectl(["delete", "lease", "switchyard-operator", "--ignore-not-found"]);
    const operator = testCluster.startOperator();
    try {
      const said = expect.stringMatching(/ leads: it renews Lease [^]* does not exist: no component is deployed/);
      expect(await check(120)).toEqual({ status: 0, said });
    } finally {
      operator.signal("TERM");
      await operator.exited;
    }
  });

  it("fails with the reason until the config is Ready", async () => {
    await testCluster.kubectl(["create", "-f", "-"], config);
    // This test writes what a leader and the operator write.
    const kubectl = async (...args: readonly string[]) => testCluster.kubectl(args);
    const patch = (kind: string, name: string, body: object, ...more: readonly string[]) =>
      kubectl("patch", kind, name, "--type=merge", "-p", JSON.stringify(body), ...more);
    const ready = (status: string, message: string) => ({
      status: {
        observedGeneration: 1,
        conditions: [{ type: "Ready", status, reason: "Test", message, lastTransitionTime: "2026-01-01T00:00:00Z" }],
      },
    });
    const checkWithLeader = async (seconds: number) => {
      const running = check(seconds);
      const ended = new AbortController();
      void running.then(() => {
        ended.abort();
      });
      for (let renewals = 1; !ended.signal.aborted; renewals++) {
        await patch("lease", "switchyard-operator", {
          spec: { holderIdentity: "replica-2", leaseTransitions: renewals },
        });
      }
      return running;
    };
    const unprocessed = expect.stringContaining("has a change that the operator has not processed");
    expect(await checkWithLeader(5)).toEqual({ status: 1, said: unprocessed });
    await patch("sriovoperatorconfig", "default", ready("False", "no image"), "--subresource=status");
    const notReady = expect.stringContaining("SriovOperatorConfig default is not Ready: Test: no image");
    expect(await checkWithLeader(5)).toEqual({ status: 1, said: notReady });
    await patch("sriovoperatorconfig", "default", ready("True", ""), "--subresource=status");
    const isReady = expect.stringContaining("SriovOperatorConfig default is Ready");
    expect(await checkWithLeader(120)).toEqual({ status: 0, said: isReady });
  });
});

describe("operator crds delete", () => {
  it("deletes the CRDs of Switchyard with their objects, and no other", async () => {
    const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
    const { stdout } = await runProgram(process.execPath, [main, "crds", "delete", "--kubeconfig", kubeconfig]);
    expect(stdout).toContain("12 CustomResourceDefinitions and their objects are gone");
    const left = await testCluster.kubectl(["get", "crds", "-o", "name"]);
    for (const group of ["sriovnetwork.openshift.io", "afxdpnetwork.hns.dev"]) expect(left).not.toContain(group);
    const again = await runProgram(process.execPath, [main, "crds", "delete", "--kubeconfig", kubeconfig]);
    expect(again.stdout).toContain("does not exist");
  });
});
