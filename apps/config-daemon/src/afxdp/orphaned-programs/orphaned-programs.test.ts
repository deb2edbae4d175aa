// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "@jest/globals";
import { createFakeKernel, igb, pci, type FakeKernel } from "@switchyard/host/testing";
import { kubeletWith, type KubeletWith } from "../../testing/kubelet-with.ts";
import { createOrphanedPrograms } from "./orphaned-programs.ts";

const pf = "0000:01:00.0";
const own = { id: 7, name: "switchyard_xsk", mode: "native", isOwn: true } as const;
const foreign = { id: 8, name: "xdp_dispatcher", mode: "native", isOwn: false } as const;
const nothing = { released: [], kept: [], problems: [] };
const soon = "free, but not long enough to be certain";

let kernel: FakeKernel;
let kubelet: KubeletWith;
let left: ReturnType<typeof createOrphanedPrograms>;
let nowMs = 0;
beforeEach(() => {
  kernel = createFakeKernel({ nics: [igb(pf)], udevMs: "none" });
  kubelet = kubeletWith();
  left = createOrphanedPrograms({ readKubelet: (signal) => kubelet.read(signal), nowMs: () => nowMs });
});

function release(afterMs = 0) {
  nowMs += afterMs;
  return left.release(kernel.host(), new AbortController().signal);
}

const programs = (name: string) => kernel.host().xdp.readPrograms(name);
const maps = () => kernel.host().xdp.listOwnMaps();

describe("the XDP programs that afxdp-device-plugin has left", () => {
  it("are detached with their maps when the kubelet says twice that no pod has the device", async () => {
    kernel.attachXdpProgram("eth0", own);
    expect(await release()).toEqual({ ...nothing, kept: [{ name: "eth0", why: soon }] });
    expect(await release(9_999)).toEqual({ ...nothing, kept: [{ name: "eth0", why: soon }] });
    expect(await programs("eth0")).toEqual([own]);
    expect(await release(1)).toEqual({ ...nothing, released: ["eth0"] });
    expect([await programs("eth0"), await maps()]).toEqual([[], []]);
    kubelet.error = "not asked any more";
    expect(await release()).toEqual(nothing);
  });

  it.each([
    { held: [pf], why: "in use by a pod" },
    { held: ["eth0"], why: "in use by a pod" },
    { offered: [pf], why: "offered to pods by afxdp-device-plugin" },
  ])("stay on a device that is $why ($held$offered)", async ({ why, ...given }) => {
    kernel.attachXdpProgram("eth0", own);
    Object.assign(kubelet, given);
    const kept = { ...nothing, kept: [{ name: "eth0", why }] };
    for (let hour = 0; hour < 3; hour++) expect(await release(3_600_000)).toEqual(kept);
    Object.assign(kubelet, { held: [], offered: ["eth0"] }); // the device plugin of upstream announces names
    expect(await release(10_000)).toEqual({ ...nothing, kept: [{ name: "eth0", why: soon }] });
    expect(await release(10_000)).toEqual({ ...nothing, released: ["eth0"] });
  });

  it("stay while the kubelet does not answer, which is a problem, and the time begins again afterwards", async () => {
    kernel.attachXdpProgram("eth0", own);
    await release();
    kubelet.error = "14 UNAVAILABLE: No connection established";
    const why = `the kubelet does not say which devices pods have: ${kubelet.error}`;
    expect(await release(60_000)).toEqual({
      released: [],
      kept: [{ name: "eth0", why }],
      problems: [`XDP programs of Switchyard stay on eth0: ${why}`],
    });
    kubelet.error = undefined;
    expect(await release()).toEqual({ ...nothing, kept: [{ name: "eth0", why: soon }] });
    expect(await programs("eth0")).toEqual([own]);
  });

  it("stay for as long again if another one is attached meanwhile: a pod is getting the device", async () => {
    kernel.attachXdpProgram("eth0", own);
    await release();
    await kernel.host().xdp.detachOwnPrograms("eth0");
    kernel.attachXdpProgram("eth0", { ...own, id: 9 });
    expect(await release(10_000)).toEqual({ ...nothing, kept: [{ name: "eth0", why: soon }] });
    expect(await release(10_000)).toMatchObject({ released: ["eth0"] });
  });

  it("are detached when the pod ends that has the device in its network namespace", async () => {
    kernel.attachXdpProgram("eth0", own);
    kubelet.held = [pf];
    kernel.moveToPod(pci(pf));
    const why = "not on the host while pods have AF_XDP devices";
    for (let minute = 0; minute < 3; minute++)
      expect(await release(60_000)).toEqual({ ...nothing, kept: [{ name: "eth0", why }] });
    expect(await maps()).toEqual(["eth0"]);
    kernel.returnFromPod(pci(pf));
    kubelet.held = [];
    await release();
    expect(await release(10_000)).toEqual({ ...nothing, released: ["eth0"] });
    expect([await programs("eth0"), await maps()]).toEqual([[], []]);
  });

  it("include only the map if the device does not exist any more", async () => {
    kernel.attachXdpProgram("eth0", own);
    kernel.unplug(pci(pf));
    await release();
    expect(await release(10_000)).toEqual({ ...nothing, released: ["eth0"] });
    expect(await maps()).toEqual([]);
  });

  it("are those of Switchyard only, and one that cannot be detached does not stop the others", async () => {
    kernel.attachXdpProgram("eth0", foreign);
    await release();
    expect(await release(10_000)).toEqual(nothing);
    expect(await programs("eth0")).toEqual([foreign]);

    kernel = createFakeKernel({ nics: [igb(pf)], udevMs: "none" });
    for (const name of ["eth0", "eth1"]) kernel.attachXdpProgram(name, own);
    kernel.fault({ port: "xdp", method: "detachOwnPrograms", target: "eth0" }, { code: "EBUSY" });
    await release();
    const message = "detach XDP program on eth0: EBUSY";
    expect(await release(10_000)).toEqual({
      released: ["eth1"],
      kept: [{ name: "eth0", why: message }],
      problems: [message],
    });
  });
});
