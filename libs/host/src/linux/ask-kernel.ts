// SPDX-License-Identifier: Apache-2.0
/**
 * Netlink's refusals as the errors of this lib.
 * Usage: `await askKernel(attempts.links.setMtu(name, mtu), () => setLinkMtu(socket, name, mtu))`.
 */
import { NetlinkError } from "@switchyard/netlink";
import { HostError } from "../calls/host-error.ts";

/** The answer, or a rejection with HostError; a bug stays what it is. */
export async function askKernel<Answer>(at: HostError["at"], ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof NetlinkError ? refusal(at, error) : error;
  }
}

export function refusal(at: HostError["at"], error: NetlinkError): HostError {
  const code = error.code === "malformed" ? "EBADMSG" : error.code;
  return new HostError(at, code, { words: error.words, cause: error });
}
