// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const namespace = "sriov-network-operator";
const role = "node-role.kubernetes.io/dpu-host";
const host = (name: string, labels = {}) => node(name, { [role]: "", ...labels });

/** The state of a node with a BlueField-2 that has `numVfs` VFs on its first port. */
function cardState(name: string, numVfs = 0, cards = 1) {
  const base = state(name, numVfs);
  const [pf] = base.status.interfaces;
  const ports = Array.from({ length: cards }, (_, at) =>
    [0, 1].map((port) => ({
      ...pf,
      name: `ens${at + 1}f${port}np${port}`,
      pciAddress: `0000:${at === 0 ? "3b" : "af"}:00.${port}`,
      vendor: "15b3",
      deviceID: "a2d6",
      driver: "mlx5_core",
      totalvfs: 16,
      ...(port === 1 && { numVfs: 0, Vfs: [] }),
    })),
  );
  return { ...base, status: { ...base.status, interfaces: ports.flat() } };
}

function config(...pools: readonly string[]) {
  const ovnHardwareOffload = pools.map((pool) => ({ nodeSelector: { [`node-role.kubernetes.io/${pool}`]: "" } }));
  const metadata = { name: "default", namespace };
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata,
    spec: { ovnHardwareOffload },
  };
}

function pool(name: string, source: readonly string[] = []) {
  const key = "machineconfiguration.openshift.io/role";
  const values = name === "worker" ? [name] : ["worker", name];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key, operator: "In", values }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
    },
    status: { configuration: { source: source.map((config) => ({ name: config })) } },
  };
}

const version = (text: string) => ({
  apiVersion: "config.openshift.io/v1",
  kind: "ClusterVersion",
  metadata: { name: "version" },
  status: { desired: { version: text } },
});

const openshift = [pool("worker"), pool("dpu-host"), version("4.16.3"), config("dpu-host")];
const nodes = [host("h1"), cardState("h1"), host("h2"), cardState("h2"), node("w1")];
const cluster = [...openshift, ...nodes];

interface Item {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

async function render(input: readonly unknown[], ...flags: readonly string[]) {
  const { code, out, err } = await runCli(["render", "-f", "-", "-o", "json", ...flags], { input });
  const { items } = JSON.parse(out) as { readonly items: readonly Item[] };
  const find = (kind: string, name: string) => items.find((one) => one.kind === kind && one.metadata.name === name);
  return { code, err, items, find };
}

describe("switchyard render with spec.ovnHardwareOffload", () => {
  it("prints everything that ovn-offload writes on OpenShift", async () => {
    const { code, err, items, find } = await render(cluster);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(
      items.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name].filter(Boolean).join("/")),
    ).toEqual([
      "ConfigMap/openshift-network-operator/hardware-offload-config",
      "ConfigMap/openshift-ovn-kubernetes/ovn-management-ports",
      `ConfigMap/${namespace}/device-plugin-config`,
      "DNS/default",
      "MachineConfig/99-dpu-host-ovn-hw-offload",
      "NetworkAttachmentDefinition/default/default",
      "Node/h1",
      "Node/h2",
      "Node/w1",
      `SriovNetworkNodePolicy/${namespace}/ovn-offload-dpu-host-bluefield-2`,
      ...["h1", "h2", "w1"].map((name) => `SriovNetworkNodeState/${namespace}/${name}`),
    ]);
    const port = '{"ovnkube-node-mgmt-port":"ovnmgmt0"}';
    expect(find("ConfigMap", "ovn-management-ports")).toMatchObject({ data: { h1: port, h2: port } });
    expect(find("ConfigMap", "hardware-offload-config")).toMatchObject({
      data: { "mgmt-port-resource-name": "openshift.io/ovn_mgmt_vf" },
    });
    expect(find("Node", "h1")).toEqual({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: "h1",
        labels: {
          "network.operator.openshift.io/dpu-host": "",
          "network.operator.openshift.io/ovn-offload-host": "",
          "switchyard.io/ovn-management-resource": "ovn_mgmt_vf",
          "switchyard.io/ovn-offload-pool": "dpu-host",
        },
      },
    });
    expect(find("Node", "w1")).toMatchObject({ metadata: { labels: { "switchyard.io/dns-eligible": "" } } });
    expect(find("NetworkAttachmentDefinition", "default")).toMatchObject({
      metadata: { annotations: { "k8s.v1.cni.cncf.io/resourceName": "openshift.io/bluefield2" } },
      spec: { config: expect.stringContaining('"type":"ovn-k8s-cni-overlay"') as unknown },
    });
    const nodeSelector = { "kubernetes.io/os": "linux", "switchyard.io/dns-eligible": "" };
    expect(find("DNS", "default")).toMatchObject({ spec: { nodePlacement: { nodeSelector } } });
    expect(find("SriovNetworkNodeState", "h1")).toMatchObject({
      spec: {
        interfaces: [
          {
            pciAddress: "0000:3b:00.0",
            numVfs: 16,
            cardMode: "embedded-cpu",
            vfGroups: [
              { resourceName: "ovn_mgmt_vf", vfRange: "0-0", reservedFor: "ovn-management-port" },
              { resourceName: "bluefield2", vfRange: "1-15" },
            ],
          },
          { pciAddress: "0000:3b:00.1", vfGroups: [{ resourceName: "bluefield2", vfRange: "0-15" }] },
        ],
      },
    });
  });

  it("prints the same when all of it is in the input", async () => {
    const { items, find } = await render(cluster);
    const isOurs = ({ kind, metadata }: Item) => kind !== "Node" && metadata.name !== "device-plugin-config";
    const labelled = nodes.map((one) => {
      const labels = {
        ...("labels" in one.metadata && one.metadata.labels),
        ...find("Node", one.metadata.name)?.metadata.labels,
      };
      return one.kind === "Node" ? node(one.metadata.name, labels) : one;
    });
    const stored = items.filter((item) => isOurs(item) && item.kind !== "SriovNetworkNodeState");
    const again = await render([...openshift, ...labelled, ...stored]);
    const comparable = (all: readonly Item[]) => all.filter(({ kind }) => kind !== "DNS");
    expect(comparable(again.items)).toEqual(comparable(items));
    const nodeSelector = { "kubernetes.io/os": "linux", "switchyard.io/dns-eligible": "" };
    expect(again.find("DNS", "default")).toMatchObject({ spec: { nodePlacement: { nodeSelector } } });
  });

  it("writes env-overrides for releases before 4.14, and keeps foreign lines", async () => {
    const data = { h1: "OVN_KUBE_LOG_LEVEL=5" };
    const metadata = { name: "env-overrides", namespace: "openshift-ovn-kubernetes" };
    const old = cluster.map((one) => (one.kind === "ClusterVersion" ? version("4.12.9") : one));
    const { find } = await render([...old, { apiVersion: "v1", kind: "ConfigMap", metadata, data }]);
    expect(find("ConfigMap", "env-overrides")).toMatchObject({
      data: {
        h1: "OVNKUBE_NODE_MGMT_PORT_NETDEV=ovnmgmt0\nOVN_KUBE_LOG_LEVEL=5",
        h2: "OVNKUBE_NODE_MGMT_PORT_NETDEV=ovnmgmt0",
      },
    });
    expect(find("ConfigMap", "hardware-offload-config")).toBeUndefined();
  });

  it("prints labels of OVN-Kubernetes and no MachineConfig in other clusters", async () => {
    const { code, items, find } = await render([config("dpu-host"), ...nodes]);
    expect(code).toBe(0);
    expect(items.some(({ kind }) => kind === "MachineConfig" || kind === "DNS")).toBe(false);
    expect(find("Node", "h1")).toMatchObject({
      metadata: {
        labels: {
          "k8s.ovn.org/dpu-host": "",
          "switchyard.io/ovn-offload-files": "daemon",
          "switchyard.io/ovn-offload-pool": "dpu-host",
        },
      },
    });
    expect(find("SriovNetworkNodeState", "h1")).toMatchObject({ spec: { system: { openVSwitchDisabled: true } } });
    expect(find("ConfigMap", "ovn-management-ports")?.metadata.namespace).toBe("ovn-kubernetes");
  });

  it("keeps Open vSwitch on a pool with a node that cannot be a host, and says why", async () => {
    const { code, err, find } = await render([
      ...openshift,
      host("h1"),
      cardState("h1"),
      host("two"),
      cardState("two", 0, 2),
    ]);
    expect(code).toBe(1);
    expect(err).toContain("spec.ovnHardwareOffload[0].nodeSelector: node two of pool dpu-host has 2 SmartNICs");
    expect(err).toContain("pool dpu-host keeps Open vSwitch until all of its nodes can be hosts");
    expect(find("MachineConfig", "99-dpu-host-ovn-hw-offload")).toBeUndefined();
    expect(find("SriovNetworkNodePolicy", "ovn-offload-dpu-host-bluefield-2")).toBeDefined();
  });

  it("prints nothing of hosts that are not selected any more, and leaves them without labels and policies", async () => {
    const generated = policy("ovn-offload-dpu-host-bluefield-2", { nicSelector: { vendor: "15b3" } });
    const metadata = { ...generated.metadata, labels: { "switchyard.io/ovn-offload-pool": "dpu-host" } };
    const was = host("h1", { "switchyard.io/ovn-offload-pool": "dpu-host" });
    const { items, find } = await render([
      pool("dpu-host"),
      config(),
      was,
      cardState("h1"),
      { ...generated, metadata },
    ]);
    expect(items.map(({ kind }) => kind)).toEqual(["ConfigMap", "SriovNetworkNodeState"]);
    expect(find("SriovNetworkNodeState", "h1")).toMatchObject({ spec: { interfaces: [] } });
  });

  it("ignores it with a problem if the pools of an OpenShift cluster are missing", async () => {
    const { code, err } = await render([config("dpu-host"), ...nodes], "--cluster-type", "openshift");
    expect(code).toBe(1);
    expect(err).toContain("spec.ovnHardwareOffload: ignored, because the input has no MachineConfigPool");
  });
});

describe("switchyard plan with spec.ovnHardwareOffload", () => {
  it("shows that the hosts reboot, until they run the MachineConfig", async () => {
    const { code, out } = await runCli(["plan", "-f", "-"], { input: cluster });
    expect(code).toBe(0);
    expect(out).toMatch(/h1:\n(.*\n)*? {2}Impact: reboot, because of/);
    expect(out).toContain("MachineConfig 99-dpu-host-ovn-hw-offload of pool dpu-host");
    expect(out).toContain("2 reboot");
    const applied = [...cluster, pool("dpu-host", ["00-worker", "99-dpu-host-ovn-hw-offload"])];
    expect((await runCli(["plan", "-f", "-"], { input: applied })).out).not.toContain("MachineConfig");
  });
});

describe("switchyard validate with spec.ovnHardwareOffload", () => {
  const validate = (input: readonly unknown[]) => runCli(["validate", "-f", "-", "-o", "json"], { input });

  it("names the pool and the nodes that reboot", async () => {
    const { code, out } = await validate(cluster);
    expect(code).toBe(0);
    expect(out).toContain("2 nodes of pool dpu-host reboot (h1, h2)");
  });

  it.each([
    { does: "no pool", entries: ["other"], says: "no MachineConfigPool has the label" },
    { does: "the pool worker", entries: ["worker"], says: "selects the pool worker" },
    { does: "a pool twice", entries: ["dpu-host", "dpu-host"], says: "selects pool dpu-host, too" },
  ])("refuses an entry that selects $does", async ({ entries, says }) => {
    const { code, out } = await validate([...cluster.slice(0, -nodes.length - 1), config(...entries), ...nodes]);
    expect(code).toBe(1);
    expect(out).toContain(says);
  });

  it("refuses a policy for VF 0 of a host", async () => {
    const { code, out } = await validate([...cluster, policy("mine", { nicSelector: { pfNames: ["ens1f0np0#0-3"] } })]);
    expect(code).toBe(1);
    expect(out).toContain("VF 0 is reserved for the management port of OVN-Kubernetes on h1, h2");
  });
});
