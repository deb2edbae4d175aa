// SPDX-License-Identifier: Apache-2.0
/**
 * qemuArguments returns the command line of QEMU for the machine of the lab. It has one dual-port NIC with SR-IOV whose
 * ports are connected to each other, an IOMMU, a NIC to the host, a root disk whose writes are discarded, and an
 * optional shared directory.
 * Usage: `spawn("qemu-system-x86_64", qemuArguments(machine))`
 */

/** Forwards a TCP port of the loopback of the host to a port of the guest. */
export interface HostForward {
  readonly hostPort: number;
  readonly guestPort: number;
}

/** A virtio NIC at 0000:00:10.0, the next one at 0000:00:11.0. Its other end is a tap interface of the host, which needs root. */
export interface VirtioNic {
  /** Name of the tap interface. It exists as long as the guest. */
  readonly tap: string;
  /** Number of receive queues, and of send queues. */
  readonly queuePairs: number;
  /** Properties of QEMU's device, such as "ctrl_guest_offloads=off". */
  readonly properties?: readonly string[];
}

export interface Machine {
  readonly vmlinux: string;
  readonly initrd: string;
  readonly disk: string;
  readonly accelerator: "kvm" | "tcg";
  /** CPU model of QEMU; `max` has all features that can be emulated. */
  readonly cpu: string;
  readonly cpus: number;
  readonly memoryMb: number;
  /** Directory of the host that is mounted at /share. */
  readonly share?: string | undefined;
  readonly hostForwards: readonly HostForward[];
  readonly virtioNics: readonly VirtioNic[];
  /** Number of VFs of a virtio NIC with SR-IOV; without it, there is no such NIC. It needs a QEMU that hasVirtioVfs(). */
  readonly virtioVfs?: number | undefined;
  /** Disks after the root disk. */
  readonly moreDisks: readonly string[];
  /** Arguments of the guest's kernel. Arguments such as LAB_X=y become environment variables of its init. */
  readonly iommu: boolean;
  readonly igbNetwork: boolean;
  readonly kernelArguments: readonly string[];
  /** The Unix socket of the agent's port, or a terminal. */
  readonly console: { readonly agentSocket: string } | "terminal";
}

/** With more memory, the igb PF does not answer its VFs, which then have no carrier. The cause is not known. */
export const maxMemoryMb = 2048;

/** The function numbers of a device without ARI. */
export const maxVirtioVfs = 7;

/** Returns the arguments in the order that QEMU needs. */
export function qemuArguments(machine: Machine): string[] {
  return [
    ...["-M", "q35", "-nodefaults", "-no-user-config", "-display", "none"],
    ...(machine.accelerator === "kvm" ? ["-accel", "kvm"] : ["-accel", "tcg,thread=multi,tb-size=512"]),
    ...["-cpu", machine.cpu, "-smp", String(machine.cpus), "-m", String(machine.memoryMb)],
    ...["-kernel", machine.vmlinux, "-initrd", machine.initrd],
    ...[
      "-append",
      [...kernelArguments, ...(machine.iommu ? ["intel_iommu=on iommu=pt"] : []), ...machine.kernelArguments].join(" "),
    ],
    ...consoleArguments(machine.console),
    ...(machine.iommu ? ["-device", "intel-iommu,intremap=on"] : []), // gives each VF its own IOMMU group, for vfio
    ...dualPortNic,
    ...(machine.igbNetwork ? igbNetwork : []),
    ...["-netdev", `user,id=lab${machine.hostForwards.map(hostForward).join("")}`],
    ...["-device", "virtio-net-pci,netdev=lab,mac=52:54:00:cc:00:00"],
    ...machine.virtioNics.flatMap(virtioNicArguments),
    ...(machine.virtioVfs === undefined ? [] : virtioSriovArguments(machine.virtioVfs)),
    ...[machine.disk, ...machine.moreDisks].flatMap(diskArguments),
    ...shareArguments(machine.share),
  ];
}

const kernelArguments = [
  "console=ttyS0 quiet",
  // A loaded host loses timer interrupts. One boot failed with "timer doesn't work through Interrupt-remapped IO-APIC".
  "no_timer_check",
  // QEMU 10.0 sometimes leaves an interrupt of an emulated processor in service, as driver/lab_tick.c describes. With a
  // periodic timer it was seen less often. In guests without that module, qemu-process.ts and hang-report.ts recognise it.
  "nohz=off highres=off",
  // After an oops, the guest would go on without the thread that failed, and hang later. Seen in igb_watchdog_task of igbsw:
  // it used a transmit ring that was freed while VFs were removed. The host recognises a panic at once.
  "oops=panic",
  "mitigations=off",
];

/**
 * The kernel finds the second function on a root port only if ARI's next function is set on the first. The hub connects the two
 * ports; QEMU warns that it is connected to nothing else.
 */
const dualPortNic = [
  ...["-netdev", "hubport,id=port0,hubid=0", "-netdev", "hubport,id=port1,hubid=0"],
  ...["-device", "pcie-root-port,id=slot1,chassis=1,slot=1"],
  "-device",
  "igb,bus=slot1,addr=0.0,multifunction=on,x-pcie-ari-nextfn-1=on,netdev=port0,mac=52:54:00:aa:00:00",
  ...["-device", "igb,bus=slot1,addr=0.1,multifunction=on,netdev=port1,mac=52:54:00:aa:00:01"],
];

/** A second network of slirp, with the same addresses as that of the lab's virtio NIC. */
const igbNetwork = ["-netdev", "user,id=igb", "-netdev", "hubport,id=uplink,hubid=0,netdev=igb"];

function consoleArguments(console: Machine["console"]): string[] {
  if (console === "terminal") {
    // Ctrl-C goes to the guest. Ctrl-A x ends QEMU.
    return [
      ...["-chardev", "stdio,id=console,mux=on,signal=off"],
      ...["-serial", "chardev:console", "-mon", "console"],
    ];
  }
  return [
    ...["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"],
    ...["-chardev", `socket,id=agent,path=${option(console.agentSocket)}`],
    ...["-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=lab.agent"],
  ];
}

/** Each queue has an interrupt vector; two more are for the control queue and for changes of the configuration. */
function virtioNicArguments({ tap, queuePairs, properties = [] }: VirtioNic, index: number): string[] {
  const netdev = `tap,id=virtio${index},ifname=${option(tap)},queues=${queuePairs},script=no,downscript=no,vhost=off`;
  const place = `addr=${(firstVirtioSlot + index).toString(16)},mac=52:54:00:dd:00:0${index}`;
  const queues = `mq=${queuePairs > 1 ? "on" : "off"},vectors=${2 * queuePairs + 2}`;
  const device = ["virtio-net-pci", `netdev=virtio${index}`, place, queues, ...properties].join(",");
  return ["-netdev", netdev, "-device", device];
}

const firstVirtioSlot = 0x10;

/** Function 0 is the PF, and QEMU needs its VFs before it. A hub connects all of them. */
function virtioSriovArguments(vfs: number): string[] {
  const functions = Array.from({ length: vfs + 1 }, (_, nth) => vfs - nth);
  return [
    ...["-device", "pcie-root-port,id=slot2,chassis=2,slot=2"],
    ...functions.flatMap((fn) => {
      const device = `virtio-net-pci,bus=slot2,addr=0.${fn},netdev=sriov${fn},mac=52:54:00:ee:00:0${fn}`;
      const netdev = `hubport,id=sriov${fn},hubid=1`;
      return ["-netdev", netdev, "-device", `${device},${fn === 0 ? "id=virtiopf" : "sriov-pf=virtiopf"}`];
    }),
  ];
}

/** snapshot: writes go to a temporary file, so each run starts with a clean disk and several runs can share it. */
function diskArguments(path: string, index: number): string[] {
  const drive = `file=${option(path)},format=raw,if=none,id=disk${index},snapshot=on`;
  return ["-drive", drive, "-device", `virtio-blk-pci,drive=disk${index}`];
}

function hostForward({ hostPort, guestPort }: HostForward): string {
  return `,hostfwd=tcp:127.0.0.1:${hostPort}-:${guestPort}`;
}

function shareArguments(share: string | undefined): string[] {
  if (share === undefined) return [];
  return ["-virtfs", `local,path=${option(share)},mount_tag=share,security_model=none,multidevs=remap`];
}

/** Doubles commas, because a single comma ends an option of QEMU. */
function option(path: string): string {
  return path.replaceAll(",", ",,");
}
