// SPDX-License-Identifier: Apache-2.0
/**
 * The first manifests of people who write for this API for the first time, with the mistakes that they make. 26 are by a
 * telecommunications engineer, from the API reference alone; the others are mistakes in ten more sets. None may be accepted and wrong, and
 * each answer says what to write instead.
 */
import { describe, expect, it } from "@jest/globals";
import { join } from "node:path";
import { isJsonObject } from "../json.ts";
import { runCli } from "../testing/run-cli.ts";

const root = join(import.meta.dirname, "../../../..");
const cluster = join(root, "examples/cluster");
const namespace = "sriov-network-operator";
const apiVersion = "sriovnetwork.openshift.io/v1";

const intel = { pfNames: ["ens1f0"] };
const worker = { "node-role.kubernetes.io/worker": "" };
const nvidia = { vendor: "15b3", pfNames: ["ens2f0np0"] };

function object(kind: string, name: string, spec: object): object {
  return { apiVersion, kind, metadata: { name, namespace }, spec };
}

function policy(spec: object, nicSelector: object = intel): object {
  const nics = nicSelector === intel ? "intel-e810" : "connectx-6-dx";
  const common = {
    nodeSelector: { "example.com/nics": nics },
    resourceName: "fast",
    numVfs: 8,
    deviceType: "netdevice",
  };
  return object("SriovNetworkNodePolicy", "fast", { ...common, nicSelector, ...spec });
}

const network = (spec: object): object =>
  object("SriovNetwork", "net", { resourceName: "fast", networkNamespace: "default", ...spec });
const onResource = (kind: string, spec: object = {}): object =>
  object(kind, "net", { resourceName: "fast", networkNamespace: "default", ...spec });

interface FirstManifest {
  readonly does: string;
  readonly objects: readonly object[];
  /** What the answer to the last object has to say. */
  readonly says: RegExp;
}

const right: readonly Omit<FirstManifest, "says">[] = [
  { does: "VFs for the kernel's driver", objects: [policy({})] },
  { does: "VFs for DPDK on Intel", objects: [policy({ deviceType: "vfio-pci" })] },
  { does: "RDMA on NVIDIA", objects: [policy({ isRdma: true }, nvidia)] },
  { does: "a network with a VLAN", objects: [policy({}), network({ vlan: 100, spoofChk: "on" })] },
  {
    does: "a pool that drains two nodes at once",
    objects: [object("SriovNetworkPoolConfig", "pool", { nodeSelector: { matchLabels: worker }, maxUnavailable: 2 })],
  },
];

const refused: readonly FirstManifest[] = [
  { does: "the link type in words", objects: [policy({ linkType: "Ethernet" })], says: /eth/ },
  { does: "a range beyond numVfs", objects: [policy({}, { pfNames: ["ens1f0#4-8"] })], says: /numVfs/ },
  { does: "externally managed without VFs", objects: [policy({ externallyManaged: true })], says: /create them first/ },
  { does: "a partition key without 0x", objects: [onResource("SriovIBNetwork", { pKey: "1" })], says: /0x/ },
  { does: "an MTU as a text", objects: [onResource("OVSNetwork", { mtu: "9000" })], says: /number|integer/ },
  { does: "vDPA without switchdev", objects: [policy({ vdpaType: "virtio" }, nvidia)], says: /switchdev/ },
  {
    does: "a PCI address without domain",
    objects: [policy({}, { rootDevices: ["3b:00.0"] })],
    says: /with its domain.*"0000:/,
  },
  { does: "a device id with 0x", objects: [policy({}, { deviceID: "0x158B" })], says: /158b/ },
  { does: "on for a boolean", objects: [network({ trust: true })], says: /"on"/ },
  { does: "a resource name with a prefix", objects: [policy({ resourceName: "intel/fast" })], says: /resourceName/ },
  { does: "a number as a text", objects: [policy({ numVfs: "8" })], says: /without quotes|integer/ },
  {
    does: "a label selector in a policy",
    objects: [policy({ nodeSelector: { matchLabels: { a: "b" } } })],
    says: /without matchLabels/,
  },
  {
    does: "labels in a pool without matchLabels",
    objects: [object("SriovNetworkPoolConfig", "pool", { nodeSelector: { "example.com/a": "" } })],
    says: /matchLabels/,
  },
  { does: "ipam as an object", objects: [network({ ipam: { type: "host-local" } })], says: /JSON/ },
  { does: "VLANs of a trunk as numbers", objects: [onResource("OVSNetwork", { trunk: [20, 30] })], says: /id/ },
  {
    does: "the name of a bridge",
    objects: [policy({ eSwitchMode: "switchdev", bridge: { ovs: { bridge: { name: "br-ex" } } } }, nvidia)],
    says: /Switchyard names it/,
  },
  { does: "isRDMA", objects: [policy({ isRDMA: true }, nvidia)], says: /isRdma/ },
];

const warned: readonly FirstManifest[] = [
  {
    does: "vfio-pci for DPDK on NVIDIA",
    objects: [policy({ deviceType: "vfio-pci" }, nvidia)],
    says: /netdevice.*isRdma/,
  },
  {
    does: "a VLAN beside a trunk",
    objects: [
      policy({ eSwitchMode: "switchdev" }, nvidia),
      onResource("OVSNetwork", { vlan: 10, trunk: [{ id: 20 }] }),
    ],
    says: /trunk/,
  },
  {
    does: "InfiniBand on Ethernet",
    objects: [policy({}), onResource("SriovIBNetwork")],
    says: /SriovNetwork|InfiniBand/,
  },
  { does: "a bridge network in legacy mode", objects: [policy({}), onResource("BridgeNetwork")], says: /switchdev/ },
];

/** From ten more sets: units, ranges, words instead of numbers, patterns, and names that nearly match. */
const more: readonly (FirstManifest & { readonly isAccepted?: true })[] = [
  {
    does: "no nodeSelector",
    objects: [object("SriovNetworkNodePolicy", "fast", { resourceName: "fast", numVfs: 8, nicSelector: intel })],
    says: /write nodeSelector: \{ node-role/,
  },
  { does: "as many VFs as there are", objects: [policy({ numVfs: "max" })], says: /number of VFs .*switchyard nics/ },
  { does: "a rate with its unit", objects: [network({ maxTxRate: "10G" })], says: /10000 for 10 Gb\/s/ },
  {
    does: "a range of VLANs",
    objects: [onResource("OVSNetwork", { vlan: "100-200" })],
    says: /spec\.trunk: \[\{ minID/,
  },
  {
    does: "the name of a log level",
    objects: [object("SriovOperatorConfig", "default", { logLevel: "debug" })],
    says: /number from 0 to 2/,
  },
  {
    does: "an offload that is switched on",
    objects: [object("SriovOperatorConfig", "default", { ovnHardwareOffload: true })],
    says: /list of objects with the fields nodeSelector, taint/,
  },
  { does: "a pattern of names", objects: [policy({}, { pfNames: ["ens1f*"] })], says: /pfNames has no patterns/ },
  {
    does: "a subnet without its length",
    objects: [policy({}), network({ ipam: '{"type": "host-local", "subnet": "10.0.0.0"}' })],
    says: /no prefix length.*"10\.0\.0\.0\/24"/,
    isAccepted: true,
  },
  {
    does: "a larger MTU than that of the PF",
    objects: [policy({ eSwitchMode: "switchdev" }, nvidia), onResource("OVSNetwork", { mtu: 9000 })],
    says: /9000 is more than the MTU 1500 of the PFs of fast: set spec\.mtu to 9000 there/,
    isAccepted: true,
  },
  {
    does: "a resource of nearly that name",
    objects: [policy({ resourceName: "switchdev-ovs" }), network({ resourceName: "switchdevovs" })],
    says: /nearest match: "switchdev-ovs"/,
    isAccepted: true,
  },
];

async function answerTo(objects: readonly object[]): Promise<{ allowed: unknown; text: string }> {
  const { out } = await runCli(["validate", "-f", "-", "--existing", cluster, "-o", "json"], { input: objects });
  const answers: unknown = JSON.parse(out);
  const last: unknown = Array.isArray(answers) ? answers.at(-1) : undefined;
  const { allowed, message = "", warnings = [], hints = [] } = isJsonObject(last) ? last : {};
  return { allowed, text: [message, warnings, hints].flat().join("\n") };
}

describe("the first manifests of everybody", () => {
  it("are 26", () => {
    expect([right.length, refused.length, warned.length]).toEqual([5, 17, 4]);
  });
  it.each(more)("say what to write: $does", async ({ objects, says, isAccepted = false }) => {
    expect(await answerTo(objects)).toEqual({ allowed: isAccepted, text: expect.stringMatching(says) });
  });
  it.each(right)("are accepted without a warning: $does", async ({ objects }) => {
    expect(await answerTo(objects)).toEqual({ allowed: true, text: "" });
  });
  it.each(refused)("are refused with what to write: $does", async ({ objects, says }) => {
    expect(await answerTo(objects)).toEqual({ allowed: false, text: expect.stringMatching(says) });
  });
  it.each(warned)("have a warning with what to write: $does", async ({ objects, says }) => {
    expect(await answerTo(objects)).toEqual({ allowed: true, text: expect.stringMatching(says) });
  });
});
