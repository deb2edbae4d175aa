// SPDX-License-Identifier: Apache-2.0
/**
 * reply, done and ack make messages of the kernel for tests with a fake kernel.
 * Usage: `createFakeKernel((request) => [Buffer.concat([reply(request, 16, payload), ack(request)])])`.
 */
import { constants } from "node:os";
import { text } from "../wire/attributes.ts";
import { encodeMessage, type Message } from "../wire/message.ts";

const types = { error: 2, done: 3 };
const flags = { capped: 0x100, attributes: 0x200 };

/** Returns a reply to a request. */
export function reply(request: Message, type: number, payload: Buffer): Buffer {
  return encodeMessage({ type, flags: 0, sequence: request.sequence }, payload);
}

/** Returns the end of a dump. `interrupted` means that its items changed during the dump. */
export function done(request: Message, how: { readonly interrupted?: boolean } = {}): Buffer {
  const interrupted = how.interrupted === true ? 0x10 : 0;
  return encodeMessage({ type: types.done, flags: interrupted, sequence: request.sequence }, Buffer.alloc(4));
}

/** Returns an ack, or an error with the kernel's message. */
export function ack(
  request: Message,
  refusal?: { readonly code: keyof typeof constants.errno; readonly words?: string },
): Buffer {
  const errno = Buffer.alloc(4);
  if (refusal !== undefined) errno.writeInt32LE(-constants.errno[refusal.code]);
  const echo = encodeMessage({ ...request, flags: 0 }, Buffer.alloc(0));
  const words = refusal?.words === undefined ? [] : [text(1, refusal.words)];
  return encodeMessage(
    { type: types.error, flags: flags.capped | (words.length > 0 ? flags.attributes : 0), sequence: request.sequence },
    Buffer.concat([errno, echo, ...words]),
  );
}
