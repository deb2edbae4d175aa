// SPDX-License-Identifier: Apache-2.0
/**
 * readOffered asks the kubelet which devices it can give to pods, and readHeldPools of which pools pods have devices. This is the only evidence that the plugin has registered: it also
 * keeps running if it has not. The kubelet answers on a socket, so no rights in the cluster are needed.
 * Usage: `const offered = await readOffered("/var/lib/kubelet/pod-resources/kubelet.sock", signal);`
 */
import { afxdpResourcePrefix, type Result } from "@switchyard/api";
import { allocatableResourcesMethod, callGrpc, listPodResourcesMethod } from "@switchyard/kubelet";
import type { OfferedDevices } from "./pool-rows.ts";

const timeoutMs = 10_000;
const maxWords = 200;

/** The devices of AF_XDP pools, or why the kubelet does not answer. */
export async function readOffered(path: string, signal: AbortSignal): Promise<Result<OfferedDevices, string>> {
  try {
    const resources = await callGrpc(allocatableResourcesMethod, {}, { path, timeoutMs, signal });
    const offered = new Map<string, Set<string>>();
    for (const { resourceName, ids } of resources) {
      if (!resourceName.startsWith(`${afxdpResourcePrefix}/`)) continue;
      const known = offered.get(resourceName) ?? new Set();
      for (const id of ids) known.add(id);
      offered.set(resourceName, known);
    }
    return { ok: true, value: offered };
  } catch (error) {
    if (signal.aborted) throw error;
    return { ok: false, error: (error instanceof Error ? error.message : String(error)).slice(0, maxWords) };
  }
}

/** Rejects with a ServiceError of gRPC. */
export async function readHeldPools(path: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const pods = await callGrpc(listPodResourcesMethod, {}, { path, timeoutMs, signal });
  const devices = pods.flatMap(({ containers }) => containers.flatMap((container) => container.devices));
  const prefix = `${afxdpResourcePrefix}/`;
  return new Set(
    devices
      .filter(({ resourceName }) => resourceName.startsWith(prefix))
      .map(({ resourceName }) => resourceName.slice(prefix.length)),
  );
}
