// SPDX-License-Identifier: Apache-2.0
/** refOf, resourceOf and placesOf name objects in findings and in commands for kubectl. */
import { customResources } from "@switchyard/api";
import type { Manifest } from "../input/manifest.ts";
import type { ObjectRef } from "./finding.ts";
import type { Snapshot } from "./snapshot.ts";

/** The reference to an object of the input. */
export function refOf({ kind, namespace, name }: Pick<Manifest, "kind" | "namespace" | "name">): ObjectRef {
  return namespace === undefined || namespace === "" ? { kind, name } : { kind, namespace, name };
}

/** The name of a kind for kubectl: "sriovnetworknodepolicy". */
export function resourceOf(kind: string): string {
  const own = customResources.find((type) => type.kind === kind);
  return own === undefined ? kind.toLowerCase() : own.kind.toLowerCase();
}

/** Values of placeholders: the operator's namespace, and the pod of the config daemon on a node if it is known. */
export function placesOf(node: string, { namespace, pods }: Snapshot): Readonly<Record<string, string>> {
  const daemon = pods.find((pod) => {
    return pod.namespace === namespace && pod.node === node && pod.labels["app"] === "sriov-network-config-daemon";
  });
  return { operatorNamespace: namespace, daemonPod: daemon?.name ?? "" };
}
