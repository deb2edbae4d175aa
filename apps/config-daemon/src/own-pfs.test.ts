// SPDX-License-Identifier: Apache-2.0
/**
 * Upstream's files on a host: its records are read as they are, nothing is written where nothing changes, and what we
 * write upstream's daemon could read again.
 */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { InterfaceSpec } from "@switchyard/api";
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

/** As Go writes them: one line, keys in the order of the struct (sriov-operator.md F.7). */
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

/** All files of the host by path. */
async function filesOf(directory: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = paths.map(async (path) => [path.slice(directory.length + 1), await readFile(path, "utf8")] as const);
  return Object.fromEntries(await Promise.all(texts));
}

describe("the files that upstream leaves on a host", () => {
  it("tell what is ours to reset, and what somebody else made", async () => {
    const found = await records.list();
    expect(unreadable).toEqual([]);
    expect(found.get(pci("0000:3b:00.0"))).toEqual({ spec });
    expect(found.get(pci("0000:5e:00.1"))?.spec.externallyManaged).toBe(true);
  });

  it("stay as they are, byte by byte, where the spec is what it was", async () => {
    const wanted = [spec];
    expect(await ownPfs({ records }, wanted, [{ pciAddress: spec.pciAddress, mtu: 9000 }])).toBe(false);
    expect(await filesOf(root)).toEqual(files);
  });

  it("are still upstream's to read where the spec has changed, and no other file is touched", async () => {
    const changed = { ...spec, numVfs: 8 };
    expect(await ownPfs({ records }, [changed], [{ pciAddress: spec.pciAddress, mtu: 9000 }])).toBe(true);
    const { "etc/sriov-operator/pci/0000:3b:00.0": record = "", ...others } = await filesOf(root);
    const { "etc/sriov-operator/pci/0000:3b:00.0": _, ...untouched } = files;
    expect(others).toEqual(untouched);
    expect(JSON.parse(record)).toEqual(changed); // what the PF was like before is not known, and not made up
  });

  it("get one for a PF that is new to us, whose key of ours Go passes over", async () => {
    const other = { pciAddress: "0000:3b:00.1", numVfs: 2 };
    expect(await ownPfs({ records }, [other], [{ pciAddress: other.pciAddress, mtu: 1500 }])).toBe(true);
    const { "etc/sriov-operator/pci/0000:3b:00.1": record = "", ...others } = await filesOf(root);
    expect(others).toEqual(files);
    expect(JSON.parse(record)).toEqual({ ...other, switchyard: { initial: { mtu: 1500 } } });
  });
});
