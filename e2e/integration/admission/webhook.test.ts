// SPDX-License-Identifier: Apache-2.0
/**
 * The admission webhook as a process, registered with a real API server: what users of kubectl see, and what happens
 * to their changes while webhooks and certificates come and go.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  type InterfaceStatus,
  type SriovNetworkNodePolicySpec,
} from "@switchyard/api";
import {
  createNode,
  createOperatorConfig,
  issueWebhookCertificate,
  namespace,
  registerWebhooks,
  startTestCluster,
  type TestCluster,
  startWebhook,
  webhookConfiguration,
  writeWebhookCertificate,
  silentNarrator,
} from "@switchyard/test-cluster";
import { collectionPath, isKubeError, objectPath } from "@switchyard/kube";
import { eventually, findFreePorts, type GuardedProcess } from "@switchyard/testing";
import { connect as connectTls } from "node:tls";

const registrations = "/apis/admissionregistration.k8s.io/v1";
const pci = "0000:3b:00.0";

let testCluster: TestCluster;
let port: number;
let secondPort: number;
let webhook: GuardedProcess;

beforeAll(async () => {
  testCluster = await startTestCluster(silentNarrator);
  [port = 0, secondPort = 0] = await findFreePorts(2);
  await createOperatorConfig(testCluster);
  for (const name of ["worker-1", "worker-2", "worker-3"]) {
    await createNode(testCluster, name);
    await reportEightVfs(name);
  }
  await registerWebhooks(testCluster, port);
  webhook = startWebhook(testCluster, "webhook-1", port);
  await eventually("the webhook answers", async () => (await dryRun("probe", {})).allowed, { withinMs: 60_000 });
}, 600_000);

afterAll(async () => {
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

/** Reports a PF with eight VFs that match the policy "stored" below, as the node's daemon would. `more` is added to the PF. */
async function reportEightVfs(name: string, more: Partial<InterfaceStatus> = {}): Promise<void> {
  const { group, version, kind } = sriovNetworkNodeStates;
  const state = await eventually(`the state of ${name}`, async () => {
    const path = objectPath(sriovNetworkNodeStates, { name, namespace });
    return testCluster.transport.request({ method: "GET", path });
  });
  expect(state).toMatchObject({ apiVersion: `${group}/${version}`, kind });
  const pf = { pciAddress: pci, name: "ens1f0", vendor: "8086", deviceID: "158b", mtu: 1500, totalvfs: 64, numVfs: 8 };
  const Vfs = Array.from({ length: 8 }, (_, vfID) => ({
    pciAddress: `0000:3b:02.${vfID}`,
    vfID,
    name: `ens1f0v${vfID}`,
    driver: "iavf",
    mtu: 1500,
    adminMac: `02:00:00:00:00:0${vfID}`,
  }));
  const status = { interfaces: [{ ...pf, linkType: "ETH", owned: true, Vfs, ...more }], syncStatus: "Succeeded" };
  await testCluster.transport.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, { name, namespace }, "status"),
    body: { status },
    contentType: "application/merge-patch+json",
  });
}

function policy(name: string, spec: Partial<SriovNetworkNodePolicySpec>) {
  const { group, version, kind } = sriovNetworkNodePolicies;
  const nodeSelector = { "node-role.kubernetes.io/worker": "" };
  const nicSelector = { pfNames: ["ens1f0"] };
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, namespace },
    spec: { resourceName: name, nodeSelector, nicSelector, numVfs: 8, ...spec },
  };
}

/** Creates a policy with dry run and returns the API server's answer. */
async function dryRun(name: string, spec: Partial<SriovNetworkNodePolicySpec>) {
  const path = collectionPath(sriovNetworkNodePolicies, namespace);
  try {
    const body = policy(name, spec);
    const stored = await testCluster.transport.request({ method: "POST", path, query: { dryRun: "All" }, body });
    return { allowed: true, stored };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return { allowed: false, code: error.code, status: error.status, causes: error.details?.causes ?? [] };
  }
}

/** The fingerprint of the certificate that the server at this port presents. */
function fingerprintOf(listenPort: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: "127.0.0.1", port: listenPort, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

describe("kubectl apply", () => {
  it("stores defaults", async () => {
    const { stored } = await dryRun("defaults", {});
    expect(stored).toMatchObject({ spec: { priority: 99, isRdma: false, deviceType: "netdevice" } });
  });

  it("prints all violations with their fields and stores nothing", async () => {
    const answer = await testCluster.kubectl(
      ["apply", "-f", "-"],
      policy("wrong", { numVfs: 65, mtu: 60_000, vdpaType: "virtio", eSwitchMode: "switchdev" }),
    );
    expect(answer).toContain('The SriovNetworkNodePolicy "wrong" is invalid');
    expect(answer).toContain(
      `* spec.numVfs: 65 VFs requested, but ${pci} supports at most 64 on worker-1, worker-2, worker-3`,
    );
    expect(answer).toContain(`* spec.vdpaType: requires Mellanox or virtio NICs`);
    expect(await dryRun("wrong", { numVfs: 65 })).toMatchObject({ allowed: false, code: "Invalid", status: 403 });
    expect(await testCluster.kubectl(["get", "sriovnetworknodepolicies", "wrong"])).toContain("NotFound");
  });

  it("refuses conflicts with the field, and warns which nodes a change affects, also with --dry-run", async () => {
    await testCluster.kubectl(["apply", "-f", "-"], policy("stored", {}));
    await eventually("the conflict", async () => {
      const { allowed, causes } = await dryRun("second", { nicSelector: { pfNames: ["ens1f0#2-5"] } });
      return !allowed && causes?.some(({ field }) => field === "spec.nicSelector.pfNames[0]");
    });
    const change = policy("stored", { numVfs: 16 });
    const answer = await testCluster.kubectl(["apply", "--dry-run=server", "-f", "-"], change);
    expect(answer).toContain(`Warning: reconfigures ${pci} (8 -> 16 VFs) on 3 nodes`);
    const deleted = await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "stored", "--dry-run=server"]);
    expect(deleted).toContain(`Warning: reconfigures ${pci} (8 -> 0 VFs) on 3 nodes`);
    await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "stored"]);
  });

  it("stores a policy before its nodes exist, with a warning", async () => {
    const answer = await testCluster.kubectl(
      ["apply", "--dry-run=server", "-f", "-"],
      policy("early", { nodeSelector: { rack: "7" } }),
    );
    expect(answer).toContain("Warning: spec.nodeSelector: matches no node yet");
    expect(answer).toContain("created (server dry run)");
  });

  it("warns which nodes have no eswitch for switchdev", async () => {
    await reportEightVfs("worker-3", { driver: "igb", hasESwitch: false });
    const message = `cannot be applied on worker-3: "switchdev" requested, but driver igb offers no eswitch for ${pci}`;
    const answer = await eventually("the warning", async () => {
      const wanted = policy("switched", { eSwitchMode: "switchdev" });
      const text = await testCluster.kubectl(["apply", "--dry-run=server", "-f", "-"], wanted);
      return text.includes(message) ? text : undefined;
    });
    expect(answer).toContain("(eswitch mode legacy -> switchdev, 8 VFs bound to their kernel driver) on 2 nodes");
    expect(answer).toContain("created (server dry run)");
    await reportEightVfs("worker-3");
  });

  it("gets the same answers for concurrent policies as for single ones", async () => {
    await eventually("no policy is left", async () => (await dryRun("alone", {})).allowed);
    const wishes = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 8 : 65));
    const answers = await Promise.all(wishes.map((numVfs, index) => dryRun(`p${index}`, { numVfs })));
    expect(answers.map(({ allowed }) => allowed)).toEqual(wishes.map((numVfs) => numVfs === 8));
  });
});

describe("a certificate in files", () => {
  it("is loaded by both replicas when it is replaced, without a restart and without a failed review", async () => {
    const second = startWebhook(testCluster, "webhook-2", secondPort);
    const shown = () => Promise.all([fingerprintOf(port), fingerprintOf(secondPort)]);
    const [one, two] = await eventually("the second replica presents a certificate", shown);
    expect(two).toBe(one);
    const old = await announced();
    const next = await issueWebhookCertificate();
    await announce(`${old}${next.ca}`);
    const refused: unknown[] = [];
    const review = async () => {
      const answer = await dryRun("meanwhile", {});
      if (!answer.allowed) refused.push(answer);
    };
    await review(); // by now the API server trusts both CAs
    await writeWebhookCertificate(testCluster, next);
    await eventually("both replicas present the new certificate", async () => {
      await review();
      const [first, other] = await shown();
      return first === other && first !== one;
    });
    expect(refused).toEqual([]);
    await announce(next.ca);
    await eventually("the API server trusts only the new CA", async () => (await dryRun("trusted", {})).allowed);
    second.signal("TERM");
    expect(await second.exited).toBe(0);
  }, 60_000);
});

const webhookPaths = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"].map(
  (plural) => `${registrations}/${plural}/${webhookConfiguration}`,
);

/** The CA bundle of the webhook configuration, as PEM. */
async function announced(): Promise<string> {
  const found = await testCluster.transport.request({ method: "GET", path: webhookPaths[0] ?? "" });
  const [, caBundle = ""] = /"caBundle":"([^"]*)"/.exec(JSON.stringify(found)) ?? [];
  return Buffer.from(caBundle, "base64").toString();
}

async function announce(bundle: string): Promise<void> {
  const value = Buffer.from(bundle).toString("base64");
  const body = [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value }];
  for (const path of webhookPaths) {
    await testCluster.transport.request({ method: "PATCH", path, body, contentType: "application/json-patch+json" });
  }
}

describe("an outage", () => {
  it("of the webhook blocks writes until it is back", async () => {
    await webhook.kill();
    expect(await dryRun("away", {})).toMatchObject({ allowed: false, status: 500 });
    webhook = startWebhook(testCluster, "webhook-1", port);
    await eventually("the webhook answers", async () => (await dryRun("back", {})).allowed);
  }, 60_000);

  it("of the API server does not affect the webhook", async () => {
    await testCluster.cluster.killApiServer();
    await testCluster.cluster.startApiServer();
    await eventually("the webhook answers", async () => (await dryRun("again", {})).allowed);
    expect((await dryRun("again", { numVfs: 65 })).causes).toMatchObject([{ field: "spec.numVfs" }]);
  }, 120_000);
});

describe("a node that is created later", () => {
  it("is named in warnings", async () => {
    await createNode(testCluster, "worker-4");
    await eventually("its state", async () => {
      const path = objectPath(sriovNetworkNodeStates, { name: "worker-4", namespace });
      return testCluster.transport.request({ method: "GET", path });
    });
    const answer = await eventually("the warning", async () => {
      const text = await testCluster.kubectl(["apply", "--dry-run=server", "-f", "-"], policy("later", {}));
      return text.includes("Warning") && text;
    });
    expect(answer).toContain("the NICs of worker-4 are not discovered yet");
    await testCluster.transport.request({ method: "DELETE", path: objectPath(nodes, { name: "worker-4" }) });
  });
});
