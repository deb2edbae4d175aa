// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { operatorConfigName } from "@switchyard/api";
import { followVerbosity, type ConfigVerbosity } from "./watch-desired-state.ts";

/** A cache of one object. */
function cacheOf() {
  let object: ConfigVerbosity | undefined;
  const listeners: (() => void)[] = [];
  return {
    get: (key: string) => (key === operatorConfigName ? object : undefined),
    subscribe(listener: (change: { key: string; before: undefined; after: undefined }) => void) {
      listeners.push(() => {
        listener({ key: operatorConfigName, before: undefined, after: undefined });
      });
      return () => undefined;
    },
    set(next: ConfigVerbosity | undefined) {
      object = next;
      for (const listener of listeners) listener();
    },
  };
}

describe("followVerbosity", () => {
  it("tells that of the SriovOperatorConfig, and without one that of the AfxdpOperatorConfig", () => {
    const [sriov, afxdp] = [cacheOf(), cacheOf()];
    const told: (number | undefined)[] = [];
    followVerbosity({ sriov, afxdp }, (verbosity) => told.push(verbosity));
    afxdp.set({ verbosity: 2 });
    sriov.set({ verbosity: 0 });
    afxdp.set({ verbosity: 1 });
    sriov.set({ verbosity: undefined });
    sriov.set(undefined);
    afxdp.set(undefined);
    expect(told).toEqual([2, 0, 0, undefined, 1, undefined]);
  });
});
