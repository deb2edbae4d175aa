// SPDX-License-Identifier: Apache-2.0
/** askKernel converts errors of netlink to HostError. */
import { NetlinkError, resolveFamily, type GenericFamily, type NetlinkSocket } from "@switchyard/netlink";
import { HostError, type HostOperation } from "../../calls/host-error.ts";

/** Returns the answer, or rejects with HostError. Rejects with any other error of `ask` unchanged. */
export async function askKernel<Answer>(at: HostOperation, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof NetlinkError ? refusal(at, error) : error;
  }
}

export function refusal(at: HostOperation, error: NetlinkError): HostError {
  const code = error.code === "malformed" ? "EBADMSG" : error.code;
  return new HostError(at, code, { words: error.words, cause: error });
}

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
