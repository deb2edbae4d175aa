// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AfxdpRecord } from "../ports/records.ts";
import { formatAfxdpRecord, parseAfxdpRecord } from "./records/afxdp-record-file.ts";
import { createLinuxAfxdpRecords } from "./records/linux-records.ts";
import type { UnreadableRecord } from "./records/record-directory.ts";

const pf = "0000:86:00.0";
const ofPf: AfxdpRecord = {
  spec: { pciAddress: pf, name: "ens1f0", mode: "subfunction", poolName: "fast", numSfs: 2, queues: 4, mtu: 9000 },
  initial: { mtu: 1500, queues: 8, eSwitchMode: "legacy" },
  subfunctions: [1000, 1001],
  macs: { 1000: "02:00:00:00:10:00" },
  names: ["ens1f0", "enp134s0f0"],
  card: "15b3:1017",
  permanentMac: "02:00:00:00:00:01",
  replacedCard: "8086:1592",
};
const ofVeth: AfxdpRecord = { spec: { name: "veth10", mode: "primary", poolName: "kind" } };

let root: string;
let directory: string;
const unreadable: UnreadableRecord[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "records-"));
  directory = join(root, "etc/sriov-operator/afxdp");
  unreadable.length = 0;
});
afterEach(() => rm(root, { recursive: true }));

const open = () => createLinuxAfxdpRecords(root, { onUnreadable: (file) => unreadable.push(file) });

describe("createLinuxAfxdpRecords", () => {
  it("saves, replaces and removes records of devices with and without PCI address", async () => {
    const records = open();
    await expect(records.list()).resolves.toEqual(new Map());
    await records.remove(pf);
    await records.save(pf, { ...ofPf, subfunctions: [] });
    await records.save(pf, ofPf);
    await records.save("veth10", ofVeth);
    await expect(open().list()).resolves.toEqual(new Map([[pf, ofPf], ["veth10", ofVeth]])); // prettier-ignore
    await records.remove(pf);
    expect(await readdir(directory)).toEqual(["veth10"]);
  });

  it.each(["", ".", "..", "../pci", "a/b", "a b", "a\0", "a:b", "x".repeat(16)])(
    "refuses %j, which is no device, and touches no file",
    async (device) => {
      for (const act of [open().save(device, ofVeth), open().remove(device)])
        await expect(act).rejects.toMatchObject({ name: "HostError", code: "EINVAL" });
    },
  );

  it("reports files that are no records, and records of another device, and keeps them", async () => {
    const records = open();
    await records.save("veth10", ofVeth);
    await writeFile(join(directory, "veth12"), formatAfxdpRecord(ofVeth));
    await writeFile(join(directory, "veth14"), "{");
    await writeFile(join(directory, "veth16"), "{}");
    await expect(records.list()).resolves.toEqual(new Map([["veth10", ofVeth]]));
    expect(unreadable.map(({ path, reason }) => [path.split("/").at(-1), reason])).toEqual([
      ["veth12", "not-a-record"],
      ["veth14", "not-json"],
      ["veth16", "not-a-record"],
    ]);
    expect(await readdir(directory)).toHaveLength(4);
  });
});

describe("parseAfxdpRecord", () => {
  it("takes any JSON: a record, which stays what it is, or a problem", () => {
    const spec = fc.record(
      { mode: fc.constantFrom("primary", 1), poolName: fc.constantFrom("p", 2), mtu: fc.anything() },
      { requiredKeys: [] },
    );
    const value = fc.record(
      {
        spec,
        initial: fc.anything(),
        subfunctions: fc.oneof(fc.array(fc.nat()), fc.anything()),
        names: fc.anything(),
        macs: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(value, (json) => {
        const text = JSON.stringify(json);
        const record = parseAfxdpRecord(text);
        if (record.ok) expect(record.value).toEqual(JSON.parse(text));
        else expect(record.error.code).toBe("not-a-record");
      }),
    );
  });
});
