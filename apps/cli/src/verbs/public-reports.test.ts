// SPDX-License-Identifier: Apache-2.0
/**
 * Questions and bug reports that users of SR-IOV on Kubernetes have published, as inputs of the command line with the right answer.
 * What needs a cluster is tested elsewhere, and named here.
 */
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { network, node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const namespace = "sriov-network-operator";

function config(spec: object) {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec,
  };
}

/** A node w1 with the port ens1f0, and the config. `port` has members of the port that differ. */
function cluster(port: object = {}, more: readonly unknown[] = []): readonly unknown[] {
  const { status, ...head } = state("w1");
  const [pf] = status.interfaces;
  const reported = { ...head, status: { ...status, interfaces: [{ ...pf, ...port }] } };
  return [node("w1", { "kubernetes.io/hostname": "w1" }), config({}), reported, ...more];
}

const vfs = [0, 1, 2, 3].map((vfID) => ({ vfID, pciAddress: `0000:3b:02.${vfID}`, driver: "iavf", mtu: 1500 }));
const withVfs = { numVfs: 4, Vfs: vfs };
const taints = [
  { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" },
  { key: "node-role.kubernetes.io/etcd", effect: "NoExecute" },
];
const rancher = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "cp1", labels: { "node-role.kubernetes.io/control-plane": "true", "kubernetes.io/os": "linux" } },
  spec: { taints },
};
const servers = config({ enableOperatorWebhook: true, enableInjector: true });
const injectorGate = config({ enableInjector: true, featureGates: { resourceInjectorMatchCondition: true } });

interface Report {
  /** Where it was published, in the organisations k8snetworkplumbingwg, openshift, rancher, Mellanox and others. */
  readonly report: string;
  readonly question: string;
  readonly verb: readonly string[];
  readonly input: readonly unknown[];
  readonly existing?: readonly unknown[];
  /** All are in the output or on stderr. */
  readonly words: readonly (string | RegExp)[];
  readonly isNot?: readonly string[];
  readonly code?: number;
}

const reports: readonly Report[] = [
  {
    report: "sriov-network-operator#672",
    question: "a node label without a value selects all nodes",
    verb: ["validate"],
    input: [policy("gpu", { nodeSelector: { "example.com/gpu-rack": null } })],
    existing: cluster(),
    words: [
      "spec.nodeSelector.example.com/gpu-rack: has no value",
      "spec.nodeSelector is empty: the only node of the node set is selected",
    ],
    code: 1,
  },
  {
    report: "sriov-network-operator#367, rke2#7742, rancher#36069",
    question: "webhook and injector do not start on servers of Rancher",
    verb: ["render", "--manifests", "--only", "DaemonSet"],
    input: [rancher, servers],
    words: [/tolerations:(?:\n.*){0,7}node-role.kubernetes.io\/etcd\n/, "CriticalAddonsOnly"],
  },
  {
    report: "sriov-network-operator#735, sriov-network-device-plugin#576",
    question: "two policies of one resource with different drivers",
    verb: ["validate"],
    input: [policy("a", { deviceType: "vfio-pci", nicSelector: { pfNames: ["ens1f0#0-1"] } })],
    existing: [...cluster(), policy("b", { nicSelector: { pfNames: ["ens1f0#2-3"] } })],
    words: [/spec\.deviceType: w1: is vfio-pci, but netdevice in policy b/],
  },
  {
    report: "OCPBUGS-239, sriov-network-operator#507",
    question: "a stray quote in configDaemonNodeSelector",
    verb: ["validate"],
    input: [config({ configDaemonNodeSelector: { 'node-role.kubernetes.io/worker"': "true" } })],
    words: ["is not a label key", "check quotes"],
    code: 1,
  },
  {
    report: "OCPBUGS-239, sriov-network-operator#507",
    question: "nodes leave the node set",
    verb: ["validate", "--operation", "UPDATE"],
    input: [config({ configDaemonNodeSelector: { sriov: "yes" } })],
    existing: cluster(),
    words: ["the only node does not have the labels sriov=yes", "w1 leaves the node set"],
  },
  {
    report: "sriov-network-operator#1136",
    question: "Talos: /etc is read-only",
    verb: ["validate"],
    input: [config({ configDaemonEnvVars: { STATE_DIRECTORY: "/var/lib/sriov" } })],
    words: ["1 allowed"],
  },
  {
    report: "sriov-network-operator#476",
    question: "a new node has no VFs of an externally managed PF yet",
    verb: ["validate"],
    input: [policy("ext", { externallyManaged: true })],
    existing: [...cluster(withVfs), node("w2"), { ...state("w2"), metadata: { name: "w2", namespace } }],
    words: ["1 allowed", "the node fails until another tool creates 4 on w2"],
  },
  {
    report: "openshift/sriov-network-operator#863",
    question: "a name in pfNames that no node has",
    verb: ["validate"],
    input: [policy("fabric", { nicSelector: { pfNames: ["ens1f0", "uplink1"] } })],
    existing: cluster(),
    words: ['pfNames[1]: "uplink1" is not a NIC on w1'],
  },
  {
    report: "network-resources-injector#88",
    question: "user-defined injections",
    verb: ["render", "--manifests", "--only", "ConfigMap"],
    input: [node("w1"), config({ enableInjector: true })],
    // The operator owns the features only; what users add to the key stays.
    words: ["nri-control-switches", '"enableHugePageDownApi": true'],
    isNot: ["user-defined-injections"],
  },
  {
    report: "sriov-network-operator#447",
    question: "which field of the selector does not match",
    verb: ["validate"],
    input: [policy("mlx", { nicSelector: { rootDevices: ["0000:af:00.0"], pfNames: ["ens1f0"] } })],
    existing: cluster(),
    words: ["nearest match: ens1f0 (0000:3b:00.0): the address is not in rootDevices 0000:af:00.0"],
    code: 1,
  },
  {
    report: "sriov-cni#291",
    question: "leave the VLAN of a VF alone: sriov-cni takes an absent vlan as 0",
    verb: ["render", "--only", "NetworkAttachmentDefinition"],
    input: [...cluster(), network("trunk")],
    words: ['"vlan": 0'],
  },
  {
    report: "sriov-network-operator#1120",
    question: "hyphens and underscores in resourceName",
    verb: ["validate"],
    input: [policy("a", { resourceName: "e810-c" }), policy("b", { resourceName: "rail0_unused" })],
    words: ["2 allowed, 0 rejected"],
  },
  {
    report: "sriov-network-operator#1120",
    question: "other characters in resourceName",
    verb: ["validate"],
    input: ["-abc", "a/b", "openshift.io/nic", "rail 0"].map((resourceName, at) => policy(`p${at}`, { resourceName })),
    words: ["0 allowed, 4 rejected", "spec.resourceName"],
    code: 1,
  },
  {
    report: "sriov-network-operator#1132",
    question: "the metrics exporter on nodes with taints",
    verb: ["render", "--manifests", "--only", "DaemonSet"],
    input: [node("w1"), config({ featureGates: { metricsExporter: true } })],
    words: [/name: sriov-network-metrics-exporter\n(?:.*\n){20,40}.*tolerations:\n +- operator: Exists/],
  },
  {
    report: "sriov-network-operator#1028, sriov-network-device-plugin#565",
    question: "capacity shrinks after a restart of the plugin: VFs are selected by address only",
    verb: ["render", "--only", "DevicePluginConfig"],
    input: [
      node("w1"),
      config({}),
      {
        ...state("w1", 4),
        spec: {
          interfaces: [
            {
              name: "ens1f0",
              pciAddress: "0000:3b:00.0",
              numVfs: 4,
              vfGroups: [{ resourceName: "nics", vfRange: "0-3", policyName: "p" }],
            },
          ],
        },
      },
      policy("p"),
    ],
    words: ["resourceName: nics", "0000:3b:02.3"],
    isNot: ["linkTypes"],
  },
  {
    report: "OCPBUGS-10848",
    question: "pods that name a default network reach the injector",
    verb: ["render", "--manifests", "--only", "MutatingWebhookConfiguration"],
    input: [node("w1"), injectorGate],
    words: ["v1.multus-cni.io/default-network"],
  },
  {
    report: "openshift-docs#90414",
    question: "the feature gate resourceInjectorMatchCondition",
    verb: ["render", "--manifests", "--only", "MutatingWebhookConfiguration"],
    input: [node("w1"), injectorGate],
    words: ["include-networks-annotation", "failurePolicy: Fail"],
  },
  {
    report: "sriov-cni#281",
    question: "vlanQoS and 802.1ad without a VLAN",
    verb: ["validate"],
    input: [network("qos", { vlanQoS: 3 }), network("ad", { vlanProto: "802.1ad" })],
    words: ["0 allowed, 2 rejected", /requires vlan to be\s+from 1 to 4094/],
    code: 1,
  },
  {
    report: "kubevirtci#513",
    question: "the VFs exist already",
    verb: ["plan"],
    input: cluster({ ...withVfs, owned: true }, [policy("p")]),
    words: ["w1: nothing to do"],
  },
  {
    report: "kubevirtci#513",
    question: "doctor about VFs that exist already",
    verb: ["doctor"],
    input: cluster(withVfs, [policy("p")]),
    words: ["0 errors, 0 warnings"],
    isNot: ["VfsWithoutPolicy"],
  },
  {
    report: "sriov-network-operator#710",
    question: "VFs outside of all ranges have another driver",
    verb: ["plan"],
    input: cluster({ ...withVfs, Vfs: vfs.map((vf) => (vf.vfID === 3 ? { ...vf, driver: "vfio-pci" } : vf)) }, [
      policy("p", { nicSelector: { pfNames: ["ens1f0#0-2"] } }),
    ]),
    words: ["w1: nothing to do"],
  },
  {
    report: "OCPBUGS-44515, sriov-network-operator#806",
    question: "a hosted control plane has no nodes",
    verb: ["render", "--manifests", "--only", "DaemonSet"],
    input: [node("w1"), servers],
    words: ["operator-webhook", "no control plane node is visible"],
    isNot: ["node-role.kubernetes.io/control-plane\n                operator: Exists"],
  },
  {
    report: "sriov-network-operator#380, openshift-docs#77080",
    question: "no SriovOperatorConfig",
    verb: ["doctor"],
    input: [node("w1"), state("w1"), policy("p")],
    words: ["OperatorConfigMissing"],
    code: 1,
  },
  {
    report: "harvester#6502",
    question: "upper case in names of PFs, and PCI domains other than 0000",
    verb: ["plan"],
    input: cluster({ name: "enP3p3s0f0", pciAddress: "0003:03:00.0" }, [
      policy("p", { nicSelector: { pfNames: ["enP3p3s0f0"] } }),
    ]),
    words: ["set sriov_numvfs 0 -> 4 on 0003:03:00.0"],
  },
  {
    report: "OCPBUGS-43683, OCPBUGS-18501",
    question: "MTUs of two policies on one PF",
    verb: ["render", "--only", "SriovNetworkNodeState", "-o", "json"],
    input: cluster({}, [
      policy("p", { mtu: 9000, nicSelector: { pfNames: ["ens1f0#0-1"] } }),
      policy("q", { mtu: 1500, resourceName: "other", nicSelector: { pfNames: ["ens1f0#2-3"] } }),
    ]),
    words: [/"numVfs": 4,\s+"mtu": 9000/, /"policyName": "q",\s+"mtu": 1500/],
  },
  {
    report: "argo-cd#15058",
    question: "labels that track objects are not copied to NetworkAttachmentDefinitions",
    verb: ["render", "--only", "NetworkAttachmentDefinition"],
    input: [
      ...cluster(),
      { ...network("net"), metadata: { name: "net", namespace, labels: { "argocd.argoproj.io/instance": "app" } } },
    ],
    words: ["name: net"],
    isNot: ["argocd"],
  },
];

/** Reports about what happens in a cluster, with the test that has the answer. */
const elsewhere: readonly (readonly [report: string, file: string, test: string])[] = [
  [
    "sriov-network-device-plugin#369, #245, #276",
    "apps/device-plugin-config/src/withheld-vfs.test.ts",
    "gets the free VFs at once and the others when their pods have ended",
  ],
  ["sriov-network-operator#367", "apps/operator/src/components/rollout.test.ts", "no node can run it"],
  [
    "network-resources-injector#88",
    "apps/operator/src/components/operator-config-reconciler.test.ts",
    "keeps what users add to the configuration of the injector",
  ],
  [
    "sriov-network-operator#537",
    "e2e/integration/drain/drain.test.ts",
    "does not end or stop a drain that a budget blocks",
  ],
  [
    "openshift-virtualization-tests#2760",
    "e2e/integration/policies/conditions.test.ts",
    "does not return for an old condition after a change, even while the operator is stopped",
  ],
  [
    "network-operator#2989, kubernetes#120626, k8s-device-plugin#1252",
    "docs/guide/install.md",
    "The kubelet's directory is `/var/lib/kubelet`",
  ],
];

describe("a public report", () => {
  it.each(reports.map((report) => [report.report, report.question, report] as const))(
    "%s: %s",
    async (_report, _question, { verb, input, existing, words, isNot = [], code = 0 }) => {
      const argv = [...verb, ...(existing === undefined ? [] : ["--existing", await fileOf(existing)]), "-f", "-"];
      const answer = await runCli(argv, { input });
      const text = `${answer.out}\n${answer.err}`;
      const flat = text.replaceAll(/\s+/g, " ");
      for (const word of words)
        expect(typeof word === "string" ? flat : text).toEqual(expect.stringMatching(toPattern(word)));
      for (const word of isNot) expect(text).not.toContain(word);
      expect(answer.code).toBe(code);
    },
  );

  it.each(elsewhere)("%s is answered by %s", (_report, file, test) => {
    expect(readFileSync(join(findWorkspaceRoot(), file), "utf8").includes(test)).toBe(true);
  });
});

function toPattern(word: string | RegExp): RegExp {
  return typeof word === "string" ? new RegExp(word.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)) : word;
}

async function fileOf(objects: readonly unknown[]): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "switchyard-reports-")), "existing.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  return file;
}
