// SPDX-License-Identifier: Apache-2.0
/**
 * watchDesiredState watches the objects of one operator that decide what the daemon does: the state of its node and the
 * config. Both kinds are optional: a cluster may have the kinds for SR-IOV or for AF_XDP only.
 */
import {
  daemonManager,
  defined,
  operatorConfigName,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  upstreamManager,
  type AfxdpOperatorConfig,
  type ObjectMeta,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  isRecord,
  watchObjects,
  type Cache,
  type FailedWatch,
  type KubeObject,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import { firmwarePolicyOf } from "@switchyard/policy";
import { type Logger } from "@switchyard/service";
import { createFailureLog } from "@switchyard/service/cluster";

export interface WatchDesiredStateOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly nodeName: string;
  readonly log: Logger;
}

/** The kinds of one operator. Each `project` returns what the daemon caches of an object. */
export interface DesiredKinds<State extends KubeObject, CachedState, Config extends KubeObject, Settings> {
  readonly states: { readonly type: ResourceType; readonly project: (state: State) => CachedState };
  readonly configs: { readonly type: ResourceType; readonly project: (config: Config) => Settings };
}

export const sriovKinds = {
  states: {
    type: sriovNetworkNodeStates,
    project: (state: SriovNetworkNodeState) => ({
      ...withoutServerFields(state),
      isSpecOfUpstream: isSpecOfUpstream(state),
    }),
  },
  configs: {
    type: sriovOperatorConfigs,
    project: (config: SriovOperatorConfig) => ({ ...commonSettings(config), firmware: firmwarePolicyOf(config) }),
  },
};

/** Disposing of the result ends both watches. */
export function watchDesiredState<State extends KubeObject, CachedState, Config extends KubeObject, Settings>(
  { transport, namespace, nodeName, log }: WatchDesiredStateOptions,
  kinds: DesiredKinds<State, CachedState, Config, Settings>,
) {
  const failed = createFailureLog(log);
  const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
    failed({ resource, ageMs, error }, "watch failed; retrying");
  };
  const common = { transport, namespace, report, optional: true };
  const watches = new AsyncDisposableStack();
  const states = watches.use(
    watchObjects({
      ...common,
      ...kinds.states,
      managers: [daemonManager],
      fieldSelector: `metadata.name=${nodeName}`,
    }),
  );
  const configs = watches.use(
    watchObjects({ ...common, ...kinds.configs, fieldSelector: `metadata.name=${operatorConfigName}` }),
  );
  return { states, configs, [Symbol.asyncDispose]: () => watches.disposeAsync() };
}

/** Keeps the metadata that a pass depends on. */
export function withoutServerFields<State extends { readonly metadata: ObjectMeta }>({ metadata, ...state }: State) {
  const { name, namespace, uid = "", generation = 0, annotations = {} } = metadata;
  return { ...state, metadata: { name, uid, generation, annotations, ...defined({ namespace }) } };
}

/**
 * Reports whether upstream's operator has written the spec since Switchyard's did. Then a rollback is replacing this daemon.
 * Upstream's operator writes specs without their bridges before it has read its feature gates (seen with commit 249e2001).
 */
function isSpecOfUpstream({ metadata: { managedFields = [] } }: Pick<KubeObject, "metadata">): boolean {
  return managedFields.some(({ manager, operation, fieldsV1 }) => {
    const isUpdate = manager === upstreamManager && operation === "Update";
    return isUpdate && isRecord(fieldsV1) && Object.hasOwn(fieldsV1, "f:spec");
  });
}

/** The settings that the configs of both operators have. */
export function commonSettings({ spec }: Pick<SriovOperatorConfig | AfxdpOperatorConfig, "spec">) {
  return { disableDrain: spec?.disableDrain === true, verbosity: spec?.logLevel };
}

/** What is cached of an operator config. */
export interface ConfigVerbosity {
  /** spec.logLevel; undefined if it is not set. */
  readonly verbosity: number | undefined;
}

type Configs = Pick<Cache<ConfigVerbosity>, "get" | "subscribe">;

/**
 * followVerbosity tells the verbosity of the operator config for which the daemon is deployed: the SriovOperatorConfig or,
 * without one, the AfxdpOperatorConfig. Calls `onVerbosity` with each change of one of the objects; with undefined if it does not
 * set a verbosity.
 */
export function followVerbosity(
  { sriov, afxdp }: { readonly sriov: Configs; readonly afxdp: Configs },
  onVerbosity: (verbosity: number | undefined) => void,
): void {
  const tell = (): void => {
    onVerbosity((sriov.get(operatorConfigName) ?? afxdp.get(operatorConfigName))?.verbosity);
  };
  for (const configs of [sriov, afxdp]) configs.subscribe(tell);
}
