// SPDX-License-Identifier: Apache-2.0
/**
 * The admission webhook and the command line with OpenShift's own MachineConfigPools on a real API server: what users of
 * kubectl see when they select hosts whose OVN runs on their SmartNIC.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sriovNetworkNodeStates, type OvnHardwareOffload } from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import {
  createNode,
  createOperatorConfig,
  namespace,
  openshiftCrds,
  registerWebhooks,
  silentNarrator,
  startTestCluster,
  startWebhook,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually, findFreePorts } from "@switchyard/testing";

const role = (name: string) => `node-role.kubernetes.io/${name}`;
const entry = (name: string): OvnHardwareOffload => ({ nodeSelector: { [role(name)]: "" } });

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster(silentNarrator);
  for (const file of await openshiftCrds()) await cluster.cluster.applyCrds(file);
  for (const name of ["worker", "dpu-host", "infra"]) await cluster.kubectl(["create", "-f", "-"], pool(name));
  await createOperatorConfig(cluster);
  for (const name of ["h1", "h2"]) {
    await createNode(cluster, name);
    await cluster.kubectl(["label", "node", name, `${role("dpu-host")}=`]);
    await reportCard(name);
  }
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(cluster, port);
  startWebhook(cluster, "webhook-1", port, ["--cluster-type", "openshift"]);
  await eventually(
    "the webhook answers with pools",
    async () => (await select(entry("none"))).includes("custom pools are"),
    {
      withinMs: 120_000,
    },
  );
}, 600_000);

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
}, 60_000);

function pool(name: string) {
  const key = "machineconfiguration.openshift.io/role";
  const values = name === "worker" ? [name] : ["worker", name];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key, operator: "In", values }] },
      nodeSelector: { matchLabels: { [role(name)]: "" } },
    },
  };
}

/** Reports a BlueField-2, as the node's daemon would. */
async function reportCard(name: string): Promise<void> {
  const at = { name, namespace };
  await eventually(`the state of ${name}`, () =>
    cluster.transport.request({ method: "GET", path: objectPath(sriovNetworkNodeStates, at) }),
  );
  const pf = { vendor: "15b3", deviceID: "a2d6", mtu: 1500, totalvfs: 16, linkType: "ETH", driver: "mlx5_core" };
  const interfaces = [0, 1].map((port) => ({ pciAddress: `0000:3b:00.${port}`, name: `ens1f${port}np${port}`, ...pf }));
  await cluster.transport.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, at, "status"),
    body: { status: { interfaces, syncStatus: "Succeeded" } },
    contentType: "application/merge-patch+json",
  });
}

/** Returns what kubectl prints for this selection, which is not stored. */
function select(...entries: readonly OvnHardwareOffload[]): Promise<string> {
  return patchConfig(entries, ["--dry-run=server"]);
}

function patchConfig(entries: readonly OvnHardwareOffload[], flags: readonly string[] = []): Promise<string> {
  const patch = JSON.stringify({ spec: { ovnHardwareOffload: entries } });
  return cluster.kubectl(["patch", "sriovoperatorconfig", "default", "--type=merge", "-p", patch, ...flags]);
}

function policy(pfName: string) {
  const spec = {
    resourceName: "mine",
    nodeSelector: { [role("worker")]: "" },
    numVfs: 8,
    nicSelector: { pfNames: [pfName] },
  };
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "mine", namespace },
    spec,
  };
}

it("names the pool, the number of nodes and that they reboot", async () => {
  const answer = await select(entry("dpu-host"));
  expect(answer).toContain("2 nodes of pool dpu-host reboot (h1, h2) so that OVN runs on the SmartNIC");
  expect(answer).toContain("patched");
});

it.each([
  { entries: ["none"], says: "no MachineConfigPool has the label node-role.kubernetes.io/none" },
  { entries: ["worker"], says: "selects the pool worker, which cannot be used" },
  { entries: ["dpu-host", "dpu-host"], says: "entry 0 selects pool dpu-host, too" },
])("refuses $entries", async ({ entries, says }) => {
  const answer = await select(...entries.map(entry));
  expect(answer).toContain(says);
  expect(answer).not.toContain("patched");
});

it("refuses an entry without labels by the CRD", async () => {
  expect(await select({ nodeSelector: {} })).toContain("must have at least one label");
});

it("refuses nodes in several pools", async () => {
  await cluster.kubectl(["label", "node", "h2", `${role("infra")}=`]);
  const message = "node h2 belongs to the pools dpu-host, infra";
  await eventually("the refusal", async () => (await select(entry("dpu-host"))).includes(message));
  await cluster.kubectl(["label", "node", "h2", `${role("infra")}-`]);
  await eventually("the change", async () =>
    (await select(entry("dpu-host"))).includes("2 nodes of pool dpu-host reboot"),
  );
});

it("protects VF 0 of selected hosts, and the operator reserves it on hosts with the label", async () => {
  await patchConfig([entry("dpu-host")]);
  const message = "VF 0 is reserved for the management port of OVN-Kubernetes on h1, h2: select VFs from VF 1";
  const apply = (pfName: string, ...flags: readonly string[]) =>
    cluster.kubectl(["apply", "-f", "-", ...flags], policy(pfName));
  await eventually("the refusal", async () => (await apply("ens1f0np0#0-3", "--dry-run=server")).includes(message));
  expect(await apply("ens1f0np0")).toContain("gets VFs 1 to 7 only of ens1f0np0");
  await cluster.kubectl(["label", "node", "h1", "switchyard.io/ovn-offload-pool=dpu-host"]);
  const interfacesOf = async (name: string) => {
    const path = objectPath(sriovNetworkNodeStates, { name, namespace });
    return JSON.stringify(await cluster.transport.request({ method: "GET", path }));
  };
  await eventually("the reservation", async () => {
    const text = await interfacesOf("h1");
    return text.includes('"reservedFor":"ovn-management-port"') && text.includes('"vfRange":"1-7"');
  });
  expect(await interfacesOf("h2")).toContain('"vfRange":"0-7"');
  await cluster.kubectl(["label", "node", "h1", "switchyard.io/ovn-offload-pool-"]);
  await eventually("no reservation", async () => !(await interfacesOf("h1")).includes('"reservedFor"'));
});
