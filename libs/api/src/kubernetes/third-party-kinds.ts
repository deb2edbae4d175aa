// SPDX-License-Identifier: Apache-2.0
/**
 * Kinds of bpfman, which loads BPF programs, restricted to the fields that are used (eve-and-afxdp.md b5). bpfman 0.6 has
 * ClusterBpfApplication; 0.5 and earlier have XdpProgram, whose fields are all in lower case.
 */
import type { ObjectMeta, ResourceType } from "./metadata.ts";

const bpfman = { group: "bpfman.io", version: "v1alpha1", namespaced: false } as const;

/** API resource of ClusterBpfApplications. */
export const clusterBpfApplications = {
  ...bpfman,
  kind: "ClusterBpfApplication",
  plural: "clusterbpfapplications",
} as const satisfies ResourceType;

/** API resource of ClusterBpfApplicationStates: the state of an application on one node. */
export const clusterBpfApplicationStates = {
  ...bpfman,
  kind: "ClusterBpfApplicationState",
  plural: "clusterbpfapplicationstates",
} as const satisfies ResourceType;

/** API resource of XdpPrograms. */
export const xdpPrograms = { ...bpfman, kind: "XdpProgram", plural: "xdpprograms" } as const satisfies ResourceType;

/** API resource of BpfPrograms: the state of an XdpProgram on one node and interface. */
export const bpfPrograms = { ...bpfman, kind: "BpfProgram", plural: "bpfprograms" } as const satisfies ResourceType;

/** Group and version of the kinds of bpfman. */
export const bpfmanApiVersion = "bpfman.io/v1alpha1";

/** bpfman.io/v1alpha1 ClusterBpfApplication with one XDP program. */
export interface ClusterBpfApplication {
  readonly apiVersion: typeof bpfmanApiVersion;
  readonly kind: "ClusterBpfApplication";
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly nodeSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly byteCode: {
      readonly path?: string;
      readonly image?: {
        readonly url: string;
        readonly imagePullPolicy: string;
        readonly imagePullSecret?: { readonly name: string; readonly namespace: string };
      };
    };
    readonly programs: readonly {
      readonly name: string;
      readonly type: "XDP";
      readonly xdp: {
        readonly links: readonly {
          readonly interfaceSelector: { readonly interfaces: readonly string[] };
          readonly priority: number;
          readonly proceedOn: readonly string[];
        }[];
      };
    }[];
  };
}

/** bpfman.io/v1alpha1 XdpProgram. */
export interface XdpProgram {
  readonly apiVersion: typeof bpfmanApiVersion;
  readonly kind: "XdpProgram";
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly bpffunctionname: string;
    readonly nodeselector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly bytecode: {
      readonly path?: string;
      readonly image?: {
        readonly url: string;
        readonly imagepullpolicy: string;
        readonly imagepullsecret?: { readonly name: string; readonly namespace: string };
      };
    };
    readonly interfaceselector: { readonly interfaces: readonly string[] };
    readonly priority: number;
    readonly proceedon: readonly string[];
  };
}

/**
 * NetworkAttachmentDefinition of the Network Plumbing Working Group, which Multus reads (cnis.md 5).
 * API resource of NetworkAttachmentDefinitions.
 */
export const networkAttachmentDefinitions = {
  group: "k8s.cni.cncf.io",
  version: "v1",
  kind: "NetworkAttachmentDefinition",
  plural: "network-attachment-definitions",
  namespaced: true,
} as const satisfies ResourceType;

/** k8s.cni.cncf.io/v1 NetworkAttachmentDefinition. */
export interface NetworkAttachmentDefinition {
  readonly apiVersion: "k8s.cni.cncf.io/v1";
  readonly kind: "NetworkAttachmentDefinition";
  readonly metadata: ObjectMeta;
  readonly spec: {
    /** CNI configuration or configuration list, as JSON. */
    readonly config: string;
  };
}
