// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { constants } from "node:os";
import { NetlinkSocket, type NetlinkRequest } from "./netlink-socket.ts";
import { ack, createFakeKernel, done, reply, type Respond } from "./testing/fake-kernel.ts";

const request: NetlinkRequest = { tried: "ask", type: 18, payload: Buffer.from("what") };
const dumpFlags = 0x305;

function open(respond: Respond, options: { readonly timeoutMs?: number } = {}) {
  const kernel = createFakeKernel(respond);
  return { kernel, socket: new NetlinkSocket({ protocol: 0, libc: kernel, ...options }) };
}

const answer = Buffer.from("that");
const payloads = (messages: readonly { readonly payload: Buffer }[]) =>
  messages.map(({ payload }) => payload.toString());

describe("request", () => {
  it("resolves with the replies before the ack, in one or in several datagrams", async () => {
    const together: Respond = (asked) => [Buffer.concat([reply(asked, 16, answer), ack(asked)])];
    const apart: Respond = (asked) => [reply(asked, 16, answer), ack(asked)];
    for (const respond of [together, apart]) {
      await using socket = open(respond).socket;
      expect(payloads(await socket.request(request))).toEqual(["that"]);
    }
  });

  it("rejects with the name of the errno and the kernel's message", async () => {
    await using socket = open((asked) => [
      ack(asked, { code: "EINVAL", words: "mtu greater than device maximum" }),
    ]).socket;
    await expect(socket.request(request)).rejects.toMatchObject({
      code: "EINVAL",
      words: "mtu greater than device maximum",
      message: "ask: EINVAL (mtu greater than device maximum)",
    });
  });

  it("sends the second request after the first is complete", async () => {
    const first = Promise.withResolvers<undefined>();
    let started = 0;
    const { kernel, socket } = open(async (asked) => {
      if (started++ === 0) await first.promise;
      return [ack(asked)];
    });
    const both = [socket.request(request), socket.request(request)];
    await new Promise(setImmediate);
    expect(kernel.requests).toHaveLength(1);
    first.resolve(undefined);
    await Promise.all(both);
    expect(kernel.requests.map(({ sequence }) => sequence)).toEqual([1, 2]);
    await socket[Symbol.asyncDispose]();
  });

  it("rejects with ETIMEDOUT at the deadline and does not send waiting requests later", async () => {
    const slow = Promise.withResolvers<undefined>();
    const { kernel, socket } = open(
      async (asked) => {
        await slow.promise;
        return [ack(asked)];
      },
      { timeoutMs: 5 },
    );
    const both = await Promise.allSettled([socket.request(request), socket.request(request)]);
    expect(both).toMatchObject([{ reason: { code: "ETIMEDOUT" } }, { reason: { code: "ETIMEDOUT" } }]);
    slow.resolve(undefined);
    await socket[Symbol.asyncDispose]();
    expect(kernel.requests).toHaveLength(1);
  });

  it("rejects after lost messages, and the next request starts with an empty socket", async () => {
    let lossy = true;
    const { socket } = open((asked) => {
      if (!lossy) return [reply(asked, 16, answer), ack(asked)];
      lossy = false;
      return [-constants.errno.ENOBUFS, reply(asked, 16, Buffer.from("late")), ack(asked)];
    });
    await expect(socket.request(request)).rejects.toMatchObject({ code: "ENOBUFS" });
    expect(payloads(await socket.request(request))).toEqual(["that"]);
    await socket[Symbol.asyncDispose]();
  });

  it("ignores replies to an earlier request", async () => {
    await using socket = open((asked) => [
      Buffer.concat([reply({ ...asked, sequence: 99 }, 16, Buffer.from("stale")), ack({ ...asked, sequence: 99 })]),
      ack(asked),
    ]).socket;
    await expect(socket.request(request)).resolves.toEqual([]);
  });

  it("rejects with malformed for a reply in the wrong format and recovers", async () => {
    const datagrams = [Buffer.from("nonsense"), undefined];
    await using socket = open((asked) => [datagrams.shift() ?? ack(asked)]).socket;
    await expect(socket.request(request)).rejects.toMatchObject({ code: "malformed" });
    await expect(socket.request(request)).resolves.toEqual([]);
  });

  it("rejects at once if there is no reply after sending", async () => {
    await using socket = open(() => []).socket;
    await expect(socket.request(request)).rejects.toMatchObject({ code: "EAGAIN" });
  });
});

describe("dump", () => {
  it("resolves with the items of all parts", async () => {
    await using socket = open((asked) => {
      expect(asked.flags).toBe(dumpFlags);
      return [reply(asked, 16, Buffer.from("one")), reply(asked, 16, Buffer.from("two")), done(asked)];
    }).socket;
    expect(payloads(await socket.dump(request))).toEqual(["one", "two"]);
  });

  it("repeats a dump that a change interrupted", async () => {
    const names = ["old", "new"];
    await using socket = open((asked) => {
      const name = names.shift() ?? "";
      return [reply(asked, 16, Buffer.from(name)), done(asked, { interrupted: name === "old" })];
    }).socket;
    expect(payloads(await socket.dump(request))).toEqual(["new"]);
  });

  it("rejects with EINTR if each dump is interrupted", async () => {
    const { kernel, socket } = open((asked) => [done(asked, { interrupted: true })]);
    await expect(socket.dump(request)).rejects.toMatchObject({ code: "EINTR" });
    expect(kernel.requests).toHaveLength(10);
    await socket[Symbol.asyncDispose]();
  });
});

describe("dispose", () => {
  it("waits for the running request, rejects waiting ones, and closes the descriptor", async () => {
    const slow = Promise.withResolvers<undefined>();
    const { kernel, socket } = open(async (asked) => {
      await slow.promise;
      return [ack(asked)];
    });
    const inHand = socket.request(request);
    const waiting = expect(socket.request(request)).rejects.toMatchObject({ code: "ECANCELED" });
    await new Promise(setImmediate);
    const disposed = socket[Symbol.asyncDispose]();
    const late = expect(socket.request(request)).rejects.toMatchObject({ code: "ECANCELED" });
    expect(kernel.countOpen()).toBe(1);
    slow.resolve(undefined);
    await expect(inHand).resolves.toEqual([]);
    await Promise.all([waiting, late, disposed]);
    expect(kernel.countOpen()).toBe(0);
  });

  it("closes once", async () => {
    const { kernel, socket } = open(() => []);
    await Promise.all([socket[Symbol.asyncDispose](), socket[Symbol.asyncDispose]()]);
    expect(kernel.countOpen()).toBe(0);
  });
});
