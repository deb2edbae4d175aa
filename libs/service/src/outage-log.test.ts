// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createOutageLog } from "./outage-log.ts";

/** An error with the fields of KubeError. */
function lost(tried: string, words = "connect ECONNREFUSED 192.0.2.1:6443"): Error {
  return Object.assign(new Error(`${tried}: ConnectionLost (${words})`), { name: "KubeError", tried });
}

function setUp() {
  const world = { nowMs: 0, lines: [] as unknown[] };
  const warn = (fields: unknown, message?: unknown) => void world.lines.push({ ...Object(fields), message });
  const failed = createOutageLog({ warn }, () => world.nowMs);
  return { world, failed };
}

describe("createOutageLog", () => {
  it("writes one line for an outage in which 45 watches fail for nine minutes", () => {
    const { world, failed } = setUp();
    for (; world.nowMs < 9 * 60_000; world.nowMs += 15_000) {
      for (let nth = 0; nth < 45; nth++)
        failed({ resource: `kind${nth}`, error: lost(`watch kind${nth}`) }, "watch failed");
    }
    expect(world.lines).toMatchObject([{ resource: "kind0", message: "watch failed" }]);
  });

  it("writes a line for each cause and for each message", () => {
    const { world, failed } = setUp();
    failed({ error: lost("watch a") }, "watch failed");
    failed({ error: lost("watch b", "socket hang up") }, "watch failed");
    failed({ error: lost("PUT lease") }, "lease request failed");
    failed({ error: "a thrown text" }, "watch failed");
    for (const words of ["a thrown text", "another"]) failed({ error: words }, "watch failed");
    expect(world.lines.length).toBe(5);
  });

  it("writes a line every ten minutes, with the number of failures since the last one", () => {
    const { world, failed } = setUp();
    for (; world.nowMs <= 20 * 60_000; world.nowMs += 10_000) failed({ error: lost("watch a") }, "watch failed");
    expect(world.lines).toMatchObject([{ message: "watch failed" }, { failures: 60 }, { failures: 60 }]);
  });

  it("writes a line for the next outage", () => {
    const { world, failed } = setUp();
    failed({ error: lost("watch a") }, "watch failed");
    world.nowMs = 59_999;
    failed({ error: lost("watch a") }, "watch failed");
    world.nowMs += 60_000;
    failed({ error: lost("watch a") }, "watch failed");
    expect(world.lines.length).toBe(2);
  });
});
