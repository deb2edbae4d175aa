// SPDX-License-Identifier: Apache-2.0
/**
 * watchDesiredState watches the objects that decide what the daemon does: the SriovNetworkNodeState of its node and the
 * SriovOperatorConfig. Both kinds are optional: a cluster may have the kinds for AF_XDP only.
 * Usage: `await using desired = watchDesiredState({ transport, namespace, nodeName, log }); desired.states.get(nodeName)`.
 */
import {
  daemonManager,
  operatorConfigName,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { watchObjects, type FailedWatch, type Transport } from "@switchyard/kube";
import { firmwarePolicyOf } from "@switchyard/policy";
import type { Logger } from "@switchyard/service";

export interface WatchDesiredStateOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly nodeName: string;
  readonly log: Logger;
}

/** Disposing of the result ends both watches. */
export function watchDesiredState({ transport, namespace, nodeName, log }: WatchDesiredStateOptions) {
  const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
    log.warn({ resource, ageMs, error }, "watch failed; retrying");
  };
  const watches = new AsyncDisposableStack();
  const states = watches.use(
    watchObjects({
      ...{ transport, namespace, report, optional: true },
      type: sriovNetworkNodeStates,
      fieldSelector: `metadata.name=${nodeName}`,
      project: ({ metadata, ...state }: SriovNetworkNodeState) => {
        const { name, uid = "", generation = 0, annotations = {} } = metadata;
        return { ...state, metadata: { name, namespace, uid, generation, annotations } };
      },
      managers: [daemonManager],
    }),
  );
  const configs = watches.use(
    watchObjects({
      ...{ transport, namespace, report, optional: true },
      type: sriovOperatorConfigs,
      fieldSelector: `metadata.name=${operatorConfigName}`,
      project: (config: SriovOperatorConfig) => ({
        disableDrain: config.spec?.disableDrain === true,
        verbosity: config.spec?.logLevel,
        firmware: firmwarePolicyOf(config),
      }),
    }),
  );
  return { states, configs, [Symbol.asyncDispose]: () => watches.disposeAsync() };
}
