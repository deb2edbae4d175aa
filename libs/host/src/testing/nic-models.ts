// SPDX-License-Identifier: Apache-2.0
/**
 * Describes real NICs for the fake kernel: ids, limits, VF addresses, and the names that systemd's udev gives them. igb is
 * modelled after Linux 6.12 in the VM lab, the others after the sources of their drivers.
 * Usage: `createFakeKernel({ nics: [igb("0000:01:00.0"), mlx5("0000:3b:00.0")] })`.
 */
import { parseMacAddress, parsePciAddress, type MacAddress, type PciAddress } from "@switchyard/api";
import type { EswitchMode } from "../ports/devices.ts";
import type { DriverQuirks } from "./driver-quirks.ts";

/** One card. Each port is a PCI function. */
export interface FakeNic {
  readonly ports: readonly FakePort[];
}

/** One physical function after its driver was bound. */
export interface FakePort {
  readonly pciAddress: PciAddress;
  /** Four hexadecimal digits. */
  readonly vendor: string;
  readonly deviceId: string;
  readonly driver: string;
  /** Name of its interface by udev. */
  readonly name: string;
  readonly altNames: readonly string[];
  readonly mac: MacAddress;
  readonly speedMbps: number;
  readonly maxMtu: number;
  readonly physPortName?: string;
  readonly physSwitchId?: string;
  /**
   * What the driver numbers PFs by in the port names of representors. It is the port, as the name of the PF itself
   * ("p1", "pf1vf0": mlx5, ice), the PCI function ("p1", "pf0vf0": bnxt_en), or both ("p1pf0vf0": sfc). By the port by
   * default.
   */
  readonly representorsBy?: "port" | "function" | "port and function";
  /** Whether the driver creates an RDMA device for the PF and for each VF. */
  readonly hasRdma?: boolean;
  /** Largest number of virtqueues of the vDPA device of a VF; absent if the kernel's driver of VFs does not support vDPA. */
  readonly vdpaVirtqueues?: number;
  /** Absent on a machine without NUMA. */
  readonly numaNode?: number;
  /** The PCIe root complex, "pci0000:3a"; absent if a test does not need it. */
  readonly pcieRoot?: string;
  /** What the driver supports of XDP; neither by default. */
  readonly xdp?: { readonly native: boolean; readonly zeroCopy: boolean };
  /** Largest number of combined channels; absent if the driver does not report channels. */
  readonly maxQueues?: number;
  /** Number of subfunctions; absent if the driver has none. */
  readonly maxSubfunctions?: number;
  /** Whether the driver chooses the MAC addresses of subfunctions, and has no function attribute hw_addr. */
  readonly choosesSubfunctionMacs?: boolean;
  /** Whether a subfunction gets its network interface only after its parameter enable_eth is set (mlx5_core, Linux 6.5). */
  readonly probesSubfunctionsLightly?: boolean;
  /** Absent if the driver has no devlink eswitch. */
  readonly eswitchMode?: EswitchMode;
  /** Whether the mode is known, and can be changed, only while VFs exist (mlx5_core, 5.4). */
  readonly modeNeedsVfs?: boolean;
  /** Parameters of the driver by devlink, such as flow_steering_mode. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Type of the link; Ethernet by default. */
  readonly linkType?: "ether" | "infiniband";
  /** Whether the card is a SmartNIC with a system of its own (BlueField). */
  readonly hasOwnSystem?: boolean;
  /** Absent if the function has no SR-IOV capability. */
  readonly sriov?: FakeSriov;
  /** The capability that a Mellanox card has after its firmware enables SR-IOV; `sriov` is absent until then. */
  readonly withoutSriov?: FakeSriov;
  /** Behaviours that the model does not have by default; none by default. */
  readonly quirks?: DriverQuirks;
}

/** The SR-IOV capability of a port. */
export interface FakeSriov {
  /** Limit of the driver. */
  readonly totalVfs: number;
  /** Limit of the capability, which sriov_totalvfs contains while no driver is bound; `totalVfs` by default. */
  readonly capabilityVfs?: number;
  readonly vfDeviceId: string;
  readonly vfDriver: string;
  /** Prefix of the names of VF interfaces, before the index of the VF: "enp1s0f0v". */
  readonly vfNamePrefix: string;
  readonly vfMaxMtu: number;
  /** The routing id of VF n is that of the PF plus `offset` plus n times `stride`. */
  readonly offset: number;
  readonly stride: number;
  /** Time without a carrier after a change of the number of VFs or of the MTU; 0 if the driver does not reset the PF for it. */
  readonly carrierLossMs: number;
  /** Whether the PF shows the address that the VF driver chose (igb, i40e), and not only an assigned address (mlx5). */
  readonly showsOwnVfMac: boolean;
  /** Whether a new VF may use no other source address than its own; true by default. */
  readonly checksSpoofing?: boolean;
  /** Settings of VFs that the driver of the PF does not have; none by default. */
  readonly lacks?: readonly ("linkState" | "802.1ad" | "minTxRate")[];
  /** Whether the VF driver receives its assigned address only while the interface of the PF is up (mailbox of igb). */
  readonly needsPfUp: boolean;
}

/** Number of ports of the card; 2 by default. */
export interface NicOptions {
  readonly ports?: number;
  /**
   * The number of the port of each function; that of the function by default. They differ where a PF is passed through to a
   * virtual machine, and where each port of a card is a device of its own.
   */
  readonly portNumbers?: readonly number[];
}

export interface BlueFieldOptions extends NicOptions {
  /** 2 by default. */
  readonly generation?: 2 | 3;
}

/** Intel 82576: 7 VFs per port, igbvf, no devlink; the PF resets on each change of count or MTU (VM lab, 6.12). */
export function igb(pciAddress: string, { ports = 2 }: NicOptions = {}): FakeNic {
  return card(pciAddress, { ports }, (port) => ({
    vendor: "8086",
    deviceId: "10c9",
    driver: "igb",
    speedMbps: 1_000,
    maxMtu: 9_216,
    xdp: { native: true, zeroCopy: false },
    maxQueues: 8,
    sriov: {
      totalVfs: 7,
      capabilityVfs: 8,
      vfDeviceId: "10ca",
      vfDriver: "igbvf",
      vfNamePrefix: `${port.pathName}v`,
      vfMaxMtu: 9_216,
      offset: 128,
      stride: 2,
      carrierLossMs: 1_500,
      showsOwnVfMac: true,
      needsPfUp: true,
      lacks: ["linkState", "802.1ad", "minTxRate"],
    },
  }));
}

/** Intel XXV710: 64 VFs per port with two ports, iavf, no devlink eswitch. */
export function i40e(pciAddress: string, { ports = 2 }: NicOptions = {}): FakeNic {
  const totalVfs = 128 / ports;
  return card(pciAddress, { ports }, (port) => ({
    vendor: "8086",
    deviceId: "158b",
    driver: "i40e",
    speedMbps: 25_000,
    maxMtu: 9_702,
    xdp: { native: true, zeroCopy: true },
    maxQueues: 64,
    sriov: {
      totalVfs,
      vfDeviceId: "154c",
      vfDriver: "iavf",
      vfNamePrefix: `${port.pathName}v`,
      vfMaxMtu: 9_710,
      offset: 16 + port.number * (totalVfs - 1),
      stride: 1,
      carrierLossMs: 0,
      showsOwnVfMac: true,
      needsPfUp: false,
    },
  }));
}

/** Intel E810: 128 VFs per port with two ports, iavf, devlink in legacy mode. */
export function ice(pciAddress: string, { ports = 2, portNumbers }: NicOptions = {}): FakeNic {
  const totalVfs = 256 / ports;
  return card(pciAddress, { ports, portNumbers }, (port) => ({
    vendor: "8086",
    deviceId: "1592",
    driver: "ice",
    speedMbps: 100_000,
    maxMtu: 9_702,
    xdp: { native: true, zeroCopy: true },
    maxQueues: 64,
    maxSubfunctions: 64,
    physPortName: `p${port.portNumber}`,
    physSwitchId: `${port.bus}000000b49691`,
    eswitchMode: "legacy",
    sriov: {
      totalVfs,
      vfDeviceId: "1889",
      vfDriver: "iavf",
      vfNamePrefix: `${port.pathName}v`,
      vfMaxMtu: 9_710,
      offset: 8 + port.number * (totalVfs - 1),
      stride: 1,
      carrierLossMs: 0,
      showsOwnVfMac: true,
      needsPfUp: false,
    },
  }));
}

/** NVIDIA ConnectX-5: 16 VFs per port by firmware setting, the same driver for PF and VFs, devlink in legacy mode. */
export function mlx5(pciAddress: string, { ports = 2, portNumbers }: NicOptions = {}): FakeNic {
  return card(pciAddress, { ports, portNumbers }, (port) => ({
    vendor: "15b3",
    deviceId: "1017",
    driver: "mlx5_core",
    name: `${port.pathName}np${port.portNumber}`,
    speedMbps: 100_000,
    maxMtu: 9_978,
    xdp: { native: true, zeroCopy: true },
    maxQueues: 63,
    maxSubfunctions: 64,
    physPortName: `p${port.portNumber}`,
    physSwitchId: `${port.bus}00e7ffffb8599f`,
    vdpaVirtqueues: 33,
    eswitchMode: "legacy",
    sriov: {
      totalVfs: 16,
      vfDeviceId: "1018",
      vfDriver: "mlx5_core",
      vfNamePrefix: `${port.pathName}v`,
      vfMaxMtu: 9_978,
      offset: 2 + port.number * 15,
      stride: 1,
      carrierLossMs: 0,
      showsOwnVfMac: false,
      checksSpoofing: false,
      needsPfUp: false,
    },
  }));
}

/**
 * NVIDIA BlueField-2 or -3: a ConnectX with processors of its own, which have the eswitch. VFs have the id of the ConnectX family.
 */
export function blueField(pciAddress: string, { generation = 2, ...options }: BlueFieldOptions = {}): FakeNic {
  const deviceId = generation === 2 ? "a2d6" : "a2dc";
  return {
    ports: mlx5(pciAddress, options).ports.map(({ eswitchMode: _mode, ...port }) => ({
      ...port,
      deviceId,
      hasOwnSystem: true,
      ...(port.sriov && { sriov: { ...port.sriov, vfDeviceId: "101e" } }),
    })),
  };
}

/** NVIDIA ConnectX-6 with InfiniBand ports: RDMA devices, GUIDs instead of MAC addresses, and no eswitch. */
export function mlx5Ib(pciAddress: string, options: NicOptions = {}): FakeNic {
  const { ports } = mlx5(pciAddress, options);
  return {
    ports: ports.map(
      (
        {
          eswitchMode: _mode,
          vdpaVirtqueues: _vdpa,
          physPortName: _name,
          physSwitchId: _id,
          maxSubfunctions: _sfs,
          ...port
        },
        number,
      ) => ({
        ...port,
        ...({ deviceId: "101b", linkType: "infiniband", hasRdma: true, maxMtu: 4_092, altNames: [] } as const),
        name: port.name.replace(/^enp/, "ibp").replace(/np\d+$/, ""),
        ...(port.sriov && {
          sriov: { ...port.sriov, vfDeviceId: "101c", vfMaxMtu: 4_092, vfNamePrefix: `ibp${number}v` },
        }),
      }),
    ),
  };
}

/** A NIC without SR-IOV (virtio on a PCI function), such as each machine has. */
export function plainNic(pciAddress: string): FakeNic {
  return card(pciAddress, { ports: 1 }, () => ({
    vendor: "1af4",
    deviceId: "1041",
    driver: "virtio-pci",
    speedMbps: 10_000,
    maxMtu: 65_535,
    xdp: { native: true, zeroCopy: false },
    maxQueues: 4,
  }));
}

/** A virtio NIC with two VFs, as QEMU 11.1 emulates it (VM lab, 6.12). */
export function virtioWithVfs(pciAddress: string): FakeNic {
  const ports = plainNic(pciAddress).ports.map((port) => ({
    ...port,
    sriov: {
      totalVfs: 2,
      vfDeviceId: "1041",
      vfDriver: "virtio-pci",
      vfNamePrefix: `${port.name}v`,
      vfMaxMtu: 65_535,
      offset: 1,
      stride: 1,
      carrierLossMs: 0,
      showsOwnVfMac: false,
      needsPfUp: false,
    },
  }));
  return { ports };
}

/** Returns the port name of what is behind a PF: `representorName(port, "vf3")` is "pf0vf3". */
export function representorName(
  { pciAddress, physPortName, representorsBy = "port" }: FakePort,
  behind: string,
): string {
  const { fn } = partsOf(pciAddress);
  const [, port = `${fn}`] = /^p(\d+)$/.exec(physPortName ?? "") ?? [];
  if (representorsBy === "port and function") return `p${port}pf${fn}${behind}`;
  return `pf${representorsBy === "port" ? port : fn}${behind}`;
}

/** Returns the address of VF `vfId` (SR-IOV specification 3.3.10). The bits above 8 of the routing id are the bus. */
export function vfAddress(
  pf: PciAddress,
  { offset, stride }: Pick<FakeSriov, "offset" | "stride">,
  vfId: number,
): PciAddress {
  const { domain, bus, slot, fn } = partsOf(pf);
  const routingId = bus * 256 + slot * 8 + fn + offset + stride * vfId;
  return formatAddress(domain, routingId);
}

/** Parses the address in a test. Throws if it is invalid. */
export function pci(text: string): PciAddress {
  const address = parsePciAddress(text);
  if (!address.ok) throw new Error(`${text} is no PCI address`);
  return address.value;
}

interface PortPlace {
  /** Of the PCI function. */
  readonly number: number;
  readonly portNumber: number;
  /** Two hexadecimal digits. */
  readonly bus: string;
  /** Name by PCI path: "enp1s0f0". */
  readonly pathName: string;
}

type Model = Omit<FakePort, "pciAddress" | "name" | "altNames" | "mac"> & { readonly name?: string };

interface CardPorts {
  readonly ports: number;
  readonly portNumbers?: readonly number[] | undefined;
}

function card(first: string, { ports, portNumbers }: CardPorts, modelOf: (port: PortPlace) => Model): FakeNic {
  const { domain, bus, slot } = partsOf(pci(first));
  return {
    ports: Array.from({ length: ports }, (_, number) => {
      const pciAddress = formatAddress(domain, bus * 256 + slot * 8 + number);
      const busDigits = bus.toString(16).padStart(2, "0");
      // systemd.net-naming-scheme: decimal bus and slot; the function number only if the card has several functions
      const pathName = `enp${bus}s${slot}${ports > 1 ? `f${number}` : ""}`;
      const model = modelOf({ number, portNumber: portNumbers?.[number] ?? number, bus: busDigits, pathName });
      const mac = portMac(`52:54:00:${busDigits}:${slot.toString(16).padStart(2, "0")}:0${number}`);
      return { name: pathName, altNames: [`enx${mac.replaceAll(":", "")}`], ...model, pciAddress, mac };
    }),
  };
}

function partsOf(address: PciAddress) {
  const [, domain = "", bus = "", slot = "", fn = ""] = /^(.+):(..):(..)\.(.)$/.exec(address) ?? [];
  return { domain, bus: Number.parseInt(bus, 16), slot: Number.parseInt(slot, 16), fn: Number.parseInt(fn, 16) };
}

function formatAddress(domain: string, routingId: number): PciAddress {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  return pci(`${domain}:${hex(routingId >> 8, 2)}:${hex((routingId >> 3) & 31, 2)}.${routingId & 7}`);
}

function portMac(text: string): MacAddress {
  const mac = parseMacAddress(text);
  if (!mac.ok) throw new Error(`${text} is no MAC address`);
  return mac.value;
}

/** Returns the card with these quirks on each of its ports. */
export function withQuirks({ ports }: FakeNic, quirks: DriverQuirks): FakeNic {
  return { ports: ports.map((port): FakePort => ({ ...port, quirks: { ...port.quirks, ...quirks } })) };
}
