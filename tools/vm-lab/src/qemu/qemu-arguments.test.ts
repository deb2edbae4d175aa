// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { qemuArguments, type Machine } from "./qemu-arguments.ts";

const machine: Machine = {
  vmlinux: "/cache/vmlinux",
  initrd: "/tmp/initrd",
  disk: "/cache/rootfs.ext4",
  accelerator: "tcg",
  cpu: "max",
  cpus: 2,
  memoryMb: 2048,
  hostForwards: [],
  virtioNics: [],
  moreDisks: [],
  iommu: true,
  igbNetwork: false,
  kernelArguments: ["LAB_INIT=/usr/sbin/lab-init"],
  console: { agentSocket: "/tmp/agent.sock" },
};

/** Returns all values of an option that can be repeated. */
function valuesOf(option: string, args: readonly string[]): string[] {
  return args.flatMap((word, index) => (word === option ? [args[index + 1] ?? ""] : []));
}

describe("qemuArguments", () => {
  it("has both ports on one slot, so that the kernel finds the second", () => {
    const nics = valuesOf("-device", qemuArguments(machine)).filter((device) => device.startsWith("igb,"));
    expect(nics).toEqual([
      expect.stringMatching(/bus=slot1,addr=0\.0,.*x-pcie-ari-nextfn-1=on/),
      expect.stringMatching(/bus=slot1,addr=0\.1,/),
    ]);
  });

  it("never writes to the disk of the cache", () => {
    expect(valuesOf("-drive", qemuArguments(machine))).toEqual([expect.stringContaining("snapshot=on")]);
  });

  it("appends the kernel arguments of the lab", () => {
    const [words] = valuesOf("-append", qemuArguments(machine));
    expect(words).toMatch(/^console=ttyS0 quiet no_timer_check .* LAB_INIT=\/usr\/sbin\/lab-init$/);
  });

  it("opens host ports on the loopback only", () => {
    const [user] = valuesOf(
      "-netdev",
      qemuArguments({ ...machine, hostForwards: [{ hostPort: 8443, guestPort: 443 }] }),
    ).filter((netdev) => netdev.startsWith("user,"));
    expect(user).toBe("user,id=lab,hostfwd=tcp:127.0.0.1:8443-:443");
  });

  it("has virtio NICs with queues, each with interrupts for its queues and two more", () => {
    const virtioNics = [
      { tap: "tap0", queuePairs: 6 },
      { tap: "tap1", queuePairs: 1, properties: ["guest_tso4=off"] },
    ];
    const args = qemuArguments({ ...machine, virtioNics });
    expect(valuesOf("-netdev", args).filter((netdev) => netdev.startsWith("tap,"))).toEqual([
      "tap,id=virtio0,ifname=tap0,queues=6,script=no,downscript=no,vhost=off",
      "tap,id=virtio1,ifname=tap1,queues=1,script=no,downscript=no,vhost=off",
    ]);
    expect(valuesOf("-device", args).filter((device) => device.includes("netdev=virtio"))).toEqual([
      "virtio-net-pci,netdev=virtio0,addr=10,mac=52:54:00:dd:00:00,mq=on,vectors=14",
      "virtio-net-pci,netdev=virtio1,addr=11,mac=52:54:00:dd:00:01,mq=off,vectors=4,guest_tso4=off",
    ]);
  });

  it("has a virtio NIC with VFs, which QEMU needs before their PF", () => {
    const args = qemuArguments({ ...machine, virtioVfs: 2 });
    const devices = valuesOf("-device", args).filter((device) => device.includes("netdev=sriov"));
    expect(devices).toEqual([
      "virtio-net-pci,bus=slot2,addr=0.2,netdev=sriov2,mac=52:54:00:ee:00:02,sriov-pf=virtiopf",
      "virtio-net-pci,bus=slot2,addr=0.1,netdev=sriov1,mac=52:54:00:ee:00:01,sriov-pf=virtiopf",
      "virtio-net-pci,bus=slot2,addr=0.0,netdev=sriov0,mac=52:54:00:ee:00:00,id=virtiopf",
    ]);
    expect(valuesOf("-netdev", args).filter((netdev) => netdev.includes("hubid=1"))).toHaveLength(3);
    expect(qemuArguments(machine).join(" ")).not.toContain("slot2");
  });

  it("has a share on request, and doubles the commas of its path", () => {
    expect(valuesOf("-virtfs", qemuArguments(machine))).toEqual([]);
    const [share] = valuesOf("-virtfs", qemuArguments({ ...machine, share: "/tmp/a,b" }));
    expect(share).toContain("path=/tmp/a,,b,mount_tag=share");
  });

  it("has a port for the agent, or a terminal that can be left", () => {
    expect(qemuArguments(machine)).toContain("virtserialport,chardev=agent,name=lab.agent");
    const terminal = qemuArguments({ ...machine, console: "terminal" });
    expect(terminal.join(" ")).not.toContain("lab.agent");
    expect(valuesOf("-chardev", terminal)).toEqual(["stdio,id=console,mux=on,signal=off"]);
  });
});
