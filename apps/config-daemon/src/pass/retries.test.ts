// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError } from "@switchyard/kube";
import { createLogger } from "@switchyard/service";
import { silentLogger } from "@switchyard/service/testing";
import { Writable } from "node:stream";
import { createRetries } from "./retries.ts";

const accepted = (): Promise<void> => Promise.resolve();
const refused = (): Promise<void> => Promise.reject(new KubeError("PATCH x", "ConnectionLost"));

describe("createRetries", () => {
  it("names the kind of a bug once, and quotes an answer of the API server as it is", async () => {
    const messages: string[] = [];
    const retries = createRetries({ log: silentLogger, signal: new AbortController().signal });
    for (const error of [new TypeError("x is not a function"), new KubeError("PATCH x", "ConnectionLost")]) {
      await retries(
        () => Promise.reject(error),
        ({ message }) => Promise.resolve(void messages.push(message)),
      );
    }
    expect(messages).toEqual([
      "unexpected TypeError: x is not a function",
      new KubeError("PATCH x", "ConnectionLost").message,
    ]);
  });

  it("waits ever longer after failures, but not while they cannot be reported", async () => {
    const retries = createRetries({ log: silentLogger, signal: new AbortController().signal });
    const failing = () => Promise.reject(new Error("bug"));
    const pauses: number[] = [];
    for (const report of [...Array<typeof accepted>(8).fill(accepted), refused]) {
      pauses.push((await retries(failing, report)).afterMs);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 5_000]);
    expect(await retries(() => Promise.resolve("retry"), accepted)).toEqual({ afterMs: 60_000, hasFailed: false });
    expect((await retries(() => Promise.resolve("waiting"), accepted)).afterMs).toBeGreaterThan(60_000);
    expect(await retries(() => Promise.resolve("retry"), accepted)).toEqual({ afterMs: 1_000, hasFailed: false });
  });

  it("logs an answer of the API server once, until a pass succeeds", async () => {
    const lines: string[] = [];
    const { log } = createLogger({
      service: "test",
      level: "info",
      stream: new Writable({
        write(chunk: Buffer, _encoding, done) {
          lines.push(chunk.toString());
          done();
        },
      }),
    });
    const retries = createRetries({ log, signal: new AbortController().signal });
    const answer = new KubeError("PATCH x", "Invalid", { status: 422, words: "status.interfaces[0]: too long" });
    const refuse = () => Promise.reject(answer);
    const logged = () =>
      lines.splice(0).flatMap((line) => /(pass|status update) failed; retrying/.exec(line)?.[0] ?? []);
    for (let nth = 0; nth < 4; nth++) await retries(refuse, refuse);
    expect(logged()).toEqual(["pass failed; retrying", "status update failed; retrying"]);
    await retries(() => Promise.resolve("settled"), refuse);
    await retries(refuse, refuse);
    expect(logged()).toEqual(["pass failed; retrying", "status update failed; retrying"]);
  });
});
