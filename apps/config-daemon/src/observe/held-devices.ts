// SPDX-License-Identifier: Apache-2.0
/**
 * heldDevices asks the kubelet which devices pods have, of all resources. gRPC, which costs memory on each node, is loaded with the
 * first call.
 */
import { join } from "node:path";
import type { ReadHeldDevices } from "./missing-interfaces.ts";

/** `hostRoot` contains var/lib/kubelet. The ids of VFs are their PCI addresses. */
export function heldDevices(hostRoot: string): ReadHeldDevices {
  const path = join(hostRoot, "var/lib/kubelet/pod-resources/kubelet.sock");
  return async (signal) => {
    const { readHeldIds } = await import("./read-kubelet-devices.ts");
    return readHeldIds(path, signal);
  };
}
