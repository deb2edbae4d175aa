// SPDX-License-Identifier: Apache-2.0
/**
 * `switchyard doctor` and `vfs` read a real API server with the operator, and find the same in what kubectl saved from it. A user
 * without rights on some kinds gets a result for the others.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovNetworkNodeStates } from "@switchyard/api";
import { isRecord, objectPath } from "@switchyard/kube";
import {
  applyPolicy,
  createNode,
  createOperatorConfig,
  namespace,
  policySpec,
  silentNarrator,
  startTestCluster,
  type TestCluster,
} from "@switchyard/test-cluster";
import { ensureBinaries, eventually, runProgram } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workspace } from "../../src/crds/crd-objects.ts";

const kinds = [
  ...["nodes", "pods", "poddisruptionbudgets", "configmaps", "leases", "daemonsets"],
  ...["sriovnetworknodestates", "sriovnetworknodepolicies", "sriovnetworkpoolconfigs", "sriovoperatorconfigs"],
  ...["sriovnetworks", "network-attachment-definitions", "customresourcedefinitions"],
];

describe("switchyard doctor", () => {
  let testCluster: TestCluster;

  beforeAll(async () => {
    testCluster = await startTestCluster(silentNarrator);
    await createOperatorConfig(testCluster);
    await createNode(testCluster, "worker-1");
    await report(testCluster, "worker-1");
    await applyPolicy(testCluster, "fast", policySpec({ pfNames: ["ens1f0"] }, { resourceName: "fast", numVfs: 2 }));
    await applyPolicy(testCluster, "lost", policySpec({ pfNames: ["ens1f9"] }, { resourceName: "lost", numVfs: 2 }));
    await testCluster.cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(pendingPod) });
    await eventually("the operator reports that a policy matches nothing", async () => {
      const { rows } = await ask(["doctor", "--kubeconfig", testCluster.cluster.kubeconfig]);
      return rows.includes("NoNicsMatched lost");
    });
  }, 600_000);
  afterAll(async () => {
    await testCluster[Symbol.asyncDispose]();
  }, 60_000);

  it("finds what is wrong, with the evidence of the operator and the nearest match", async () => {
    const { rows, findings } = await ask(["doctor", "--kubeconfig", testCluster.cluster.kubeconfig]);
    expect(rows).toEqual(
      expect.arrayContaining(["NoNicsMatched lost", "NicSelectorMatchesNothing lost", "ResourceOnNoNode client"]),
    );
    expect(JSON.stringify(findings)).toContain(
      "nearest match: PF ens1f0 (0000:3b:00.0): the name is ens1f0, not ens1f9",
    );
  }, 60_000);

  it("finds the same in what kubectl saved", async () => {
    const live = await ask(["doctor", "--kubeconfig", testCluster.cluster.kubeconfig]);
    const saved = await testCluster.cluster.kubectl(["get", kinds.join(","), "-A", "-o", "yaml"]);
    const offline = await ask(["doctor", "-f", "-"], saved);
    // The cluster has neither DaemonSets nor Deployments. Files without them do not say so, the API server does.
    const onlyLive = ["DaemonPodNotRunning worker-1", "OperatorNotInstalled sriov-network-operator"];
    expect(live.rows.filter((row) => !onlyLive.includes(row))).toEqual(offline.rows);
    expect(live.rows).toEqual(expect.arrayContaining(onlyLive));
  }, 60_000);

  it("finds that the operator's Deployment has no available pod", async () => {
    const { cluster } = testCluster;
    const { kubeconfig } = cluster;
    await cluster.kubectl(["create", "deployment", "sriov-network-operator", "--image=operator", "-n", namespace]);
    const { rows } = await ask(["doctor", "--kubeconfig", kubeconfig]);
    expect(rows).toContain("OperatorNotRunning sriov-network-operator");
    const available = JSON.stringify({ status: { replicas: 1, readyReplicas: 1, availableReplicas: 1 } });
    const patch = [
      "patch",
      "deployment",
      "sriov-network-operator",
      "--subresource=status",
      "--type=merge",
      "-p",
      available,
    ];
    await cluster.kubectl([...patch, "-n", namespace]);
    const { rows: later } = await ask(["doctor", "--kubeconfig", kubeconfig]);
    expect(later.filter((row) => row.startsWith("Operator"))).toEqual([]);
  }, 60_000);

  it("lists the VFs", async () => {
    const { stdout } = await run(["vfs", "--kubeconfig", testCluster.cluster.kubeconfig, "-o", "json"]);
    const parsed: unknown = JSON.parse(stdout);
    expect(isRecord(parsed) && parsed["vfs"]).toEqual([
      expect.objectContaining({ node: "worker-1", vf: 0, address: "0000:3b:02.0", policy: "fast", resource: "fast" }),
      expect.objectContaining({ node: "worker-1", vf: 1, address: "0000:3b:02.1" }),
    ]);
  }, 60_000);

  it("follows VFs as they change", async () => {
    const main = join(workspace, "apps/cli/src/main.ts");
    const args = [main, "vfs", "--kubeconfig", testCluster.cluster.kubeconfig, "--watch", "-o", "json"];
    const watch = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const lines: string[] = [];
      createInterface({ input: watch.stdout }).on("line", (line) => lines.push(line));
      const seen = (type: string, vf: object) =>
        eventually(`${type} ${JSON.stringify(vf)}`, () => {
          const parsed = lines.map((line): unknown => JSON.parse(line));
          return parsed.some((one) => isRecord(one) && one["type"] === type && isMatch(one["vf"], vf));
        });
      await seen("ADDED", { node: "worker-1", vf: 1 });
      await report(testCluster, "worker-1", { vfs: 1, mac: "02:00:00:00:00:aa" });
      await seen("MODIFIED", { vf: 0, mac: "02:00:00:00:00:aa" });
      await seen("DELETED", { vf: 1 });
      await report(testCluster, "worker-1");
      await seen("ADDED", { vf: 1 });
    } finally {
      watch.kill();
    }
  }, 120_000);

  it("prints commands that kubectl understands", async () => {
    const pages = ["conditions", "findings"].map((page) =>
      readFileSync(join(workspace, `docs/reference/${page}.md`), "utf8"),
    );
    const names = pages.flatMap((page) => [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name));
    const texts = await Promise.all([...new Set(names)].map((name) => run(["explain", name])));
    const commands = texts.flatMap(({ stdout }) => [
      ...stdout.replaceAll(/\n {2}(?! *Next:)/g, " ").matchAll(/Next: kubectl (.*)/g),
    ]);
    const kubectl = join(await ensureBinaries(), "kubectl");
    for (const command of new Set(commands.map(([, text = ""]) => text))) {
      // With --help, kubectl reads the flags and does nothing.
      const words = command
        .replaceAll(/'[^']*'/g, "x")
        .replaceAll(/\{(\w+)\}/g, "$1")
        .trim()
        .split(/\s+/);
      const { stderr } = await runProgram(kubectl, [...words, "--help"]);
      expect({ command, stderr }).toEqual({ command, stderr: "" });
    }
    expect(commands.length).toBeGreaterThan(50);
  }, 300_000);

  it("reads the certificate of a server from the Secret that its DaemonSet mounts", async () => {
    const items = JSON.stringify({ apiVersion: "v1", kind: "List", items: expiredServer() });
    await testCluster.cluster.kubectl(["apply", "-f", "-"], { input: items });
    const { findings } = await ask(["doctor", "--kubeconfig", testCluster.cluster.kubeconfig]);
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: "ServerCertificateExpired",
        object: { kind: "Secret", namespace, name: "server-cert" },
        message: 'the certificate of service "operator-webhook-service" expired at 2026-01-01T00:00:00.000Z',
      }),
    );
    expect(JSON.stringify(findings)).not.toContain("other-cert"); // which no DaemonSet mounts
  }, 60_000);

  it("works with few rights, and names what it could not read", async () => {
    const { cluster } = testCluster;
    const rule = ["--verb=list", "--resource=sriovnetworknodepolicies.sriovnetwork.openshift.io"];
    await cluster.kubectl(["create", "clusterrole", "reader", ...rule]);
    await cluster.kubectl(["create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader"]);
    const config: unknown = JSON.parse(await cluster.kubectl(["config", "view", "--raw", "-o", "json"]));
    const users = isRecord(config) && Array.isArray(config["users"]) ? config["users"] : [];
    const impersonating = users.filter(isRecord).map((entry) => {
      return { ...entry, user: { ...(isRecord(entry["user"]) && entry["user"]), as: "reader" } };
    });
    const folder = await mkdtemp(join(tmpdir(), "doctor-"));
    try {
      await writeFile(
        join(folder, "kubeconfig"),
        JSON.stringify({ ...(isRecord(config) && config), users: impersonating }),
        { mode: 0o600 },
      );
      const { rows, stderr } = await ask(["doctor", "--kubeconfig", join(folder, "kubeconfig")]);
      expect(stderr).toContain("not read: ");
      expect(stderr).toContain("pods (not allowed)");
      expect(stderr).not.toContain("sriovnetworknodepolicies");
      expect(rows).toContain("NoNicsMatched lost");
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 60_000);
});

/** A webhook whose server has an expired certificate. */
function expiredServer(): readonly object[] {
  const [certificate, caBundle] = ["expired-server.pem", "server-ca.pem"].map((name) => {
    return readFileSync(join(workspace, "e2e/integration/cli/testdata", name)).toString("base64");
  });
  const data = { "tls.crt": certificate };
  const labels = { app: "server" };
  const container = { name: "main", image: "none" };
  const volumes = [{ name: "cert", secret: { secretName: "server-cert" } }];
  const clientConfig = { caBundle, service: { name: "operator-webhook-service", namespace } };
  return [
    ...["server-cert", "other-cert"].map((name) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace },
      data,
    })),
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "server", namespace },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container], volumes } },
      },
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "expired" },
      webhooks: [
        {
          name: "expired.example.com",
          clientConfig,
          failurePolicy: "Ignore",
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          rules: [],
        },
      ],
    },
  ];
}

const pendingPod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "client", namespace: "default" },
  spec: { containers: [{ name: "main", image: "none", resources: { limits: { "openshift.io/fsat": "1" } } }] },
};

interface Asked {
  readonly stderr: string;
  /** Code and name of each finding. */
  readonly rows: readonly string[];
  readonly findings: unknown;
}

async function ask(argv: readonly string[], input = ""): Promise<Asked> {
  const { stdout, stderr } = await run([...argv, "-o", "json"], input);
  const parsed: unknown = JSON.parse(stdout);
  const findings: unknown = isRecord(parsed) ? parsed["findings"] : undefined;
  const rows = (Array.isArray(findings) ? findings : []).map((finding: unknown) => {
    const object = isRecord(finding) && isRecord(finding["object"]) ? finding["object"] : {};
    return `${isRecord(finding) ? String(finding["code"]) : ""} ${String(object["name"])}`;
  });
  return { stderr, rows, findings };
}

async function run(argv: readonly string[], input = "") {
  return runProgram(process.execPath, [join(workspace, "apps/cli/bin/switchyard.mjs"), ...argv], { input });
}

/** Whether `value` has the members of `wanted`. */
function isMatch(value: unknown, wanted: object): boolean {
  return isRecord(value) && Object.entries(wanted).every(([key, one]) => value[key] === one);
}

interface Reported {
  readonly vfs?: number;
  /** The address of VF 0. */
  readonly mac?: string;
}

/** Reports a PF with two VFs, and the node's devices, as daemon and kubelet would. */
async function report(testCluster: TestCluster, name: string, { vfs = 2, mac }: Reported = {}): Promise<void> {
  const path = objectPath(sriovNetworkNodeStates, { name, namespace });
  await eventually(`the state of ${name}`, () => testCluster.transport.request({ method: "GET", path }));
  const Vfs = [0, 1].slice(0, vfs).map((vfID) => ({
    vfID,
    pciAddress: `0000:3b:02.${vfID}`,
    driver: "iavf",
    mtu: 1500,
    ...(vfID === 0 && mac !== undefined && { mac }),
  }));
  const pf = {
    pciAddress: "0000:3b:00.0",
    name: "ens1f0",
    vendor: "8086",
    deviceID: "158b",
    mtu: 1500,
    totalvfs: 64,
    linkType: "ETH",
    linkAdminState: "up",
    numVfs: vfs,
    owned: true,
    Vfs,
  };
  const contentType = "application/merge-patch+json";
  await testCluster.transport.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, { name, namespace }, "status"),
    contentType,
    body: { status: { interfaces: [pf], syncStatus: "Succeeded" } },
  });
  await testCluster.transport.request({
    method: "PATCH",
    path: `/api/v1/nodes/${name}/status`,
    contentType,
    body: { status: { allocatable: { "openshift.io/fast": "2" }, capacity: { "openshift.io/fast": "2" } } },
  });
}
