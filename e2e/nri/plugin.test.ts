// SPDX-License-Identifier: Apache-2.0
/** The plugin of libs/nri with the runtime side that containerd has. */
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { runPlugin, type PluginHandlers, type PodSandbox } from "@switchyard/nri";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeWithRuntime, startRealRuntime, type RuntimePod } from "./real-runtime.ts";

const pod: RuntimePod = {
  id: "0af1",
  name: "web-0",
  uid: "1b2c",
  namespace: "apps",
  annotations: { key: "value" },
  networkNamespace: "/var/run/netns/cni-1",
};

describeWithRuntime("a plugin", () => {
  let stack: AsyncDisposableStack;
  let socketPath: string;
  let received: (readonly [string, unknown])[];

  beforeEach(async () => {
    [stack, received] = [new AsyncDisposableStack(), []];
    const directory = await mkdtemp(join(tmpdir(), "nri-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    socketPath = join(directory, "nri.sock");
  });

  afterEach(() => stack.disposeAsync());

  function start(handlers: Partial<PluginHandlers> = {}): void {
    const receive = (event: string) => (each: PodSandbox) => {
      received.push([event, { ...each, annotations: Object.fromEntries(each.annotations) }]);
      return Promise.resolve();
    };
    const stop = new AbortController();
    const running = runPlugin(
      {
        ...{ socketPath, name: "example", index: "50" },
        handlers: {
          synchronize(pods, { name, requestTimeoutMs }) {
            received.push(["synchronize", [pods.map(({ id }) => id), name, requestTimeoutMs]]);
          },
          runPodSandbox: receive("run"),
          stopPodSandbox: receive("stop"),
          removePodSandbox: receive("remove"),
          ...handlers,
        },
        ended: () => undefined,
        pause: { firstMs: 10, longestMs: 50 },
      },
      stop.signal,
    );
    stack.defer(async () => {
      stop.abort();
      await running;
    });
  }

  it("receives all pods when it connects, and each event of a pod with its network namespace", async () => {
    const runtime = stack.use(await startRealRuntime(socketPath));
    await runtime.setPods([pod, { ...pod, id: "0af2" }]);
    start();
    expect(await runtime.synchronized()).toBe("");
    for (const event of ["RunPodSandbox", "StopPodSandbox", "RemovePodSandbox"] as const) {
      expect(await runtime.send(event, pod)).toBe("");
    }
    expect(received).toEqual([
      ["synchronize", [["0af1", "0af2"], "switchyard-test", 2_000]],
      ["run", pod],
      ["stop", pod],
      ["remove", pod],
    ]);
  });

  it("receives the pods of a full node, whose list does not fit into one message", async () => {
    const runtime = stack.use(await startRealRuntime(socketPath));
    const annotations = { text: "x".repeat(20_000) }; // 500 of them are 10 MB
    await runtime.setPods(Array.from({ length: 500 }, (_, nth) => ({ ...pod, id: `id-${nth}`, annotations })));
    start();
    expect(await runtime.synchronized()).toBe("");
    expect((received[0]?.[1] as readonly unknown[])[0]).toHaveLength(500);
  });

  it("keeps a pod from starting by an error, also by one that takes too long, and stays connected", async () => {
    const runtime = stack.use(await startRealRuntime(socketPath));
    const acts = [() => Promise.reject(new Error("no network")), () => new Promise<never>(() => undefined)];
    start({ runPodSandbox: () => acts.shift()?.() ?? Promise.resolve() });
    await runtime.synchronized();
    expect(await runtime.send("RunPodSandbox", pod)).toContain("no network");
    expect(await runtime.send("RunPodSandbox", pod)).toMatch(/not done within the 1\d\d\d ms/);
    expect(await runtime.send("RunPodSandbox", pod)).toBe("");
    expect(await runtime.send("StopPodSandbox", pod)).toBe("");
    expect(received.map(([event]) => event)).toEqual(["synchronize", "stop"]);
  });

  it("connects again after the runtime has been killed", async () => {
    {
      await using runtime = await startRealRuntime(socketPath);
      start();
      await runtime.synchronized();
    }
    const runtime = stack.use(await startRealRuntime(socketPath));
    expect(await runtime.synchronized()).toBe("");
    expect(await runtime.send("RunPodSandbox", pod)).toBe("");
  });
});
