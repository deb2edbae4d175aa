// SPDX-License-Identifier: Apache-2.0
/**
 * runGuestSubfunctionsScenario measures the subfunctions of AF_XDP devices in the VM lab, next to a shell script that makes the same
 * changes with devlink, as an administrator would.
 */
import type { AfxdpInterfaceSpec } from "@switchyard/api";
import type { Guest } from "@switchyard/vm-lab";
import { BenchError } from "../harness/run-control.ts";
import type { DaemonMeasures } from "./daemon-measures.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import type { ChangeResult } from "./daemon-results.ts";
import type { DaemonUnderTest } from "./node-under-test.ts";
import { parseTimes, type KernelTimes } from "./kernel-baseline.ts";
import type { ScenarioResult } from "./native-scenario.ts";

const pf = "0000:01:00.0";

/** As many as a PF of the lab can have. */
const most = 64;
const few = 4;

/** Titles of the changes that are also made by the script. */
const subfunctionChanges = {
  toMost: `0 -> ${most} subfunctions`,
  toNone: `${most} -> 0 subfunctions`,
} as const;

/** The device of the first subfunction. */
export const firstSubfunction = "/sys/bus/auxiliary/devices/mlx5_core.sf.2/";

/** It starts and ends without subfunctions. The interface of a subfunction exists when its device has one in sysfs. */
const script = `
set -e
now() { read -r now _ </proc/uptime; }
ip link set $(ls /sys/bus/pci/devices/${pf}/net | head -1) up
udevadm settle; sleep 2
now; begin=$now
devlink dev eswitch set pci/${pf} mode switchdev
n=0
while [ $n -lt ${most} ]; do
  added=$(devlink port add pci/${pf} flavour pcisf pfnum 0 sfnum $n)
  port=\${added%%: *}
  devlink port function set $port hw_addr $(printf 02:00:00:00:00:%02x $n)
  devlink port function set $port state active
  device=/sys/bus/auxiliary/devices/mlx5_core.sf.$((n + 2))
  until [ -n "$(ls $device/net 2>/dev/null)" ]; do :; done
  ports="$ports $port"
  n=$((n + 1))
done
now; wrote=$now
udevadm settle
now; echo "toMost $begin $wrote $now"
sleep 2
now; begin=$now
for port in $ports; do
  devlink port function set $port state inactive
  devlink port del $port
done
devlink dev eswitch set pci/${pf} mode legacy
now; wrote=$now
udevadm settle
now; echo "toNone $begin $wrote $now"
sleep 2
`;

/** Runs the script. Rejects with BenchError `platform` if a command fails. */
export async function measureDevlink(guest: Guest, signal: AbortSignal): Promise<KernelTimes> {
  const { code, stdout, stderr } = await guest.exec(script, { timeoutMs: 300_000, signal });
  if (code !== 0) throw new BenchError("platform", `the script failed in the guest with ${code}: ${stderr}`);
  return parseTimes(stdout, subfunctionChanges);
}

const subfunctions = (numSfs: number): AfxdpInterfaceSpec => {
  return { pciAddress: pf, mode: "subfunction", poolName: "bench", numSfs };
};

/** Runs the scenario. At the end there are no subfunctions, and the daemon is stopped. */
export async function runGuestSubfunctionsScenario(
  daemon: DaemonUnderTest,
  measures: DaemonMeasures,
  { rounds, idleSeconds }: DaemonOptions,
): Promise<Omit<ScenarioResult, "kernelTimes"> & { readonly peakMb: number }> {
  const { toMost, toNone } = subfunctionChanges;
  const starts = await measures.firstStarts("start, no subfunctions", rounds);
  const changes: ChangeResult[] = [];
  for (let round = 1; round <= rounds; round++) {
    changes.push(await measures.change(toMost, round, [subfunctions(most)]));
    changes.push(await measures.change(toNone, round, []));
  }
  changes.push(await measures.change(`0 -> ${few} subfunctions`, 1, [subfunctions(few)]));
  const tooMany = `${most + 1} subfunctions of ${most}`;
  const refusals = [await measures.refusal(tooMany, [subfunctions(most + 1)])];
  await measures.change("to all subfunctions", 1, [subfunctions(most)]);
  const { peakMb } = await daemon.read();
  await daemon.stop();
  const restarts = await measures.restarts(`start, ${most} subfunctions`, rounds);
  const idle = await measures.idle(idleSeconds);
  await measures.change("reset of the PF", rounds, []);
  await daemon.stop();
  return { starts: [...starts, ...restarts], changes, refusals, flaps: [], idle, peakMb };
}
