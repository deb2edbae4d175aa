// SPDX-License-Identifier: Apache-2.0
import { tmpdir } from "node:os";
import { describe, expect, it } from "@jest/globals";
import { labOf, machineFor } from "./machine-options.ts";

const lab = { image: { directory: "/cache/image", version: "6.12.9" } };
const machine = (options: Parameters<typeof machineFor>[0]) => machineFor(options, lab, "/tmp/initrd", "terminal");

describe("machineFor", () => {
  it("boots lab-init with igb by default", async () => {
    const { memoryMb, cpus, kernelArguments } = await machine({});
    expect({ memoryMb, cpus }).toEqual({ memoryMb: 2048, cpus: 2 });
    expect(kernelArguments).toEqual([
      "LAB_INIT=/usr/sbin/lab-init",
      "LAB_ROLE=shell",
      "LAB_UDEV=0 LAB_DRIVER=igb LAB_SHARE=0",
      "modprobe.blacklist=igbsw,igbvfsw",
    ]);
  });

  it("passes systemd, udev and a share to the guest", async () => {
    const { kernelArguments, share } = await machine({ boot: "systemd", udev: true, share: tmpdir() });
    expect(kernelArguments.join(" ")).toMatch(/LAB_INIT=\/usr\/lib\/systemd\/systemd .*LAB_UDEV=1 .*LAB_SHARE=1/);
    expect(share).toBe(tmpdir());
  });

  it.each([
    { why: "so much memory that igb fails its VFs", options: { memMb: 2049 } },
    { why: "a share that is not there", options: { share: "/no/such/directory" } },
    { why: "a virtio NIC without VFs", options: { virtioVfs: 0 } },
    { why: "more VFs than a virtio NIC has functions", options: { virtioVfs: 8 } },
  ])("refuses $why", async ({ options }) => {
    await expect(machine(options)).rejects.toMatchObject({ code: "bad-option" });
  });
});

describe("labOf", () => {
  it("has kernel 6.12 and the installed QEMU by default", () => {
    const plain = { kernel: "6.12", virtioVfs: false };
    expect(labOf({})).toEqual(plain);
    expect(labOf({ kernel: "backports" })).toEqual({ ...plain, kernel: "backports" });
    expect(labOf({ virtioVfs: 2 })).toEqual({ ...plain, virtioVfs: true });
  });

  it("refuses the test driver for a kernel that it is not built for", () => {
    expect(() => labOf({ kernel: "backports", driver: "igbsw" })).toThrow("igbsw exists for kernel 6.12 only");
  });
});
