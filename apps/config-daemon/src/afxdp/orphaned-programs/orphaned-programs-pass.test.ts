// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "@jest/globals";
import { ok } from "@switchyard/api";
import { createFakeKernel, igb, type FakeKernel } from "@switchyard/host/testing";
import { createLogger } from "@switchyard/service";
import { kubeletWith, type KubeletWith } from "../../testing/kubelet-with.ts";
import { createOrphanedProgramsPass, ownPluginMessages, type OrphanedProgramsPass } from "./orphaned-programs-pass.ts";
import { createOrphanedPrograms } from "./orphaned-programs.ts";

const own = { id: 7, name: "switchyard_xsk", mode: "native", isOwn: true } as const;

let kernel: FakeKernel;
let kubelet: KubeletWith;
let pass: OrphanedProgramsPass;
let said: string[];
let isPluginWanted = false;
let nowMs = 0;
beforeEach(() => {
  kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], udevMs: "none" });
  kubelet = kubeletWith();
  said = [];
  pass = createOrphanedProgramsPass({
    left: createOrphanedPrograms({ readKubelet: (signal) => kubelet.read(signal), nowMs: () => nowMs }),
    messages: ownPluginMessages,
    retryMs: 10_000,
    withDeadline: async (work) => ok(await work(kernel.host())),
    isPluginWanted: () => isPluginWanted,
    log: createLogger({ service: "test", level: "error" }).log,
    onProblem: (message) => said.push(message),
  });
});

async function run(): Promise<number | undefined> {
  const again = await pass.run(new AbortController().signal);
  nowMs += again?.afterMs ?? 0;
  return again?.afterMs;
}

const isAttached = async () => (await kernel.host().xdp.readPrograms("eth0")).length === 1;

describe("createOrphanedProgramsPass", () => {
  it("detaches nothing as long as the device plugin is wanted, then everything, and ends", async () => {
    kernel.attachXdpProgram("eth0", own);
    isPluginWanted = true;
    expect(await run()).toBeUndefined();
    isPluginWanted = false;
    expect(await run()).toBe(10_000);
    expect(await isAttached()).toBe(true);
    expect(await run()).toBe(60_000);
    expect(await isAttached()).toBe(false);
    expect([await run(), await run()]).toEqual([60_000, undefined]);
  });

  it("looks once more if nothing is left: the plugin may still be ending", async () => {
    isPluginWanted = false;
    expect([await run(), await run()]).toEqual([60_000, undefined]);
  });

  it("waits for the pod that has the device, and reports it once if it is unknown who has it", async () => {
    isPluginWanted = false;
    kernel.attachXdpProgram("eth0", own);
    kubelet.held = ["eth0"];
    expect([await run(), pass.problems()]).toEqual([60_000, []]);
    kubelet.error = "14 UNAVAILABLE";
    const message =
      "XDP programs of Switchyard stay on eth0: the kubelet does not say which devices pods have: 14 UNAVAILABLE";
    for (let round = 0; round < 2; round++) expect(await run()).toBe(10_000);
    expect(pass.problems()).toEqual([{ code: "left-program", field: "status.interfaces", message }]);
    expect(said).toEqual([message]);
    Object.assign(kubelet, { error: undefined, held: [] });
    expect([await run(), await run(), await isAttached(), pass.problems()]).toEqual([10_000, 60_000, false, []]);
  });

  it("reports that the host cannot be read", async () => {
    isPluginWanted = false;
    kernel.fault({ port: "xdp", method: "listOwnMaps" }, { code: "EIO" });
    expect([await run(), said]).toEqual([10_000, ["list on XSK maps: EIO"]]);
  });
});
