// SPDX-License-Identifier: Apache-2.0
/**
 * NetworkAttachmentDefinition of the Network Plumbing Working Group, which Multus reads (cnis.md 5).
 */
import type { ObjectMeta, ResourceType } from "./metadata.ts";

/** API resource of NetworkAttachmentDefinitions. */
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
