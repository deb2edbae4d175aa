// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "@jest/globals";
import { ok, type AfxdpNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, igb, type FakeKernel } from "@switchyard/host/testing";
import { createLogger } from "@switchyard/service";
import { kubeletWith, type KubeletWith } from "../../testing/kubelet-with.ts";
import { createPluginLeftoversPass } from "./plugin-leftovers-pass.ts";
import { wantedFromPlugins, type WantedFromPlugins } from "./wanted-from-plugins.ts";

const pf = "0000:01:00.0";
const state: AfxdpNetworkNodeState = {
  apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
  kind: "AfxdpNetworkNodeState",
  metadata: { name: "worker-1" },
  spec: { interfaces: [{ pciAddress: pf, mode: "primary", poolName: "fast" }] },
};

let kernel: FakeKernel;
let kubelet: KubeletWith;
let wanted: WantedFromPlugins | undefined;
let pass: ReturnType<typeof createPluginLeftoversPass>;
let said: string[];
let asked = 0;
let nowMs = 0;
beforeEach(async () => {
  kernel = createFakeKernel({ nics: [igb(pf)], udevMs: "none" });
  kubelet = kubeletWith();
  [wanted, said, asked] = [wantedFromPlugins("upstream", state), [], 0];
  pass = createPluginLeftoversPass({
    wanted: () => wanted,
    nowMs: () => nowMs,
    readKubelet(signal) {
      asked++;
      return kubelet.read(signal);
    },
    withDeadline: async (work) => ok(await work(kernel.host())),
    log: createLogger({ service: "test", level: "error" }).log,
    onProblem: (message) => said.push(message),
  });
  kernel.attachXdpProgram("eth0", { id: 7, name: "xsk_def_prog", mode: "native", isOwn: false });
  const bootId = await kernel.host().boot.readBootId();
  kernel.pluginLeftovers.record({ device: pf, bootId, names: ["eth0"], pools: ["fast"] });
});

async function run(): Promise<number | undefined> {
  const again = await pass.run(new AbortController().signal);
  nowMs += again?.afterMs ?? 0;
  return again?.afterMs;
}

const isAttached = async () => (await kernel.host().xdp.readPrograms("eth0")).length === 1;

describe("createPluginLeftoversPass", () => {
  it("removes nothing while it is not known what is wanted, or the plugin is wanted, and then everything", async () => {
    wanted = undefined;
    expect(await run()).toBeUndefined();
    wanted = wantedFromPlugins("upstream", state);
    expect([await run(), await run(), asked, await isAttached()]).toEqual([60_000, undefined, 0, true]);
    wanted = wantedFromPlugins("switchyard", state);
    expect([await run(), await isAttached()]).toEqual([10_000, true]);
    expect([await run(), await isAttached()]).toEqual([60_000, false]);
    expect([await run(), await run(), pass.problems()]).toEqual([60_000, undefined, []]);
  });

  it.each([
    { what: "the provider changes", next: wantedFromPlugins("switchyard", state) },
    { what: "the AfxdpOperatorConfig is deleted", next: wantedFromPlugins(undefined, state) },
    { what: "the node leaves the AfxdpOperatorConfig", next: wantedFromPlugins("upstream", undefined) },
    { what: "the policy is deleted", next: wantedFromPlugins("upstream", { ...state, spec: {} }) },
  ])("removes the program when $what", async ({ next }) => {
    await run();
    wanted = next;
    await run();
    await run();
    expect(await isAttached()).toBe(false);
  });

  it("reports once what stays, and asks no kubelet on a node without records", async () => {
    wanted = wantedFromPlugins("switchyard", state);
    kernel.pluginLeftovers.setSockets("eth0", 1);
    const message = "XDP program xsk_def_prog stays on eth0: AF_XDP sockets of the host use the interface (1)";
    for (const afterMs of [10_000, 60_000, 60_000]) expect(await run()).toBe(afterMs);
    expect(pass.problems()).toEqual([{ code: "left-program", field: "status.interfaces", message }]);
    expect(said).toEqual([message]);
    await kernel.host().pluginLeftovers.removeDevice(pf);
    asked = 0;
    expect([await run(), await run(), asked, pass.problems()]).toEqual([60_000, undefined, 0, []]);
  });
});
