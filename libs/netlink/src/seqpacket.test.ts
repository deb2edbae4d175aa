// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadLibc, type Libc } from "./libc.ts";
import { sendSeqpackets } from "./seqpacket.ts";
import { openSeqpacketServer, type SeqpacketMessage } from "./testing/seqpacket-server.ts";

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
    setsockopt: () => 0,
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

  // udevd discards messages without the ids of a sender whom it trusts, and closes the connection as if it had handled them.
  it("sends the ids of this process with each message, also before the server asks for them", async () => {
    const directory = await mkdtemp(join(tmpdir(), "seqpacket-"));
    try {
      const path = join(directory, "control");
      using server = openSeqpacketServer(path);
      const received: SeqpacketMessage[] = [];
      const real = loadLibc();
      let accepted = -1;
      const libc: Libc = {
        ...real,
        connectSeqpacket(at) {
          const fd = real.connectSeqpacket(at);
          accepted = server.accept();
          return fd;
        },
        async send(fd, message) {
          const sent = await real.send(fd, message);
          server.askForIds(accepted);
          received.push(server.receive(accepted));
          if (received.length === 2) server.close(accepted);
          return sent;
        },
      };
      await sendSeqpackets(path, [Buffer.from("reload"), Buffer.from("end")], { timeoutMs: 60_000, libc });
      const uid = process.getuid?.();
      expect(received).toEqual([
        { text: "reload", uid },
        { text: "end", uid },
      ]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
