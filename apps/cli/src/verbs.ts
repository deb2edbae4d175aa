// SPDX-License-Identifier: Apache-2.0
/** verbs are the verbs of the command line, in the order of the help. */
import type { FlagName } from "./flags.ts";
import type { Verb } from "./verb.ts";

const source: readonly FlagName[] = ["filename", "context", "kubeconfig", "namespace", "resourcePrefix", "clusterType"];

export const verbs: readonly Verb[] = [
  {
    name: "render",
    summary: "Print the objects that the operator and ovn-offload would write.",
    about: [
      "Prints one SriovNetworkNodeState per node, one NetworkAttachmentDefinition per network, and the ConfigMap that the operator writes with --write-configmap, computed from the policies, pools, networks and nodes in the input.",
      "The NICs of a node are read from the status of its SriovNetworkNodeState in the input. A node without one gets an empty spec, as in the cluster. The same input always gives the same output.",
      "With --only DevicePluginConfig, it prints the configuration that the device plugin of each node reads: the VFs that the node has reported, by resource. It is a file on the node, not an object.",
      "With loader bpfman in the AfxdpOperatorConfig, it also prints one ClusterBpfApplication per AF_XDP device that a node has reported.",
      "With spec.ovnHardwareOffload in the SriovOperatorConfig, it also prints what the service ovn-offload writes, as it is when OVN runs on the SmartNICs. Of objects that others also write, it prints only the fields that ovn-offload sets. On OpenShift, the MachineConfigPools must be in the input.",
    ],
    examples: [
      "switchyard render -f cluster/",
      "switchyard render -f cluster/ -o json --only SriovNetworkNodeState",
      "switchyard render -f cluster/ --only DevicePluginConfig",
      "switchyard render -f config.yaml --manifests --only DaemonSet",
      "switchyard render -f cluster/ --claims --only ResourceClaimTemplate",
    ],
    flags: [...source, "output", "only", "manifests", "claims"],
    load: async () => (await import("./verbs/render.ts")).render,
  },
  {
    name: "validate",
    summary: "Print how the API server and the webhook would answer.",
    about: [
      "Each object of -f is checked as if it were applied last, after all other objects of -f and --existing. If pods are given, the warnings count those that a change disrupts.",
    ],
    examples: [
      "switchyard validate -f policy.yaml --existing cluster/",
      "switchyard validate -f policy.yaml --context lab",
      "switchyard validate -f policy.yaml --existing cluster/ --operation DELETE",
    ],
    flags: [
      "filename",
      "existing",
      "context",
      "kubeconfig",
      "namespace",
      "operation",
      "output",
      "resourcePrefix",
      "clusterType",
    ],
    load: async () => (await import("./verbs/validate.ts")).validate,
  },
  {
    name: "plan",
    summary: "Print how the nodes would change, and which of them drain or reboot.",
    about: [
      "The desired configuration of a node is computed from the policies in the input; if the input lacks the Node, it is the spec of its SriovNetworkNodeState. Without policies, the plan shows what follows when the last one is deleted. It is compared with the status of the SriovNetworkNodeState. If the pods are known, the plan names those that are evicted. With --context and -f, the files show what they would change in the cluster.",
    ],
    examples: [
      "switchyard plan -f cluster/ --node worker-1",
      "switchyard plan --context lab -f policy.yaml",
      "switchyard plan --context lab --detailed-exitcode",
      "switchyard plan -f cluster/ -o html > plan.html",
    ],
    flags: [...source, "node", "detailedExitcode", "pageOutput"],
    load: async () => (await import("./verbs/plan.ts")).planNodes,
  },
  {
    name: "suggest",
    summary: "Print policies, networks and pools for the NICs that the nodes have.",
    about: [
      "Reads the NICs in the status of the SriovNetworkNodeStates and prints objects that create VFs on those that are free, with comments that say why. PFs that the host uses, or that have VFs or a policy, are left out, and named; if the nodes do not report what the host uses, the objects are comments. Read the objects before you apply them: switchyard validate and plan show what they do.",
      "The exit code is 1 if there is nothing to suggest.",
    ],
    examples: ["switchyard suggest --context lab > sriov.yaml", "switchyard suggest -f cluster/"],
    flags: ["filename", "context", "kubeconfig", "namespace"],
    load: async () => (await import("./verbs/suggest.ts")).suggest,
  },
  {
    name: "check",
    summary: "Check a cluster before Switchyard is installed.",
    about: [
      "Checks the versions, Pod Security of the namespace, Multus, the labels of nodes and their architecture, and whether another operator or device plugin is there. What only the nodes know is marked as unknown, with how to look.",
      "The exit code is 1 if something stands in the way of an installation.",
    ],
    examples: ["switchyard check", "switchyard check --context lab -n sriov-network-operator -o json"],
    flags: ["filename", "context", "kubeconfig", "namespace", "output"],
    load: async () => (await import("./verbs/check.ts")).check,
  },
  {
    name: "doctor",
    summary: "Find what is wrong in a cluster, why, and what to do next.",
    about: [
      "Checks nodes, policies, pools, networks, pods with VFs, drains, webhooks and components. Each finding has a stable code, which switchyard explain describes. It also works with clusters of the Go operator.",
      "Input is a directory or tar file of a must-gather, output of kubectl get -o yaml, or a cluster, which is only read. The more kinds the input has, the more is found: Nodes, Pods, PodDisruptionBudgets, NetworkAttachmentDefinitions, DaemonSets, Leases, EndpointSlices, Events, webhook configurations.",
      "The exit code is 1 if there are errors or warnings.",
    ],
    examples: [
      "switchyard doctor --context lab",
      "switchyard doctor -f must-gather.tar.gz",
      "switchyard doctor --context lab -o html > report.html",
    ],
    flags: ["filename", "context", "kubeconfig", "namespace", "resourcePrefix", "pageOutput"],
    load: async () => (await import("./verbs/doctor.ts")).doctor,
  },
  {
    name: "status",
    summary: "Sum up a cluster on one screen.",
    about: [
      "Prints which components run, how many nodes are configured and why the others are not, what has become of policies and networks, and how many VFs of each resource are in pods. It repeats what the cluster says; switchyard doctor looks for causes.",
      "The exit code is 1 if doctor would report an error.",
    ],
    examples: [
      "switchyard status",
      "switchyard status --context lab -o json",
      "switchyard status -f must-gather.tar.gz",
    ],
    flags: ["filename", "context", "kubeconfig", "namespace", "resourcePrefix", "output"],
    load: async () => (await import("./verbs/status.ts")).status,
  },
  {
    name: "verify",
    summary: "Check a network between short-lived pods on the nodes of a cluster.",
    about: [
      "Creates two pods of the network on each node, and a third one of a network in another VLAN if there is one, as far as VFs are free. They send packets to each other on their node and to the next node. The pods are removed afterwards, also after Ctrl-C; those of a killed command end by themselves.",
      "Checks, from the bottom up: scheduled, resource, attach, started, interface, link, mac, address, route, vlan, neighbour, ping, mtu, rdma and throughput. The first layer that fails is named with what to do.",
      "It is the only verb that writes to a cluster. It uses the rights of the user: to create, read and delete pods in the namespace of the network, and to read their logs and events.",
      "The exit code is 1 if a layer fails, or nothing could be checked.",
    ],
    examples: [
      "switchyard verify --context lab --network fast",
      "switchyard verify --context lab --policy fast --node worker-1 --throughput",
      "switchyard verify --network fast -o html > verify.html",
    ],
    flags: [
      ...(["network", "policy", "nodes", "isolatedFrom", "throughput", "image", "timeout"] as const),
      ...(["context", "kubeconfig", "namespace", "resourcePrefix", "pageOutput"] as const),
    ],
    load: async () => (await import("./verbs/verify.ts")).verify,
  },
  {
    name: "vfs",
    summary: "List VFs, their settings, and the pods that have them.",
    about: [
      "Lists each VF with its PF, driver, address, MAC address, VLAN, policy, resource and pod. Pods come from the status that Multus writes, and from ResourceClaims. The device plugin reports only to the kubelet which VFs a pod has: a question mark behind a pod means that it has some VF of the resource on that node.",
    ],
    examples: [
      "switchyard vfs --context lab --node worker-1",
      "switchyard vfs --context lab --pod apps/client-0 -o wide",
      "switchyard vfs -f must-gather.tar.gz --resource fast -o json",
      "switchyard vfs --context lab --watch",
    ],
    flags: [
      ...([
        "filename",
        "context",
        "kubeconfig",
        "namespace",
        "resourcePrefix",
        "node",
        "resource",
        "pod",
        "watch",
        "rowsOutput",
      ] as const),
    ],
    load: async () => (await import("./verbs/vfs.ts")).vfs,
  },
  {
    name: "migrate",
    summary: "Check a cluster of the Go operator before Switchyard takes it over, or after it went back.",
    operands: "check|leftovers",
    about: [
      "check says what stands in the way of the upgrade, what changes, which pods restart, and the command that goes back. It checks the versions of Kubernetes and Helm, the values of the Helm release, stored objects that Switchyard's rules refuse, policies without effect, specs that change, and drains in progress.",
      "Input is a cluster, which is only read, or output of kubectl get -o yaml. The release is read from the Secrets of Helm in the operator's namespace, if the user may read them.",
      "The exit code is 1 if something stands in the way.",
      "leftovers prints a script for a shell, which removes what Switchyard has left in a cluster that the Go operator manages again. It only reads the cluster, and refuses while Switchyard's operator is deployed.",
    ],
    examples: [
      'switchyard migrate check --helm-version "$(helm version --short)"',
      "switchyard migrate check -f must-gather/ -o json",
      "switchyard migrate leftovers | sh",
    ],
    flags: ["filename", "context", "kubeconfig", "namespace", "resourcePrefix", "helmVersion", "output"],
    operandChoices: ["check", "leftovers"],
    load: async () => (await import("./verbs/migrate.ts")).migrate,
  },
  {
    name: "explain",
    summary: "Print the documentation of a kind, field, reason, finding or metric.",
    operands: "KIND[.FIELD]|NAME",
    about: [
      "KIND is the name of a kind or its plural, in upper or lower case. NAME is the type or reason of a condition, the reason of an event, the code of a finding of switchyard doctor, or the name of a metric.",
    ],
    examples: [
      "switchyard explain SriovNetworkNodePolicy",
      "switchyard explain StepFailed",
      "switchyard explain sriovnetworknodepolicy.spec.nicSelector",
    ],
    flags: [],
    load: async () => (await import("./verbs/explain.ts")).explain,
  },
  {
    name: "nics",
    summary: "List the NICs of nodes, or the supported NICs.",
    about: [
      "Lists the NICs in the status of the node states: PCI IDs, driver, speed, link, VFs that exist and can exist, MTU, eswitch mode, policies, and what the host uses a NIC for. A value that is not known is shown as -.",
      "If nodes report for AF_XDP, it also says what the drivers offer: whether they run XDP programs themselves (NATIVE XDP), whether sockets work without copying packets (ZERO COPY), and how many queues and subfunctions they support. USED BY says why a NIC cannot be an AF_XDP device.",
      "With --supported, or without any cluster, lists the supported NICs. VENDOR and DEVICE are the PCI IDs that lspci -nn prints; VF DEVICE is the device ID of the NIC's virtual functions. A cluster can add NICs with the ConfigMap supported-nic-ids.",
    ],
    examples: [
      "switchyard nics",
      "switchyard nics --context lab --node worker-1",
      "switchyard nics --supported -o json",
    ],
    flags: ["filename", "context", "kubeconfig", "namespace", "node", "supported", "output"],
    load: async () => (await import("./verbs/nics.ts")).nics,
  },
  {
    name: "eve-bridge",
    summary: "Check whether eve-bridge can connect pods on this node.",
    operands: "doctor",
    about: [
      "Checks sockets, the plugins in CNI_PATH, versions and directories. Run it as root on the node, with the environment in which the container runtime runs CNI plugins. The exit code is 1 if something is missing.",
    ],
    examples: ["CNI_PATH=/opt/cni/bin switchyard eve-bridge doctor", "switchyard eve-bridge doctor -o json"],
    flags: ["output"],
    operandChoices: ["doctor"],
    load: async () => (await import("./verbs/eve-bridge.ts")).eveBridge,
  },
  {
    name: "demo",
    summary: "Start the demo: a cluster on this machine, and a series of changes in it.",
    operands: "[-- ARGUMENT...]",
    about: ["Same as `npm run demo`; requires a source checkout. Arguments after -- are passed to the demo."],
    examples: ["switchyard demo", "switchyard demo -- --vm"],
    flags: [],
    load: async () => (await import("./verbs/demo.ts")).demo,
  },
  {
    name: "version",
    summary: "Print the version.",
    about: [],
    examples: ["switchyard version -o json"],
    flags: ["output"],
    load: async () => (await import("./verbs/version.ts")).version,
  },
  {
    name: "completion",
    summary: "Print a completion script for a shell.",
    operands: "bash|zsh|fish|kubectl",
    about: [
      "The scripts complete verbs, flags and their values. Names of contexts, nodes, namespaces, policies and resources come from kubectl. With kubectl as argument it prints the program kubectl_complete-switchyard, by which kubectl completes its plugin.",
    ],
    examples: [
      "source <(switchyard completion bash)",
      "switchyard completion kubectl > ~/.local/bin/kubectl_complete-switchyard",
      "switchyard completion fish > ~/.config/fish/completions/switchyard.fish",
    ],
    flags: [],
    operandChoices: ["bash", "zsh", "fish", "kubectl"],
    load: async () => (await import("./verbs/completion.ts")).completion,
  },
];
