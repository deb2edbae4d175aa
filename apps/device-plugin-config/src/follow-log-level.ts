// SPDX-License-Identifier: Apache-2.0
/**
 * followLogLevel watches the log level in the SriovOperatorConfig (sriov-operator.md A.6). Nothing waits for it: until the
 * object is known, or if it may not be read, the flag applies.
 * Usage: `await using _logLevel = followLogLevel({ transport, namespace, log, onVerbosity });`
 */
import { operatorConfigName, sriovOperatorConfigs, type SriovOperatorConfig } from "@switchyard/api";
import { watchObjects, type Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";

export interface FollowLogLevelOptions {
  readonly transport: Transport;
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly log: Logger;
  /** Called with spec.logLevel and with each change of it; undefined if it is not set. */
  readonly onVerbosity: (verbosity: number | undefined) => void;
}

/** Disposing of the result ends the watch. */
export function followLogLevel({ transport, namespace, log, onVerbosity }: FollowLogLevelOptions): AsyncDisposable {
  const configs = watchObjects({
    ...{ transport, namespace },
    type: sriovOperatorConfigs,
    fieldSelector: `metadata.name=${operatorConfigName}`,
    project: ({ spec }: SriovOperatorConfig) => ({ verbosity: spec?.logLevel }),
    report(error, { resource, ageMs }) {
      log.warn({ resource, ageMs, error }, "watch failed; retrying");
    },
  });
  configs.subscribe(({ after }) => {
    onVerbosity(after?.verbosity);
  });
  return configs;
}
