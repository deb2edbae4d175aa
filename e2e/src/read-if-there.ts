// SPDX-License-Identifier: Apache-2.0
/**
 * readIfThere reads an object of the API server.
 * Usage: `await readIfThere(user, objectPath(nodes, { name: "worker-1" }));`
 */
import { isKubeError, type Transport } from "@switchyard/kube";

/** Returns undefined if the object does not exist. Rejects with KubeError. */
export async function readIfThere(transport: Transport, path: string): Promise<unknown> {
  try {
    return await transport.request({ method: "GET", path });
  } catch (error) {
    if (isKubeError(error, "NotFound")) return undefined;
    throw error;
  }
}
