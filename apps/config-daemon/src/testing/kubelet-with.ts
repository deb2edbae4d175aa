// SPDX-License-Identifier: Apache-2.0
/**
 * kubeletWith plays the kubelet for the daemon: which AF_XDP devices pods have, and which it offers. They can be changed.
 */
import { err, ok } from "@switchyard/api";
import type { ReadKubeletDevices } from "../kubelet/kubelet.ts";

export interface KubeletWith {
  held: readonly string[];
  offered: readonly string[];
  heldPools: readonly string[];
  /** Why it does not answer. */
  error: string | undefined;
  readonly read: ReadKubeletDevices;
}

export function kubeletWith({ held = [], offered = [] }: Partial<Pick<KubeletWith, "held" | "offered">> = {}) {
  const kubelet: KubeletWith = {
    held,
    offered,
    heldPools: [],
    error: undefined,
    read() {
      const { error } = kubelet;
      const heldPools = new Set(kubelet.heldPools);
      const devices = { held: new Set(kubelet.held), offered: new Set(kubelet.offered), heldPools };
      return Promise.resolve(error === undefined ? ok(devices) : err(error));
    },
  };
  return kubelet;
}
