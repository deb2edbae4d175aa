// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isOwnBootFile, type AfxdpInterfaceSpec } from "@switchyard/api";
import fc from "fast-check";
import { parse } from "yaml";
import { formatAfxdpBootConfig, parseAfxdpBootConfig } from "./afxdp-boot-config.ts";

const pciAddress = "0000:86:00.0";
const interfaces: readonly AfxdpInterfaceSpec[] = [
  {
    pciAddress,
    name: "ens1f0",
    mode: "subfunction",
    poolName: "fast",
    policyName: "p",
    numSfs: 4,
    mtu: 9000,
    queues: 2,
  },
  { name: "veth10", mode: "primary", poolName: "kind" },
];
const fileOf = (entries: unknown) => JSON.stringify({ interfaces: entries });

function read(text: string) {
  const parsed = parseAfxdpBootConfig(text);
  return parsed.ok ? parsed.value : parsed.error;
}

describe("parseAfxdpBootConfig", () => {
  it("reads what formatAfxdpBootConfig writes, which is YAML, too", () => {
    const text = formatAfxdpBootConfig(interfaces);
    expect(read(text)).toEqual({ interfaces, problems: [] });
    expect(parse(text)).toEqual({ interfaces });
    expect(isOwnBootFile(text)).toBe(true);
  });

  it.each([
    { entry: 7, problem: " is not the spec of an interface" },
    { entry: { ...interfaces[0], mtu: "9000" }, problem: " is not the spec of an interface" },
    { entry: { mode: "primary", poolName: "a" }, problem: " has neither a PCI address nor the name of an interface" },
    {
      entry: { ...interfaces[0], pciAddress: "../pci" },
      problem: " has neither a PCI address nor the name of an interface",
    },
    { entry: { ...interfaces[0], numSfs: 1e9 }, problem: ".numSfs is not a whole number from 0 to 1024" },
    { entry: { ...interfaces[0], mtu: -1 }, problem: ".mtu is not a whole number from 0 to 65535" },
    { entry: { ...interfaces[0], queues: 1.5 }, problem: ".queues is not a whole number from 0 to 1024" },
  ])("leaves out an entry that$problem, and keeps the others", ({ entry, problem }) => {
    expect(read(fileOf([entry, interfaces[1]]))).toEqual({
      interfaces: [interfaces[1]],
      problems: [`interfaces[0]${problem}`],
    });
  });

  it.each([
    { text: "", error: "the file is not valid JSON" },
    { text: "# only a header", error: "the file is not valid JSON" },
    { text: "[]", error: "the file has no list of interfaces" },
    { text: fileOf({}), error: "the file has no list of interfaces" },
    { text: fileOf(Array(1025).fill(0)), error: "the file has 1025 interfaces; at most 1024 are allowed" },
  ])("answers $error", ({ text, error }) => {
    expect(read(text)).toBe(error);
  });

  it("never throws, and returns only entries with a valid device, whatever the file contains", () => {
    const entry = fc.record(
      {
        mode: fc.constantFrom("primary", "x"),
        poolName: fc.string(),
        pciAddress: fc.constantFrom(pciAddress, "/"),
        numSfs: fc.oneof(fc.integer(), fc.double()),
        mtu: fc.anything(),
      },
      { requiredKeys: [] },
    );
    const text = fc.oneof(fc.string(), fc.json(), fc.array(fc.oneof(entry, fc.jsonValue())).map(fileOf));
    fc.assert(
      fc.property(text, (content) => {
        const parsed = parseAfxdpBootConfig(content);
        for (const one of parsed.ok ? parsed.value.interfaces : []) {
          expect(one.numSfs ?? 0).toBeLessThanOrEqual(1024);
          expect([pciAddress, undefined]).toContain(one.pciAddress);
        }
      }),
    );
  });
});
