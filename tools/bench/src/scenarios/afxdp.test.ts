// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedBy, onlyWrites, stepOf } from "../harness/testing.ts";
import type { StepResult } from "../harness/step.ts";
import { afxdp, kinds as afxdpKinds } from "./afxdp.ts";
import { bpfman, kinds as bpfmanKinds } from "./bpfman.ts";

const figures = { versions: {}, complaints: [] };
const missedOf = (steps: readonly StepResult[]) => missedBy(afxdp, { ...figures, steps });

describe("the goals of afxdp", () => {
  const { off, config, report, policy, change, restart, delete: remove } = afxdpKinds;
  const good = [
    ...[stepOf(off, { peakMb: 100 }), stepOf(config, { seconds: 1.5, plainSeconds: 1, peakMb: 119 }), stepOf(report)],
    ...[stepOf(policy, { seconds: 1.3, plainSeconds: 1 }), stepOf(policy, { round: 2, seconds: 9, plainSeconds: 10 })],
    ...[stepOf(restart), stepOf(remove, { seconds: 1.3, plainSeconds: 1 })],
  ];

  it("allow 1.25 times the plain client after the debounce, 20 MB more, and no writes without a change", () => {
    expect(missedOf(good)).toEqual([]);
    expect(missedOf([...good, stepOf(change, { seconds: 1.4, plainSeconds: 1 })])).toEqual([
      "change numSfs, after the debounce / plain client: 1.3 x, goal 1.25 x",
    ]);
    expect(missedOf([...good, stepOf(remove, { peakMb: 121, seconds: 1, plainSeconds: 1 })])).toEqual([
      "peak RSS more than without AF_XDP: 21 MB, goal 20 MB",
    ]);
    const requests = onlyWrites({ "patch afxdpnetworknodestates": 1 });
    expect(missedOf([...good, stepOf(restart, { requests })])).toEqual(["restart, converged, writes: 1, goal 0"]);
  });

  it("are missed if nothing was measured", () => {
    expect(missedOf([])).toEqual(["peak RSS more than without AF_XDP: not measured, goal 20 MB"]);
  });
});

describe("the goals of bpfman", () => {
  const { load, loaded, restart, remove } = bpfmanKinds;
  const timed = { seconds: 12.6, plainSeconds: 10 };
  const missed = (...steps: readonly StepResult[]) => missedBy(bpfman, { ...figures, steps, builtinPeakMb: 100 });

  it("allow 1.25 times the plain client, 20 MB more, and no writes without a change", () => {
    const [loads, removes] = [load, remove].map((kind) => stepOf(kind, { ...timed, seconds: 12.5, peakMb: 120 }));
    expect(missed(...[loads, removes].filter((step) => step !== undefined), stepOf(loaded), stepOf(restart))).toEqual(
      [],
    );
    const requests = onlyWrites({ "patch clusterbpfapplications": 1 });
    expect(
      missed(
        stepOf(load, timed),
        stepOf(loaded, { peakMb: 121 }),
        stepOf(restart, { requests }),
        stepOf(remove, timed),
      ),
    ).toEqual([
      "loader bpfman, objects for all devices / plain client: 1.26 x, goal 1.25 x",
      "loader builtin, all devices confirmed / plain client: 1.26 x, goal 1.25 x",
      "restart, converged, writes: 1, goal 0",
      "peak RSS more than with loader builtin: 21 MB, goal 20 MB",
    ]);
  });

  it("are missed if nothing was measured", () => {
    expect(missed()).toEqual(["peak RSS more than with loader builtin: not measured, goal 20 MB"]);
    expect(missed(stepOf(load), stepOf(restart), stepOf(remove))).toHaveLength(2);
  });
});
