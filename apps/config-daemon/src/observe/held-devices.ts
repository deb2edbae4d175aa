// SPDX-License-Identifier: Apache-2.0
/**
 * heldDevices asks the kubelet which devices pods have, of all resources. gRPC, which costs memory on each node, is loaded with the
 * first call.
 * Usage: `const readHeld = heldDevices("/host"); const held = await readHeld(signal);`
 */
import { err, ok } from "@switchyard/api";
import { join } from "node:path";
import type { ReadHeldDevices } from "./missing-interfaces.ts";

/** `hostRoot` contains var/lib/kubelet. The ids of VFs are their PCI addresses. */
export function heldDevices(hostRoot: string): ReadHeldDevices {
  const path = join(hostRoot, "var/lib/kubelet/pod-resources/kubelet.sock");
  return async (signal) => {
    const { kubeletError, readDeviceHolders } = await import("@switchyard/kubelet");
    try {
      return ok(new Set((await readDeviceHolders({ path, signal })).keys()));
    } catch (error) {
      return err(kubeletError(error));
    }
  };
}
