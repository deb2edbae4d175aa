// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { err, ok, type InterfaceStatus, type Result, type VfHolder } from "@switchyard/api";
import type { HeldVfs, VfSet } from "@switchyard/policy";
import type { HoldersAnswer } from "../kubelet/kubelet.ts";
import { createWithheldVfs } from "./withheld-vfs.ts";

const never = new AbortController().signal;
const [x, y] = ["0000:3b:00.0", "0000:3b:00.1"] as const;
const all: VfSet = new Map([[x, "all"]]);
const holder: VfHolder = {
  namespace: "apps",
  name: "web",
  via: "device-plugin",
  resource: "openshift.io/r",
  since: "2026-11-28T10:00:00Z",
};

/** Two PFs with two VFs each; the pod "web" has VF 1 of the first one. */
function report(isHolding = true, known = true): HeldVfs {
  const pf = (pciAddress: string, at: number): InterfaceStatus => ({
    pciAddress,
    Vfs: [0, 1].map((vfID) => {
      const isHeld = at === 0 && vfID === 1 && isHolding;
      const vf = { vfID, pciAddress: `0000:3b:0${at + 2}.${vfID}`, driver: "iavf" };
      return isHeld ? { ...vf, holder } : { ...vf, name: `v${vfID}` };
    }),
  });
  return { interfaces: [pf(x, 0), pf(y, 1)], holders: { known } };
}

function setUp() {
  const node = {
    nowMs: 0,
    offered: [] as readonly string[] | "no answer",
    held: { "0000:3b:02.1": ["web"] } as Readonly<Record<string, readonly string[]>>,
    isNewKubelet: false,
    found: report(),
    prepare: (vfs = all) => withheld.prepare(vfs, node.found, never),
    nextMs: () => withheld.nextChangeMs(),
  };
  const withheld = createWithheldVfs({
    kubelet: {
      readOffered: () => Promise.resolve(node.offered === "no answer" ? err("no answer") : ok(new Set(node.offered))),
      readHolders(): Promise<Result<HoldersAnswer, string>> {
        const { namespace, via, resource } = holder;
        const pods = (names: readonly string[]) => names.map((name) => ({ namespace, name, via, resource }));
        const byId = new Map(Object.entries(node.held).map(([id, names]) => [id, pods(names)]));
        return Promise.resolve(ok({ byId, isNewKubelet: node.isNewKubelet }));
      },
    },
    nowMs: () => node.nowMs,
  });
  return node;
}

describe("a drain of single VFs", () => {
  it("is ready when these VFs are not offered, and all pods that have them are reported", async () => {
    const node = setUp();
    node.offered = ["0000:3b:03.0", "0000:3b:03.1"]; // of the other PF
    expect([await node.prepare(), node.nextMs()]).toEqual(["ready", undefined]);
  });

  it("waits while a VF of it is offered", async () => {
    const node = setUp();
    node.offered = ["0000:3b:02.0"];
    expect([await node.prepare(), node.nextMs()]).toEqual(["wait", 1_000]);
    expect(await node.prepare(new Map([[x, new Set([1])]]))).toBe("ready");
  });

  it.each([
    ["a pod got a VF after the report", { held: { "0000:3b:02.0": ["late"], "0000:3b:02.1": ["web"] } }],
    ["two pods have the VF", { held: { "0000:3b:02.1": ["web", "second"] } }],
    ["the kubelet has just started", { isNewKubelet: true }],
    ["the holders in the report are not known", { held: {}, found: report(false, false) }],
  ])("waits while %s", async (_when, change) => {
    const node = Object.assign(setUp(), change);
    expect(await node.prepare()).toBe("wait");
  });

  it("becomes one of the node if the wait does not end", async () => {
    const node = setUp();
    node.offered = ["0000:3b:02.0"];
    expect(await node.prepare()).toBe("wait");
    node.nowMs = 44_999;
    expect(await node.prepare()).toBe("wait");
    node.nowMs = 45_000;
    expect([await node.prepare(), node.nextMs()]).toEqual(["impossible", undefined]);
    expect(await node.prepare(new Map([[x, new Set([0])]]))).toBe("wait"); // another drain
  });

  it.each([
    ["the kubelet does not answer", { offered: "no answer" as const }],
    ["the daemon cannot ask it", { found: { interfaces: report().interfaces } }],
    ["the PF itself is offered, for AF_XDP", { offered: [x] }],
    ["a pod has the PF itself", { held: { [x]: ["web"] } }],
  ])("becomes one of the node at once if %s", async (_when, change) => {
    const node = Object.assign(setUp(), change);
    expect([await node.prepare(), node.nextMs()]).toEqual(["impossible", undefined]);
  });

  it("is ready if a pod of the report has ended meanwhile", async () => {
    const node = setUp();
    node.held = {};
    expect(await node.prepare()).toBe("ready");
  });
});
