// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { Problem } from "./damp.ts";
import { healthConditions } from "./health-condition.ts";

const down: Problem = { reason: "no-carrier", message: "PF ens1f0 (0000:3b:00.0) has no carrier" };
const lost = (nth: number): Problem => ({ reason: "driver-lost", message: `VF 0000:3b:02.${nth} has no driver` });

it("names what does not work, five problems at most, and is absent while all works", () => {
  expect(healthConditions([])).toEqual([]);
  const message =
    "PF ens1f0 (0000:3b:00.0) has no carrier; VF 0000:3b:02.0 has no driver. Claims cannot have these VFs";
  expect(healthConditions([down, lost(0)])).toEqual([
    { type: "VfsUnhealthy", status: "True", reason: "NoCarrier", message },
  ]);
  const [many] = healthConditions([0, 1, 2, 3, 4, 5, 6].map(lost));
  expect([many?.reason, many?.message.split("; ").length]).toEqual(["DriverLost", 6]);
  expect(many?.message).toContain("and 2 other problems");
});
