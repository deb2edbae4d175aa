// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { BenchError } from "../harness/run.ts";
import { createArrivals, watchStates } from "./arrivals.ts";
import type { PlainClient } from "./plain-client.ts";

const seen = (name: string, generation: number, namespace = "a") => ({ namespace, name, generation });

describe("createArrivals", () => {
  it("records the first and the last arrival, and counts objects and changes separately", () => {
    const arrivals = createArrivals();
    arrivals.begin();
    arrivals.saw(seen("n1", 1), 10);
    arrivals.saw(seen("n2", 1), 20);
    arrivals.saw(seen("n1", 2), 35);
    expect(arrivals.of("a")).toEqual({ objects: 2, changes: 3, firstMs: 10, lastMs: 35 });
  });

  it("ignores changes of status and metadata", () => {
    const arrivals = createArrivals();
    arrivals.saw(seen("n1", 4), 10);
    arrivals.begin();
    arrivals.saw(seen("n1", 4), 20);
    expect(arrivals.of("a")).toBeUndefined();
  });

  it("treats a recreated object as new", () => {
    const arrivals = createArrivals();
    arrivals.saw(seen("n1", 1), 10);
    arrivals.lost({ namespace: "a", name: "n1" });
    arrivals.begin();
    arrivals.saw(seen("n1", 1), 20);
    expect(arrivals.of("a")?.objects).toBe(1);
  });

  it("keeps namespaces apart", () => {
    const arrivals = createArrivals();
    arrivals.saw(seen("n1", 1, "a"), 10);
    arrivals.saw(seen("n1", 1, "b"), 20);
    expect(arrivals.of("b")?.firstMs).toBe(20);
  });
});

const event = (type: string, name: string, resourceVersion: string) =>
  JSON.stringify({ type, object: { metadata: { name, resourceVersion } } });

/** A server that ends each watch after its lines, and leaves the one after the last open. */
function createServer(...watches: readonly (readonly string[])[]) {
  const paths: string[] = [];
  const open = Promise.withResolvers<undefined>();
  const client: Pick<PlainClient, "watch"> = {
    watch({ path }, signal) {
      const lines = watches[paths.length];
      paths.push(new URL(path, "https://server").searchParams.get("resourceVersion") ?? "the beginning");
      return Promise.resolve(lines === undefined ? untilEnd(signal) : linesOf(lines));
    },
  };

  async function* linesOf(lines: readonly string[]) {
    await Promise.resolve();
    yield* lines;
  }

  async function* untilEnd(signal: AbortSignal): AsyncGenerator<string> {
    open.resolve(undefined);
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        reject(new Error("ended"));
      });
    });
    yield "";
  }

  return { client, paths, isOpen: open.promise };
}

describe("watchStates", () => {
  it("continues after the server ends the watch, also from a bookmark", async () => {
    const { client, paths, isOpen } = createServer(
      [event("ADDED", "a", "5"), event("BOOKMARK", "", "9")],
      [event("MODIFIED", "a", "11"), event("DELETED", "a", "12")],
    );
    const taken: string[] = [];
    const failures: BenchError[] = [];
    const watch = await watchStates(client, {
      take: (type, { name }) => taken.push(`${type} ${String(name)}`),
      fail: (error) => failures.push(error),
    });
    await isOpen;
    await watch[Symbol.asyncDispose]();
    expect(taken).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    expect(paths).toEqual(["the beginning", "9", "12"]);
    expect(failures).toEqual([]);
  });

  it("fails if it cannot continue", async () => {
    const expired = JSON.stringify({ type: "ERROR", object: { metadata: {}, code: 410 } });
    const { client } = createServer([event("ADDED", "a", "5")], [expired]);
    const { promise: failure, resolve: fail } = Promise.withResolvers<BenchError>();
    await using _watch = await watchStates(client, { take: () => undefined, fail });
    expect(await failure).toMatchObject({ code: "watch", message: expect.stringContaining("410") });
  });
});
