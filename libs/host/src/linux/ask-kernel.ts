// SPDX-License-Identifier: Apache-2.0
/**
 * askKernel converts errors of netlink to HostError.
 * Usage: `await askKernel(operations.links.setMtu(name, mtu), () => setLinkMtu(socket, name, mtu))`.
 */
import { NetlinkError } from "@switchyard/netlink";
import { HostError, type HostOperation } from "../calls/host-error.ts";

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
