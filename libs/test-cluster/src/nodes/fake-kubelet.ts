// SPDX-License-Identifier: Apache-2.0
/**
 * simulateKubelets acts as the kubelets of nodes that exist only as API objects: it sets bound pods to Running and removes pods
 * that are being deleted.
 * Usage: `await using _kubelets = simulateKubelets(transport, ({ node, text }) => narrator.line(node, text));`
 */
import { pods } from "@switchyard/api";
import { collectionPath, watchObjects, type KubeObject, type Transport } from "@switchyard/kube";
import { createPodWriter } from "./pods-on-node.ts";

/** The fields of a pod in use. */
interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string; readonly containers?: readonly { readonly name?: string }[] };
  readonly status?: { readonly phase?: string };
}

/** A pod that has started or ended, as a sentence. */
export interface PodChange {
  readonly node: string;
  readonly text: string;
}

export interface KubeletOptions {
  /** Pods on these nodes have another kubelet. */
  readonly except?: readonly string[];
  /** Resolves when the containers of a pod on this node have ended. By default, they end at once. */
  readonly beforeEnd?: (node: string) => Promise<unknown>;
}

/** Runs until the result is disposed. Calls `tell` for each pod that runs or is gone. */
export function simulateKubelets(
  transport: Transport,
  tell: (change: PodChange) => void,
  { except = [], beforeEnd }: KubeletOptions = {},
): AsyncDisposable {
  const cache = watchObjects({ transport, type: pods, report: () => undefined, project: (pod: Pod) => pod });
  const writer = createPodWriter(transport);
  const ended = new Set<string | undefined>();
  cache.subscribe(({ after: pod }) => {
    const node = pod?.spec?.nodeName;
    if (pod === undefined || node === undefined || except.includes(node) || ended.has(pod.metadata.uid)) return;
    void act(pod, node);
  });
  return cache;

  async function act(pod: Pod, node: string): Promise<void> {
    const { name, uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      ended.add(uid);
      await beforeEnd?.(node);
      await writer.remove(pod);
      tell({ node, text: removedText(name) });
    } else if (pod.status?.phase !== "Running") {
      await writer.start(pod);
      tell({ node, text: startedText(name) });
    }
  }
}

/** Creates a pod on a node that uses `resource` ("openshift.io/fast"). */
export async function startPod(transport: Transport, name: string, nodeName: string, resource: string): Promise<void> {
  const resources = { requests: { [resource]: "1" }, limits: { [resource]: "1" } };
  const containers = [{ name: "app", image: "registry.example/app:1", resources }];
  const metadata = { name, namespace: "default", labels: { app: "demo" } };
  const spec = { nodeName, containers, terminationGracePeriodSeconds: 1 };
  const body = { apiVersion: "v1", kind: "Pod", metadata, spec };
  await transport.request({ method: "POST", path: collectionPath(pods, "default"), body });
}

/** `vf` is the PCI address of the VF that the pod has got. */
export function startedText(pod: string, vf?: string): string {
  return `the kubelet has started pod ${pod}${vf === undefined ? "" : ` with VF ${vf}`}`;
}

export function removedText(pod: string): string {
  return `the kubelet has removed pod ${pod}`;
}
