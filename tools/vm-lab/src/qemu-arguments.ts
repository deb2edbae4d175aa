// SPDX-License-Identifier: Apache-2.0
/**
 * The machine that the lab emulates, as QEMU's command line: one dual-port NIC with SR-IOV, its ports cabled to each other,
 * an IOMMU, a NIC to the host, a root disk that forgets, and perhaps a shared directory.
 * Usage: `spawn("qemu-system-x86_64", qemuArguments(machine))`
 */

/** A TCP port of the host's loopback that leads to one of the guest. */
export interface HostForward {
  readonly hostPort: number;
  readonly guestPort: number;
}

export interface Machine {
  readonly vmlinux: string;
  readonly initrd: string;
  readonly disk: string;
  readonly accelerator: "kvm" | "tcg";
  /** QEMU's CPU model; `max` is all that can be emulated. */
  readonly cpu: string;
  readonly cpus: number;
  readonly memoryMb: number;
  /** A directory of the host that the guest finds at /share. */
  readonly share?: string;
  readonly hostForwards: readonly HostForward[];
  /** Words for the guest's kernel; those like LAB_X=y become environment of its init. */
  readonly kernelArguments: readonly string[];
  /** The Unix socket that the agent's port is connected to, or the terminal of a person. */
  readonly console: { readonly agentSocket: string } | "terminal";
}

/** More memory and igb's PF stops answering its VFs: they come up without carrier (vm-lab/FINDINGS.md 9, cause unknown). */
export const maxMemoryMb = 2048;

/** The arguments in QEMU's order. */
export function qemuArguments(machine: Machine): string[] {
  return [
    ...["-M", "q35", "-nodefaults", "-no-user-config", "-display", "none"],
    ...(machine.accelerator === "kvm" ? ["-accel", "kvm"] : ["-accel", "tcg,thread=multi,tb-size=512"]),
    ...["-cpu", machine.cpu, "-smp", String(machine.cpus), "-m", String(machine.memoryMb)],
    ...["-kernel", machine.vmlinux, "-initrd", machine.initrd],
    ...["-append", [...kernelArguments, ...machine.kernelArguments].join(" ")],
    ...consoleArguments(machine.console),
    ...["-device", "intel-iommu,intremap=on"], // a real IOMMU group per VF, for vfio
    ...dualPortNic,
    ...["-netdev", `user,id=lab${machine.hostForwards.map(hostForward).join("")}`],
    ...["-device", "virtio-net-pci,netdev=lab,mac=52:54:00:cc:00:00"],
    // snapshot: writes go to a file that QEMU deletes, so runs are pristine and several can share the disk.
    ...["-drive", `file=${option(machine.disk)},format=raw,if=none,id=root,snapshot=on`],
    ...["-device", "virtio-blk-pci,drive=root"],
    ...shareArguments(machine.share),
  ];
}

const kernelArguments = [
  "console=ttyS0 quiet",
  // A loaded host loses timer interrupts: one boot died of "timer doesn't work through Interrupt-remapped IO-APIC".
  "no_timer_check",
  "intel_iommu=on iommu=pt mitigations=off",
];

/**
 * Two functions on one root port are a dual-port NIC only with ARI's next function set on the first: else the kernel does not
 * find the second. The hub is a cable between them; QEMU warns that it leads nowhere else.
 */
const dualPortNic = [
  ...["-netdev", "hubport,id=port0,hubid=0", "-netdev", "hubport,id=port1,hubid=0"],
  ...["-device", "pcie-root-port,id=slot1,chassis=1,slot=1"],
  "-device",
  "igb,bus=slot1,addr=0.0,multifunction=on,x-pcie-ari-nextfn-1=on,netdev=port0,mac=52:54:00:aa:00:00",
  ...["-device", "igb,bus=slot1,addr=0.1,multifunction=on,netdev=port1,mac=52:54:00:aa:00:01"],
];

function consoleArguments(console: Machine["console"]): string[] {
  if (console === "terminal") {
    // Ctrl-C goes to the guest; Ctrl-A x ends QEMU, whatever the guest does.
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

function hostForward({ hostPort, guestPort }: HostForward): string {
  return `,hostfwd=tcp:127.0.0.1:${hostPort}-:${guestPort}`;
}

function shareArguments(share: string | undefined): string[] {
  if (share === undefined) return [];
  return ["-virtfs", `local,path=${option(share)},mount_tag=share,security_model=none,multidevs=remap`];
}

/** A comma ends an option unless it is doubled. */
function option(path: string): string {
  return path.replaceAll(",", ",,");
}
