// SPDX-License-Identifier: Apache-2.0
/**
 * Port: what the kernel tells of changes, so that nobody has to poll.
 */

/** A hint that something changed; what it is now must be read. */
export type KernelEvent =
  /**
   * An interface appeared, vanished or changed (rtnetlink). `parent` as in Link: containers come and go with virtual
   * interfaces, which have none.
   */
  | { readonly kind: "link"; readonly name: string; readonly parent?: { readonly bus: string; readonly name: string } }
  /** A PCI function or its driver changed (uevent): action "add", "remove", "bind", "unbind", "change". */
  | { readonly kind: "pci"; readonly action: string; readonly pciAddress: string }
  /** An RDMA device came or went (uevent): action "add", "remove", "change"; `name` is "mlx5_0". */
  | { readonly kind: "rdma"; readonly action: string; readonly name: string }
  /** Events were lost (ENOBUFS): anything may have changed. */
  | { readonly kind: "overrun" };

export interface KernelEvents {
  /**
   * Events from the moment of the call until `signal` aborts, which ends them without an error. Throws HostError, as its
   * reader does, where the kernel gives no (more) events.
   */
  watch(signal: AbortSignal): AsyncIterable<KernelEvent>;
}
