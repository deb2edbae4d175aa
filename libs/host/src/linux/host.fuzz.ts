// SPDX-License-Identifier: Apache-2.0
/** Texts of the host's files and programs, messages of D-Bus, and config drives. */
import { catchDocumented, type FuzzTarget } from "@switchyard/testing/fuzz";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { HostError } from "../calls/host-error.ts";
import { bootLoaders } from "./boot/boot-loaders.ts";
import { readGrubEntries } from "./boot/grub-config.ts";
import { encodeCall, takeMessage } from "./dbus/message.ts";
import { parseMstconfigQuery } from "./firmware/mstconfig-output.ts";
import { parsePrivilege } from "./firmware/mstprivhost.ts";
import { formatAfxdpRecord, parseAfxdpDevice, parseAfxdpRecord } from "./records/afxdp-record-file.ts";
import { formatPfRecord, parsePfRecord } from "./records/pf-record-file.ts";
import { IsoError, readIsoFile } from "./system/linux-config-drive.ts";
import { readPf } from "./system/read-pci-functions.ts";
import { parseMountInfo } from "./upstream-plugin/leftovers-on-linux.ts";
import {
  formatUpstreamDevice,
  parsePluginMount,
  parsePluginSocket,
  parseUpstreamDevice,
} from "./upstream-plugin/upstream-device-record.ts";

const testdata = (name: string): Buffer => readFileSync(join(process.cwd(), "libs/host/src/linux/testdata", name));
const running = ["BOOT_IMAGE=/vmlinuz", "root=UUID=7"];
const pf = "0000:3b:00.0";

/** Records are written again as they were read. */
function readRecords(text: string): void {
  const pfRecord = parsePfRecord(text);
  if (pfRecord.ok && !parsePfRecord(formatPfRecord(pfRecord.value)).ok) throw new Error("a PF record is not read back");
  const afxdp = parseAfxdpRecord(text);
  if (afxdp.ok && !parseAfxdpRecord(formatAfxdpRecord(afxdp.value)).ok)
    throw new Error("an AF_XDP record is not read back");
  const device = parseUpstreamDevice(text);
  if (device !== undefined && parseUpstreamDevice(formatUpstreamDevice(device)) === undefined)
    throw new Error("a record of upstream's device is not read back");
  for (const parse of [parseAfxdpDevice, parsePluginMount, parsePluginSocket]) {
    const name = parse(text);
    if (name !== undefined && /[/\0]|^\.\.?$/.test(name)) throw new Error("a name is a path");
  }
}

async function readBootTexts(text: string): Promise<void> {
  readGrubEntries(text, running);
  const files = { readText: () => Promise.resolve(text) } as never;
  const tools = { files, run: () => Promise.resolve(text), readRunning: () => Promise.resolve(running) };
  for (const loader of Object.values(bootLoaders)) await loader.read(tools);
}

function readMessages(input: Buffer): void {
  let rest = input;
  for (let taken = takeMessage(rest); taken !== undefined; taken = takeMessage(rest)) {
    if (taken.rest.length >= rest.length) throw new RangeError("a message without bytes");
    rest = taken.rest;
  }
}

/** decodeValues documents Error, without a class of its own: neither RangeError of the stack nor TypeError. */
function isPlainError(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error;
}

/** Before the descriptors, and not read. */
const reservedBytes = 32 * 1024;

async function readImage(input: Buffer): Promise<void> {
  const image = Buffer.concat([Buffer.alloc(reservedBytes), input]);
  const read = (offset: number, length: number): Promise<Buffer> =>
    Promise.resolve(image.subarray(offset, offset + length));
  for (const path of ["openstack/latest/meta_data.json", "openstack/latest/network_data.json"]) {
    try {
      await readIsoFile(read, path);
    } catch (error) {
      if (!(error instanceof IsoError)) throw error;
    }
  }
}

let devices = "";

/** Each line is the content of one attribute. */
async function readAttributes(input: Buffer): Promise<void> {
  devices ||= mkdtempSync(join(tmpdir(), "switchyard-fuzz-"));
  mkdirSync(join(devices, pf), { recursive: true });
  const lines = input.toString("latin1").split("\n");
  const names = ["sriov_totalvfs", "sriov_numvfs", "vendor", "device", "numa_node", "class"];
  for (const [nth, name] of names.entries()) writeFileSync(join(devices, pf, name), lines[nth] ?? "", "latin1");
  try {
    const read = await readPf(devices, pf as never);
    const count = read?.sriov?.numVfs ?? 0;
    if (!Number.isInteger(count) || count < 0 || count > 0xffff)
      throw new RangeError("a number of VFs is out of range");
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
}

const record = {
  ...{
    pciAddress: pf,
    numVfs: 4,
    mtu: 1500,
    name: "ens1",
    vfGroups: [{ resourceName: "a", vfRange: "0-3", mtu: 9000 }],
  },
  switchyard: {
    initial: { mtu: 1500, eSwitchMode: "legacy" },
    names: ["a"],
    firmware: {},
    guids: { "0": "a" },
    unassignedMacs: [1],
  },
};
const afxdp = {
  spec: { mode: "primary", poolName: "fast", pciAddress: pf },
  initial: { mtu: 1500 },
  subfunctions: [1],
  names: ["a"],
};
const grubby =
  'index=0\nkernel="/boot/vmlinuz-6"\nargs="ro quiet"\nroot="UUID=7"\ntitle="Fedora"\nindex=1\nnon linux entry\n';
const mounts =
  "36 35 98:0 /mnt1 /run/afxdp_dp/fast/01234567-0123-0123-0123-0123456789ab rw,noatime master:1 - bpf bpf rw\n";

export const targets: readonly FuzzTarget[] = [
  {
    name: "mstconfig",
    seeds: [testdata("mstconfig-connectx5.txt"), "level : RESTRICTED\n"],
    run(input) {
      parseMstconfigQuery(input.toString("utf8"));
      parsePrivilege(input.toString("utf8"));
    },
  },
  {
    name: "boot-loaders",
    seeds: [
      testdata("grub-efi.cfg").subarray(0, 8_000),
      testdata("grub-bios.cfg").subarray(-6_000),
      grubby,
      "\tlinux /v a=b\n",
    ],
    run: (input) => readBootTexts(input.toString("utf8")),
  },
  {
    name: "host-records",
    seeds: [
      ...[record, afxdp].map((each) => JSON.stringify(each)),
      JSON.stringify({ device: "ens7", bootId: "a", names: ["ens7"], pools: ["fast"], programBefore: 7 }),
      "/run/afxdp_dp/fast/01234567-0123-0123-0123-0123456789ab",
    ],
    run: (input) => {
      readRecords(input.toString("utf8"));
    },
  },
  { name: "mountinfo", seeds: [mounts], run: (input) => void parseMountInfo(input.toString("utf8")) },
  {
    name: "dbus",
    seeds: [
      encodeCall(1, {
        destination: "a.b",
        path: "/",
        interface: "a.b",
        member: "M",
        signature: "sasa(sv)b",
        body: ["x", ["a"], [["k", { signature: "u", value: 1 }]], true],
      }),
    ],
    run(input) {
      catchDocumented(() => {
        readMessages(input);
      }, isPlainError);
    },
  },
  {
    name: "config-drive",
    seeds: [gunzipSync(testdata("config-drive.iso.gz")).subarray(reservedBytes, reservedBytes + 48 * 1024)],
    run: readImage,
  },
  {
    name: "sysfs",
    seeds: ["8\n4\n0x8086\n0x1572\n-1\n0x020000", "64\n-1\n0x15b3\n0x101d\n0\n0x020700"],
    run: readAttributes,
  },
];
