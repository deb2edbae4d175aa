// SPDX-License-Identifier: Apache-2.0
/** The server and its clients use real sockets. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { loadSeqpacketSystem } from "./seqpacket-system.ts";
import { listenSeqpackets, type SeqpacketConnection, type SeqpacketServerOptions } from "./seqpacket-server.ts";

const system = loadSeqpacketSystem();

describe("listenSeqpackets", () => {
  let directory = "";
  let path = "";
  const clients: number[] = [];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "seqpacket-"));
    path = join(directory, "test.sock");
  });
  afterEach(() => {
    for (const fd of clients.splice(0)) system.close(fd);
    rmSync(directory, { recursive: true });
  });

  function connect(): number {
    const fd = system.connect(path);
    expect(fd).toBeGreaterThan(0);
    clients.push(fd);
    return fd;
  }

  async function receive(fd: number, passed: number[] = []): Promise<string> {
    const buffer = Buffer.alloc(256);
    for (;;) {
      const length = system.receive(fd, buffer, passed);
      if (length >= 0) return buffer.toString("utf8", 0, length);
      expect(length).toBe(-11);
      await delay(5);
    }
  }

  function listen(options: Partial<SeqpacketServerOptions> & Pick<SeqpacketServerOptions, "connected">) {
    return listenSeqpackets({ path, maxConnections: 4, messageBytes: 8, ...options });
  }

  const echo = (connection: SeqpacketConnection) => ({
    message({ bytes, isTruncated, passed }: { bytes: Buffer; isTruncated: boolean; passed: readonly number[] }) {
      const files = passed.map((fd) => {
        const text = Buffer.alloc(16);
        return text.toString("utf8", 0, readSync(fd, text, 0, text.length, 0));
      });
      connection.send(Buffer.from([bytes.toString(), isTruncated ? "truncated" : "", ...files].join(";")));
    },
    closed: () => undefined,
  });

  it("answers each message of several connections, and says when one was truncated", async () => {
    using _server = listen({ connected: echo });
    const [one, two] = [connect(), connect()];
    system.send(one, Buffer.from("1"));
    system.send(two, Buffer.from("2"));
    system.send(one, Buffer.from("123456789"));
    expect([await receive(one), await receive(two), await receive(one)]).toEqual(["1;", "2;", "12345678;truncated"]);
  });

  it("gets descriptors with a message, which are closed after it", async () => {
    writeFileSync(join(directory, "file"), "text");
    const fd = openSync(join(directory, "file"), "r");
    let got: readonly number[] = [];
    using _server = listen({
      connected: (connection) => ({
        ...echo(connection),
        message(message) {
          got = message.passed;
          echo(connection).message(message);
        },
      }),
    });
    const client = connect();
    system.send(client, Buffer.from("x"), fd);
    expect(await receive(client)).toBe("x;;text");
    for (const one of got) expect(() => fstatSync(one)).toThrow(expect.objectContaining({ code: "EBADF" }));
    closeSync(fd);
  });

  it("passes a descriptor to the client", async () => {
    writeFileSync(join(directory, "file"), "text");
    const fd = openSync(join(directory, "file"), "r");
    using _server = listen({
      connected: (connection) => ({
        message: () => {
          connection.send(Buffer.from("/fd_ack"), fd);
        },
        closed: () => undefined,
      }),
    });
    const client = connect();
    system.send(client, Buffer.from("x"));
    const passed: number[] = [];
    expect(await receive(client, passed)).toBe("/fd_ack");
    expect(passed).toHaveLength(1);
    const [got = -1] = passed;
    expect(fstatSync(got).ino).toBe(fstatSync(fd).ino);
    closeSync(got);
    closeSync(fd);
  });

  it("closes connections beyond the limit, and takes new ones when others have ended", async () => {
    let [refused, closed] = [0, 0];
    using _server = listen({
      maxConnections: 1,
      refused: () => refused++,
      connected: (connection) => ({ ...echo(connection), closed: () => closed++ }),
    });
    const first = connect();
    expect(await receive(connect())).toBe(""); // the end
    expect({ refused, closed }).toEqual({ refused: 1, closed: 0 });
    system.close(first);
    clients.splice(clients.indexOf(first), 1);
    while (closed === 0) await delay(5);
    const third = connect();
    system.send(third, Buffer.from("3"));
    expect(await receive(third)).toBe("3;");
  });

  it("closes a connection whose client does not read its answers", async () => {
    let closed = 0;
    using _server = listen({ connected: (connection) => ({ ...echo(connection), closed: () => closed++ }) });
    const client = connect();
    while (closed === 0) {
      for (let count = 0; count < 100; count++) system.send(client, Buffer.from("x"));
      await delay(5);
    }
  });

  it("replaces the socket of a process that was killed, and removes its own", async () => {
    writeFileSync(path, "");
    const server = listen({ connected: echo });
    const client = connect();
    system.send(client, Buffer.from("1"));
    expect(await receive(client)).toBe("1;");
    server[Symbol.dispose]();
    server[Symbol.dispose]();
    expect(await receive(client)).toBe("");
    expect(existsSync(path)).toBe(false);
    expect(system.connect(path)).toBe(-2);
  });

  it("refuses a path that is too long for a socket", () => {
    path = join(directory, "x".repeat(120));
    expect(() => listen({ connected: echo })).toThrow(expect.objectContaining({ code: "EINVAL" }));
  });
});
