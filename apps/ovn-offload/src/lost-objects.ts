// SPDX-License-Identifier: Apache-2.0
/**
 * createLostObjects remembers the policies and MachineConfigs of ovn-offload, so that one that somebody else deletes is written
 * again as it was, and an event says so. The API server does not tell who deletes an object; its audit log does.
 */
import {
  defined,
  eventReasons,
  machineConfigs,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovOperatorConfigs,
  type SriovNetworkNodePolicy,
} from "@switchyard/api";
import { apiVersionOf, type EventRecorder } from "@switchyard/kube";
import { isOfOvnOffload } from "@switchyard/render";
import type { OffloadCaches } from "./caches/offload-caches.ts";
import type { OffloadWrite } from "./decide/observed.ts";

export interface LostObjects {
  /** Compares the caches with what they had before. Call it before each decision. */
  look(): void;
  /** The policies that somebody else has deleted, as they were. */
  policies(): readonly SriovNetworkNodePolicy[];
  /** A write has been sent: what ovn-offload deletes is not lost, and what it writes again is told. */
  written(write: OffloadWrite): void;
}

export interface LostObjectsDeps {
  readonly caches: Pick<OffloadCaches, "policies" | "machineConfigs" | "operatorConfigs">;
  readonly namespace: string;
  readonly events: Pick<EventRecorder, "record">;
}

export function createLostObjects({ caches, namespace, events }: LostObjectsDeps): LostObjects {
  const policies = new Map<string, SriovNetworkNodePolicy>();
  const configs = new Set<string>();
  /** "KIND NAME" of what was missing at the last look: the caches may show a restored object before its write has an answer. */
  let lost: ReadonlySet<string> = new Set();

  const missing = (kind: string, names: Iterable<string>, cache: { get(name: string): unknown }): readonly string[] =>
    [...names].flatMap((name) => (cache.get(name) === undefined ? [`${kind} ${name}`] : []));

  function tell(object: string): void {
    const config = caches.operatorConfigs.get(operatorConfigName);
    if (config === undefined) return;
    const metadata = { name: operatorConfigName, namespace, ...defined({ uid: config.metadata.uid }) };
    events.record({
      regarding: { apiVersion: apiVersionOf(sriovOperatorConfigs), kind: sriovOperatorConfigs.kind, metadata },
      type: "Warning",
      reason: eventReasons.ovnOffloadObjectRestored,
      note:
        `${object} was deleted by another program or an administrator, and hosts need it, so it is written again; ` +
        "the audit log of the API server names who deleted it",
    });
  }

  return {
    look() {
      for (const policy of caches.policies.list()) {
        const { name } = policy.metadata;
        if (isOfOvnOffload(policy)) policies.set(name, policy);
        else policies.delete(name);
      }
      for (const { name } of caches.machineConfigs.list()) configs.add(name);
      lost = new Set([
        ...missing(sriovNetworkNodePolicies.kind, policies.keys(), caches.policies),
        ...missing(machineConfigs.kind, configs, caches.machineConfigs),
      ]);
    },
    policies() {
      return [...policies.values()].filter(({ kind, metadata }) => lost.has(`${kind} ${metadata.name}`));
    },
    written(write) {
      if (write.kind === "delete-policy") policies.delete(write.name);
      if (write.kind === "delete-machine-config") configs.delete(write.name);
      const written =
        write.kind === "apply-policy" ? write.policy : write.kind === "apply-machine-config" ? write.config : undefined;
      const object = written && `${written.kind} ${written.metadata.name}`;
      if (object !== undefined && lost.has(object)) tell(object);
    },
  };
}
