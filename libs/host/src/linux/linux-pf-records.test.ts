// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxPfRecords } from "./records/linux-records.ts";
import type { UnreadableRecord } from "./records/record-directory.ts";
import type { PfRecord, PfRecords } from "../ports/records.ts";
import { pci } from "../testing/nic-models.ts";

const pf = pci("0000:01:00.0");
const other = pci("0000:01:00.1");
const record: PfRecord = {
  spec: {
    pciAddress: pf,
    name: "enp1s0f0",
    numVfs: 4,
    mtu: 9000,
    eSwitchMode: "legacy",
    vfGroups: [
      { resourceName: "nic", deviceType: "vfio-pci", vfRange: "0-3", policyName: "p", mtu: 9000, isRdma: false },
    ],
  },
  initial: { mtu: 1500, eSwitchMode: "legacy" },
};

let root: string;
let directory: string;
let unreadable: UnreadableRecord[];
let records: PfRecords;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "records-"));
  directory = join(root, "etc/sriov-operator/pci");
  unreadable = [];
  records = createLinuxPfRecords(root, { onUnreadable: (file) => unreadable.push(file) });
});

afterEach(() => rm(root, { recursive: true }));

describe("createLinuxPfRecords", () => {
  it("lists no records if none was ever saved", async () => {
    expect(await records.list()).toEqual(new Map());
    await records.remove(pf);
  });

  it("saves, replaces and removes records, and leaves no other files", async () => {
    await records.save(pf, record);
    await records.save(other, { spec: { pciAddress: other, numVfs: 2 } });
    await records.save(other, { spec: { pciAddress: other, numVfs: 3 } });
    expect(await records.list()).toEqual(
      new Map<string, PfRecord>([
        [pf, record],
        [other, { spec: { pciAddress: other, numVfs: 3 } }],
      ]),
    );
    await records.remove(pf);
    expect(await readdir(directory)).toEqual([other]);
  });

  it("writes upstream's keys at the top level, and its own key beside them", async () => {
    await records.save(pf, record);
    expect(JSON.parse(await readFile(join(directory, pf), "utf8"))).toEqual({
      ...record.spec,
      switchyard: { initial: record.initial },
    });
  });

  it("reads records of upstream", async () => {
    await mkdir(directory, { recursive: true });
    const upstreams = `{"pciAddress":"${pf}","numVfs":4,"name":"ens1f0","vfGroups":[{"resourceName":"a","vfRange":"0-3"}]}`;
    await writeFile(join(directory, pf), upstreams);
    expect((await records.list()).get(pf)).toEqual({
      spec: { pciAddress: pf, numVfs: 4, name: "ens1f0", vfGroups: [{ resourceName: "a", vfRange: "0-3" }] },
    });
  });

  it("reports files that are not records, and lists the others", async () => {
    await records.save(pf, record);
    const files = {
      "0000:02:00.0": "", // after a crash of upstream, which does not sync files
      "0000:02:00.1": '{"numVfs":4}',
      "0000:02:00.2": `{"pciAddress":"${pf}"}`,
      "0000:02:00.3": '{"pciAddress":"0000:02:00.3","switchyard":{"initial":{"mtu":"big"}}}',
      "0000:02:00.4": '{"pciAddress":"0000:02:00.4","vfGroups":[4]}',
      "0000:02:00.5": "[]",
      README: "not ours",
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    await mkdir(join(directory, "0000:02:00.6"));
    expect([...(await records.list()).keys()]).toEqual([pf]);
    expect(unreadable.map(({ path, reason }) => [path.slice(directory.length + 1), reason])).toEqual([
      ["0000:02:00.0", "not-json"],
      ["0000:02:00.1", "not-a-record"],
      ["0000:02:00.2", "not-a-record"],
      ["0000:02:00.3", "not-a-record"],
      ["0000:02:00.4", "not-a-record"],
      ["0000:02:00.5", "not-a-record"],
      ["0000:02:00.6", "not-a-record"],
    ]);
  });

  it("names the record that could not be saved, and the reason", async () => {
    await mkdir(join(root, "etc"));
    await writeFile(join(root, "etc/sriov-operator"), ""); // a file where the directory should be
    await expect(records.save(pf, record)).rejects.toMatchObject({
      name: "HostError",
      code: "ENOTDIR",
      message: expect.stringMatching(/^save record on 0000:01:00\.0: ENOTDIR \(.*\/etc\/sriov-operator/),
    });
  });

  it("keeps the old record if it cannot be replaced", async () => {
    await mkdir(join(directory, pf), { recursive: true }); // rename refuses to replace a directory
    await expect(records.save(pf, record)).rejects.toMatchObject({ code: "EISDIR" });
    expect(await readdir(directory)).toEqual([pf]);
  });
});
