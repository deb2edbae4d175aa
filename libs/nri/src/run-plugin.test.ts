// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginHandlers } from "./connect-plugin.ts";
import { pluginService, type PodSandbox } from "./nri-messages.ts";
import { runPlugin } from "./run-plugin.ts";
import { startFakeRuntime, type FakeRuntime, type FakeRuntimeOptions } from "./testing/fake-runtime.ts";

const pod: PodSandbox = {
  id: "0af1",
  name: "web-0",
  uid: "1b2c",
  namespace: "apps",
  annotations: new Map([["key", "value"]]),
  networkNamespace: "/var/run/netns/cni-1",
};

let directory: string;
let socketPath: string;
let events: (readonly [string, string])[];
/** Codes of the connections that have ended. */
let ends: (string | undefined)[];
let stack: AsyncDisposableStack;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nri-"));
  socketPath = join(directory, "nri.sock");
  [events, ends, stack] = [[], [], new AsyncDisposableStack()];
  stack.defer(() => rm(directory, { recursive: true, force: true }));
});

afterEach(() => stack.disposeAsync());

function start(handlers: Partial<PluginHandlers> = {}): void {
  const stop = new AbortController();
  const event = (name: string) => (each: PodSandbox) => {
    events.push([name, each.id]);
    return Promise.resolve();
  };
  const running = runPlugin(
    {
      ...{ socketPath, name: "example", index: "50" },
      handlers: {
        synchronize: (pods) => events.push(["synchronize", pods.map(({ id }) => id).join()]),
        runPodSandbox: event("run"),
        stopPodSandbox: event("stop"),
        removePodSandbox: event("remove"),
        ...handlers,
      },
      ended: (error) => ends.push((error as { code?: string }).code),
      pause: { firstMs: 1, longestMs: 4 },
    },
    stop.signal,
  );
  stack.defer(async () => {
    stop.abort();
    await running;
  });
}

async function startRuntime(options?: FakeRuntimeOptions): Promise<FakeRuntime> {
  return stack.use(await startFakeRuntime(socketPath, options));
}

async function whenEnded(): Promise<void> {
  while (ends.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("runPlugin", () => {
  it("registers, subscribes to the events of pods, and receives all pods in parts and then each event", async () => {
    const runtime = await startRuntime();
    start();
    const plugin = await runtime.nextPlugin();
    expect([plugin.registration, plugin.events]).toEqual([{ name: "example", index: "50" }, 0b111]);
    await plugin.synchronize([pod, { ...pod, id: "0af2" }, { ...pod, id: "0af3" }], 2);
    expect(await plugin.call("RunPodSandbox", pod)).toBeUndefined();
    expect(await plugin.stateChange("StopPodSandbox", pod)).toBeUndefined();
    expect(await plugin.call("RemovePodSandbox", pod)).toBeUndefined();
    expect(events).toEqual([
      ["synchronize", "0af1,0af2,0af3"],
      ["run", "0af1"],
      ["stop", "0af1"],
      ["remove", "0af1"],
    ]);
  });

  it("answers with the error of a handler, and serves the next request", async () => {
    const runtime = await startRuntime();
    start({ runPodSandbox: () => Promise.reject(new Error("no network")) });
    const plugin = await runtime.nextPlugin();
    expect(await plugin.call("RunPodSandbox", pod)).toBe("no network");
    expect(await plugin.call("StopPodSandbox", pod)).toBeUndefined();
  });

  it("answers before the runtime stops waiting, and aborts the handler", async () => {
    const runtime = await startRuntime();
    const aborted = Promise.withResolvers<string>();
    start({
      runPodSandbox: (_pod, signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            aborted.resolve(String(signal.reason));
          });
        }),
    });
    const plugin = await runtime.nextPlugin();
    const words = "not done within the 40 ms that the container runtime allows";
    expect(await plugin.call("RunPodSandbox", pod, 50)).toBe(words);
    expect(await aborted.promise).toContain(words);
  });

  it("refuses unknown methods and services and malformed messages, and serves the next request", async () => {
    const runtime = await startRuntime();
    start();
    const plugin = await runtime.nextPlugin();
    const codes = [];
    for (const [service, method, hex] of [
      [pluginService, "CreateContainer", ""],
      [pluginService, "constructor", ""],
      ["other.Plugin", "Configure", ""],
      [pluginService, "RunPodSandbox", "0aff"],
      [pluginService, "RunPodSandbox", ""],
    ] as const) {
      const { error } = await plugin.callRaw(service, method, Buffer.from(hex, "hex"));
      codes.push(error?.code);
    }
    expect(codes).toEqual([12, 12, 12, 3, 3]);
    expect(await plugin.call("RunPodSandbox", pod)).toBeUndefined();
    expect(events).toEqual([["run", "0af1"]]);
  });

  it("connects again after the runtime has closed the connection, has restarted, or has sent what is no frame", async () => {
    start();
    await whenEnded(); // there is no runtime yet
    {
      await using runtime = await startFakeRuntime(socketPath);
      (await runtime.nextPlugin()).close();
      const plugin = await runtime.nextPlugin();
      plugin.sendRaw(Buffer.alloc(64, 0xff));
      await plugin.closed;
      await runtime.nextPlugin();
    }
    const runtime = await startRuntime();
    const plugin = await runtime.nextPlugin();
    await plugin.synchronize([pod]);
    expect(events).toEqual([["synchronize", "0af1"]]);
    expect(new Set(ends)).toEqual(
      new Set(["ENOENT", "CLOSED", "TOO_LONG", ...ends.filter((code) => code === "ECONNREFUSED")]),
    );
  });

  it("tries again if the runtime refuses it, without the words of the runtime", async () => {
    await startRuntime({ refuse: 7 });
    start();
    await whenEnded();
    expect(ends[0]).toBe("REFUSED");
  });
});
