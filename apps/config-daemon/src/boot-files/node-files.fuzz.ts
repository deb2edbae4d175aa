// SPDX-License-Identifier: Apache-2.0
/** Files of the node and metadata of clouds that the config daemon reads. */
import { FuzzFinding, requireEqual, type FuzzTarget } from "@switchyard/testing/fuzz";
import { parseGuidPool } from "../guids/guid-pool.ts";
import { parseManagedBridges } from "../upstream/managed-ovs-bridges.ts";
import { MetadataError } from "../virtual/fetch-text.ts";
import { formatKnownNics, parseKnownNics } from "../virtual/known-nics.ts";
import { cloudNicsOf } from "../virtual/openstack.ts";
import { formatAfxdpBootConfig, parseAfxdpBootConfig } from "./afxdp-boot-config.ts";
import { digestOf, formatBootConfig, parseBootConfig } from "./boot-config.ts";
import { parseBootResult } from "./boot-result.ts";

/** What is written from a config is read as the same config, also where parts were left out. */
async function readBootConfig(text: string): Promise<void> {
  digestOf(text);
  const read = await parseBootConfig(text);
  if (!read.ok) return;
  const written = await parseBootConfig(formatBootConfig(read.value));
  if (!written.ok) throw new FuzzFinding(`a boot config that was written is refused: ${written.error}`);
  requireEqual(
    "a boot config, and what is read of what was written",
    plain(written.value.spec),
    plain(read.value.spec),
  );
}

/** JSON has neither -0 nor undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function readAfxdpBootConfig(text: string): void {
  const read = parseAfxdpBootConfig(text);
  if (!read.ok) return;
  const written = parseAfxdpBootConfig(formatAfxdpBootConfig(read.value.interfaces));
  if (!written.ok || written.value.problems.length > 0)
    throw new FuzzFinding("a boot config that was written is refused");
  requireEqual(
    "a boot config, and what is read of what was written",
    plain(written.value.interfaces),
    plain(read.value.interfaces),
  );
}

/** Two documents, one in each line: meta_data.json and network_data.json. */
function readMetadata(text: string): void {
  let data: readonly unknown[];
  try {
    data = text.split("\n").map((line) => JSON.parse(line) as unknown);
  } catch {
    return; // parseJson of openstack.ts refuses it
  }
  try {
    const nics = cloudNicsOf(data[0], data[1]);
    if (nics.some(({ netFilter }) => !/^openstack\/NetworkID:[\w-]{1,64}$/.test(netFilter)))
      throw new FuzzFinding("a net filter is not one");
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error;
  }
}

const spec = {
  interfaces: [
    {
      ...{ pciAddress: "0000:3b:00.0", numVfs: 4, mtu: 1500, name: "ens1f0", linkType: "ETH", eSwitchMode: "legacy" },
      vfGroups: [{ resourceName: "fast", deviceType: "netdevice", vfRange: "0-3", policyName: "p", mtu: 1500 }],
    },
  ],
  bridges: {
    ovs: [
      {
        name: "br-0000_3b_00.0",
        bridge: { externalIDs: { a: "b" } },
        uplinks: [{ pciAddress: "0000:3b:00.0", name: "ens1f0" }],
      },
    ],
  },
};
const upstream = `spec:
  interfaces:
  - pciaddress: 0000:3b:00.0
    numvfs: 4
    name: ens1f0
    vfgroups: [{resourcename: fast, devicetype: netdevice, vfrange: 0-3}]
unsupportedNics: true
platformType: 0
manageSoftwareBridges: true
ovsdbSocketPath: unix:///var/run/openvswitch/db.sock
`;
const metadata = [
  { devices: [{ mac: "fa:16:3e:00:00:01", address: "0000:00:04.0" }] },
  {
    links: [{ id: "a", ethernet_mac_address: "fa:16:3e:00:00:01" }],
    networks: [{ link: "a", network_id: "2e40d2a3-1" }],
  },
];

export const targets: readonly FuzzTarget[] = [
  {
    name: "boot-configs",
    seeds: [formatBootConfig({ spec, maxPfs: 8, ovsdbAddress: undefined } as never), upstream, "spec: &a {x: [*a]}\n"],
    run: (input) => readBootConfig(input.toString("utf8")),
  },
  {
    name: "node-files",
    seeds: [
      formatAfxdpBootConfig([
        { mode: "subfunction", poolName: "fast", pciAddress: "0000:3b:00.0", numSfs: 2, mtu: 1500, queues: 4 } as never,
      ]),
      '[{"pciAddress":"0000:3b:00.0","guids":["00:01:02:03:04:05:06:07"]},{"pfGuid":"00:01:02:03:04:05:06:08","guidsRange":{"start":"00:01:02:03:04:05:06:09","end":"00:01:02:03:04:05:06:10"}}]',
      '{"br-0000_3b_00.0":{"uplinks":[{"name":"ens1f0","interface":{}}],"bridge":{"externalIDs":{"a":"b"}}},"x":1}',
      formatKnownNics([
        { pciAddress: "0000:00:04.0", mac: "fa:16:3e:00:00:01", netFilter: "openstack/NetworkID:1" } as never,
      ]),
      "phase: pre\nsyncStatus: Succeeded\nlastSyncError: a\n",
    ],
    run(input) {
      const text = input.toString("utf8");
      readAfxdpBootConfig(text);
      for (const parse of [parseBootResult, parseGuidPool, parseManagedBridges, parseKnownNics]) parse(text);
    },
  },
  {
    name: "cloud-metadata",
    seeds: [metadata.map((each) => JSON.stringify(each)).join("\n")],
    run: (input) => {
      readMetadata(input.toString("utf8"));
    },
  },
];
