// SPDX-License-Identifier: Apache-2.0
/**
 * Clients without credentials try to stop the review server: a process of its own, on loopback. Meanwhile it answers a review on a
 * new connection within two seconds, and its memory is bounded.
 */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { isRecord } from "@switchyard/kube";
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import tls from "node:tls";
import { paths } from "./server/review-server.ts";
import { send, type Answer } from "./testing/review-client.ts";
import { createPolicy, responseOf } from "./testing/reviews.ts";

/** Loopback addresses of the clients that flood, and of the API server. */
const flooding = "127.0.0.2";
const apiServer = "127.0.0.1";
const mostMs = 2_000;
const mebibyte = 1024 * 1024;

let child: ChildProcess;
let target: { readonly port: number; readonly ca: string };
const sockets: net.Socket[] = [];

beforeEach(async () => {
  const script = join(import.meta.dirname, "testing/flooded-server.ts");
  child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("no output");
  const output: readonly unknown[] = await once(child.stdout, "data");
  const started: unknown = JSON.parse(String(output[0]));
  if (!isRecord(started)) throw new Error("no address");
  target = { port: Number(started["port"]), ca: String(started["ca"]) };
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
});

/** A connection that ignores its end, as a client that floods does. */
function keep<S extends net.Socket>(socket: S): S {
  sockets.push(socket);
  return socket.on("error", () => undefined);
}

async function connectTls(localAddress: string): Promise<tls.TLSSocket> {
  const { port, ca } = target;
  const tcp = keep(net.connect({ host: apiServer, port, localAddress }));
  const socket = keep(tls.connect({ socket: tcp, ca, servername: "localhost" }));
  await Promise.race([once(socket, "secureConnect"), once(socket, "close")]);
  return socket;
}

/** Sends a review on a new connection, as the API server does that has no connection yet. */
async function reviewAsApiServer(
  localAddress = apiServer,
): Promise<{ readonly answer: Answer; readonly tookMs: number }> {
  const startedMs = performance.now();
  const headers = { "content-type": "application/json" };
  const options = { host: apiServer, ...target, localAddress, agent: false, headers, method: "POST" } as const;
  const answer = await send({ ...options, path: paths.validate }, JSON.stringify(createPolicy("p1")));
  return { answer, tookMs: performance.now() - startedMs };
}

async function expectPromptAnswer(localAddress?: string): Promise<void> {
  const { answer, tookMs } = await reviewAsApiServer(localAddress);
  expect(responseOf(answer).allowed).toBe(true);
  expect(tookMs).toBeLessThan(mostMs);
}

/** Resident memory of the server's process. */
function residentMiB(): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

const head = (bytes: number) =>
  `POST ${paths.validate} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;

describe("a flood of the review server", () => {
  it.each([
    { from: "another address", localAddress: apiServer },
    { from: "the address of the flood", localAddress: flooding },
  ])("by connections without a request leaves a connection for a review from $from", async ({ localAddress }) => {
    for (let round = 0; round < 4; round++) {
      const opened = Array.from({ length: 100 }, () =>
        keep(net.connect({ host: apiServer, port: target.port, localAddress: flooding })),
      );
      await Promise.all(opened.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])));
      await expectPromptAnswer(localAddress);
    }
  });

  it("by bodies that do not end is bounded in memory, and no review is refused", async () => {
    await expectPromptAnswer();
    const before = residentMiB();
    const bytes = 3 * mebibyte;
    const part = Buffer.alloc(bytes - 10, "x");
    for (let round = 0; round < 10; round++) {
      const opened = await Promise.all(Array.from({ length: 8 }, () => connectTls(flooding)));
      const written = opened.map(
        (socket) =>
          new Promise((resolve) => {
            socket.once("close", resolve);
            socket.write(head(bytes));
            socket.write(part, resolve);
          }),
      );
      await Promise.all(written);
      await expectPromptAnswer();
    }
    expect(residentMiB() - before).toBeLessThan(150); // 240 MiB were sent
  });

  it("by reviews that take long delays a review of another client by few of them", async () => {
    const body = JSON.stringify(createPolicy("p2", { nicSelector: { vendor: "8086" } }));
    const request = head(Buffer.byteLength(body)) + body;
    const opened = await Promise.all(Array.from({ length: 60 }, () => connectTls(flooding)));
    let answered = 0;
    for (const socket of opened) {
      socket.on("data", (data: Buffer) => {
        if (!data.includes("HTTP/1.1 ")) return;
        answered++;
        socket.write(request); // the next one at once
      });
      socket.write(request);
    }
    for (let review = 0; review < 3; review++) await expectPromptAnswer();
    expect(answered).toBeGreaterThan(0);
  });

  it("by requests that do not end is ended within seconds", async () => {
    const closed = async (text: string) => {
      const socket = await connectTls(flooding);
      const startedMs = performance.now();
      socket.write(text);
      socket.resume();
      await once(socket, "close");
      return performance.now() - startedMs;
    };
    const [ofHead, ofBody] = await Promise.all([closed("POST / HTTP/1.1\r\nhost:"), closed(head(1000))]);
    expect(ofHead).toBeLessThan(10_000);
    expect(ofBody).toBeLessThan(20_000);
  });
});
