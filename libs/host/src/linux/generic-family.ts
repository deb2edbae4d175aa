// SPDX-License-Identifier: Apache-2.0
import { resolveFamily, type GenericFamily, type NetlinkSocket } from "@switchyard/netlink";

/**
 * Returns a function that resolves a family of generic netlink once: its id does not change until the next boot. A failure is
 * not kept. The function resolves with undefined if the kernel does not have the family.
 */
export function createFamilyResolver(socket: NetlinkSocket, name: string): () => Promise<GenericFamily | undefined> {
  let family: Promise<GenericFamily | undefined> | undefined;
  return async () => {
    family ??= resolveFamily(socket, name);
    try {
      return await family;
    } catch (error) {
      family = undefined;
      throw error;
    }
  };
}
