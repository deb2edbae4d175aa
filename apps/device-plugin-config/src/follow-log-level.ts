// SPDX-License-Identifier: Apache-2.0
/**
 * Has the process log as much as the cluster's SriovOperatorConfig says (sriov-operator.md A.6). Nothing waits for it:
 * until the config is known, and where it may not be read, the flag holds.
 * Usage: `await using _ = followLogLevel({ transport, namespace, log, onVerbosity: (v) => setLogLevel(…) });`
 */
import { operatorConfigName, sriovOperatorConfigs, type SriovOperatorConfig } from "@switchyard/api";
import { watchObjects, type Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";

export interface FollowLogLevelOptions {
  readonly transport: Transport;
  /** The operator's. */
  readonly namespace: string;
  readonly log: Logger;
  /** Told spec.logLevel, and each change of it; undefined while there is none. */
  readonly onVerbosity: (verbosity: number | undefined) => void;
}

/** Until it is disposed of. */
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
