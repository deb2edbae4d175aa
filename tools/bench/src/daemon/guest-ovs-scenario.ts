// SPDX-License-Identifier: Apache-2.0
/**
 * runGuestOvsScenario measures switchdev mode with a bridge of Open vSwitch in the VM lab, next to a shell script that makes the
 * same changes with devlink and ovs-vsctl, and the daemon while it is connected to ovsdb-server.
 */
import type { Bridges } from "@switchyard/api";
import type { Guest } from "@switchyard/vm-lab";
import { BenchError } from "../harness/run-control.ts";
import type { DaemonMeasures } from "./daemon-measures.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import type { ChangeResult } from "./daemon-results.ts";
import type { DaemonUnderTest } from "./node-under-test.ts";
import { measureFlap } from "./guest-scenario.ts";
import type { KernelTimes } from "./kernel-baseline.ts";
import { pf, type ScenarioResult } from "./native-scenario.ts";

const first = "0000:01:00.0";
const bridge = "br-0000_01_00.0";
const numVfs = 4;
const withBridge = `switchdev, ${numVfs} VFs and a bridge`;
const resetTitle = "reset of the PF and its bridge";

/** Flags with which the daemon connects to ovsdb-server. */
export const ovsFlags = ["--manage-software-bridges", "--ovsdb-socket-path", "unix:///var/run/openvswitch/db.sock"];

/** The guest has no service manager. Hardware offload is configured first, because it restarts ovs-vswitchd. */
const startOvs = `
set -e
/usr/share/openvswitch/scripts/ovs-ctl start --system-id=random --no-monitor >/dev/null
ovs-vsctl set Open_vSwitch . other_config:hw-offload=true
/usr/share/openvswitch/scripts/ovs-ctl restart --system-id=random --no-monitor >/dev/null
`;

/** What an administrator would write. It starts and ends without VFs and bridge. */
const script = `
set -e
device=/sys/bus/pci/devices/${first}
name=$(ls $device/net | head -1)
now() { read -r now _ </proc/uptime; }
ip link set $name up # as the daemon does first; igb creates VFs more slowly then
udevadm settle; sleep 2
now; begin=$now
echo ${numVfs} >$device/sriov_numvfs
udevadm settle # udev loads the driver of the VFs
vfs=$(for vf in $device/virtfn*; do basename "$(readlink $vf)"; done)
for vf in $vfs; do echo $vf >/sys/bus/pci/drivers/igbvf/unbind; done
devlink dev eswitch set pci/${first} mode switchdev
ethtool -K $name hw-tc-offload on
for vf in $vfs; do echo $vf >/sys/bus/pci/drivers/igbvf/bind; done
ovs-vsctl add-br ${bridge} -- add-port ${bridge} $name
now; wrote=$now
udevadm settle
now; echo "$begin $wrote $now"
ovs-vsctl del-br ${bridge}
devlink dev eswitch set pci/${first} mode legacy
echo 0 >$device/sriov_numvfs
ethtool -K $name hw-tc-offload off
ip link set $name down
udevadm settle; sleep 2
`;

const bridges: Bridges = { ovs: [{ name: bridge, bridge: {}, uplinks: [{ pciAddress: first }] }] };

/** Starts Open vSwitch. Rejects with BenchError `platform` if it does not start. */
export async function startOpenVSwitch(guest: Guest, signal: AbortSignal): Promise<void> {
  await run(guest, startOvs, signal);
}

/** Runs the script. Rejects with BenchError `platform` if a command fails. */
export async function measureScript(guest: Guest, signal: AbortSignal): Promise<KernelTimes> {
  const [begin = Number.NaN, wrote = Number.NaN, settled = Number.NaN] = (await run(guest, script, signal))
    .trim()
    .split(" ")
    .map(Number);
  if (!(begin <= wrote && wrote <= settled)) throw new BenchError("platform", "the script printed no times");
  return { [withBridge]: { seconds: wrote - begin, withUdevSeconds: settled - begin } };
}

async function run(guest: Guest, command: string, signal: AbortSignal): Promise<string> {
  const { code, stdout, stderr } = await guest.exec(command, { timeoutMs: 300_000, signal });
  if (code !== 0) throw new BenchError("platform", `a script failed in the guest with ${code}: ${stderr}`);
  return stdout;
}

/** Runs the scenario. At the end there are no VFs and no bridge, and the daemon is stopped. */
export async function runGuestOvsScenario(
  daemon: DaemonUnderTest,
  measures: DaemonMeasures,
  { rounds, idleSeconds }: DaemonOptions,
): Promise<Omit<ScenarioResult, "kernelTimes"> & { readonly peakMb: number }> {
  const starts = await measures.firstStarts("start, no VFs", rounds);
  const changes: ChangeResult[] = [];
  const wanted = [pf(first, numVfs, { eSwitchMode: "switchdev" })];
  for (let round = 1; round <= rounds; round++) {
    changes.push(await measures.change(withBridge, round, wanted, bridges));
    if (round < rounds) changes.push(await measures.change(resetTitle, round, [], {}));
  }
  const flaps = await measureFlap(daemon, measures);
  const { peakMb } = await daemon.read();
  await daemon.stop();
  const restarts = await measures.restarts(`start, ${numVfs} VFs and a bridge`, rounds);
  const idle = await measures.idle(idleSeconds);
  await measures.change(resetTitle, rounds, [], {});
  await daemon.stop();
  return { starts: [...starts, ...restarts], changes, refusals: [], flaps, idle, peakMb };
}
