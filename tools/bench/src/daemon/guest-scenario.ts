// SPDX-License-Identifier: Apache-2.0
/**
 * runGuestScenario measures the daemon in the VM lab: starts, changes of the number of VFs, refusals and an idle
 * time, on two real ports with seven VFs each.
 */
import type { DaemonOptions } from "./daemon-options.ts";
import type { ChangeResult, FlapResult } from "./daemon-results.ts";
import type { DaemonUnderTest } from "./node-under-test.ts";
import { guestChanges } from "./kernel-baseline.ts";
import type { DaemonMeasures } from "./daemon-measures.ts";
import { pf, type ScenarioResult } from "./native-scenario.ts";

const first = "0000:01:00.0";
const second = "0000:01:00.1";

/** Runs the scenario. At the end there are no VFs and the daemon is stopped. */
export async function runGuestScenario(
  daemon: DaemonUnderTest,
  measures: DaemonMeasures,
  { rounds, idleSeconds }: DaemonOptions,
): Promise<Omit<ScenarioResult, "kernelTimes"> & { readonly peakMb: number }> {
  const { zeroToFour, fourToSix, sixToZero, twoPfs } = guestChanges;
  const starts = await measures.firstStarts("start, no VFs", rounds);
  const changes: ChangeResult[] = [];
  for (let round = 1; round <= rounds; round++) {
    changes.push(await measures.change(zeroToFour, round, [pf(first, 4)]));
    changes.push(await measures.change(fourToSix, round, [pf(first, 6)]));
    changes.push(await measures.change(sixToZero, round, []));
    changes.push(await measures.change(twoPfs, round, [pf(first, 4), pf(second, 4)]));
    if (round < rounds) await measures.change("reset of both PFs", round, []);
  }
  const refusals = [
    await measures.refusal("9 VFs of 7 on one PF", [pf(first, 9), pf(second, 4)]),
    await measures.refusal("MTU 9300 of 9216 on one PF", [pf(first, 4, { mtu: 9300 }), pf(second, 4)]),
  ];
  await measures.change("back to what is there", 1, [pf(first, 4), pf(second, 4)]);
  const flaps = await measureFlap(daemon, measures);
  // The daemon still updates its events a minute later, so only a new process is idle.
  const { peakMb } = await daemon.read();
  await daemon.stop();
  const restarts = await measures.restarts("start, 8 VFs", rounds);
  const idle = await measures.idle(idleSeconds);
  await measures.change("reset of both PFs", rounds, []);
  await daemon.stop();
  return { starts: [...starts, ...restarts], changes, refusals, flaps, idle, peakMb };
}

/** A restart of the autonegotiation interrupts the carrier of a configured PF. */
export async function measureFlap(daemon: DaemonUnderTest, measures: DaemonMeasures): Promise<readonly FlapResult[]> {
  if (daemon.flapLink === undefined) return [];
  const flapLink = async () => daemon.flapLink?.();
  // The first call sets the link up, which the status shows.
  await measures.flap("the link comes up", flapLink);
  return [await measures.flap("link flap", flapLink)];
}
