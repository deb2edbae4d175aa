// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { judge } from "./condition.ts";
import { handOut } from "./advertise.ts";
import { kernelOf, nodeState, pf } from "./testing/node-state.ts";

function verdict(...pfs: readonly ReturnType<typeof pf>[]) {
  return verdictIn(true, pfs);
}

function verdictIn(isThisBoot: boolean, pfs: readonly ReturnType<typeof pf>[]) {
  const state = nodeState(pfs);
  const { status, reason, message } = judge(handOut(state, { kernel: kernelOf(state), block: true, isThisBoot }));
  return [status, reason, message];
}

describe("judge", () => {
  it("tells how many VFs each resource has", () => {
    const vfGroups = [
      { resourceName: "fast", vfRange: "0-2" },
      { resourceName: "dpdk", vfRange: "3-3" },
    ];
    expect(verdict(pf({ spec: { vfGroups } }))).toEqual(["True", "Configured", "VFs handed out: fast: 3, dpdk: 1"]);
    expect(verdict()).toEqual(["True", "Configured", "no VFs are handed out"]);
  });

  it("tells which VFs change", () => {
    expect(verdict(pf({ spec: { numVfs: 5 }, vfs: 4 }))).toEqual([
      "False",
      "Configuring",
      "fast: 4 VFs of 0000:01:00.0 about to be made anew or bound to another driver; no VFs are handed out",
    ]);
  });

  it("tells what waits for the daemon after a reboot", () => {
    expect(verdictIn(false, [pf()])).toEqual([
      "False",
      "Configuring",
      "fast: 4 VFs of 0000:01:00.0 not seen to by the config daemon since the node started; no VFs are handed out",
    ]);
  });

  it("tells which VFs nobody makes", () => {
    const vfGroups = [{ resourceName: "fast", vfRange: "0-4" }];
    expect(verdict(pf({ spec: { vfGroups } }))).toEqual([
      "False",
      "VfsMissing",
      "fast: 1 VF of 0000:01:00.0 not made; VFs handed out: fast: 4",
    ]);
  });

  it("tells what the plugin cannot do, at most three causes by name", () => {
    const names = ["a/0", "a/1", "a/2", "a/3"];
    const vfGroups = names.map((resourceName, id) => ({ resourceName, vfRange: `${id}-${id}` }));
    const [status, reason, message] = verdict(pf({ spec: { vfGroups } }));
    expect([status, reason]).toEqual(["False", "NotPossible"]);
    expect(message).toMatch(
      /^a\/0: the device plugin only accepts .*; a\/1: .*; a\/2: .*; 1 more; no VFs are handed out$/,
    );
  });
});
