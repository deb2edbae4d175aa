// SPDX-License-Identifier: Apache-2.0
/** runNativeScenario measures the daemon on the fake kernel, on a node with four PFs of 128 VFs. */
import type { InterfaceSpec } from "@switchyard/api";
import { ice } from "@switchyard/host/testing";
import type { DaemonOptions } from "./daemon-options.ts";
import type { DaemonReport } from "./daemon-report.ts";
import type { DaemonUnderTest } from "./node-under-test.ts";
import type { DaemonMeasures } from "./daemon-measures.ts";

/** Two cards with two ports of 128 VFs each. */
export const nativeNics = [ice("0000:3b:00.0"), ice("0000:5e:00.0")];

/** The time that the kernel takes for the VFs of one PF in the last change, in which the PFs must not wait for each other. */
const kernelSeconds = 1;
const slowTitle = `0 -> 32 on each of 4 PFs, ${kernelSeconds} s each`;

/** The part of the report that a scenario measures. */
export type ScenarioResult = Pick<DaemonReport, "starts" | "changes" | "refusals" | "flaps" | "idle" | "kernelTimes">;

export async function runNativeScenario(
  daemon: DaemonUnderTest,
  measures: DaemonMeasures,
  { rounds, idleSeconds }: DaemonOptions,
): Promise<ScenarioResult> {
  const [first = "", ...others] = nativeNics.flatMap(({ ports }) => ports.map(({ pciAddress }) => pciAddress));
  const all = [first, ...others];
  const withFirst = (numVfs: number, more: Partial<InterfaceSpec> = {}) => [
    pf(first, numVfs, more),
    ...others.map((address) => pf(address, 32)),
  ];

  const starts = await measures.firstStarts("start, no VFs", rounds);
  const changes = [];
  for (let round = 1; round <= rounds; round++) {
    changes.push(
      await measures.change(
        "0 -> 32 on each of 4 PFs",
        round,
        all.map((address) => pf(address, 32)),
      ),
    );
    changes.push(await measures.change("32 -> 16 on one PF", round, withFirst(16)));
    changes.push(await measures.change("16 -> 32 on one PF", round, withFirst(32)));
    if (round < rounds) changes.push(await measures.change("reset of all PFs", round, []));
  }
  const refusals = [
    await measures.refusal("200 VFs of 128 on one PF", withFirst(200)),
    await measures.refusal("MTU 9900 of 9702 on one PF", withFirst(32, { mtu: 9900 })),
  ];
  changes.push(await measures.change("back to what is there", 1, withFirst(32)));
  await daemon.stop();
  const restarts = await measures.restarts("start, 128 VFs", rounds);
  const idle = await measures.idle(idleSeconds);
  await measures.change("reset of all PFs", rounds, []);
  daemon.slowDown?.(kernelSeconds * 1000);
  changes.push(
    await measures.change(
      slowTitle,
      1,
      all.map((address) => pf(address, 32)),
    ),
  );
  const kernelTimes = { [slowTitle]: { seconds: kernelSeconds, withUdevSeconds: kernelSeconds } };
  return { starts: [...starts, ...restarts], changes, refusals, flaps: [], idle, kernelTimes };
}

/** The spec of a PF whose VFs are all in one group. */
export function pf(pciAddress: string, numVfs: number, more: Partial<InterfaceSpec> = {}): InterfaceSpec {
  const vfGroups = [{ resourceName: "pods", policyName: "bench", vfRange: `0-${numVfs - 1}` }];
  return { pciAddress, numVfs, vfGroups, ...more };
}
