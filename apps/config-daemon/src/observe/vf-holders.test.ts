// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { InterfaceStatus } from "@switchyard/api";
import type { PodDevices } from "@switchyard/kubelet";
import { startFakeKubelet, type FakeKubelet, type FakeKubeletOptions } from "@switchyard/kubelet/testing";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKubelet } from "../kubelet/open-kubelet.ts";
import { createVfHolders, type HeldInterfaces } from "./vf-holders.ts";

let root: string;
let kubelet: FakeKubelet | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "switchyard-holders-"));
});
afterEach(async () => {
  await kubelet?.[Symbol.asyncDispose]();
  kubelet = undefined;
  await rm(root, { recursive: true });
});

const never = new AbortController().signal;
const [vf0, vf1] = ["0000:3b:02.0", "0000:3b:02.1"] as const;
const found: readonly InterfaceStatus[] = [
  {
    pciAddress: "0000:3b:00.0",
    Vfs: [
      { pciAddress: vf0, vfID: 0 },
      { pciAddress: vf1, vfID: 1 },
    ],
  },
];

function pod(name: string, ...ids: readonly string[]): PodDevices {
  const devices = [{ resourceName: "openshift.io/lab", ids }];
  return { name, namespace: "apps", containers: [{ name: "app", devices }] };
}

async function startKubelet(
  pods: readonly PodDevices[] | undefined,
  options?: FakeKubeletOptions,
): Promise<FakeKubelet> {
  const directory = join(root, "var/lib/kubelet");
  await mkdir(directory, { recursive: true });
  const started = await startFakeKubelet(directory, options);
  started.pods = pods;
  kubelet = started;
  return started;
}

/** Looks once, as a daemon that has just started does. */
function look(before: Partial<HeldInterfaces> = {}, at = "2026-11-28T10:00:00.123Z") {
  const holders = createVfHolders({
    readHolders: openKubelet(root).readHolders,
    now: () => new Date(at),
    signal: never,
  });
  return holders.addTo(found, before, never);
}

const holdersIn = ({ interfaces }: HeldInterfaces) =>
  interfaces.flatMap(({ Vfs = [] }) =>
    Vfs.map(({ holder }) => (holder === undefined ? "-" : `${holder.name} ${holder.since}`)),
  );

describe("createVfHolders", () => {
  it.each(["1970-01-01T00:02:00.000Z", "2040-01-01T00:00:00.000Z"])(
    "replaces a time of a clock that was not set: %s",
    async (wrong) => {
      await startKubelet([pod("web-0", vf0)]);
      const first = await look({}, wrong);
      const second = await look(first);
      expect(holdersIn(second)).toEqual(["web-0 2026-11-28T10:00:00Z", "-"]);
      expect(holdersIn(await look(second, "2026-11-28T11:00:00.000Z"))).toEqual(holdersIn(second));
    },
  );

  it("reports the pod of each VF, and keeps the time at which the pod was first seen", async () => {
    const running = await startKubelet([pod("web-0", vf0)]);
    const first = await look();
    expect(first.holders).toEqual({ known: true });
    expect(first.interfaces[0]?.Vfs?.[0]?.holder).toEqual({
      namespace: "apps",
      name: "web-0",
      via: "device-plugin",
      resource: "openshift.io/lab",
      since: "2026-11-28T10:00:00Z",
    });
    running.pods = [pod("web-0", vf0), pod("web-1", vf1)];
    const second = await look(first, "2026-11-28T11:00:00Z");
    expect(holdersIn(second)).toEqual(["web-0 2026-11-28T10:00:00Z", "web-1 2026-11-28T11:00:00Z"]);
    running.pods = [pod("web-1", vf1)];
    expect(holdersIn(await look(second))).toEqual(["-", "web-1 2026-11-28T11:00:00Z"]);
  });

  it.each(["stopped", "refusing"])(
    "keeps the holders and says that they are not known while the kubelet is %s",
    async (how) => {
      const running = await startKubelet([pod("web-0", vf0)]);
      const first = await look();
      running.pods = undefined;
      if (how === "stopped") {
        await running[Symbol.asyncDispose]();
        kubelet = undefined;
      }
      const second = await look(first);
      expect(holdersIn(second)).toEqual(["web-0 2026-11-28T10:00:00Z", "-"]);
      expect(second.holders?.known).toBe(false);
      expect(second.holders?.message).toContain("the kubelet does not say which pods have VFs: 14 UNAVAILABLE");
    },
  );

  it("keeps the holders, and does not call other VFs free, while a kubelet has just started and does not know its pods", async () => {
    const first = { interfaces: (await startKubelet([pod("web-0", vf0)]).then(() => look())).interfaces };
    await kubelet?.[Symbol.asyncDispose]();
    await startKubelet([], { isNew: true });
    const second = await look(first);
    expect(holdersIn(second)).toEqual(["web-0 2026-11-28T10:00:00Z", "-"]);
    const message = "the kubelet has just started, and may not know all pods yet";
    expect(second.holders).toMatchObject({ known: false, message });
  });

  it("does not assert a uid that is not known for a moment, and keeps the time of the pod", async () => {
    const web = { namespace: "apps", name: "web-0", via: "device-plugin", resource: "openshift.io/lab" } as const;
    const seen: (string | undefined)[] = [];
    let before: Partial<HeldInterfaces> = {};
    for (const [nth, uid] of [undefined, "one", "one", undefined, "two"].entries()) {
      const holders = createVfHolders({
        readHolders: () =>
          Promise.resolve({
            ok: true,
            value: {
              byId: new Map([[vf0, [{ ...web, ...(uid !== undefined && { uid }) }]]]),
              isNewKubelet: false,
            },
          }),
        now: () => new Date(`2026-11-28T10:00:0${nth}Z`),
        signal: never,
      });
      before = await holders.addTo(found, before, never);
      const holder = before.interfaces?.[0]?.Vfs?.[0]?.holder;
      seen.push(`${holder?.uid} ${holder?.since.slice(17, 19)}`);
    }
    expect(seen).toEqual(["undefined 00", "one 00", "one 00", "undefined 00", "two 00"]);
  });

  it("does not let the next pod of a name inherit the hold of the last one", async () => {
    const web = { namespace: "apps", name: "web-0", via: "device-plugin", resource: "openshift.io/lab" } as const;
    let uid = "one";
    const lookAt = (before: Partial<HeldInterfaces>, at: string) =>
      createVfHolders({
        readHolders: () =>
          Promise.resolve({ ok: true, value: { byId: new Map([[vf0, [{ ...web, uid }]]]), isNewKubelet: false } }),
        now: () => new Date(at),
        signal: never,
      }).addTo(found, before, never);
    const first = await lookAt({}, "2026-11-28T10:00:00Z");
    uid = "two";
    const second = await lookAt(first, "2026-11-28T11:00:00Z");
    expect(second.interfaces[0]?.Vfs?.[0]?.holder).toEqual({ ...web, uid: "two", since: "2026-11-28T11:00:00Z" });
  });

  it("keeps the VFs of pods that a kubelet without its checkpoint lists without them, until they end", async () => {
    const answer = { kubelet: "1", pods: ["apps/web-0", "apps/web-1"], held: ["web-0", "web-1"] as readonly string[] };
    const holders = createVfHolders({
      readHolders: () => {
        const ids = [vf0, vf1];
        const byId = answer.held.map((name, nth) => {
          const holder = { namespace: "apps", name, via: "device-plugin", resource: "openshift.io/lab" } as const;
          return [ids[nth] ?? "", [holder]] as const;
        });
        const { kubelet: started, pods } = answer;
        const isListed = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
          pods.includes(`${namespace}/${name}`);
        const value = { byId: new Map(byId), isNewKubelet: false, kubelet: started, isListed };
        return Promise.resolve({ ok: true, value });
      },
      now: () => new Date("2026-11-28T10:00:00Z"),
      signal: never,
    });
    let last: HeldInterfaces = { interfaces: [], holders: undefined };
    const lookAgain = async () => {
      last = await holders.addTo(found, last, never);
      return holdersIn(last);
    };
    await lookAgain();
    // A pod that ends while the kubelet runs loses its VF, also if the kubelet still lists it.
    answer.held = ["web-0"];
    expect(await lookAgain()).toEqual(["web-0 2026-11-28T10:00:00Z", "-"]);
    answer.held = ["web-0", "web-1"];
    await lookAgain();
    Object.assign(answer, { kubelet: "2", held: [], pods: ["apps/web-0"] });
    for (const _look of [1, 2]) expect(await lookAgain()).toEqual(["web-0 2026-11-28T10:00:00Z", "-"]);
    expect(last.holders).toEqual({ known: true });
    answer.pods = [];
    expect(await lookAgain()).toEqual(["-", "-"]);
    answer.pods = ["apps/web-0"];
    expect(await lookAgain()).toEqual(["-", "-"]);
  });

  it("calls nothing free while a pod whose name is not known has a VF by a claim", async () => {
    const nameless = { namespace: "apps", name: "", uid: "one", via: "dra", resource: "dra.net" } as const;
    const holders = createVfHolders({
      readHolders: () =>
        Promise.resolve({ ok: true, value: { byId: new Map([[vf1, [nameless]]]), isNewKubelet: false } }),
      now: () => new Date("2026-11-28T10:00:00Z"),
      signal: never,
    });
    const seen = await holders.addTo(found, {}, never);
    expect(holdersIn(seen)).toEqual(["-", "-"]);
    expect(seen.holders).toEqual({
      known: false,
      message: `the kubelet does not say which pod has VF ${vf1} by a claim of dra.net`,
    });
  });

  it("cuts names that are longer than the API server accepts", async () => {
    await startKubelet([pod("x".repeat(100_000), vf0)]);
    expect((await look()).interfaces[0]?.Vfs?.[0]?.holder?.name.length).toBe(253);
  });

  it("asks the kubelet four times a minute at most while no pass runs, and never without VFs", async () => {
    const calls: number[] = [];
    let nowMs = 0;
    let isDraining = false;
    let timer: { readonly atMs: number; readonly run: () => void } | undefined;
    const stop = new AbortController();
    const holders = createVfHolders({
      readHolders() {
        calls.push(nowMs);
        const held =
          nowMs < 40_000 ? [] : [[vf0, [{ namespace: "a", name: "b", via: "dra" as const, resource: "r" }]] as const];
        return Promise.resolve({ ok: true, value: { byId: new Map(held), isNewKubelet: false } });
      },
      now: () => new Date(nowMs),
      isUrgent: () => isDraining,
      clock: {
        nowMs: () => nowMs,
        after(delayMs, run) {
          timer = { atMs: nowMs + delayMs, run };
          return () => undefined;
        },
      },
      signal: stop.signal,
    });
    const woken: number[] = [];
    holders.source("node").start(() => woken.push(nowMs));
    const runUntil = async (endMs: number): Promise<void> => {
      for (;;) {
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        if (timer === undefined || timer.atMs > endMs) return;
        const { atMs, run } = timer;
        timer = undefined;
        nowMs = atMs;
        run();
      }
    };
    await runUntil(60_000);
    expect(calls).toEqual([]);
    nowMs = 60_000;
    await holders.addTo(found, {}, never);
    await runUntil(119_999);
    expect([calls.length, woken]).toEqual([4, []]);
    isDraining = true; // and asks again every 2 s while a drain waits for pods
    await holders.addTo(found, {}, never);
    await runUntil(130_000);
    expect(calls.slice(4)).toEqual(Array.from({ length: 13 }, (_, at) => 105_000 + 2_000 * at));
    stop.abort();
  });
});
