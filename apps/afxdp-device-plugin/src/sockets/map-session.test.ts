// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { createMapSession, type MapSessionOptions, type SessionResult } from "./map-session.ts";

/** A session on the socket of ens1f0, of a program that has ens1f0 and ens1f1, with the answers to all of its requests. */
function start(options: Partial<MapSessionOptions> = {}) {
  const answers: string[] = [];
  const state: { result: SessionResult | undefined; closed: boolean } = { result: undefined, closed: false };
  const session = createMapSession(
    {
      send(message, fd) {
        if (!state.closed) answers.push(message.toString() + (fd === undefined ? "" : ` fd ${fd}`));
      },
      close() {
        if (state.closed) return;
        state.closed = true;
        session.closed();
      },
    },
    {
      device: "ens1f0",
      verify: (name) => Promise.resolve(name === "app" ? ["ens1f0", "ens1f1"] : undefined),
      openMap: (device) => {
        const fd = { ens1f0: 7, ens1f1: 8 }[device];
        if (fd === undefined) throw new Error(`no map of ${device}`);
        return { fd, [Symbol.dispose]: () => undefined };
      },
      setBusyPoll: (_fd, { packets }) => packets === 8,
      idleTimeoutMs: 0,
      ended: (result) => {
        state.result = result;
      },
      ...options,
    },
  );
  const ask = async (text: string | Buffer, { isTruncated = false, passed = [] as readonly number[] } = {}) => {
    session.message({ bytes: Buffer.from(text), isTruncated, passed });
    await Promise.resolve().then(() => undefined);
    await new Promise(setImmediate);
  };
  return { answers, state, ask, session };
}

describe("createMapSession", () => {
  it("serves the requests of DPDK's driver", async () => {
    const { answers, ask, state } = start();
    for (const request of ["/connect,app", "/version", "/xsk_map_fd,ens1f0", "/fin"]) await ask(request);
    expect({ answers, ...state }).toEqual({
      answers: ["/host_ok", "0.1", "/fd_ack fd 7", "/fin_ack"],
      result: "served",
      closed: true,
    });
  });

  it.each([
    { does: "another pod", request: "/connect,other", answer: "/host_nak" },
    { does: "a request before /connect", request: "/xsk_map_fd,ens1f0", answer: "/nak" },
    { does: "no pod", request: "/connect", answer: "/host_nak" },
    { does: "two pods", request: "/connect,app,app", answer: "/host_nak" },
    { does: "an empty message", request: "", answer: "/nak" },
  ])("refuses and closes: $does", async ({ request, answer }) => {
    const { answers, ask, state } = start();
    await ask(request);
    expect({ answers, ...state }).toEqual({ answers: [answer], result: "refused", closed: true });
  });

  it.each([
    { request: "/xsk_map_fd,ens1f1", answer: "/fd_ack fd 8" },
    { request: "/xsk_map_fd,net1", answer: "/fd_ack fd 7" },
    { request: "/xsk_map_fd,../x", answer: "/fd_ack fd 7" },
    { request: "/xsk_map_fd", answer: "/nak" },
    { request: "/hello", answer: "/nak" },
    { request: "/version,2", answer: "/nak" },
    { request: "/connect,app", answer: "/nak" },
    { request: "/version\0\0\0", answer: "0.1" },
    { request: "/config_busy_poll,20,8", answer: "/config_busy_poll_nak" },
  ])("answers $request of a verified pod with $answer and stays open", async ({ request, answer }) => {
    const { answers, ask, state } = start();
    await ask("/connect,app");
    await ask(request);
    expect({ answers, closed: state.closed }).toEqual({ answers: ["/host_ok", answer], closed: false });
  });

  it("answers /fd_nak without a map", async () => {
    const { answers, ask } = start({ device: "ens1f9" });
    await ask("/connect,app");
    await ask("/xsk_map_fd,ens1f9");
    expect(answers).toEqual(["/host_ok", "/fd_nak"]);
  });

  it("configures busy polling of the descriptor that comes with the request", async () => {
    const { answers, ask } = start();
    await ask("/connect,app");
    for (const words of ["20,8", "20,9", "20,70000", "-1,8", "20,8,1", "99999999,8"]) {
      await ask(`/config_busy_poll,${words}`, { passed: [5] });
    }
    expect(answers.slice(1).map((answer) => answer.slice("/config_busy_poll_".length))).toEqual([
      ...["ack", "nak", "nak", "nak", "nak", "nak"],
    ]);
  });

  it("says that it does not know while the kubelet does not answer", async () => {
    const { answers, ask, state } = start({ verify: () => Promise.reject(new Error("unavailable")) });
    await ask("/connect,app");
    expect({ answers, ...state }).toEqual({ answers: ["/error"], result: "failed", closed: true });
  });

  it("closes the connection of a program that does not wait for the verification", async () => {
    const { answers, ask, state } = start({ verify: () => new Promise(() => undefined) });
    await ask("/connect,app");
    await ask("/xsk_map_fd,ens1f0");
    expect({ answers, closed: state.closed }).toEqual({ answers: ["/nak"], closed: true });
  });

  it("closes a silent connection after the time of the pool", async () => {
    const { ask, state } = start({ idleTimeoutMs: 1 });
    await ask("/connect,app");
    while (!state.closed) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(state.result).toBe("served");
  });

  it("passes no map before the pod is verified, whatever is sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 5 }), async (messages) => {
        const { answers, ask } = start();
        for (const message of messages) await ask(Buffer.from(message));
        expect(answers.filter((answer) => answer.includes("fd"))).toEqual([]);
      }),
    );
  });
});
