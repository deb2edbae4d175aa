// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy, SriovOperatorConfig } from "@switchyard/api";
import type { EventToRecord } from "@switchyard/kube";
import { ovnOffloadMachineConfig, ovnOffloadPolicy } from "@switchyard/render";
import { createLostObjects, type LostObjectsDeps } from "./lost-objects.ts";

const namespace = "sriov";
const options = { pool: "dpu", model: "bluefield-2", namespace, numVfs: 7 } as const;
const policy = ovnOffloadPolicy(options);
const name = policy.metadata.name;
const machineConfig = ovnOffloadMachineConfig({ name: "dpu", role: "dpu" });
const configName = machineConfig.metadata.name;

function setUp() {
  const policies = new Map<string, SriovNetworkNodePolicy>();
  const configs = new Map<string, { readonly name: string; readonly uid: string; readonly pool: string }>();
  const config = { metadata: { name: "default", uid: "u" } } as SriovOperatorConfig;
  const notes: string[] = [];
  const cacheOf = <T>(all: ReadonlyMap<string, T>) => ({
    get: (key: string) => all.get(key),
    list: () => [...all.values()],
  });
  const caches = {
    policies: cacheOf(policies),
    machineConfigs: cacheOf(configs),
    operatorConfigs: { get: () => config },
  } as unknown as LostObjectsDeps["caches"];
  const events = { record: ({ note }: Pick<EventToRecord, "note">) => void notes.push(note) };
  return { policies, configs, notes, lost: createLostObjects({ caches, namespace, events }) };
}

const stored = { ...policy, spec: { ...policy.spec, mtu: 9000 } } as SriovNetworkNodePolicy;

it("remembers a policy that somebody else deletes, and tells its restoration once", () => {
  const { policies, notes, lost } = setUp();
  policies.set(name, stored);
  lost.look();
  expect(lost.policies()).toEqual([]);
  lost.written({ kind: "apply-policy", policy });
  policies.delete(name);
  lost.look();
  expect(lost.policies()).toEqual([stored]);
  policies.set(name, stored); // the watch is faster than the answer
  lost.written({ kind: "apply-policy", policy });
  lost.look();
  lost.written({ kind: "apply-policy", policy });
  expect(notes).toEqual([expect.stringMatching(`^SriovNetworkNodePolicy ${name} was deleted by another program`)]);
});

it("tells the restoration of a MachineConfig, and not that of what it has deleted itself", () => {
  const { configs, notes, lost } = setUp();
  configs.set(configName, { name: configName, uid: "u", pool: "dpu" });
  lost.look();
  lost.written({ kind: "delete-machine-config", name: configName, uid: "u" });
  configs.clear();
  lost.look();
  lost.written({ kind: "apply-machine-config", config: machineConfig });
  expect(notes).toEqual([]);
  configs.set(configName, { name: configName, uid: "v", pool: "dpu" });
  lost.look();
  configs.clear();
  lost.look();
  lost.written({ kind: "apply-machine-config", config: machineConfig });
  expect(notes).toEqual([expect.stringMatching(`^MachineConfig ${configName} was deleted`)]);
});
