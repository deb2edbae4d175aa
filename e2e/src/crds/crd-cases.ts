// SPDX-License-Identifier: Apache-2.0
/**
 * Specs that Switchyard's CRDs refuse or accept. The tests pass them to the API server and to `switchyard validate`.
 */
import { namespace, type Manifest } from "./crd-objects.ts";

/** The spec of an object, or some of its fields. */
export type Spec = Readonly<Record<string, unknown>>;

/** A valid spec of each kind. The cases override single fields. */
const specs: Readonly<Record<string, Spec>> = {
  SriovNetworkNodePolicy: { resourceName: "nics", nodeSelector: {}, numVfs: 8, nicSelector: { vendor: "15b3" } },
  SriovNetworkNodeState: {},
  SriovNetworkPoolConfig: {},
  SriovOperatorConfig: {},
  SriovNetwork: { resourceName: "nics" },
  SriovIBNetwork: { resourceName: "nics" },
  OVSNetwork: { resourceName: "nics" },
  BridgeNetwork: { resourceName: "nics" },
  AfxdpNetworkNodePolicy: { poolName: "nics", nodeSelector: {}, nicSelector: { driver: "ice" } },
  AfxdpNetworkNodeState: {},
  AfxdpOperatorConfig: {},
  AfxdpNetwork: { poolName: "nics" },
};

/** A valid object of `kind` with the fields of `spec` overridden. */
export function objectOf(kind: string, spec: Spec, name = "case"): Manifest {
  return {
    apiVersion: kind.startsWith("Afxdp") ? "afxdpnetwork.hns.dev/v1alpha1" : "sriovnetwork.openshift.io/v1",
    kind,
    metadata: { name, namespace },
    spec: { ...specs[kind], ...spec },
  };
}

const switchdev = { eSwitchMode: "switchdev" };
const bytes = (length: number) => "x".repeat(length);

/** Refused specs: kind, overridden fields, the path of the refused field, and a part of the message. */
export const refused: readonly (readonly [kind: string, spec: Spec, field: string, message: string])[] = [
  ["SriovNetworkNodePolicy", { resourceName: "" }, "spec.resourceName", "must not be empty: the name that pods"],
  [
    "SriovNetworkNodePolicy",
    { resourceName: "a b" },
    "spec.resourceName",
    'must consist of letters, digits, "-" and "_"',
  ],
  ["SriovNetworkNodePolicy", { resourceName: "nics-" }, "spec.resourceName", "start and end with a letter or a digit"],
  ["SriovNetworkNodePolicy", { resourceName: bytes(64) }, "spec.resourceName", "may not be more than 63 bytes"],
  ["SriovNetworkNodePolicy", { nodeSelector: undefined }, "spec.nodeSelector", "Required value"],
  ["SriovNetworkNodePolicy", { numVfs: undefined }, "spec.numVfs", "Required value"],
  ["SriovNetworkNodePolicy", { numVfs: -1 }, "spec.numVfs", "greater than or equal to 0"],
  ["SriovNetworkNodePolicy", { numVfs: 65536 }, "spec.numVfs", "less than or equal to 65535"],
  ["SriovNetworkNodePolicy", { priority: 100 }, "spec.priority", "less than or equal to 99"],
  ["SriovNetworkNodePolicy", { mtu: 0 }, "spec.mtu", "greater than or equal to 1"],
  ["SriovNetworkNodePolicy", { mtu: 90_000 }, "spec.mtu", "less than or equal to 65535"],
  ["SriovNetworkNodePolicy", { deviceType: "uio" }, "spec.deviceType", 'supported values: "netdevice", "vfio-pci"'],
  ["SriovNetworkNodePolicy", { nicSelector: {} }, "spec.nicSelector", "at least one of vendor, deviceID, rootDevices"],
  [
    "SriovNetworkNodePolicy",
    { nicSelector: { vendor: "", pfNames: [] } },
    "spec.nicSelector",
    "at least one of vendor, deviceID, rootDevices",
  ],
  ["SriovNetworkNodePolicy", { nicSelector: { vendor: "15B3" } }, "spec.nicSelector.vendor", "in lower case"],
  ["SriovNetworkNodePolicy", { nicSelector: { vendor: 8086 } }, "spec.nicSelector.vendor", "must be of type string"],
  ["SriovNetworkNodePolicy", { nicSelector: { deviceID: "0x101d" } }, "spec.nicSelector.deviceID", "four hexadecimal"],
  [
    "SriovNetworkNodePolicy",
    { nicSelector: { rootDevices: ["0000:86:00.0", "86:00.1"] } },
    "spec.nicSelector.rootDevices",
    'must be a PCI address with its domain, in lower case: "0000:86:00.0"',
  ],
  ["SriovNetworkNodePolicy", { nicSelector: { netFilter: "aws" } }, "spec.nicSelector.netFilter", "must be KEY:VALUE"],
  [
    "SriovNetworkNodePolicy",
    { nicSelector: { netFilter: "aws/NetworkID:a", vendor: "1d0f" } },
    "spec.nicSelector.netFilter",
    "must have netFilter alone",
  ],
  [
    "SriovNetworkNodePolicy",
    { nicSelector: { netFilter: "aws/NetworkID:a" }, eSwitchMode: "legacy" },
    "spec.eSwitchMode",
    "must be omitted if nicSelector.netFilter",
  ],
  ...["", "#0-1", "ens1#", "ens1#5", "ens1#0-1-2", "ens1#0-1#2-3", "ens1#0-", "ens1#0,3-5", "ens1 #0-1", "e/1"].map(
    (entry) =>
      [
        "SriovNetworkNodePolicy",
        { nicSelector: { pfNames: ["ens0", entry] } },
        "spec.nicSelector.pfNames",
        'must be the name of a PF, optionally with a range of VFs: "ens1f0" or "ens1f0#0-3"',
      ] as const,
  ),
  [
    "SriovNetworkNodePolicy",
    { nicSelector: { pfNames: ["ens1#5-2"] } },
    "spec.nicSelector.pfNames",
    "must have a range from the lower VF index to the higher",
  ],
  [
    "SriovNetworkNodePolicy",
    { nicSelector: { pfNames: ["ens1", "ens-2#0-8"] } },
    "spec.nicSelector.pfNames",
    "the last of 8 VFs is 7",
  ],
  ["SriovNetworkNodePolicy", { deviceType: "vfio-pci", isRdma: true }, "spec.isRdma", "must be false with"],
  ["SriovNetworkNodePolicy", { ...switchdev, linkType: "IB" }, "spec.linkType", "must be eth or omitted"],
  ["SriovNetworkNodePolicy", { vdpaType: "vhost" }, "spec.vdpaType", "requires eSwitchMode switchdev"],
  [
    "SriovNetworkNodePolicy",
    { vdpaType: "vhost", nicSelector: { vendor: "15b3" } },
    "spec.vdpaType",
    "or for virtio NICs nicSelector.vendor 1af4",
  ],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, vdpaType: "vhost", deviceType: "vfio-pci" },
    "spec.vdpaType",
    "requires deviceType netdevice",
  ],
  ["SriovNetworkNodePolicy", { bridge: { ovs: {} } }, "spec.bridge", "requires eSwitchMode switchdev"],
  ["SriovNetworkNodePolicy", { bridge: { linux: {} }, eSwitchMode: "legacy" }, "spec.bridge", "requires eSwitchMode"],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { ovs: {} }, externallyManaged: true },
    "spec.bridge",
    "must be omitted if externallyManaged",
  ],
  ["SriovNetworkNodePolicy", { ...switchdev, bridge: { ovs: {}, linux: {} } }, "spec.bridge", "either ovs or linux"],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { ovs: { bridge: { externalIDs: { "switchyard.io/owner": "me" } } } } },
    "spec.bridge.ovs.bridge.externalIDs",
    "must not have switchyard.io/owner",
  ],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { ovs: { uplink: { interface: { externalIDs: { "switchyard.io/owner": "me" } } } } } },
    "spec.bridge.ovs.uplink.interface.externalIDs",
    "must not have switchyard.io/owner",
  ],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { ovs: { uplink: { interface: { mtuRequest: 0 } } } } },
    "spec.bridge.ovs.uplink.interface.mtuRequest",
    "must be from 1 to 65535",
  ],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { ovs: { bridge: { failMode: "open" } } } },
    "spec.bridge.ovs.bridge.failMode",
    'supported values: "secure", "standalone"',
  ],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { linux: { uplink: { "../../uevent": "1" } } } },
    "spec.bridge.linux.uplink",
    "must have only keys of bpdu_guard, broadcast_flood",
  ],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { linux: { uplink: { learning: "off" } } } },
    "spec.bridge.linux.uplink",
    "must have numbers in quotes as values",
  ],
  [
    "SriovNetworkNodePolicy",
    { ...switchdev, bridge: { linux: { bridge: { vlanProtocol: "802.1x" } } } },
    "spec.bridge.linux.bridge.vlanProtocol",
    'supported values: "802.1Q", "802.1ad"',
  ],

  ["SriovNetworkNodeState", { interfaces: [{ name: "ens1" }] }, "spec.interfaces[0].pciAddress", "Required value"],
  ...["../../x", "a b", "\n", "", "uio_pci_generic"].map(
    (deviceType) =>
      [
        "SriovNetworkNodeState",
        { interfaces: [{ pciAddress: "0000:01:00.0", vfGroups: [{ deviceType }] }] },
        "spec.interfaces[0].vfGroups[0].deviceType",
        'supported values: "netdevice", "vfio-pci"',
      ] as const,
  ),

  [
    "SriovNetworkPoolConfig",
    { maxUnavailable: -1 },
    "spec.maxUnavailable",
    "must be a number of at least 0, or a percentage",
  ],
  ...["bla", "0%", "101%", "10000%", "-1%", "5", ""].map(
    (maxUnavailable) =>
      [
        "SriovNetworkPoolConfig",
        { maxUnavailable },
        "spec.maxUnavailable",
        'a percentage from "1%" to "100%"',
      ] as const,
  ),
  ["SriovNetworkPoolConfig", { rdmaMode: "both" }, "spec.rdmaMode", 'supported values: "shared", "exclusive"'],
  ...[{ nodeSelector: { matchLabels: { a: "b" } } }, { maxUnavailable: 1 }].map(
    (more) =>
      [
        "SriovNetworkPoolConfig",
        { ovsHardwareOffloadConfig: { name: "worker" }, ...more },
        "spec.ovsHardwareOffloadConfig",
        "must stand alone",
      ] as const,
  ),
  [
    "SriovNetworkPoolConfig",
    { nodeSelector: { matchExpressions: [{ key: "a", operator: "Like", values: ["b"] }] } },
    "spec.nodeSelector.matchExpressions",
    "must be In, NotIn, Exists or DoesNotExist",
  ],
  [
    "SriovNetworkPoolConfig",
    { nodeSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    "spec.nodeSelector.matchExpressions",
    "must have at least one value",
  ],
  [
    "SriovNetworkPoolConfig",
    { nodeSelector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
    "spec.nodeSelector.matchExpressions",
    "must be omitted with the operators Exists and DoesNotExist",
  ],

  ["SriovOperatorConfig", { logLevel: 3 }, "spec.logLevel", "less than or equal to 2"],
  ["SriovOperatorConfig", { disablePlugins: ["intel"] }, "spec.disablePlugins[0]", 'supported values: "mellanox"'],
  ["SriovOperatorConfig", { configDaemonEnvVars: { "A B": "c" } }, "spec.configDaemonEnvVars", "must be names of"],

  ...["SriovNetwork", "SriovIBNetwork", "OVSNetwork", "BridgeNetwork"].flatMap(
    (kind) =>
      [
        [
          kind,
          { resourceName: "" },
          "spec.resourceName",
          "must not be empty: the resourceName of a SriovNetworkNodePo",
        ],
        [kind, { resourceName: "openshift.io/nics" }, "spec.resourceName", "without the resource prefix"],
        [kind, { networkNamespace: "Tenant_A" }, "spec.networkNamespace", "must be the name of a namespace"],
        [kind, { capabilities: "mac" }, "spec.capabilities", "must be a JSON object"],
        [kind, { ipam: "[]" }, "spec.ipam", "must be a JSON object"],
        [kind, { metaPlugins: '[{"type": "vrf"}]' }, "spec.metaPlugins", "without surrounding brackets"],
      ] as const,
  ),

  ["SriovNetwork", { vlan: 4095 }, "spec.vlan", "less than or equal to 4094"],
  ["SriovNetwork", { vlan: 1, vlanQoS: 8 }, "spec.vlanQoS", "less than or equal to 7"],
  ["SriovNetwork", { vlanQoS: 3 }, "spec.vlanQoS", "requires vlan to be from 1 to 4094"],
  ["SriovNetwork", { vlan: 0, vlanProto: "802.1AD" }, "spec.vlanProto", "802.1ad requires vlan to be from 1 to 4094"],
  ["SriovNetwork", { vlanProto: "qinq" }, "spec.vlanProto", 'supported values: "802.1q", "802.1Q"'],
  ["SriovNetwork", { minTxRate: 20, maxTxRate: 10 }, "spec.minTxRate", "must not be greater than maxTxRate"],
  ["SriovNetwork", { logLevel: "loud" }, "spec.logLevel", 'supported values: "panic"'],
  ...["7fff", "0x8000", "0x", "0x12345"].map(
    (pKey) => ["SriovIBNetwork", { pKey }, "spec.pKey", 'from "0x0" to "0x7fff"'] as const,
  ),
  [
    "SriovIBNetwork",
    { rdmaIsolation: true, metaPlugins: '{ "type" :\n "rdma" }' },
    "spec.metaPlugins",
    "must not contain the plugin rdma",
  ],
  ["OVSNetwork", { bridge: bytes(16) }, "spec.bridge", "of at most 15 characters"],
  ["OVSNetwork", { vlan: 4096 }, "spec.vlan", "less than or equal to 4095"],
  ["OVSNetwork", { trunk: [{ id: 1 }, {}] }, "spec.trunk", "must have id for a single VLAN, or minID and maxID"],
  ["OVSNetwork", { trunk: [{ maxID: 9 }] }, "spec.trunk", "must have id for a single VLAN, or minID and maxID"],
  ["OVSNetwork", { trunk: [{ minID: 0, maxID: 9 }] }, "spec.trunk", "must have a minID of at least 1"],
  ["OVSNetwork", { trunk: [{ minID: 9, maxID: 8 }] }, "spec.trunk", "a maxID that is not less than minID"],
  ["BridgeNetwork", { vlan: 4095 }, "spec.vlan", "less than or equal to 4094"],
  ["BridgeNetwork", { trunk: [{ id: 0 }] }, "spec.trunk", "must be VLANs from 1 to 4094"],
  ["BridgeNetwork", { trunk: [{ minID: 1, maxID: 4095 }] }, "spec.trunk", "must be VLANs from 1 to 4094"],
  ["BridgeNetwork", { bridge: "br0,,br1" }, "spec.bridge", "must be names of bridges, each of at most 15"],
  ["AfxdpNetworkNodePolicy", { poolName: undefined }, "spec.poolName", "Required value"],
  ["AfxdpNetworkNodePolicy", { poolName: "" }, "spec.poolName", "must consist of letters and digits, at most 20"],
  ["AfxdpNetworkNodePolicy", { poolName: "intel-nics" }, "spec.poolName", "must consist of letters and digits"],
  ["AfxdpNetworkNodePolicy", { poolName: bytes(21) }, "spec.poolName", "may not be more than 20 bytes"],
  ["AfxdpNetworkNodePolicy", { nodeSelector: undefined }, "spec.nodeSelector", "Required value"],
  ["AfxdpNetworkNodePolicy", { nicSelector: undefined }, "spec.nicSelector", "Required value"],
  ["AfxdpNetworkNodePolicy", { nicSelector: {} }, "spec.nicSelector", "an empty nicSelector matches no device"],
  ["AfxdpNetworkNodePolicy", { nicSelector: { vendor: "intel" } }, "spec.nicSelector.vendor", "PCI vendor ID"],
  ["AfxdpNetworkNodePolicy", { nicSelector: { driver: "a/b" } }, "spec.nicSelector.driver", "a kernel driver"],
  [
    "AfxdpNetworkNodePolicy",
    { nicSelector: { pfNames: ["ens1f0#0-3"] } },
    "spec.nicSelector.pfNames",
    "without a range",
  ],
  [
    "AfxdpNetworkNodePolicy",
    { nicSelector: { macAddresses: ["0c42a116054c"] } },
    "spec.nicSelector.macAddresses",
    "must be the MAC address of one network interface",
  ],
  [
    "AfxdpNetworkNodePolicy",
    { nicSelector: { macAddresses: ["ff:ff:ff:ff:ff:ff"] } },
    "spec.nicSelector.macAddresses",
    "must be the MAC address of one network interface",
  ],
  [
    "AfxdpNetworkNodePolicy",
    { nicSelector: { pfNames: ["eth0\u001b[2J"] } },
    "spec.nicSelector.pfNames",
    "must be the name of a network interface",
  ],
  ["AfxdpNetworkNodePolicy", { priority: 100 }, "spec.priority", "less than or equal to 99"],
  ["AfxdpNetworkNodePolicy", { deviceType: "vfio-pci" }, "spec.deviceType", "bound to vfio-pci has none"],
  ["AfxdpNetworkNodePolicy", { mode: "cdq" }, "spec.mode", 'supported values: "primary", "subfunction"'],
  ["AfxdpNetworkNodePolicy", { mode: "primary", numSfs: 2 }, "spec.numSfs", "must be 0 or omitted with mode primary"],
  ["AfxdpNetworkNodePolicy", { mode: "subfunction" }, "spec.numSfs", "must be at least 1 with mode subfunction"],
  ["AfxdpNetworkNodePolicy", { udsTimeout: 29 }, "spec.udsTimeout", "a number of seconds from 30 to 300"],
  ["AfxdpNetworkNodePolicy", { uid: 999 }, "spec.uid", "must be 0 or a user ID from 1000 to 4294967294"],
  ["AfxdpNetworkNodePolicy", { uid: 4294967295 }, "spec.uid", "must be 0 or a user ID from 1000 to 4294967294"],
  ["AfxdpNetworkNodePolicy", { mtu: 1 }, "spec.mtu", "greater than or equal to 68"],
  ["AfxdpNetworkNodePolicy", { queues: 0 }, "spec.queues", "greater than or equal to 1"],
  ["AfxdpNetworkNodePolicy", { maxDevices: 0 }, "spec.maxDevices", "greater than or equal to 1"],
  ["AfxdpOperatorConfig", { provider: "intel" }, "spec.provider", 'supported values: "switchyard", "upstream"'],
  ["AfxdpOperatorConfig", { provider: "upstream", loader: "bpfman" }, "spec.loader", "requires provider switchyard"],
  [
    "AfxdpOperatorConfig",
    { bpfman: { program: { functionName: "xdp_prog" } } },
    "spec.bpfman.program",
    "must have exactly one of image and path",
  ],
  [
    "AfxdpOperatorConfig",
    { bpfman: { program: { functionName: "xdp_prog", path: "/a.o", image: { url: "registry/a:1" } } } },
    "spec.bpfman.program",
    "must have exactly one of image and path",
  ],
  [
    "AfxdpOperatorConfig",
    { bpfman: { program: { functionName: "xdp-prog", path: "/a.o" } } },
    "spec.bpfman.program.functionName",
    "must be the name of a function",
  ],
  [
    "AfxdpOperatorConfig",
    { bpfman: { program: { functionName: "xdp_prog", path: "/var/lib/../a.o" } } },
    "spec.bpfman.program.path",
    "must be an absolute path",
  ],
  ["AfxdpOperatorConfig", { bpfman: { priority: 1001 } }, "spec.bpfman.priority", "less than or equal to 1000"],
  ["AfxdpNetwork", { poolName: "a b" }, "spec.poolName", "must consist of letters and digits"],
  ["AfxdpNetwork", { ipam: "host-local" }, "spec.ipam", "must be a JSON object"],
  ["AfxdpNetwork", { ethtoolCmds: ["-X; reboot"] }, "spec.ethtoolCmds", "must consist of letters, digits, spaces"],
];

const longName = bytes(127);

/** Accepted specs: kind and overridden fields. */
export const taken: readonly (readonly [kind: string, spec: Spec, name?: string])[] = [
  // Go clients send empty objects for absent fields.
  ["SriovNetworkNodePolicy", { bridge: {} }],
  ["SriovNetworkNodePolicy", { bridge: { ovs: {} }, ...switchdev }],
  ["SriovNetworkNodePolicy", { bridge: { linux: { bridge: {}, uplink: { learning: "0" } } }, ...switchdev }],
  ["SriovNetworkNodePolicy", { resourceName: "", nicSelector: {}, numVfs: 0 }, "default"],
  // A policy without VFs has no effect, so its ranges do not matter.
  ["SriovNetworkNodePolicy", { numVfs: 0, nicSelector: { pfNames: ["ens1#0-3"] } }],
  ["SriovNetworkNodePolicy", { numVfs: 8, nicSelector: { pfNames: ["ens-1#0-7", "ens1#7-7", longName] } }],
  ["SriovNetworkNodePolicy", { nicSelector: { netFilter: "openstack/NetworkID : 4be2a7f6" } }],
  ["SriovNetworkNodePolicy", { nicSelector: { rootDevices: ["10000:86:1f.7"] } }],
  ["SriovNetworkNodePolicy", { deviceType: "vfio-pci", isRdma: false }],
  ["SriovNetworkNodePolicy", { vdpaType: "vhost", nicSelector: { vendor: "1af4" } }],
  ["SriovNetworkNodeState", { bridges: {}, system: {} }],
  ["SriovNetworkPoolConfig", { maxUnavailable: 0 }],
  ["SriovNetworkPoolConfig", { ovsHardwareOffloadConfig: {}, nodeSelector: {}, maxUnavailable: "100%" }],
  ["SriovNetworkPoolConfig", { ovsHardwareOffloadConfig: { name: "worker" }, nodeSelector: {} }],
  ["SriovNetwork", { networkNamespace: "", capabilities: "", ipam: "", metaPlugins: "", logLevel: "" }],
  ["SriovNetwork", { ipam: ' {"type":"static"}\n', metaPlugins: '{"type":"a"},{"type":"b"}' }],
  ["SriovNetwork", { vlanQoS: 0, vlanProto: "802.1q", minTxRate: 10, maxTxRate: 0 }],
  ["SriovIBNetwork", { pKey: "0x7FFF", ibKubernetesEnabled: true, metaPlugins: '{"type":"rdma"}' }],
  ["OVSNetwork", { trunk: [{ id: 0 }, { minID: 1, maxID: 4095 }], vlan: 4095 }],
  ["BridgeNetwork", { bridge: " br0 , br-0000_86_00.0", trunk: [{ id: 1, minID: 2, maxID: 4094 }] }],
  // The largest objects that the schema accepts, which must stay within the API server's cost limit for CEL rules.
  [
    "SriovNetworkNodePolicy",
    {
      numVfs: 65_535,
      nicSelector: {
        rootDevices: Array.from({ length: 256 }, () => "0000:86:00.0"),
        pfNames: Array.from({ length: 256 }, () => `${longName}#10000-65534`),
      },
    },
  ],
  ["OVSNetwork", { trunk: Array.from({ length: 4096 }, (_, id) => ({ id })) }],
  ["BridgeNetwork", { trunk: Array.from({ length: 4094 }, (_, id) => ({ id: id + 1 })) }],
  ["SriovIBNetwork", { rdmaIsolation: true, ...sized("ipam"), ...sized("metaPlugins") }],
  ["AfxdpNetworkNodePolicy", { numSfs: 4, udsTimeout: -1, uid: 1_000_680_000, udsServer: false }, "default"],
  ["AfxdpNetworkNodePolicy", { deviceType: "netdev", mode: "primary", numSfs: 0 }, "case"],
  ["AfxdpNetworkNodePolicy", { nicSelector: { macAddresses: ["0C:42:a1:16:05:4c"] } }, "case"],
  ["AfxdpOperatorConfig", { provider: "switchyard", loader: "bpfman" }, "default"],
  [
    "AfxdpOperatorConfig",
    {
      loader: "bpfman",
      bpfman: { priority: 0, program: { functionName: "xdp_prog", image: { url: "registry.example.com/xdp:1" } } },
    },
    "default",
  ],
  [
    "AfxdpOperatorConfig",
    { bpfman: { program: { functionName: "xdp_prog", path: "/var/lib/bpfman/a.o" } } },
    "default",
  ],
  ["AfxdpNetwork", { ethtoolCmds: ["-N -device- flow-type udp4 dst-ip -ip- action 5"] }, "case"],
];

function sized(field: string): Spec {
  return { [field]: `{${" ".repeat(131_070)}}` };
}
