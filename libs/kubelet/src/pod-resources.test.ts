// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPodResources } from "./pod-resources.ts";
import { holdersIn } from "./read-devices.ts";
import { startFakeKubelet, type FakeKubelet } from "./testing/fake-kubelet.ts";

let directory: string;
let kubelet: FakeKubelet;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-kubelet-"));
  kubelet = await startFakeKubelet(directory);
});
afterEach(async () => {
  await kubelet[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const never = new AbortController().signal;
const web = { namespace: "apps", name: "web-0" };

/** A reader whose clock moves only by `pass`. */
function readerWithClock() {
  let nowMs = 0;
  let timers: { readonly atMs: number; readonly run: () => void }[] = [];
  const reader = createPodResources({
    path: join(directory, "pod-resources/kubelet.sock"),
    nowMs: () => nowMs,
    after(delayMs, run) {
      timers.push({ atMs: nowMs + delayMs, run });
    },
  });
  return {
    reader,
    /** Returns once as many timers wait. */
    async timersWait(count: number) {
      while (timers.length < count) await new Promise((resolve) => setImmediate(resolve));
    },
    pass(ms: number) {
      nowMs += ms;
      const due = timers.filter(({ atMs }) => atMs <= nowMs);
      timers = timers.filter(({ atMs }) => atMs > nowMs);
      for (const { run } of due) run();
    },
  };
}

describe("createPodResources", () => {
  it("asks the kubelet once for all callers of 250 ms", async () => {
    const { reader, pass } = readerWithClock();
    await Promise.all(Array.from({ length: 1_000 }, () => reader.listPods(never)));
    pass(249);
    await reader.listPods(never);
    expect(kubelet.calls.list).toBe(1);
    pass(1);
    await Promise.all(Array.from({ length: 1_000 }, () => reader.listPods(never)));
    expect(kubelet.calls.list).toBe(2);
  });

  it("asks again for a caller that needs what is true now, and not before 250 ms have passed", async () => {
    const { reader, pass, timersWait } = readerWithClock();
    await reader.listPods(never);
    kubelet.pods = [{ ...web, containers: [] }];
    expect((await reader.listPods(never)).pods).toEqual([]);
    const fresh = Promise.all(Array.from({ length: 100 }, () => reader.listPods(never, { isFresh: true })));
    await timersWait(1);
    expect(kubelet.calls.list).toBe(1);
    pass(250);
    for (const { pods, atMs } of await fresh) expect([pods.length, atMs]).toEqual([1, 250]);
    expect(kubelet.calls.list).toBe(2);
  });

  it("shares an error as it shares an answer", async () => {
    const { reader, pass } = readerWithClock();
    kubelet.pods = undefined;
    for (const _ of [1, 2, 3]) await expect(reader.listPods(never)).rejects.toThrow("UNAVAILABLE");
    expect(kubelet.calls.list).toBe(1);
    kubelet.pods = [];
    pass(250);
    expect((await reader.listPods(never)).pods).toEqual([]);
  });

  it("ends the wait of one caller without ending the call of the others", async () => {
    const { reader } = readerWithClock();
    const stop = new AbortController();
    const [stopped, other] = [reader.listPods(stop.signal), reader.listPods(never)];
    stop.abort(new Error("stopped"));
    await expect(stopped).rejects.toThrow("stopped");
    expect((await other).pods).toEqual([]);
  });

  it("fails with the kubelet's error if there is no socket", async () => {
    const reader = createPodResources({ path: join(directory, "none.sock") });
    await expect(reader.listPods(never)).rejects.toThrow("UNAVAILABLE");
  });
});

describe("holdersIn", () => {
  it("names the pods of device plugins and of claims whose devices are named by PCI addresses", async () => {
    const claimed = [
      { claim: "nic", driver: "sriovnetwork.k8snetworkplumbingwg.io", pool: "worker-1", device: "0000-3b-02-1" },
      { claim: "nic", driver: "dra.net", pool: "worker-1", device: "pci-0000-3b-02-2" },
      { claim: "gpu", driver: "gpu.example.com", pool: "worker-1", device: "gpu-0" },
    ];
    const devices = [{ resourceName: "openshift.io/lab", ids: ["0000:3b:02.0"] }];
    const containers = [
      { name: "init", devices },
      { name: "web", devices, claimed },
    ];
    kubelet.pods = [{ ...web, containers }];
    const { reader } = readerWithClock();
    expect([...holdersIn((await reader.listPods(never)).pods)]).toEqual([
      ["0000:3b:02.0", [{ ...web, via: "device-plugin", resource: "openshift.io/lab" }]],
      ["0000:3b:02.1", [{ ...web, via: "dra", resource: "sriovnetwork.k8snetworkplumbingwg.io" }]],
      ["0000:3b:02.2", [{ ...web, via: "dra", resource: "dra.net" }]],
    ]);
  });
});
