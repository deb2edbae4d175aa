// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Libc } from "./libc.ts";
import { sendSeqpackets } from "./seqpacket.ts";

const eagain = -11;

/** A server that accepts a connection at the attempt `acceptsAt`, reads all messages and closes the connection. */
function server({ acceptsAt }: { readonly acceptsAt: number }) {
  const sent: string[] = [];
  let attempts = 0;
  let open = 0;
  const libc: Partial<Libc> = {
    connectSeqpacket() {
      if (++attempts < acceptsAt) return eagain;
      open++;
      return 7;
    },
    send(_fd, message) {
      sent.push(message.toString());
      return Promise.resolve(message.length);
    },
    recvfrom: () => 0,
    watchReadable(_fd, onReadable) {
      const timer = setImmediate(onReadable);
      return () => {
        clearImmediate(timer);
      };
    },
    close() {
      open--;
      return 0;
    },
  };
  return { libc: libc as Libc, sent, open: () => open };
}

describe("sendSeqpackets", () => {
  it("waits for a server that is busy with an earlier connection", async () => {
    const { libc, sent, open } = server({ acceptsAt: 3 });
    await sendSeqpackets("/run/test", [Buffer.from("a"), Buffer.from("b")], { timeoutMs: 10_000, libc });
    expect({ sent, open: open() }).toEqual({ sent: ["a", "b"], open: 0 });
  });

  it("gives up if the server accepts no connection in time", async () => {
    const { libc } = server({ acceptsAt: Infinity });
    await expect(sendSeqpackets("/run/test", [], { timeoutMs: 60, libc })).rejects.toMatchObject({ code: "ETIMEDOUT" });
  });
});
