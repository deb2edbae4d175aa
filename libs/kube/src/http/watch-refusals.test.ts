// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { FakeClock } from "../testing/fake-clock.ts";
import { KubeError } from "./kube-error.ts";
import type { Transport, WatchEvent } from "./transport.ts";
import { watchRefusals } from "./watch-refusals.ts";

const path = "/api/v1/nodes";
const expired = Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" });
const answers = {
  "an invalid token": new KubeError("GET x", "Unauthorized", { status: 401 }),
  "missing rights": new KubeError("GET x", "Forbidden", { status: 403 }),
  "an expired certificate": new KubeError("GET x", "ConnectionLost", { cause: expired }),
  "no connection": new KubeError("GET x", "ConnectionLost", { cause: new Error("refused") }),
  "no object": new KubeError("GET x", "NotFound", { status: 404 }),
};
type Answer = keyof typeof answers;

/** A transport whose next answer a test sets. */
function setUp() {
  const clock = new FakeClock();
  const server: { answer: Answer | undefined } = { answer: undefined };
  async function* events(): AsyncGenerator<WatchEvent> {
    yield await Promise.resolve({ type: "BOOKMARK" as const, resourceVersion: "7" });
  }
  const plain: Transport = {
    namespace: "ns",
    serverHost: "api.test",
    request: () => (server.answer === undefined ? Promise.resolve({}) : Promise.reject(answers[server.answer])),
    watch: events,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const { transport, problems } = watchRefusals(plain, clock);
  return {
    problems,
    transport,
    async ask(answer: Answer | undefined, times = 3, everyMs = 10_000) {
      server.answer = answer;
      for (let nth = 1; nth <= times; nth++) {
        await transport.request({ method: "GET", path }).catch(() => undefined);
        if (nth < times) await clock.advance(everyMs);
      }
    },
  };
}

describe("watchRefusals", () => {
  it.each<{ answer: Answer; is: boolean }>([
    { answer: "an invalid token", is: true },
    { answer: "missing rights", is: true },
    { answer: "an expired certificate", is: true },
    { answer: "no connection", is: false },
    { answer: "no object", is: false },
  ])("reports $answer after 20 seconds: $is", async ({ answer, is }) => {
    const { ask, problems } = setUp();
    await ask(answer, 3, 9_000);
    expect(problems()).toEqual([]);
    await ask(answer, 2, 2_000);
    const text = `the API server has refused each request for 20 s: ${answers[answer].message}`;
    expect(problems()).toEqual(is ? [text] : []);
  });

  it("reports nothing while some requests succeed, and nothing more after the first success", async () => {
    const { ask, problems, transport } = setUp();
    for (const answer of ["missing rights", undefined, "missing rights"] as const) await ask(answer, 1);
    expect(problems()).toEqual([]);
    await ask("missing rights", 4);
    expect(problems()).toHaveLength(1);
    await ask(undefined, 1);
    expect(problems()).toEqual([]);
    await ask("missing rights", 4);
    for await (const _event of transport.watch({ path })) expect(problems()).toEqual([]);
  });
});
