// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { advertise } from "./advertise.ts";
import { conditionOf } from "./condition.ts";
import { kernelOf, nodeState, pf } from "./testing/node-state.ts";

function condition(...pfs: readonly ReturnType<typeof pf>[]) {
  return conditionIn(true, pfs);
}

function conditionIn(isThisBoot: boolean, pfs: readonly ReturnType<typeof pf>[]) {
  const state = nodeState(pfs);
  const { status, reason, message } = conditionOf(
    advertise(state, { kernel: kernelOf(state), block: true, isThisBoot }),
  );
  return [status, reason, message];
}

describe("conditionOf", () => {
  it("contains the number of VFs of each resource", () => {
    const vfGroups = [
      { resourceName: "fast", vfRange: "0-2" },
      { resourceName: "dpdk", vfRange: "3-3" },
    ];
    expect(condition(pf({ spec: { vfGroups } }))).toEqual(["True", "Configured", "VFs advertised: fast: 3, dpdk: 1"]);
    expect(condition()).toEqual(["True", "Configured", "no VFs are advertised"]);
  });

  it("names the VFs that change", () => {
    expect(condition(pf({ spec: { numVfs: 5 }, vfs: 4 }))).toEqual([
      "False",
      "Configuring",
      "fast: 4 VFs of 0000:01:00.0 are about to be created again or bound to another driver; no VFs are advertised",
    ]);
  });

  it("names the VFs whose pods must leave for a change", () => {
    const state = nodeState([pf({ spec: { mtu: 9000 } })]);
    const annotations = { "switchyard.io/drain-vfs": "0000:01:00.0#0-0" };
    const drained = { ...state, metadata: { ...state.metadata, annotations } };
    const options = { kernel: kernelOf(state), block: true, isThisBoot: true };
    expect(conditionOf(advertise(drained, options))).toMatchObject({
      status: "False",
      reason: "Configuring",
      message:
        "fast: 1 VF of 0000:01:00.0 is withheld until the config daemon has changed it (drain); VFs advertised: fast: 3",
    });
  });

  it("names the VFs that wait for the daemon after a reboot", () => {
    expect(conditionIn(false, [pf()])).toEqual([
      "False",
      "Configuring",
      "fast: 4 VFs of 0000:01:00.0 have not been configured by the config daemon since the node started; no VFs are advertised",
    ]);
  });

  it("names the VFs that do not exist", () => {
    const vfGroups = [{ resourceName: "fast", vfRange: "0-4" }];
    expect(condition(pf({ spec: { vfGroups } }))).toEqual([
      "False",
      "VfsMissing",
      "fast: 1 VF of 0000:01:00.0 has not been created yet; VFs advertised: fast: 4",
    ]);
  });

  it("names the VFs that a past pod has left with its settings", () => {
    const port = pf();
    const settings = [{ name: "Vlan", value: "100", initial: "0" }];
    const Vfs = (port.status.Vfs ?? []).map((vf) => (vf.vfID < 2 ? { ...vf, unclean: { settings } } : vf));
    expect(condition({ ...port, status: { ...port.status, Vfs } })).toEqual([
      "False",
      "VfsHeld",
      "fast: 2 VFs of 0000:01:00.0 are withheld until the settings that a past pod has left are reset; VFs advertised: fast: 2",
    ]);
  });

  it("names at most three problems of resources", () => {
    const names = ["a/0", "a/1", "a/2", "a/3"];
    const vfGroups = names.map((resourceName, id) => ({ resourceName, vfRange: `${id}-${id}` }));
    const [status, reason, message] = condition(pf({ spec: { vfGroups } }));
    expect([status, reason]).toEqual(["False", "NotPossible"]);
    expect(message).toMatch(
      /^a\/0: the device plugin only accepts .*; a\/1: .*; a\/2: .*; 1 more; no VFs are advertised$/,
    );
  });
});
