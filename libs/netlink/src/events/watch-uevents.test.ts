// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseUevent } from "./kernel-events.ts";

// Captured when igbvf was bound to a VF (Linux 6.12.117, QEMU 10 igb, 2026-11-20).
const bound = [
  "bind@/devices/pci0000:00/0000:00:01.0/0000:01:10.0",
  "ACTION=bind",
  "DEVPATH=/devices/pci0000:00/0000:00:01.0/0000:01:10.0",
  "SUBSYSTEM=pci",
  "DRIVER=igbvf",
  "PCI_CLASS=20000",
  "PCI_ID=8086:10CA",
  "PCI_SUBSYS_ID=1AF4:1100",
  "PCI_SLOT_NAME=0000:01:10.0",
  "MODALIAS=pci:v00008086d000010CAsv00001AF4sd00001100bc02sc00i00",
  "SEQNUM=844",
];
const encode = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\0`).join(""));

describe("parseUevent", () => {
  it("parses a uevent of the kernel", () => {
    const { variable, ...uevent } = parseUevent(encode(bound));
    const devpath = "/devices/pci0000:00/0000:00:01.0/0000:01:10.0";
    expect(uevent).toEqual({ action: "bind", devpath, subsystem: "pci" });
    expect(variable("PCI_SLOT_NAME")).toBe("0000:01:10.0");
    expect(variable("DRIVER")).toBe("igbvf");
    expect(variable("SLOT_NAME")).toBeUndefined();
  });

  it("splits a variable at the first equals sign", () => {
    const { variable } = parseUevent(encode(["a@b", "ACTION=a", "DEVPATH=b", "X=y=z"]));
    expect(variable("X")).toBe("y=z");
  });

  it.each([
    { does: "an empty datagram", lines: [] },
    { does: "the format of udev", lines: ["libudev", "ACTION=add", "DEVPATH=/x"] },
    { does: "a header alone", lines: ["add@/devices/x"] },
  ])("throws for $does", ({ lines }) => {
    expect(() => parseUevent(encode(lines))).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});
