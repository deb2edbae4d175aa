// SPDX-License-Identifier: Apache-2.0
/**
 * parsePodNetworks reads which networks a pod asks Multus for: the annotation of the multi-network specification of the Network Plumbing
 * Working Group (v1.3, "Network Attachment Selection Annotation"), in its short form or as JSON.
 * Usage: `parsePodNetworks("nets/fast@net1, slow", "apps")`.
 */
import { parseLimitedJson } from "@switchyard/api";
import { textAt } from "./json-parts.ts";

export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";

/** A NetworkAttachmentDefinition that a pod names. */
export interface PodNetwork {
  readonly namespace: string;
  readonly name: string;
  /** Whether the annotation names the namespace. */
  readonly isQualified: boolean;
}

/** Returns undefined if the text is neither a list of names nor JSON. */
export function parsePodNetworks(text: string, podNamespace: string): readonly PodNetwork[] | undefined {
  if (text.trim() === "") return [];
  if (text.trim().startsWith("[")) {
    const list = parseJson(text);
    if (!Array.isArray(list)) return undefined;
    const networks = list.flatMap((entry): readonly PodNetwork[] => {
      const [name, namespace] = [textAt(entry, "name"), textAt(entry, "namespace")];
      return name ? [{ name, namespace: namespace ?? podNamespace, isQualified: namespace !== undefined }] : [];
    });
    return networks.length === list.length ? networks : undefined;
  }
  const networks = text.split(",").flatMap((entry): readonly PodNetwork[] => {
    const [, namespace, name = ""] = /^\s*(?:([a-z0-9.-]+)\/)?([a-z0-9.-]+)(?:@\S+)?\s*$/.exec(entry) ?? [];
    return name === "" ? [] : [{ name, namespace: namespace ?? podNamespace, isQualified: namespace !== undefined }];
  });
  return networks.length === text.split(",").length ? networks : undefined;
}

function parseJson(text: string): unknown {
  try {
    return parseLimitedJson(text);
  } catch {
    return undefined;
  }
}
