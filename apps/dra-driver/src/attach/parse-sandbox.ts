// SPDX-License-Identifier: Apache-2.0
/**
 * parseSandbox checks what a container runtime says about a pod sandbox, before it becomes the name of a file or an argument of a program.
 * Usage: `const sandbox = parseSandbox(pod); if (sandbox.ok) sandbox.value.networkNamespace;`
 */
import { err, ok, type Result } from "@switchyard/api";
import type { PodSandbox } from "@switchyard/nri";

/** A pod sandbox whose texts were checked. */
export interface Sandbox {
  readonly id: string;
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Path of the network namespace on the host; absent if the pod is in the network of the host. */
  readonly networkNamespace?: string;
}

const id = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const objectName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
/** Where containerd, CRI-O and the kernel have network namespaces. */
const namespacePath = /^\/(?:(?:var\/)?run\/netns\/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}|proc\/[1-9]\d{0,9}\/ns\/net)$/;

export function parseSandbox(pod: PodSandbox): Result<Sandbox, string> {
  const { name, uid, namespace, networkNamespace } = pod;
  if (!id.test(pod.id)) return err("the container runtime names a pod sandbox whose id is not one");
  if (![namespace, name].every((text) => objectName.test(text)) || !id.test(uid)) {
    return err(`pod sandbox ${pod.id} has a namespace, a name or a uid that is not one`);
  }
  if (networkNamespace === undefined) return ok({ id: pod.id, pod: { namespace, name, uid } });
  if (!namespacePath.test(networkNamespace)) {
    return err(`pod sandbox ${pod.id} has its network namespace at a path that is not known`);
  }
  // Below another root, the link /var/run would lead out of it.
  const path = networkNamespace.replace(/^\/var\/run\//, "/run/");
  return ok({ id: pod.id, pod: { namespace, name, uid }, networkNamespace: path });
}
