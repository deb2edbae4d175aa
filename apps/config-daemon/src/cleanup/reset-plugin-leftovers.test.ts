// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "@jest/globals";
import type { Host } from "@switchyard/host";
import { createFakeKernel, igb, type FakeKernel } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { settlingMs } from "../afxdp/orphaned-programs/orphaned-programs.ts";
import { kubeletWith, type KubeletWith } from "../testing/kubelet-with.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { runCleanup, type CleanupOptions } from "./run-cleanup.ts";

const pf = "0000:01:00.0";
const mount = "/run/afxdp_dp/fast/3f2b8a10-1111-4222-8333-0123456789ab";
const socket = "/tmp/afxdp_dp/afxdp_fast/3f2b8a10-1111-4222-8333-0123456789ab.sock";
const detach = "detach XDP program xsk_def_prog from eth0";
const rest = [
  `unmount ${mount} and remove it`,
  `remove ${socket}`,
  `remove the record that the plugins of upstream had ${pf}`,
];

let kernel: FakeKernel;
let kubelet: KubeletWith;
let nowMs = 0;
beforeEach(async () => {
  kernel = createFakeKernel({ nics: [igb(pf)], udevMs: "none" });
  kubelet = kubeletWith();
  kernel.attachXdpProgram("eth0", { id: 7, name: "xsk_def_prog", mode: "native", isOwn: false });
  kernel.pluginLeftovers.addMount(mount);
  kernel.pluginLeftovers.addSocket(socket);
  const bootId = await kernel.host().boot.readBootId();
  kernel.pluginLeftovers.record({ device: pf, bootId, names: ["eth0"], pools: ["fast"] });
});

async function cleanup(options: Partial<CleanupOptions> = {}, host: Host = kernel.host()) {
  const lines: string[] = [];
  const failures: string[] = [];
  const exitCode = await runCleanup({
    host,
    keepsVfs: false,
    isDryRun: false,
    maxHanging: 4,
    signal: new AbortController().signal,
    readKubelet: (signal) => kubelet.read(signal),
    print: (line) => lines.push(line),
    fail: (line) => failures.push(line),
    timing: {
      stepDeadlineMs: 60_000,
      linkTimeoutMs: 200,
      udevTimeoutMs: 1_000,
      nowMs: () => nowMs,
      /** Deadlines do not pass. */
      async sleep(ms, stop) {
        if (ms !== settlingMs) await delay(ms, undefined, { signal: stop, ref: false }).catch(() => undefined);
        else nowMs += ms;
      },
    },
    ...options,
  });
  return { exitCode, lines, failures };
}

const programs = async () => (await kernel.host().xdp.readPrograms("eth0")).length;
const left = async () => [
  ...[await programs(), kernel.pluginLeftovers.listPaths().length],
  (await kernel.host().pluginLeftovers.listDevices()).length,
];

describe("config-daemon cleanup of what the plugins of upstream left", () => {
  it("lists what it would remove, removes it, and then has nothing to do", async () => {
    const planned = [detach, ...rest].map((line) => `would ${line}`);
    expect(await cleanup({ isDryRun: true })).toEqual({ exitCode: 0, lines: planned, failures: [] });
    expect(await left()).toEqual([1, 2, 1]);
    expect(await cleanup()).toEqual({ exitCode: 0, lines: [detach, ...rest], failures: [] });
    expect(await left()).toEqual([0, 0, 0]);
    expect(await cleanup({ isDryRun: true })).toEqual({ exitCode: 0, lines: ["nothing to do"], failures: [] });
  });

  it("leaves the program with --keep-vfs", async () => {
    const planned = rest.map((line) => `would ${line}`);
    expect((await cleanup({ isDryRun: true, keepsVfs: true })).lines).toEqual(planned);
    expect(await cleanup({ keepsVfs: true })).toEqual({ exitCode: 0, lines: rest, failures: [] });
    expect(await left()).toEqual([1, 0, 0]);
  });

  it.each([
    { given: { held: ["eth0"] }, failure: "what the plugins of upstream left stays on eth0: in use by a pod" },
    {
      given: { error: "14 UNAVAILABLE" },
      failure:
        "what the plugins of upstream left stays on eth0, pool fast: " +
        "the kubelet does not say which devices pods have: 14 UNAVAILABLE",
    },
  ])("fails if something stays: $failure", async ({ given, failure }) => {
    Object.assign(kubelet, given);
    const { exitCode, failures } = await cleanup();
    expect([exitCode, failures]).toEqual([1, [failure]]);
    expect(await programs()).toBe(1);
  });

  it("fails if the program is in use, and removes the rest", async () => {
    kernel.pluginLeftovers.setSockets("eth0", 2);
    expect(await cleanup()).toEqual({
      exitCode: 1,
      lines: rest.slice(0, 2),
      failures: ["XDP program xsk_def_prog stays on eth0: AF_XDP sockets of the host use the interface (2)"],
    });
    expect(await left()).toEqual([1, 0, 1]);
  });

  it.each([1, 2, 3, 4, 5, 6])("can be killed at write %i, and repeated", async (nth) => {
    const { host, death } = killedAtWrite(kernel.host(), nth, nth % 2 === 0);
    await Promise.race([cleanup({}, host), death]);
    expect(await cleanup()).toMatchObject({ exitCode: 0, failures: [] });
    expect(await left()).toEqual([0, 0, 0]);
  });
});
