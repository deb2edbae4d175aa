// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { systemClock, type Clock, type Transport, type WatchEvent } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import { followNodePods } from "./node-pods.ts";

/** An API server with one pod, whose watch returns given events. */
function createServer() {
  const pod = { metadata: { name: "web", namespace: "default", uid: "1", resourceVersion: "1" }, spec: {} };
  let bookmark = Promise.withResolvers<undefined>();
  const transport: Transport = {
    namespace: "default",
    request: () => Promise.resolve({ metadata: { resourceVersion: "1" }, items: [pod] }),
    async *watch({ signal }): AsyncGenerator<WatchEvent> {
      const ended = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => {
        ended.reject(signal.reason);
      });
      for (let version = 2; ; version++) {
        await Promise.race([bookmark.promise, ended.promise]);
        bookmark = Promise.withResolvers();
        yield { type: "BOOKMARK", resourceVersion: `${version}` };
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return {
    transport,
    sendBookmark() {
      bookmark.resolve(undefined);
    },
  };
}

describe("the pods of a node", () => {
  it("are undefined while the cache is stale, and enqueue the node when it is fresh again", async () => {
    const server = createServer();
    let lateMs = 0;
    const timers: (() => void)[] = [];
    const clock: Clock = {
      nowMs: () => systemClock.nowMs() + lateMs,
      after(_, run) {
        timers.push(run);
        return () => undefined;
      },
    };
    const report = (): void => undefined;
    await using pods = followNodePods({
      transport: server.transport,
      resourcePrefix: "openshift.io",
      maxAgeMs: 300_000,
      report,
      clock,
    });
    const woken: string[] = [];
    pods.source.start((node) => woken.push(node));
    await eventually("pods", () => pods.follow("w1")?.length === 1);
    expect(pods.ages).toMatchObject([{ resource: "pods", synced: true }]);

    lateMs = 400_000;
    expect([pods.follow("w1"), pods.follow("w1")]).toEqual([undefined, undefined]);
    const before = woken.length;
    server.sendBookmark();
    await eventually("fresh", () => (pods.ages[0]?.ageMs ?? Infinity) < 300_000);
    for (const run of timers.splice(0)) run();
    await eventually("woken", () => woken.length > before);
    expect(woken.slice(before)).toEqual(["w1"]);
    expect(pods.follow("w1")).toHaveLength(1);
  });
});
