// SPDX-License-Identifier: Apache-2.0
/**
 * readRoutingPolicy decides whether a pod's default route goes through eth0, the cluster network, or through a network
 * instance (eve-and-afxdp.md a2, a3). zedkube's marker file of the pod decides; on nodes without markers, the pod's
 * namespace does.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CniArgs } from "../request/cni-args.ts";
import { CniError, cniCode, errnoOf } from "../request/cni-error.ts";
import type { Settings } from "../request/settings.ts";

/** The routes of eth0. */
export type RoutingPolicy =
  /** The default route. */
  | "default-route"
  /** Routes to the cluster's services and to the node only. */
  | "cluster-only";

/**
 * The policy; undefined while zedkube has not written the pod's marker. Throws code 4 for invalid names, 7 for an
 * unknown marker.
 */
export function readRoutingPolicy(
  { markerDir }: Pick<Settings, "markerDir">,
  args: CniArgs,
): RoutingPolicy | undefined {
  if (!isDirectory(markerDir)) return isEveApp(args) ? "cluster-only" : "default-route";
  return policyOfMarker(readMarker(markerDir, args));
}

/** Whether the pod runs a virtual machine of KubeVirt, which configures its addresses itself. */
export function isVirtualMachine({ podName }: Pick<CniArgs, "podName">): boolean {
  return podName.startsWith("virt-launcher-");
}

/** Whether the pod belongs to an application. Pods that upload volumes run in the same namespace but do not. */
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
      const details = `${JSON.stringify(marker.slice(0, 80))}; expected "native", "controller" or "native-ni-default"`;
      throw new CniError(cniCode.invalidConfig, "unknown routing classification marker of the pod", { details });
    }
  }
}

function readMarker(markerDir: string, { podName, podNamespace }: CniArgs): string | undefined {
  for (const [name, value] of Object.entries({ K8S_POD_NAME: podName, K8S_POD_NAMESPACE: podNamespace })) {
    // The values become a file name, so only valid Kubernetes names are accepted.
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(value)) {
      throw new CniError(cniCode.invalidEnvironment, `CNI_ARGS: ${name} is not a valid Kubernetes name`, {
        details: value,
      });
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
