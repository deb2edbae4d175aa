// SPDX-License-Identifier: Apache-2.0
/**
 * Tests with the records of the Go operator: the daemon reads them, does not write them without a change, and writes records
 * that the Go operator can read.
 */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { defined, type InterfaceSpec, type InterfaceStatus } from "@switchyard/api";
import { createLinuxPfRecords, type PfRecords } from "@switchyard/host";
import { pci } from "@switchyard/host/testing";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ownPfs } from "./own-pfs.ts";

const spec: InterfaceSpec = {
  pciAddress: "0000:3b:00.0",
  numVfs: 12,
  mtu: 9000,
  name: "enp59s0f0np0",
  linkType: "eth",
  vfGroups: [
    {
      resourceName: "rdma",
      deviceType: "netdevice",
      vfRange: "0-11",
      policyName: "rdma-100g",
      mtu: 9000,
      isRdma: true,
    },
  ],
};

/** JSON as Go writes it: one line, keys in the order of the struct (sriov-operator.md F.7). */
const files: Readonly<Record<string, string>> = {
  "etc/sriov-operator/pci/0000:3b:00.0": JSON.stringify(spec),
  "etc/sriov-operator/pci/0000:5e:00.1":
    '{"pciAddress":"0000:5e:00.1","numVfs":4,"name":"enp94s0f1","vfGroups":[{"resourceName":"external",' +
    '"deviceType":"netdevice","vfRange":"0-3","policyName":"external-25g"}],"externallyManaged":true}',
  "etc/sriov-operator/managed-ovs-bridges.json": "{}",
  "etc/udev/disable-nm-sriov.sh": "#!/bin/bash\n",
  "etc/udev/rules.d/10-nm-disable-0000:3b:00.0.rules": 'SUBSYSTEM=="net", ACTION=="add|change|move"\n',
  "etc/modprobe.d/sriov_network_operator_modules_config.conf": "options ib_core netns_mode=1\n",
  "tmp/sno-initial-node-state.json": '{"kind":"SriovNetworkNodeState"}',
};

const model = { vendor: "15b3", deviceID: "1017" };

let root: string;
let records: PfRecords;
const unreadable: string[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "switchyard-host-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  unreadable.length = 0;
  records = createLinuxPfRecords(root, { onUnreadable: ({ path }) => void unreadable.push(path) });
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

/** Records the PFs that an observation has found. */
async function ownFound(wanted: readonly InterfaceSpec[], interfaces: readonly InterfaceStatus[]): Promise<boolean> {
  return ownPfs({ records }, wanted, {
    interfaces,
    records: await records.list(),
    changesVfs: () => false,
    macsToAssign: () => [],
    initialVfsOf: () => undefined,
  });
}

/** Returns all files of the host by path. */
async function filesOf(directory: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = paths.map(async (path) => [path.slice(directory.length + 1), await readFile(path, "utf8")] as const);
  return Object.fromEntries(await Promise.all(texts));
}

describe("the records that upstream leaves on a host", () => {
  it("show which PFs are owned, and which are externally managed", async () => {
    const found = await records.list();
    expect(unreadable).toEqual([]);
    expect(found.get(pci("0000:3b:00.0"))).toEqual({ spec });
    expect(found.get(pci("0000:5e:00.1"))?.spec.externallyManaged).toBe(true);
  });

  it("stay unchanged if the spec is unchanged", async () => {
    const wanted = [spec];
    expect(await ownFound(wanted, [{ pciAddress: spec.pciAddress, mtu: 9000 }])).toBe(false);
    expect(await filesOf(root)).toEqual(files);
  });

  it("can be read by upstream after the spec has changed", async () => {
    const changed = { ...spec, numVfs: 8 };
    const found = { pciAddress: spec.pciAddress, name: "eth7", vendor: "15b3", deviceID: "1017", mtu: 9000 };
    expect(await ownFound([changed], [found])).toBe(true);
    const { "etc/sriov-operator/pci/0000:3b:00.0": record = "", ...others } = await filesOf(root);
    const { "etc/sriov-operator/pci/0000:3b:00.0": _, ...untouched } = files;
    expect(others).toEqual(untouched);
    // The initial state of the PF is not known and stays absent. The name in upstream's record is kept.
    const own = { names: ["eth7", spec.name], card: "15b3:1017" };
    expect(JSON.parse(record)).toEqual({ ...changed, switchyard: own });
  });

  it("get a record of a new PF, whose additional key Go ignores", async () => {
    const other = { pciAddress: "0000:3b:00.1", numVfs: 2 };
    const found = { pciAddress: other.pciAddress, name: "ens1f1", altNames: ["storage1"], mtu: 1500, ...model };
    expect(await ownFound([other], [found])).toBe(true);
    const { "etc/sriov-operator/pci/0000:3b:00.1": record = "", ...others } = await filesOf(root);
    expect(others).toEqual(files);
    const names = ["ens1f1", "storage1"];
    expect(JSON.parse(record)).toEqual({ ...other, switchyard: { initial: { mtu: 1500 }, names, card: "15b3:1017" } });
  });
});

describe("the record of a PF", () => {
  const pf = { pciAddress: "0000:3b:00.1", numVfs: 2 };
  const as = (name: string | undefined, mtu = 1500, deviceID = "1017") => [
    { pciAddress: pf.pciAddress, ...defined({ name }), mtu, vendor: "15b3", deviceID },
  ];
  const recorded = async () => (await records.list()).get(pci(pf.pciAddress));

  it("keeps former names of the PF, also without an interface, up to a limit", async () => {
    await ownFound([pf], as("ens1f1"));
    await ownFound([pf], as("eth7"));
    await ownFound([pf], as(undefined));
    expect((await recorded())?.names).toEqual(["eth7", "ens1f1"]);
    for (let count = 0; count < 40; count++) await ownFound([pf], as(`eth${count}`));
    expect((await recorded())?.names).toHaveLength(16);
  });

  it("is created again for another card in the same slot", async () => {
    await ownFound([pf], as("ens1f1", 1400));
    await ownFound([pf], as("ens1f1", 9000, "1019"));
    expect(await recorded()).toMatchObject({ initial: { mtu: 9000 }, card: "15b3:1019" });
  });
});
