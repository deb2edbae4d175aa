// SPDX-License-Identifier: Apache-2.0
/**
 * KernelEvents is the port for notifications of the kernel, which make polling unnecessary.
 */

/** A hint that something changed. The new state must be read by another port. */
export type KernelEvent =
  /**
   * An interface was added, removed or changed (rtnetlink). `parent` is as in Link. It is absent for virtual interfaces, which
   * containers add and remove.
   */
  | { readonly kind: "link"; readonly name: string; readonly parent?: { readonly bus: string; readonly name: string } }
  /** A PCI function or its driver changed (uevent): action "add", "remove", "bind", "unbind", "change". */
  | { readonly kind: "pci"; readonly action: string; readonly pciAddress: string }
  /** An RDMA device was added, removed or changed (uevent): action "add", "remove", "change"; `name` is "mlx5_0". */
  | { readonly kind: "rdma"; readonly action: string; readonly name: string }
  /** Events were lost (ENOBUFS): anything may have changed. */
  | { readonly kind: "overrun" };

export interface KernelEvents {
  /**
   * Returns the events from the moment of the call. The iterator ends without an error when `signal` aborts, and rejects with
   * HostError if the kernel ends the events. Throws HostError if the kernel does not deliver events.
   */
  watch(signal: AbortSignal): AsyncIterable<KernelEvent>;
}
