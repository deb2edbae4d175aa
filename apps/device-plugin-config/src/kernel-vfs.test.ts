// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel, igb, pci } from "@switchyard/host/testing";
import { readKernelVfs } from "./plugin-config.ts";

describe("readKernelVfs", () => {
  it("returns the VFs that exist, with their drivers", async () => {
    const { sriov, modules } = createFakeKernel({ nics: [igb("0000:01:00.0")] }).host();
    await modules.load("igbvf");
    const pf = pci("0000:01:00.0");
    await sriov.setNumVfs(pf, 2);
    const [first, second] = ((await sriov.readPf(pf))?.sriov?.vfs ?? []).map(({ pciAddress }) => pciAddress);
    await sriov.unbindDriver(second ?? pf);
    const vfs = await readKernelVfs(sriov, [first ?? "", second ?? "", "0000:7f:00.0"]);
    expect([...vfs].map(([address, { driver }]) => [address, driver])).toEqual([
      [first, "igbvf"],
      [second, undefined],
    ]);
  });

  it.each(["..", "../../../../etc", "", ".", "0000:01:10.0/driver", "x".repeat(10_000)])(
    "skips a text that is not a PCI address, case %#",
    async (text) => {
      const readBinding = () => Promise.reject(new Error("unexpected call"));
      expect((await readKernelVfs({ readBinding }, [text])).size).toBe(0);
    },
  );
});
