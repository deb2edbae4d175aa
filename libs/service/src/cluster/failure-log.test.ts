// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError } from "@switchyard/kube";
import { createFailureLog } from "./failure-log.ts";

/** An error of a request that the API server refuses. */
function refused(tried: string, words = "the account may not list it"): KubeError {
  return new KubeError(tried, "Forbidden", { status: 403, words });
}

function setUp() {
  const world = { nowMs: 0, lines: [] as unknown[] };
  const warn = (fields: unknown, message?: unknown) => void world.lines.push({ ...Object(fields), message });
  const failed = createFailureLog({ warn }, () => world.nowMs);
  return { world, failed };
}

describe("createFailureLog", () => {
  it("writes one line for a missing right that 45 watches need for nine minutes", () => {
    const { world, failed } = setUp();
    for (; world.nowMs < 9 * 60_000; world.nowMs += 15_000) {
      for (let nth = 0; nth < 45; nth++)
        failed({ resource: `kind${nth}`, error: refused(`watch kind${nth}`) }, "watch failed");
    }
    expect(world.lines).toMatchObject([{ resource: "kind0", message: "watch failed" }]);
  });

  it("writes a line for each cause and for each message", () => {
    const { world, failed } = setUp();
    failed({ error: refused("watch a") }, "watch failed");
    failed({ error: refused("watch b", "the account may not watch it") }, "watch failed");
    failed({ error: refused("PUT lease") }, "lease request failed");
    failed({ error: "a thrown text" }, "watch failed");
    for (const words of ["a thrown text", "another"]) failed({ error: words }, "watch failed");
    expect(world.lines.length).toBe(5);
  });

  it("writes a line every ten minutes, with the number of failures since the last one", () => {
    const { world, failed } = setUp();
    for (; world.nowMs <= 20 * 60_000; world.nowMs += 10_000) failed({ error: refused("watch a") }, "watch failed");
    expect(world.lines).toMatchObject([{ message: "watch failed" }, { failures: 60 }, { failures: 60 }]);
  });

  it("writes a line for a cause that was over", () => {
    const { world, failed } = setUp();
    failed({ error: refused("watch a") }, "watch failed");
    world.nowMs = 59_999;
    failed({ error: refused("watch a") }, "watch failed");
    world.nowMs += 60_000;
    failed({ error: refused("watch a") }, "watch failed");
    expect(world.lines.length).toBe(2);
  });

  it("passes on each failure of an outage, whose log counts them", () => {
    const { world, failed } = setUp();
    const error = new KubeError("watch a", "ConnectionLost", { words: "connect ECONNREFUSED 192.0.2.1:6443" });
    for (let nth = 0; nth < 3; nth++) failed({ error }, "watch failed");
    expect(world.lines.length).toBe(3);
  });
});
