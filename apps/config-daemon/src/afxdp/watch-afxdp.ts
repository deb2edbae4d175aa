// SPDX-License-Identifier: Apache-2.0
/**
 * watchAfxdp watches the AfxdpNetworkNodeState of the node and the AfxdpOperatorConfig. Both kinds are optional.
 * Usage: `await using afxdp = watchAfxdp({ transport, namespace, nodeName, log }); afxdp.states.get(nodeName)`.
 */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  daemonManager,
  operatorConfigName,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
} from "@switchyard/api";
import { afxdpProviderOf } from "@switchyard/policy";
import { watchObjects, type FailedWatch } from "@switchyard/kube";
import type { WatchDesiredStateOptions } from "../watch-desired-state.ts";

/** Disposing of the result ends both watches. */
export function watchAfxdp({ transport, namespace, nodeName, log }: WatchDesiredStateOptions) {
  const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
    log.warn({ resource, ageMs, error }, "watch failed; retrying");
  };
  const watches = new AsyncDisposableStack();
  const states = watches.use(
    watchObjects({
      ...{ transport, namespace, report, optional: true },
      type: afxdpNetworkNodeStates,
      fieldSelector: `metadata.name=${nodeName}`,
      project: ({ metadata, ...state }: AfxdpNetworkNodeState): AfxdpNetworkNodeState => {
        const { name, uid = "", generation = 0, annotations = {} } = metadata;
        return { ...state, metadata: { name, namespace, uid, generation, annotations } };
      },
      managers: [daemonManager],
    }),
  );
  const configs = watches.use(
    watchObjects({
      ...{ transport, namespace, report, optional: true },
      type: afxdpOperatorConfigs,
      fieldSelector: `metadata.name=${operatorConfigName}`,
      project: (config: AfxdpOperatorConfig) => ({
        disableDrain: config.spec?.disableDrain === true,
        verbosity: config.spec?.logLevel,
        provider: afxdpProviderOf(config),
      }),
    }),
  );
  return { states, configs, [Symbol.asyncDispose]: () => watches.disposeAsync() };
}
