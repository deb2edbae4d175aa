// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseDaemonOptions } from "./daemon-options.ts";

describe("parseDaemonOptions", () => {
  it("defaults to the fake kernel and an idle time of 30 s", () => {
    expect(parseDaemonOptions([])).toMatchObject({ vm: false, idleSeconds: 30, rounds: 2, check: false });
    expect(parseDaemonOptions(["--ovs"])).toMatchObject({ vm: true, ovs: true });
    expect(parseDaemonOptions(["--subfunctions"])).toMatchObject({ vm: true, ovs: false, subfunctions: true });
    expect(parseDaemonOptions(["--vm", "--idle-seconds", "300"])).toMatchObject({ vm: true, idleSeconds: 300 });
  });

  it.each([["--idle-seconds", "0"], ["--vms"], ["what"]])("refuses %s", (...args) => {
    expect(() => parseDaemonOptions(args)).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
