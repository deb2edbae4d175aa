// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import fc from "fast-check";
import { stringify } from "yaml";
import { digestOf, formatBootConfig, parseBootConfig } from "./boot-config.ts";

/** The file of the Go operator, as yaml.v3 encodes its structures (sriov-operator.md F.7). Built by hand. */
const upstreams = `spec:
    interfaces:
        - pciaddress: 0000:3b:00.0
          numvfs: 4
          mtu: 9000
          name: ens1f0
          linktype: eth
          eswitchmode: switchdev
          vfgroups:
            - resourcename: fast
              devicetype: netdevice
              vfrange: 0-3
              policyname: fast
              mtu: 9000
              isrdma: true
              vdpatype: ""
          externallymanaged: false
    bridges:
        ovs:
            - name: br-0000_3b_00.0
              bridge:
                datapathtype: netdev
                externalids:
                    Owner-Name: me
                otherconfig: {}
              uplinks:
                - pciaddress: 0000:3b:00.0
                  name: ens1f0
                  interface:
                    type: dpdk
                    options:
                        dpdk-devargs: "0000:3b:00.0"
                    mturequest: null
    system:
        rdmamode: ""
unsupportedNics: false
platformType: 0
manageSoftwareBridges: true
ovsdbSocketPath: unix:///var/run/openvswitch/db.sock
`;

const noHostNetwork = { hostUse: {}, apiServerAddresses: [] };

async function read(text: string) {
  const parsed = await parseBootConfig(text);
  return parsed.ok ? parsed.value : parsed.error;
}

describe("parseBootConfig", () => {
  it("reads the file of the Go operator, whose keys are in lower case", async () => {
    expect(await read(upstreams)).toMatchObject({
      problems: [],
      spec: {
        interfaces: [
          {
            pciAddress: "0000:3b:00.0",
            numVfs: 4,
            name: "ens1f0",
            linkType: "eth",
            eSwitchMode: "switchdev",
            externallyManaged: false,
            vfGroups: [{ resourceName: "fast", vfRange: "0-3", mtu: 9000, isRdma: true, policyName: "fast" }],
          },
        ],
        bridges: {
          ovs: [
            {
              bridge: { datapathType: "netdev", externalIDs: { "Owner-Name": "me" } },
              uplinks: [{ interface: { type: "dpdk", options: { "dpdk-devargs": "0000:3b:00.0" } } }],
            },
          ],
        },
        system: { rdmaMode: "" },
      },
    });
  });

  it("reads what formatBootConfig writes, which a YAML parser reads alike", async () => {
    const spec: SriovNetworkNodeStateSpec = {
      interfaces: [{ pciAddress: "0000:01:00.0", numVfs: 2, eSwitchMode: "switchdev", vfGroups: [{ vfRange: "0-1" }] }],
      unselected: ["0000:01:00.1"],
      bridges: { linux: [{ name: "br0", uplinks: [{ pciAddress: "0000:01:00.0", uplink: { hairpin_mode: "1" } }] }] },
      system: { rdmaMode: "exclusive" },
    };
    const text = formatBootConfig({ spec, maxPfs: 4, ovsdbAddress: "/run/x.sock" });
    const ovsdbAddress = "unix:///run/x.sock";
    expect(await read(text)).toEqual({ spec, maxPfs: 4, ovsdbAddress, ...noHostNetwork, problems: [] });
    expect(await read(formatBootConfig({ spec }))).toEqual({ spec, ...noHostNetwork, problems: [] });
    expect(text).toMatch(/^# Written by .*\n\{\n {2}"spec": \{\n {4}"interfaces": \[\n {6}\{\n {8}"pciaddress"/);
    expect(digestOf(text)).toBe(digestOf(formatBootConfig({ spec, maxPfs: 4, ovsdbAddress: "/run/x.sock" })));
  });

  it("reads what the daemon knows about the host, which does not change what the file asks for", async () => {
    const spec: SriovNetworkNodeStateSpec = { interfaces: [{ pciAddress: "0000:01:00.0", numVfs: 2 }] };
    const facts = { hostUse: { "0000:01:00.0": ["default route"] }, apiServerAddresses: ["192.0.2.1", "2001:db8::1"] };
    const text = formatBootConfig({ spec, ...facts });
    expect(await read(text)).toEqual({ spec, ...facts, problems: [] });
    expect(digestOf(text)).toBe(digestOf(formatBootConfig({ spec })));
    expect(digestOf(text)).not.toBe(digestOf(formatBootConfig({ spec: {}, ...facts })));
  });

  it.each([
    {
      text: "hostUse: {'0000:01:00.0': [default route], '../x': [a], '0000:01:00.1': 7}",
      hostUse: { "0000:01:00.0": ["default route"] },
      problems: [
        'hostUse["../x"] is not a list of texts for a PCI address',
        'hostUse["0000:01:00.1"] is not a list of texts for a PCI address',
      ],
    },
    { text: "hostUse: []", hostUse: {}, problems: ["hostUse is not a mapping"] },
    {
      text: "apiServerAddresses: [192.0.2.1, api.example.com]",
      hostUse: {},
      problems: ["apiServerAddresses is not a list of IP addresses"],
    },
  ])("names what is not valid about the host in $text", async ({ text, hostUse, problems }) => {
    expect(await read(text)).toMatchObject({ hostUse, apiServerAddresses: [], problems });
  });

  it("reads the field names of the API, too", async () => {
    const text = "spec:\n  interfaces: [{pciAddress: '0000:01:00.0', numVfs: 2}]\n";
    expect(await read(text)).toMatchObject({ spec: { interfaces: [{ pciAddress: "0000:01:00.0", numVfs: 2 }] } });
  });

  it("leaves out a PF that is not valid and keeps the others", async () => {
    const text = "spec: {interfaces: [{pciaddress: 7}, {pciaddress: '0000:01:00.0', numvfs: 2}, text], system: []}";
    expect(await read(text)).toMatchObject({
      spec: { interfaces: [{ pciAddress: "0000:01:00.0", numVfs: 2 }] },
      problems: [
        "spec.interfaces[0].pciAddress is not a text",
        "spec.interfaces[2] is not a mapping",
        "spec.system is not a mapping",
      ],
    });
  });

  it.each([
    { text: "", result: { spec: {}, problems: [] } },
    { text: "spec: {}", result: { spec: {}, problems: [] } },
    { text: "- a", result: "the file is not a YAML mapping" },
    { text: "spec: {", result: expect.stringContaining("the file is not valid YAML at line 1") },
    { text: "a: 1\nb: &a &a c", result: "the file is not valid YAML at line 2, column 7" },
    { text: "\u0000\u0001", result: expect.any(String) },
  ])("answers $text", async ({ text, result }) => {
    const answer = await read(text);
    expect(typeof answer === "string" ? answer : { spec: answer.spec, problems: answer.problems }).toEqual(result);
  });

  it("never throws, whatever the file contains", async () => {
    const values = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((value) => stringify({ spec: value })),
    );
    await fc.assert(
      fc.asyncProperty(values, async (text) => {
        const answer = await parseBootConfig(text);
        expect(answer.ok ? typeof answer.value.spec : typeof answer.error).toMatch(/^(object|string)$/);
      }),
      { numRuns: 300 },
    );
  });

  it("never throws for a file of the Go operator with a changed piece", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(upstreams.length), fc.nat(40), fc.string(), async (at, length, piece) => {
        const text = upstreams.slice(0, at) + piece + upstreams.slice(at + length);
        const answer = await parseBootConfig(text);
        const interfaces = answer.ok ? (answer.value.spec.interfaces ?? []) : [];
        for (const { numVfs } of interfaces) expect(["number", "undefined"]).toContain(typeof numVfs);
      }),
      { numRuns: 300 },
    );
  });
});
