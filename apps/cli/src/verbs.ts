// SPDX-License-Identifier: Apache-2.0
/** The verbs, in the order in which help lists them. */
import type { FlagName } from "./flags.ts";
import type { Verb } from "./verb.ts";

const source: readonly FlagName[] = ["filename", "context", "kubeconfig", "namespace", "resourcePrefix", "clusterType"];

export const verbs: readonly Verb[] = [
  {
    name: "render",
    summary: "Print what the operator would write.",
    about: [
      "One SriovNetworkNodeState per node, one NetworkAttachmentDefinition per network, and the device plugin's configuration, from the policies, pools, networks and nodes of the input.",
      "What the nodes have is taken from the status of the SriovNetworkNodeStates in the input; a node without one gets an empty spec, as in the cluster. Two runs give the same bytes.",
    ],
    examples: [
      "switchyard render -f cluster/",
      "switchyard render -f cluster/ -o json --only SriovNetworkNodeState",
      "switchyard render -f config.yaml --manifests --only DaemonSet",
    ],
    flags: [...source, "output", "only", "manifests"],
    load: async () => (await import("./verbs/render.ts")).render,
  },
  {
    name: "validate",
    summary: "Say what the API server and the webhook would answer.",
    about: [
      "Each object given by -f is judged as if it came last, with all the others and those of --existing already there. Pods among them are counted in what a change would disturb.",
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
    summary: "Print what the nodes would do, and whom it disturbs.",
    about: [
      "What is wanted is rendered from the policies in the input, or is the SriovNetworkNodeState's own spec where the input has none; what is there is its status.",
    ],
    examples: ["switchyard plan -f cluster/ --node worker-1", "switchyard plan --context lab --detailed-exitcode"],
    flags: [...source, "node", "detailedExitcode", "output"],
    load: async () => (await import("./verbs/plan.ts")).planNodes,
  },
  {
    name: "explain",
    summary: "Print the documentation of a kind or of one of its fields.",
    operands: "KIND[.FIELD]",
    about: ["The kind is written as in YAML, in any case, in the singular or the plural."],
    examples: [
      "switchyard explain SriovNetworkNodePolicy",
      "switchyard explain sriovnetworknodepolicy.spec.nicSelector",
    ],
    flags: [],
    load: async () => (await import("./verbs/explain.ts")).explain,
  },
  {
    name: "nics",
    summary: "List the network cards that are known to work.",
    about: [
      "Vendor and device IDs are those of lspci -nn; VF DEVICE is the ID of the card's virtual functions. A cluster adds its own by the ConfigMap supported-nic-ids.",
    ],
    examples: ["switchyard nics", "switchyard nics -o json"],
    flags: ["output"],
    load: async () => (await import("./verbs/nics.ts")).nics,
  },
  {
    name: "eve-bridge",
    summary: "Say what this node lacks for eve-bridge to connect pods.",
    operands: "doctor",
    about: [
      "Run it as root on the node, with the environment in which the container runtime runs CNI plugins: sockets, plugins in CNI_PATH, versions, directories. Exit code 1 where something is missing.",
    ],
    examples: ["CNI_PATH=/opt/cni/bin switchyard eve-bridge doctor", "switchyard eve-bridge doctor -o json"],
    flags: ["output"],
    operandChoices: ["doctor"],
    load: async () => (await import("./verbs/eve-bridge.ts")).eveBridge,
  },
  {
    name: "demo",
    summary: "Start what `npm run demo` starts: a cluster on this machine, and the story of one change.",
    operands: "[-- ARGUMENT...]",
    about: ["Works in a checkout of the sources only. Arguments after -- go to the demo."],
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
    operands: "bash|zsh|fish",
    about: [],
    examples: [
      "source <(switchyard completion bash)",
      "switchyard completion fish > ~/.config/fish/completions/switchyard.fish",
    ],
    flags: [],
    operandChoices: ["bash", "zsh", "fish"],
    load: async () => (await import("./verbs/completion.ts")).completion,
  },
];
