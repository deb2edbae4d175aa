// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel, igb, pci } from "@switchyard/host/testing";
import { afxdpOn } from "../../testing/afxdp-on.ts";
import { createRecentUses, unusedMs } from "./recent-uses.ts";

const free = { pciAddress: "0000:01:00.0", name: "eno1", driver: "igb" };
const used = { ...free, usedBy: ["default route"] };
const recent = { ...free, usedBy: ["default route until less than a minute ago"] };

function uses() {
  let now = 0;
  const recentUses = createRecentUses(() => now);
  return { ...recentUses, pass: (ms: number) => (now += ms) };
}

describe("a device that the host has just stopped to use", () => {
  it("counts as used for a minute after the first observation without the use", () => {
    const { keep, pass, nextEndMs } = uses();
    expect(keep([used], [])).toEqual([used]);
    expect(nextEndMs()).toBeUndefined();
    pass(5 * unusedMs);
    expect(keep([free], [used])).toEqual([recent]);
    pass(20_000);
    expect(keep([free], [recent])).toEqual([recent]);
    expect(nextEndMs()).toBe(unusedMs - 20_000);
    pass(unusedMs - 20_000);
    expect(keep([free], [recent])).toEqual([free]);
    expect(nextEndMs()).toBeUndefined();
  });

  it("waits for a minute again after each return of the use", () => {
    const { keep, pass } = uses();
    keep([used], []);
    keep([free], [used]);
    pass(unusedMs - 1);
    expect(keep([free], [used])).toEqual([recent]);
    keep([used], [recent]);
    keep([free], [used]);
    pass(unusedMs - 1);
    expect(keep([free], [used])).toEqual([recent]);
  });

  it("waits for a minute from the start of a daemon that finds the use in the last report only", () => {
    for (const before of [used, recent]) {
      const { keep, pass } = uses();
      pass(unusedMs); // a clock that has run for long
      expect(keep([free], [before])).toEqual([recent]);
      pass(unusedMs);
      expect(keep([free], [recent])).toEqual([free]);
    }
  });

  it("does not wait if it was never used, or if a pod has it", () => {
    const { keep } = uses();
    expect(keep([free], [free])).toEqual([free]);
    const inPod = { pciAddress: free.pciAddress, driver: "igb", owned: true };
    keep([used], []);
    expect(keep([inPod], [used])).toEqual([inPod]);
  });

  it("is not written to in this time, although the spec has it, and is configured afterwards", async () => {
    const pf = pci("0000:01:00.0");
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0", { ports: 1 })] });
    const name = (await kernel.host().sriov.readPf(pf))?.netdevs[0] ?? "";
    const { pass, ...recentUses } = uses();
    const daemon = afxdpOn(kernel.host(), { recentUses });
    kernel.addLinkByHand("bond0", "bond");
    kernel.setMasterByHand(name, "bond0");
    await daemon.pass({});
    kernel.setMasterByHand(name, undefined);
    const spec = { interfaces: [{ pciAddress: pf, mode: "primary", poolName: "fast", mtu: 1600 }] } as const;
    await daemon.pass(spec);
    expect(daemon.error()).toContain(
      `${pf} is not changed: the host uses it: port of bond bond0 until less than a minute ago`,
    );
    expect(kernel.writes).toEqual([]);
    pass(unusedMs);
    expect([await daemon.pass(spec), daemon.error()]).toEqual(["settled", ""]);
    expect((await kernel.host().links.listLinks()).find((link) => link.name === name)?.mtu).toBe(1600);
  });
});
