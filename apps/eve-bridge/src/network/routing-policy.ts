// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a pod's default route goes through eth0, the cluster's network, or through a network instance
 * (eve-and-afxdp.md a2, a3). Where zedkube writes markers, one file a pod, they decide; elsewhere the namespace does.
 * Usage: `const policy = readRoutingPolicy(settings, args)`.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CniArgs } from "../request/cni-args.ts";
import { CniError, cniCode, errnoOf } from "../request/cni-error.ts";
import type { Settings } from "../request/settings.ts";

/** What eth0 gets. */
export type RoutingPolicy =
  /** The default route. */
  | "default-route"
  /** Routes to the cluster's services and to the node, and nothing else. */
  | "cluster-only";

/** The policy, or undefined while zedkube has not written the pod's marker. Throws code 4 for names that are none. */
export function readRoutingPolicy(
  { markerDir }: Pick<Settings, "markerDir">,
  args: CniArgs,
): RoutingPolicy | undefined {
  if (!isDirectory(markerDir)) return isEveApp(args) ? "cluster-only" : "default-route";
  return policyOfMarker(readMarker(markerDir, args));
}

/** Virtual machines of KubeVirt take care of their addresses themselves. */
export function isVirtualMachine({ podName }: Pick<CniArgs, "podName">): boolean {
  return podName.startsWith("virt-launcher-");
}

/** Pods of applications; those that upload volumes for them live in the same namespace and are none. */
function isEveApp(args: CniArgs): boolean {
  const { podName, podNamespace } = args;
  const isUpload = !isVirtualMachine(args) && podName.startsWith("cdi-upload-") && podName.includes("-pvc-");
  return podNamespace === "eve-kube-app" && !isUpload;
}

function policyOfMarker(marker: string | undefined): RoutingPolicy | undefined {
  switch (marker) {
    case undefined:
    case "": // zedkube is writing it
      return undefined;
    case "native":
      return "default-route";
    case "controller":
    case "native-ni-default":
      return "cluster-only";
    default: {
      const details = JSON.stringify(marker.slice(0, 80));
      throw new CniError(cniCode.invalidConfig, "the pod's routing marker is none that we know", { details });
    }
  }
}

function readMarker(markerDir: string, { podName, podNamespace }: CniArgs): string | undefined {
  for (const [name, value] of Object.entries({ K8S_POD_NAME: podName, K8S_POD_NAMESPACE: podNamespace })) {
    // They become a file name: only what Kubernetes allows.
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(value)) {
      throw new CniError(cniCode.invalidEnvironment, `CNI_ARGS: ${name} is no name of Kubernetes`, { details: value });
    }
  }
  try {
    return readFileSync(join(markerDir, `${podNamespace}_${podName}`), "utf8").trim();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
