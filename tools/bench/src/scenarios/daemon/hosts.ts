// SPDX-License-Identifier: Apache-2.0
/** The hosts on which the daemon is measured, and what is done on each of them. */
import type { AfxdpInterfaceSpec, Bridges, InterfaceSpec } from "@switchyard/api";
import { ice } from "@switchyard/host/testing";
import type { MachineOptions } from "@switchyard/vm-lab";
import type { GuestDaemonOptions } from "./guest-daemon.ts";
import type { NodeInterface } from "./node-under-test.ts";

/** A change of the spec. */
export interface Change {
  readonly title: string;
  readonly interfaces: readonly NodeInterface[];
  readonly bridges?: Bridges;
  /** Whether the report leaves it out: it only prepares what follows. */
  readonly isHidden?: true;
  /** Whether the daemon must refuse it. */
  readonly isRefused?: true;
}

/** What is done on a host, in this order. */
export interface HostPlan {
  /** Starts of the daemon on a node without status, in each round. */
  readonly firstStart: string;
  /** The changes of each round. */
  readonly rounds: readonly Change[];
  /** Between two rounds, if the last change is not a reset itself, and at the end, where it is not in the report. */
  readonly reset: Change;
  /** Changes after the rounds. */
  readonly then: readonly Change[];
  /** Whether the carrier of a configured PF is interrupted. */
  readonly flapsLink: boolean;
  /** Starts of the daemon on the configured node, in each round. An idle time follows. */
  readonly restart: string;
  /** The last change, in which the kernel takes `kernelSeconds` for each PF. */
  readonly slow?: Change & { readonly kernelSeconds: number };
}

/** The goals of a host. */
export interface HostLimits {
  /** The time of a change: a factor for the time of the kernel with udev, and what is added to that. */
  readonly timesKernel: number;
  readonly ownSeconds: number;
  readonly rssMb: number;
  readonly requests: number;
}

export interface Host {
  readonly limits: HostLimits;
  readonly plan: HostPlan;
  /** Absent for the fake kernel, which runs in this process. */
  readonly guest?: {
    /**
     * A shell script that makes the same changes without the daemon. It starts and ends without VFs, and prints a line for each
     * change (see parseTimes).
     */
    readonly baseline: string;
    /** A script that runs once, after the boot. */
    readonly prepare?: string;
    readonly machine?: MachineOptions;
    readonly daemon?: Pick<GuestDaemonOptions, "flags" | "kind" | "workingDevice">;
  };
}

/** Two cards with two ports of 128 VFs each. */
export const nativeNics = [ice("0000:3b:00.0"), ice("0000:5e:00.0")];
const nativePfs = nativeNics.flatMap(({ ports }) => ports.map(({ pciAddress }) => pciAddress));

const firstPf = "0000:01:00.0";
const secondPf = "0000:01:00.1";

/** The title of the change whose CPU time has a goal. */
export const zeroToFour = "0 -> 4 on one PF";

/** The spec of a PF whose VFs are all in one group. */
function pf(pciAddress: string, numVfs: number, more: Partial<InterfaceSpec> = {}): InterfaceSpec {
  const vfGroups = [{ resourceName: "pods", policyName: "bench", vfRange: `0-${numVfs - 1}` }];
  return { pciAddress, numVfs, vfGroups, ...more };
}

function withFirst(numVfs: number, more: Partial<InterfaceSpec> = {}): readonly InterfaceSpec[] {
  return nativePfs.map((address, at) => (at === 0 ? pf(address, numVfs, more) : pf(address, 32)));
}

const native: HostPlan = {
  firstStart: "start, no VFs",
  rounds: [
    { title: "0 -> 32 on each of 4 PFs", interfaces: withFirst(32) },
    { title: "32 -> 16 on one PF", interfaces: withFirst(16) },
    { title: "16 -> 32 on one PF", interfaces: withFirst(32) },
  ],
  reset: { title: "reset of all PFs", interfaces: [] },
  then: [
    { title: "200 VFs of 128 on one PF", interfaces: withFirst(200), isRefused: true },
    { title: "MTU 9900 of 9702 on one PF", interfaces: withFirst(32, { mtu: 9900 }), isRefused: true },
    { title: "back to what is there", interfaces: withFirst(32) },
  ],
  flapsLink: false,
  restart: "start, 128 VFs",
  // The PFs must not wait for each other.
  slow: { title: "0 -> 32 on each of 4 PFs, 1 s each", interfaces: withFirst(32), kernelSeconds: 1 },
};

/** Two real ports with seven VFs each. */
const igb: HostPlan = {
  firstStart: "start, no VFs",
  rounds: [
    { title: zeroToFour, interfaces: [pf(firstPf, 4)] },
    { title: "4 -> 6 on one PF", interfaces: [pf(firstPf, 6)] },
    { title: "6 -> 0 on one PF", interfaces: [] },
    { title: "0 -> 4 on two PFs", interfaces: [pf(firstPf, 4), pf(secondPf, 4)] },
  ],
  reset: { title: "reset of both PFs", interfaces: [], isHidden: true },
  then: [
    { title: "9 VFs of 7 on one PF", interfaces: [pf(firstPf, 9), pf(secondPf, 4)], isRefused: true },
    {
      title: "MTU 9300 of 9216 on one PF",
      interfaces: [pf(firstPf, 4, { mtu: 9300 }), pf(secondPf, 4)],
      isRefused: true,
    },
    { title: "back to what is there", interfaces: [pf(firstPf, 4), pf(secondPf, 4)], isHidden: true },
  ],
  flapsLink: true,
  restart: "start, 8 VFs",
};

/**
 * Functions of the scripts: `begin` before a change and `tell TITLE` after it, which prints the times. `read` and `echo` are built
 * into the shell, so it measures only the change.
 */
const scriptFunctions = `
set -e
now() { read -r now _ </proc/uptime; }
begin() { now; begin=$now; }
tell() { now; wrote=$now; udevadm settle; now; echo "$begin $wrote $now $1"; sleep 2; }
`;

/** The links are up, as the daemon sets them before it creates VFs: igb then takes its port down and up again with each write. */
const igbScript = `${scriptFunctions}
pf0=/sys/bus/pci/devices/${firstPf}/sriov_numvfs
pf1=/sys/bus/pci/devices/${secondPf}/sriov_numvfs
link() { for device in ${firstPf} ${secondPf}; do ip link set $(ls /sys/bus/pci/devices/$device/net) $1; done; }
udevadm settle; link up; sleep 2
begin; echo 4 >$pf0; tell "${zeroToFour}"
begin; echo 0 >$pf0; echo 6 >$pf0; tell "4 -> 6 on one PF"
begin; echo 0 >$pf0; tell "6 -> 0 on one PF"
begin; echo 4 >$pf0 & echo 4 >$pf1; wait; tell "0 -> 4 on two PFs"
echo 0 >$pf0; echo 0 >$pf1; link down; udevadm settle; sleep 2
`;

const ovsVfs = 4;
const ovsBridge = `br-0000_01_00.0`;
const withBridge = `switchdev, ${ovsVfs} VFs and a bridge`;

/** Switchdev mode with a bridge of Open vSwitch. */
const ovs: HostPlan = {
  firstStart: "start, no VFs",
  rounds: [
    {
      title: withBridge,
      interfaces: [pf(firstPf, ovsVfs, { eSwitchMode: "switchdev" })],
      bridges: { ovs: [{ name: ovsBridge, bridge: {}, uplinks: [{ pciAddress: firstPf }] }] },
    },
  ],
  reset: { title: "reset of the PF and its bridge", interfaces: [], bridges: {} },
  then: [],
  flapsLink: true,
  restart: `start, ${ovsVfs} VFs and a bridge`,
};

/** The guest has no service manager. Hardware offload is configured first, because it restarts ovs-vswitchd. */
const startOvs = `
set -e
/usr/share/openvswitch/scripts/ovs-ctl start --system-id=random --no-monitor >/dev/null
ovs-vsctl set Open_vSwitch . other_config:hw-offload=true
/usr/share/openvswitch/scripts/ovs-ctl restart --system-id=random --no-monitor >/dev/null
`;

/** What an administrator would write, with devlink and ovs-vsctl. */
const ovsScript = `${scriptFunctions}
device=/sys/bus/pci/devices/${firstPf}
name=$(ls $device/net | head -1)
ip link set $name up # as the daemon does first; igb creates VFs more slowly then
udevadm settle; sleep 2
begin
echo ${ovsVfs} >$device/sriov_numvfs
udevadm settle # udev loads the driver of the VFs
vfs=$(for vf in $device/virtfn*; do basename "$(readlink $vf)"; done)
for vf in $vfs; do echo $vf >/sys/bus/pci/drivers/igbvf/unbind; done
devlink dev eswitch set pci/${firstPf} mode switchdev
ethtool -K $name hw-tc-offload on
for vf in $vfs; do echo $vf >/sys/bus/pci/drivers/igbvf/bind; done
ovs-vsctl add-br ${ovsBridge} -- add-port ${ovsBridge} $name
tell "${withBridge}"
ovs-vsctl del-br ${ovsBridge}
devlink dev eswitch set pci/${firstPf} mode legacy
echo 0 >$device/sriov_numvfs
ethtool -K $name hw-tc-offload off
ip link set $name down
udevadm settle; sleep 2
`;

/** As many as a PF of the lab can have. */
const mostSfs = 64;
const fewSfs = 4;

const [toMost, toNone] = [`0 -> ${mostSfs} subfunctions`, `${mostSfs} -> 0 subfunctions`];

function sfs(numSfs: number): readonly AfxdpInterfaceSpec[] {
  return [{ pciAddress: firstPf, mode: "subfunction", poolName: "bench", numSfs }];
}

/** Subfunctions of AF_XDP devices. */
const subfunctions: HostPlan = {
  firstStart: "start, no subfunctions",
  rounds: [
    { title: toMost, interfaces: sfs(mostSfs) },
    { title: toNone, interfaces: [] },
  ],
  reset: { title: "reset of the PF", interfaces: [] },
  then: [
    { title: `0 -> ${fewSfs} subfunctions`, interfaces: sfs(fewSfs) },
    { title: `${mostSfs + 1} subfunctions of ${mostSfs}`, interfaces: sfs(mostSfs + 1), isRefused: true },
    { title: "to all subfunctions", interfaces: sfs(mostSfs), isHidden: true },
  ],
  flapsLink: false,
  restart: `start, ${mostSfs} subfunctions`,
};

/** What an administrator would write. The interface of a subfunction exists when its device has one in sysfs. */
const subfunctionsScript = `${scriptFunctions}
ip link set $(ls /sys/bus/pci/devices/${firstPf}/net | head -1) up
udevadm settle; sleep 2
begin
devlink dev eswitch set pci/${firstPf} mode switchdev
n=0
while [ $n -lt ${mostSfs} ]; do
  added=$(devlink port add pci/${firstPf} flavour pcisf pfnum 0 sfnum $n)
  port=\${added%%: *}
  devlink port function set $port hw_addr $(printf 02:00:00:00:00:%02x $n)
  devlink port function set $port state active
  device=/sys/bus/auxiliary/devices/mlx5_core.sf.$((n + 2))
  until [ -n "$(ls $device/net 2>/dev/null)" ]; do :; done
  ports="$ports $port"
  n=$((n + 1))
done
tell "${toMost}"
begin
for port in $ports; do
  devlink port function set $port state inactive
  devlink port del $port
done
devlink dev eswitch set pci/${firstPf} mode legacy
tell "${toNone}"
`;

/** The hosts by their names in the report. On the fake kernel, PFs are configured in parallel as on a real one, but without udev. */
export const hosts = {
  "fake kernel": { limits: { timesKernel: 1.2, ownSeconds: 0.3, rssMb: 65, requests: 4 }, plan: native },
  "VM lab, igb": {
    limits: { timesKernel: 1.3, ownSeconds: 0.5, rssMb: 65, requests: 4 },
    plan: igb,
    guest: { baseline: igbScript },
  },
  "VM lab, igbsw and Open vSwitch": {
    limits: { timesKernel: 1.3, ownSeconds: 0, rssMb: 70, requests: 4 },
    plan: ovs,
    guest: {
      baseline: ovsScript,
      prepare: startOvs,
      machine: { driver: "igbsw" },
      daemon: { flags: ["--manage-software-bridges", "--ovsdb-socket-path", "unix:///var/run/openvswitch/db.sock"] },
    },
  },
  "VM lab, igbsw and subfunctions": {
    // Both node states show the eswitch mode of a PF that gets subfunctions, which is one more request.
    limits: { timesKernel: 1.3, ownSeconds: 0, rssMb: 70, requests: 5 },
    plan: subfunctions,
    guest: {
      baseline: subfunctionsScript,
      machine: { driver: "igbsw" },
      // The working device is that of the first subfunction.
      daemon: { kind: "afxdp", workingDevice: "/sys/bus/auxiliary/devices/mlx5_core.sf.2/" },
    },
  },
} as const satisfies Readonly<Record<string, Host>>;

export type HostName = keyof typeof hosts;
